"""What is asked of the native module, and modules in it whose attributes are read without importing them."""

from __future__ import annotations

from taeda import _C
from taeda._stand_in.private import _C__functorch as _functorch

__all__ = ["_functorch", "_is_torch_function_mode_enabled"]


def _is_torch_function_mode_enabled() -> bool:
    """Whether a mode would see the functions that are called now."""
    return _C._len_torch_function_stack() > 0 and not _C._is_torch_function_all_disabled()
