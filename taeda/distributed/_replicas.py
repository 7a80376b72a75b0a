"""Keeping copies of tensors on several processes the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

import taeda
from taeda import Tensor
from taeda.distributed import _collectives as collectives
from taeda.distributed import _objects as objects
from taeda.distributed._options import BroadcastOptions

__all__ = ["broadcast_coalesced", "check_same"]

NO_LIMIT = timedelta(0)  # that a wait of a group of a program's own is given: its own limit holds
_CHUNK = 250 << 20  # bytes that are sent at a time


def broadcast_coalesced(group: Any, tensors: Sequence[Tensor], source: int = 0, chunk: int = _CHUNK) -> None:
    """Copies the tensors of the group's process ``source`` into those of the others, many at a time."""
    with taeda.no_grad():
        for part in _chunks(tensors, chunk):
            if len(part) == 1 and part[0].is_contiguous():
                _broadcast(group, part[0], source)
                continue
            flat = taeda.cat([_bytes(tensor) for tensor in part])
            _broadcast(group, flat, source)
            if group.rank() != source:
                sizes = [tensor.numel() * tensor.element_size() for tensor in part]
                for tensor, piece in zip(part, flat.split(sizes), strict=True):
                    # A piece of bytes may begin where its dtype cannot: it is moved first.
                    tensor.copy_(piece.clone().view(tensor.dtype).view(tensor.shape))


def _broadcast_coalesced(process_group: Any, tensors: Sequence[Tensor], buffer_size: int, src: int = 0) -> None:
    """`broadcast_coalesced`, as PyTorch's native module calls it."""
    broadcast_coalesced(process_group, tensors, src, buffer_size)


def _broadcast(group: Any, tensor: Tensor, source: int) -> None:
    if not group.made_by_hand:
        collectives.broadcast(tensor, group=group, group_src=source)
        return
    options = BroadcastOptions()
    options.rootRank = source
    group.broadcast([tensor], options).wait(NO_LIMIT)


def _bytes(tensor: Tensor) -> Tensor:
    return tensor.detach().contiguous().reshape(-1).view(taeda.uint8)


def _chunks(tensors: Sequence[Tensor], limit: int) -> Iterator[list[Tensor]]:
    """Lists of tensors of one device with about as many bytes as the limit; empty tensors are left out."""
    part: list[Tensor] = []
    size = 0
    for tensor in tensors:
        if not tensor.numel():
            continue
        if part and (size >= limit or part[0].device != tensor.device):
            yield part
            part, size = [], 0
        part.append(tensor)
        size += tensor.numel() * tensor.element_size()
    if part:
        yield part


def check_same(what: str, own: dict[str, Any], group: Any) -> None:
    """Raises where processes have different values for a name, on all of them.

    Raises:
        RuntimeError: they do; the text names the first difference and the process that has it.
    """
    told: list[Any] = [None] * group.size()
    objects.all_gather_object(told, own, group)
    for rank, other in enumerate(told):
        if other == told[0]:
            continue
        names = [*told[0], *(name for name in other if name not in told[0])]
        name = next(name for name in names if told[0].get(name) != other.get(name))
        raise RuntimeError(
            f"taeda.nn.parallel.DistributedDataParallel: the {what} of processes 0 and {rank} differ: {name!r} is "
            f"{told[0].get(name, 'missing')} and {other.get(name, 'missing')}"
        )
