"""Of `Module`: texts, and whether all modules have hooks."""

from __future__ import annotations

import sys

__all__ = ["_addindent", "_has_any_global_hook"]


def _addindent(s_: str, numSpaces: int) -> str:
    """``s_`` with all lines but the first indented."""
    return s_.replace("\n", "\n" + numSpaces * " ")


def _has_any_global_hook() -> bool:
    """Whether any hook is registered for all modules."""
    module = sys.modules["taeda.nn.modules.module"]
    return any(value for name, value in vars(module).items() if name.startswith("_global_") and name.endswith("_hooks"))
