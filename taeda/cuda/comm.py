"""Tensors sent to several devices and joined from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor

__all__ = ["broadcast", "broadcast_coalesced", "gather", "reduce_add", "reduce_add_coalesced", "scatter"]

_BUFFER = 10485760  # bytes; a hint that devices without links of their own need not heed


def _only_one(devices: Any, out: Any, function: str) -> None:
    if (devices is None) == (out is None):
        raise RuntimeError(f"taeda.cuda.comm.{function}: exactly one of devices and out is needed")


def broadcast(tensor: Tensor, devices: Sequence[Any] | None = None, *, out: Any = None) -> tuple[Tensor, ...]:
    """A copy of ``tensor`` on each device, the first one itself if it is there; or copied into the tensors ``out``."""
    _only_one(devices, out, "broadcast")
    if out is not None:
        return tuple(target.copy_(tensor) for target in out)
    first, *others = [taeda.device(device) for device in devices or ()]
    return (tensor.to(first), *(tensor.to(device, copy=True) for device in others))


def broadcast_coalesced(tensors: Sequence[Tensor], devices: Sequence[Any], buffer_size: int = _BUFFER) -> Any:
    """For each device a list of copies of all ``tensors``."""
    return list(zip(*(broadcast(tensor, devices) for tensor in tensors), strict=True))


def reduce_add(inputs: Sequence[Tensor], destination: Any = None) -> Tensor:
    """The sum of tensors of one shape on several devices, on ``destination`` (the first one's device if None)."""
    first, *others = inputs
    if any(other.shape != first.shape for other in others):
        raise ValueError(f"taeda.cuda.comm.reduce_add: shapes differ: {[tuple(given.shape) for given in inputs]}")
    device = first.device if destination is None else taeda.device(destination)
    total = first.to(device, copy=True)
    for other in others:
        total += other.to(device)
    return total


def reduce_add_coalesced(inputs: Any, destination: Any = None, buffer_size: int = _BUFFER) -> tuple[Tensor, ...]:
    """`reduce_add` of the first tensors of each device's list, of the second ones, and so on."""
    return tuple(reduce_add(tensors, destination) for tensors in zip(*inputs, strict=True))


def scatter(
    tensor: Tensor,
    devices: Sequence[Any] | None = None,
    chunk_sizes: Sequence[int] | None = None,
    dim: int = 0,
    streams: Any = None,
    *,
    out: Any = None,
) -> tuple[Tensor, ...]:
    """Pieces along ``dim``, of equal or the given sizes, one on each device or copied into the tensors ``out``."""
    _only_one(devices, out, "scatter")
    if out is not None:
        pieces = tensor.split([target.size(dim) for target in out], dim)
        return tuple(target.copy_(piece) for target, piece in zip(out, pieces, strict=True))
    wanted = [taeda.device(device) for device in devices or ()]
    pieces = tensor.chunk(len(wanted), dim) if chunk_sizes is None else tensor.split(list(chunk_sizes), dim)
    return tuple(piece.to(device) for piece, device in zip(pieces, wanted))


def gather(tensors: Sequence[Tensor], dim: int = 0, destination: Any = None, *, out: Tensor | None = None) -> Tensor:
    """The tensors joined along ``dim`` on ``destination`` (the first one's device if None), or in ``out``."""
    device = out.device if out is not None else tensors[0].device if destination is None else taeda.device(destination)
    here = [tensor.to(device) for tensor in tensors]
    return taeda.cat(here, dim) if out is None else taeda.cat(here, dim, out=out)
