"""Moving a batch into page-locked memory."""

from __future__ import annotations

import collections.abc
from typing import Any

from taeda import Tensor

from .collate import _is_namedtuple, _is_text, _rebuild_mapping, _rebuild_sequence


def pin_memory(data: Any, device: str | None = None) -> Any:
    """``data`` with its tensors, and all else that has a ``pin_memory`` method, in page-locked memory."""
    if isinstance(data, Tensor):
        return data.pin_memory()
    if _is_text(data):
        return data
    if isinstance(data, collections.abc.Mapping):
        return _rebuild_mapping(data, {key: pin_memory(value, device) for key, value in data.items()})
    if _is_namedtuple(data):
        return type(data)(*(pin_memory(item, device) for item in data))
    if isinstance(data, tuple):
        return [pin_memory(item, device) for item in data]
    if isinstance(data, collections.abc.Sequence):
        return _rebuild_sequence(data, [pin_memory(item, device) for item in data])
    return data.pin_memory() if hasattr(data, "pin_memory") else data
