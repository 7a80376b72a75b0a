"""Tensors from one process to another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor
from taeda.distributed._arguments import Group, group_rank, one_tensor, or_default
from taeda.distributed._group import Work
from taeda.distributed._queries import _made, _rank_not_in_group, get_global_rank, get_rank

__all__ = ["P2POp", "batch_isend_irecv", "irecv", "isend", "recv", "send"]


def _peer(name: str, tensor: Any, peer: Any, peer_in_group: Any, group: Group) -> int:
    one_tensor(name, "tensor", tensor)
    rank = group_rank(name, peer, peer_in_group, group, default=None)
    if rank == get_rank(group):
        raise ValueError(f"taeda.distributed.{name}: rank {rank} is this process itself, rank {get_rank(group)}")
    return rank


@taeda._C._overridable
def isend(
    tensor: Tensor, dst: int | None = None, group: Group = None, tag: int = 0, group_dst: int | None = None
) -> Work | None:
    """`send` that gives a `Work`; the tensor is not to be changed before it is done."""
    if _rank_not_in_group(group):
        return None
    rank = _peer("isend", tensor, dst, group_dst, group)
    return or_default(group).send([tensor], rank, tag)


@taeda._C._overridable
def irecv(
    tensor: Tensor, src: int | None = None, group: Group = None, tag: int = 0, group_src: int | None = None
) -> Work | None:
    """`recv` that gives a `Work`."""
    if _rank_not_in_group(group):
        return None
    one_tensor("irecv", "tensor", tensor)
    if src is None and group_src is None:
        return or_default(group).recv_anysource([tensor], tag)
    rank = _peer("irecv", tensor, src, group_src, group)
    return or_default(group).recv([tensor], rank, tag)


@taeda._C._overridable
def send(
    tensor: Tensor, dst: int | None = None, group: Group = None, tag: int = 0, group_dst: int | None = None
) -> None:
    """Sends a tensor to the process ``dst`` (``group_dst`` in the group), which receives with the same ``tag``.

    Raises:
        ValueError: it is this one.
    """
    _peer("send", tensor, dst, group_dst, group)
    work = isend(tensor, dst, group, tag, group_dst)
    if work is not None:
        work.wait()


@taeda._C._overridable
def recv(
    tensor: Tensor, src: int | None = None, group: Group = None, tag: int = 0, group_src: int | None = None
) -> int:
    """Receives a tensor of the same size and dtype as it was sent with, from any process by default.

    Returns the (global) rank of the sender, -1 for a group that this process is not in.

    Raises:
        ValueError: the sender is this process.
    """
    if _rank_not_in_group(group):
        return -1
    if src is not None or group_src is not None:
        _peer("recv", tensor, src, group_src, group)
    work = irecv(tensor, src, group, tag, group_src)
    if work is None:
        return -1
    work.wait()
    if src is not None:
        return src
    made = or_default(group)
    return get_global_rank(made, work.source_rank() if group_src is None else group_src)


class P2POp:
    """A message for `batch_isend_irecv`: ``op`` is `isend` or `irecv`."""

    def __init__(
        self,
        op: Callable[..., Any],
        tensor: Tensor,
        peer: int | None = None,
        group: Group = None,
        tag: int = 0,
        group_peer: int | None = None,
    ) -> None:
        if op not in (isend, irecv):
            raise ValueError(f"taeda.distributed.P2POp: op is wanted as isend or irecv; got {op!r}")
        one_tensor("P2POp", "tensor", tensor)
        self.op = op
        self.tensor = tensor
        self.group = or_default(group)
        self.group_peer = _peer("P2POp", tensor, peer, group_peer, group)
        self.peer = get_global_rank(self.group, self.group_peer)
        self.tag = tag

    def __repr__(self) -> str:
        return (
            f"P2POp({self.op.__name__}, {self.tensor.dtype}{list(self.tensor.shape)}, peer={self.peer}, tag={self.tag})"
        )


def batch_isend_irecv(p2p_op_list: list[P2POp]) -> list[Work]:
    """Starts messages together, in whatever order they are listed. A `Work` of each.

    Raises:
        ValueError: no list, or one that holds something else, or messages of several groups.
        IndexError: the list is empty.
    """
    if not isinstance(p2p_op_list, list) or not all(isinstance(one, P2POp) for one in p2p_op_list):
        raise ValueError(f"taeda.distributed.batch_isend_irecv: a list of P2POp is wanted; got {p2p_op_list!r:.200}")
    if not p2p_op_list:
        raise IndexError("taeda.distributed.batch_isend_irecv: at least one P2POp is wanted; got an empty list")
    if len({id(one.group) for one in p2p_op_list}) > 1:
        raise ValueError("taeda.distributed.batch_isend_irecv: all messages are wanted of one group")
    _made(p2p_op_list[0].group)
    ordered = sorted(p2p_op_list, key=lambda one: one.op is isend)  # receives first: what is sent finds its place
    works = {id(one): one.op(one.tensor, group=one.group, tag=one.tag, **_named(one)) for one in ordered}
    return [works[id(one)] for one in p2p_op_list]


def _named(one: P2POp) -> dict[str, int]:
    return {"group_dst" if one.op is isend else "group_src": one.group_peer}
