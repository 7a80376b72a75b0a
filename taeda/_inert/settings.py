"""Modules of settings that programs change for a while."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any


def patch_of(module: str) -> Callable[..., Any]:
    """``patch`` for a module of settings."""

    def patch(arg1: str | dict[str, Any] | None = None, arg2: Any = None, **kwargs: Any) -> Any:
        """In ``with`` or as a decorator, other settings: one by name, a dict of them, or keywords.

        Raises:
            AttributeError: there is no such setting.
        """
        changes = {arg1: arg2} if isinstance(arg1, str) else {**(arg1 or {}), **kwargs}
        settings = vars(sys.modules[module])
        if unknown := ", ".join(sorted(changes.keys() - settings)):
            raise AttributeError(f"{module}.patch: there is no setting {unknown}")
        return _changed(settings, changes)

    return patch


@contextlib.contextmanager
def _changed(settings: dict[str, Any], changes: dict[str, Any]) -> Iterator[None]:
    before = {name: settings[name] for name in changes}
    settings.update(changes)
    try:
        yield
    finally:
        settings.update(before)
