"""What is asked of the native module."""

from __future__ import annotations

from taeda import _C

__all__ = ["_is_torch_function_mode_enabled"]


def _is_torch_function_mode_enabled() -> bool:
    """Whether a mode would see the functions that are called now."""
    return _C._len_torch_function_stack() > 0 and not _C._is_torch_function_all_disabled()
