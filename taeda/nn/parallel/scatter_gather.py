"""Inputs cut into pieces, one for each device, and outputs put together again."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

__all__ = ["gather", "scatter", "scatter_kwargs"]


def _is_namedtuple(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(value, "_fields")


def _rebuilt(like: Any, items: Any) -> Any:
    return type(like)(*items) if _is_namedtuple(like) else type(like)(items)


def scatter(inputs: Any, target_gpus: Any, dim: int = 0) -> Any:
    """A list with, for each device, ``inputs`` with a chunk along ``dim`` in the place of each tensor.

    Tensors are looked for in tuples, lists and dictionaries; anything else goes to all devices as it is.
    """
    devices = [taeda.device(target) for target in target_gpus]
    if isinstance(inputs, Tensor):
        return [piece.to(device) for piece, device in zip(inputs.chunk(len(devices), dim), devices)]
    if isinstance(inputs, (tuple, list)) and len(inputs):
        return [_rebuilt(inputs, items) for items in zip(*(scatter(item, target_gpus, dim) for item in inputs))]
    if isinstance(inputs, dict) and len(inputs):
        return [type(inputs)(items) for items in zip(*(scatter(item, target_gpus, dim) for item in inputs.items()))]
    return [inputs for _ in devices]


def scatter_kwargs(inputs: Any, kwargs: Any, target_gpus: Any, dim: int = 0) -> tuple[Any, Any]:
    """Positional and keyword arguments for each device; the shorter list is filled up with empty ones."""
    positional = scatter(inputs, target_gpus, dim) if inputs else []
    named = scatter(kwargs, target_gpus, dim) if kwargs else []
    count = max(len(positional), len(named))
    positional += [()] * (count - len(positional))
    named += [{} for _ in range(count - len(named))]
    return tuple(positional), tuple(named)


def gather(outputs: Any, target_device: Any, dim: int = 0) -> Any:
    """What modules on several devices gave, each tensor joined along ``dim`` on one device; numbers become vectors."""
    first = outputs[0]
    if isinstance(first, Tensor):
        here = [output.to(taeda.device(target_device)) for output in outputs]
        return taeda.stack(here) if first.dim() == 0 else taeda.cat(here, dim)
    if first is None:
        return None
    if isinstance(first, dict):
        if any(len(output) != len(first) for output in outputs):
            raise ValueError("taeda.nn.parallel.gather: all dictionaries must have the same keys")
        return type(first)((key, gather([output[key] for output in outputs], target_device, dim)) for key in first)
    return _rebuilt(first, (gather(items, target_device, dim) for items in zip(*outputs)))
