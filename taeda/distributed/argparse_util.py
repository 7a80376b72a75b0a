"""Arguments of a command line that may also be given by a variable: ``--nnodes`` by ``PET_NNODES``."""

from __future__ import annotations

import os
from argparse import Action
from typing import Any


def _from_environment(dest: str, default: Any) -> Any:
    return os.environ.get(f"PET_{dest.upper()}", default)


class env(Action):
    """An argument with a value. It is not asked for (``required``) where there is a default or a variable."""

    def __init__(self, dest: str, default: Any = None, required: bool = False, **kwargs: Any) -> None:
        default = _from_environment(dest, default)
        super().__init__(dest=dest, default=default, required=required and not default, **kwargs)

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        setattr(namespace, self.dest, values)


class check_env(Action):
    """A flag. As a variable, 1 is yes and 0 no."""

    def __init__(self, dest: str, default: bool = False, **kwargs: Any) -> None:
        default = bool(int(_from_environment(dest, "1" if default else "0")))
        super().__init__(dest=dest, const=True, default=default, nargs=0, **kwargs)

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        setattr(namespace, self.dest, self.const)
