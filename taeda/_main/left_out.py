"""What a build of selected ops says of the others: which of them was meant, and how to get it."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any, NoReturn


@functools.cache
def names() -> frozenset[str]:
    """The ops that exist but that this build was made without."""
    folder = os.path.join(os.path.dirname(os.path.dirname(__file__)), "generated")
    for file_name in ("left_out.txt", os.path.join("taeda", "generated", "left_out.txt")):
        try:
            with open(os.path.join(folder, file_name)) as file:
                return frozenset(file.read().split())
        except FileNotFoundError:
            continue
    return frozenset()


def hint(name: str) -> str | None:
    """What to do about such an op; None for any other name."""
    if name not in names():
        return None
    return f"this build leaves out '{name}'; add it to the file of --select-ops (CMake: TAEDA_SELECT_OPS)"


def stand_in(module: str, name: str) -> Callable[..., NoReturn]:
    """A function for modules to import instead of such a native; AttributeError for any other name."""
    if name not in names():
        raise AttributeError(f"module '{module}' has no attribute '{name}'")

    def missing(*args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError(f"taeda.{name}: {hint(name)}")

    missing.__name__ = missing.__qualname__ = name
    return missing


def explain_on(tensor_class: type[Any]) -> None:
    """Makes methods that the build lacks raise AttributeError that says so. Operators are dealt with in C++."""
    if not names():
        return

    def __getattr__(self: Any, name: str) -> NoReturn:
        raise AttributeError(hint(name) or f"'{type(self).__name__}' object has no attribute '{name}'", name=name)

    tensor_class.__getattr__ = __getattr__
