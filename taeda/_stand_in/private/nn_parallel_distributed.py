"""What wrappers that follow DistributedDataParallel are built of."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from taeda import Tensor
from taeda.distributed.utils import _sync_module_states

__all__ = ["_find_tensors", "_sync_module_states"]


def _find_tensors(obj: Any) -> Iterator[Tensor]:
    """All tensors in nested sequences, dicts and dataclasses."""
    if isinstance(obj, Tensor):
        yield obj
    elif isinstance(obj, (list, tuple)):
        for each in obj:
            yield from _find_tensors(each)
    elif isinstance(obj, Mapping):
        yield from _find_tensors(list(obj.values()))
    elif dataclasses.is_dataclass(obj):
        yield from _find_tensors([getattr(obj, field.name) for field in dataclasses.fields(obj)])
