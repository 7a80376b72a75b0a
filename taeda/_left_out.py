"""What a build of selected ops says of the others: which of them was meant, and how to get it."""

from __future__ import annotations

import functools
import os
from typing import Any, NoReturn

_OPERATORS = {
    "add": "__add__", "sub": "__sub__", "rsub": "__rsub__", "mul": "__mul__", "div": "__truediv__",
    "floor_divide": "__floordiv__", "remainder": "__mod__", "pow": "__pow__", "matmul": "__matmul__",
    "neg": "__neg__", "abs": "__abs__", "bitwise_and": "__and__", "bitwise_or": "__or__", "bitwise_xor": "__xor__",
    "bitwise_not": "__invert__", "bitwise_left_shift": "__lshift__", "bitwise_right_shift": "__rshift__",
}  # fmt: skip


@functools.cache
def names() -> frozenset[str]:
    """The ops that exist but that this build was made without."""
    folder = os.path.join(os.path.dirname(__file__), "generated")
    for place in ("left_out.txt", os.path.join("taeda", "generated", "left_out.txt")):
        try:
            with open(os.path.join(folder, place)) as file:
                return frozenset(file.read().split())
        except FileNotFoundError:
            continue
    return frozenset()


def hint(name: str) -> str | None:
    """What to do about such an op; None for any other name."""
    if name not in names():
        return None
    return f"this build leaves out '{name}'; add it to the file of --select-ops (CMake: TAEDA_SELECT_OPS)"


def explain_on(tensor_class: type[Any]) -> None:
    """Makes methods and operators that the build lacks raise AttributeError and NotImplementedError that say so."""
    if not names():
        return

    def __getattr__(self: Any, name: str) -> NoReturn:
        raise AttributeError(hint(name) or f"'{type(self).__name__}' object has no attribute '{name}'", name=name)

    tensor_class.__getattr__ = __getattr__
    for name, method in _OPERATORS.items():
        if name in names() and getattr(tensor_class, method, None) is None:
            setattr(tensor_class, method, functools.partialmethod(_refuse, name))


def _refuse(self: Any, name: str, other: Any = None) -> NoReturn:
    raise NotImplementedError(f"taeda.{name}: {hint(name)}")
