"""What the processes of a group do together with any Python objects, which are pickled on the way."""

from __future__ import annotations

import pickle
from typing import Any

import taeda
from taeda import Tensor
from taeda.distributed._arguments import Group, group_rank, on_root, one_per_process, or_default, size_of
from taeda.distributed._collectives import all_gather, broadcast, gather, scatter
from taeda.distributed._messages import recv, send
from taeda.distributed._queries import _made, _rank_not_in_group, get_group_rank, get_rank
from taeda.types import Device

__all__ = [
    "all_gather_object", "broadcast_object_list", "gather_object", "recv_object_list", "scatter_object_list",
    "send_object_list",
]  # fmt: skip


def _to_bytes(value: Any) -> Tensor:
    return taeda.frombuffer(bytearray(pickle.dumps(value)), dtype=taeda.uint8)


def _from_bytes(data: Tensor, size: int) -> Any:
    return pickle.loads(data[:size].numpy().tobytes())


def _sizes(data: Tensor, group: Group) -> list[int]:
    """How many bytes each process has."""
    sizes = [taeda.zeros(1, dtype=taeda.int64) for _ in range(size_of(group))]
    all_gather(sizes, taeda.tensor([data.numel()]), group)
    return [int(size) for size in sizes]


def _filled(data: Tensor, size: int) -> Tensor:
    """``data`` with so many bytes behind it that there are ``size``."""
    return taeda.cat([data, data.new_zeros(size - data.numel())])


def all_gather_object(object_list: list[Any], obj: Any, group: Group = None) -> None:
    """Puts each process's object into the list at its rank, on all of them."""
    if _rank_not_in_group(group):
        return
    _made(group)
    data = _to_bytes(obj)
    sizes = _sizes(data, group)
    gathered = [data.new_empty(max(sizes)) for _ in sizes]
    all_gather(gathered, _filled(data, max(sizes)), group)
    for i, (part, size) in enumerate(zip(gathered, sizes)):
        object_list[i] = _from_bytes(part, size)


def gather_object(
    obj: Any,
    object_gather_list: list[Any] | None = None,
    dst: int | None = None,
    group: Group = None,
    group_dst: int | None = None,
) -> None:
    """`all_gather_object` for the process ``dst`` alone, 0 by default; the others give no list.

    Raises:
        ValueError: the list is missing here.
    """
    if _rank_not_in_group(group):
        return
    root, _ = on_root("gather_object", "object_gather_list", object_gather_list, dst, group_dst, group)
    data = _to_bytes(obj)
    sizes = _sizes(data, group)
    if get_rank(group) != root:
        return gather(_filled(data, max(sizes)), group=group, group_dst=root)  # type: ignore[return-value]
    gathered = [data.new_empty(max(sizes)) for _ in sizes]
    gather(_filled(data, max(sizes)), gathered, group=group, group_dst=root)
    for i, (part, size) in enumerate(zip(gathered, sizes)):
        object_gather_list[i] = _from_bytes(part, size)  # type: ignore[index]


def broadcast_object_list(
    object_list: list[Any], src: int | None = None, group: Group = None, device: Device = None,
    group_src: int | None = None,
) -> None:  # fmt: skip
    """Puts the objects of the process ``src``, 0 by default, into the lists of the others.

    Raises:
        ValueError: the list is empty.
    """
    if _rank_not_in_group(group):
        return
    if not object_list:
        raise ValueError("taeda.distributed.broadcast_object_list: object_list is empty")
    root = group_rank("broadcast_object_list", src, group_src, group, default=0)
    is_root = get_rank(group) == root
    data = _to_bytes(list(object_list)) if is_root else taeda.empty(0, dtype=taeda.uint8)
    size = taeda.tensor([data.numel()])
    broadcast(size, group=group, group_src=root)
    data = data if is_root else data.new_empty(int(size))
    broadcast(data, group=group, group_src=root)
    if not is_root:
        _take("broadcast_object_list", object_list, _from_bytes(data, int(size)))


def _take(name: str, target: list[Any], objects: list[Any]) -> None:
    if len(target) != len(objects):
        raise RuntimeError(
            f"taeda.distributed.{name}: {len(objects)} objects came for a list of {len(target)}; "
            "the lists of both sides are wanted of one length"
        )
    target[:] = objects


def scatter_object_list(
    scatter_object_output_list: list[Any],
    scatter_object_input_list: list[Any] | None = None,
    src: int | None = None,
    group: Group = None,
    group_src: int | None = None,
) -> None:
    """Puts each process's own one of the objects of the process ``src``, 0 by default, first in its output list.

    Raises:
        ValueError: the output list is no list or empty, or the input list is missing here.
    """
    name = "scatter_object_list"
    if _rank_not_in_group(group):
        return
    if not isinstance(scatter_object_output_list, list) or not scatter_object_output_list:
        raise ValueError(f"taeda.distributed.{name}: the output list needs room for one object")
    root = group_rank(name, src, group_src, group, default=0)
    parts: list[Tensor] = []
    sizes = taeda.zeros(size_of(group), dtype=taeda.int64)
    if get_rank(group) == root:
        if not scatter_object_input_list:
            raise ValueError(f"taeda.distributed.{name}: this process has to give the input list")
        one_per_process(name, "the input list", scatter_object_input_list, group)
        parts = [_to_bytes(one) for one in scatter_object_input_list]
        sizes = taeda.tensor([part.numel() for part in parts])
    broadcast(sizes, group=group, group_src=root)
    most, own = int(sizes.max()), int(sizes[get_rank(group)])
    received = taeda.empty(most, dtype=taeda.uint8)
    scatter(received, [_filled(part, most) for part in parts] or None, group=group, group_src=root)
    scatter_object_output_list[0] = _from_bytes(received, own)


def send_object_list(
    object_list: list[Any], dst: int | None = None, group: Group = None, device: Device = None,
    group_dst: int | None = None, use_batch: bool = False,
) -> None:  # fmt: skip
    """Sends objects to the process ``dst`` (``group_dst`` in the group), which calls `recv_object_list`.

    Raises:
        ValueError: the list is empty, or ``dst`` is this process.
    """
    if _rank_not_in_group(group):
        return
    if not object_list:
        raise ValueError("taeda.distributed.send_object_list: object_list is empty")
    peer = group_rank("send_object_list", dst, group_dst, group)
    data = _to_bytes(list(object_list))
    send(taeda.tensor([data.numel()]), group=group, group_dst=peer)
    send(data, group=group, group_dst=peer)


def recv_object_list(
    object_list: list[Any], src: int | None = None, group: Group = None, device: Device = None,
    group_src: int | None = None, use_batch: bool = False,
) -> int:  # fmt: skip
    """Replaces the list's objects by those of the process ``src``, any by default. Gives the sender's (global) rank."""
    if _rank_not_in_group(group):
        return -1
    size = taeda.zeros(1, dtype=taeda.int64)
    sender = recv(size, src, group, group_src=group_src)
    data = taeda.empty(int(size), dtype=taeda.uint8)
    recv(data, group=group, group_src=get_group_rank(or_default(group), sender))
    _take("recv_object_list", object_list, _from_bytes(data, int(size)))
    return sender
