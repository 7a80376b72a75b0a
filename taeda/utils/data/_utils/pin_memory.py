"""Moving a batch into page-locked memory."""

from __future__ import annotations

from typing import Any

from taeda import Tensor

from .collate import is_text, map_parts


def pin_memory(data: Any, device: str | None = None) -> Any:
    """``data`` with its tensors, and all else that has a ``pin_memory`` method, in page-locked memory."""
    if isinstance(data, Tensor):
        return data.pin_memory()
    if is_text(data):
        return data
    pinned = map_parts(data, pin_memory)
    if pinned is not NotImplemented:
        return pinned
    return data.pin_memory() if hasattr(data, "pin_memory") else data
