"""Which function says an op in ONNX.

A function takes the builder ``g`` and the op's arguments by its schema: tensors and sizes that vary are values, all
else as it is. It returns a value, or a tuple of them. What has no function is taken apart: a composite into its body,
a pointwise op into its formula.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

TRANSLATIONS: dict[str, Callable[..., Any]] = {}


def translates(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Makes a function the translation of ops, ``"add"`` for all overloads or ``"max.dim"`` for one; of ``aten`` unless
    they are written with a namespace."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            TRANSLATIONS[name if "::" in name else f"aten::{name}"] = function
        return function

    return decorate


def find(op: Any) -> Callable[..., Any] | None:
    """The function for an op, if there is one."""
    return TRANSLATIONS.get(op.name()) or TRANSLATIONS.get(op._qualified_name)
