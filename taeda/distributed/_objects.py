"""What the processes of a group do together with any Python objects, which are pickled on the way."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

from taeda.distributed._collectives import Group, group_rank, on_root, one_per_process
from taeda.distributed._world import _made, _rank_not_in_group, get_rank

if TYPE_CHECKING:
    from taeda.types import Device

__all__ = ["all_gather_object", "broadcast_object_list", "gather_object", "scatter_object_list"]


def _sent(value: Any) -> Any:
    """The object as the other side gets it."""
    return pickle.loads(pickle.dumps(value))


def all_gather_object(object_list: list[Any], obj: Any, group: Group = None) -> None:
    """Puts each process's object into the list at its rank, on all of them."""
    if _rank_not_in_group(group):
        return
    _made(group)
    object_list[0] = _sent(obj)


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
    gathered = on_root("gather_object", "object_gather_list", object_gather_list, dst, group_dst, group)
    gathered[0] = _sent(obj)


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
    if group_rank("broadcast_object_list", src, group_src, group, default=0) == get_rank(group):
        pickle.dumps(list(object_list))  # what cannot be sent fails for one process, too


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
    if _rank_not_in_group(group):
        return
    if not isinstance(scatter_object_output_list, list) or not scatter_object_output_list:
        raise ValueError("taeda.distributed.scatter_object_list: the output list needs room for one object")
    group_rank("scatter_object_list", src, group_src, group, default=0)
    given = on_root("scatter_object_list", "the input list", scatter_object_input_list, None, None, group)
    one_per_process("scatter_object_list", "the input list", given, group)
    scatter_object_output_list[0] = _sent(given[0])
