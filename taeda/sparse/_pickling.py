"""Sparse tensors in files, in pickles, and in the memory that processes share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda import _C, Tensor
from taeda.sparse._parts import COO
from taeda.types import _layout


def parts_of(x: Tensor) -> tuple[Any, ...]:
    """What a file holds: indices and values, the size, and whether coordinates are coalesced."""
    indices, plain, values = _C._sparse_parts(x)
    if x.layout == COO:
        return indices, values, taeda.Size(x.shape), _C._sparse_is_coalesced(x)
    return indices, plain, values, taeda.Size(x.shape)


def reduce(x: Tensor) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """For ``pickle``."""
    if type(x) is Tensor and not x.__dict__:
        return rebuild, (x.layout, parts_of(x), x.requires_grad)
    return rebuild_with_state, (type(x), (x.layout, parts_of(x), False), x.requires_grad, dict(x.__dict__))


def rebuild(layout: _layout, parts: tuple[Any, ...], requires_grad: bool) -> Tensor:
    """The tensor from its parts, which are checked."""
    if layout == COO:
        indices, values, size, coalesced = parts
        return taeda.sparse_coo_tensor(indices, values, size, is_coalesced=coalesced, requires_grad=requires_grad)
    return taeda.sparse_compressed_tensor(*parts, layout=layout, requires_grad=requires_grad)


def rebuild_with_state(cls: type[Any], arguments: tuple[Any, ...], requires_grad: bool, state: dict[str, Any]) -> Any:
    """An instance of a subclass, with its attributes."""
    tensor: Any = _C.TensorBase._make_subclass(cls, rebuild(*arguments), requires_grad)
    tensor.__setstate__(state)
    return tensor


def _memory(x: Tensor) -> list[Tensor]:
    return [part for part in _C._sparse_parts(x) if part is not None]


def is_shared(x: Tensor) -> bool:
    """Whether other processes can see indices and values."""
    return all(part.is_shared() for part in _memory(x))


def share_memory_(x: Tensor) -> Tensor:
    """Moves indices and values to where other processes can see them."""
    for part in _memory(x):
        part.share_memory_()
    return x
