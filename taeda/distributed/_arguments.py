"""What the arguments of collectives and messages are checked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from taeda import Tensor
from taeda.distributed._group import ProcessGroup, world
from taeda.distributed._queries import _made, get_group_rank, get_rank
from taeda.distributed._work import Work

Group = ProcessGroup | None


def one_tensor(name: str, what: str, value: Any) -> None:
    if not isinstance(value, Tensor):
        raise TypeError(f"taeda.distributed.{name}: {what} is wanted as a Tensor; got {type(value).__name__}")


def check_list(name: str, what: str, values: Any) -> None:
    if not isinstance(values, list) or not all(isinstance(value, Tensor) for value in values):
        raise TypeError(f"taeda.distributed.{name}: {what} is wanted as a list of Tensors; got {values!r:.200}")


def same_dtype(name: str, tensors: Sequence[Tensor]) -> None:
    # A complex number counts as two of its parts.
    if len({tensor.dtype.to_real() if tensor.is_complex() else tensor.dtype for tensor in tensors}) > 1:
        raise ValueError(f"taeda.distributed.{name}: dtypes differ: {[str(tensor.dtype) for tensor in tensors]}")


def size_of(group: Group) -> int:
    if isinstance(group, ProcessGroup) and group.made_by_hand:
        return group.size()
    return len(_made(group).ranks)


def one_per_process(name: str, what: str, values: Sequence[Any], group: Group) -> None:
    """Raises unless there is one value for each process."""
    if len(values) != size_of(group):
        raise RuntimeError(
            f"taeda.distributed.{name}: {what} is wanted with an entry for each of {size_of(group)} processes; "
            f"got {len(values)}"
        )


def group_rank(name: str, global_rank: Any, rank: Any, group: Group, default: int | None = None) -> int:
    """The number in ``group`` of a process that is given by its global number or by that in the group.

    Raises:
        ValueError: both are given; or none, and there is no default.
        TypeError: it is no number.
        RuntimeError: there is no such process.
    """
    if global_rank is not None and rank is not None:
        raise ValueError(f"taeda.distributed.{name}: a global rank and one in the group are given; only one can be")
    if global_rank is None and rank is None:
        if default is None:
            raise ValueError(f"taeda.distributed.{name}: src or dst is needed")
        rank = default
    wanted = global_rank if rank is None else rank
    if not isinstance(wanted, int):
        raise TypeError(f"taeda.distributed.{name}: a rank is wanted as an int; got {wanted!r}")
    if rank is None and group is not None:
        wanted = get_group_rank(group, wanted)
    if not 0 <= wanted < size_of(group):
        raise RuntimeError(f"taeda.distributed.{name}: there is no rank {wanted} in a group of {size_of(group)}")
    return wanted


def on_root(name: str, what: str, given: Any, root: int | None, root_in_group: int | None, group: Group) -> Any:
    """The root's rank in the group, and the list that it has to give, and no other may."""
    own = get_rank(group)
    claimed = root_in_group if root_in_group is not None else root
    if given and size_of(group) == 1 and claimed:
        raise ValueError(f"taeda.distributed.{name}: {what} is for rank {claimed} alone to give")
    rank = group_rank(name, root, root_in_group, group, default=0)
    if given and rank != own:
        raise ValueError(f"taeda.distributed.{name}: {what} is for rank {rank} alone to give, not for rank {own}")
    if not given and rank == own:
        raise ValueError(f"taeda.distributed.{name}: this process has to give {what}")
    return rank, list(given or ())


def settled(work: Any, async_op: bool) -> Work | None:
    """What a collective gives: its work, or nothing once that is done."""
    if async_op:
        return work  # type: ignore[no-any-return]
    if work is not None:
        work.wait()
    return None


def or_default(group: Group) -> ProcessGroup:
    """``group``, or that of all processes; ValueError for one that is no group, nor made by hand."""
    if isinstance(group, ProcessGroup) and group.made_by_hand:
        return group
    if group is None or group not in world.groups:
        _made(group)
        return world.default  # type: ignore[return-value]
    return group
