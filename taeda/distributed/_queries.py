"""Asking about groups."""

from __future__ import annotations

import os
from typing import Any

from taeda.distributed._group import GroupMember, Made, ProcessGroup, world
from taeda.distributed._store import Store

__all__ = [
    "get_backend", "get_backend_config", "get_global_rank", "get_group_rank", "get_node_local_rank", "get_pg_count",
    "get_process_group_ranks", "get_rank", "get_world_size",
]  # fmt: skip


def _get_default_group() -> ProcessGroup:
    """The group of all processes.

    Raises:
        ValueError: there is none.
    """
    if world.default is None:
        raise ValueError("taeda.distributed: there is no process group; call init_process_group first")
    return world.default


def _get_default_store() -> Store:
    """The store that the processes met at.

    Raises:
        ValueError: there is no process group.
    """
    _get_default_group()
    store: Store = world.store
    return store


def _rank_not_in_group(group: Any) -> bool:
    """Whether ``group`` stands for one that this process is not in."""
    return group is not None and group == GroupMember.NON_GROUP_MEMBER


def _made(group: ProcessGroup | None) -> Made:
    """How ``group``, or that of all processes, was made; ValueError for one that is no group."""
    known = world.groups.get(_get_default_group() if group is None else group)
    if known is None:
        raise ValueError(f"taeda.distributed: {group!r} is no process group, or destroyed already")
    return known


def _resolve_process_group(group_name: str) -> ProcessGroup:
    """The group of that name.

    Raises:
        RuntimeError: there is none.
    """
    found = next((group for group in world.groups if group.group_name == group_name), None)
    if found is None:
        raise RuntimeError(f"taeda.distributed: no process group is called {group_name!r}; create it first")
    return found


def _get_process_group_store(pg: ProcessGroup) -> Store:
    """What of the store is the group's."""
    return _made(pg).store


def _get_process_group_name(pg: ProcessGroup) -> str:
    """The group's name; "None" for one that is not known."""
    return pg.group_name if pg in world.groups else "None"


def get_rank(group: ProcessGroup | None = None) -> int:
    """This process's number in the group, in that of all by default; -1 outside of it."""
    if _rank_not_in_group(group):
        return -1
    _made(group)
    return (_get_default_group() if group is None else group).rank()


def get_world_size(group: ProcessGroup | None = None) -> int:
    """How many processes a group has, that of all by default; -1 outside of it."""
    if _rank_not_in_group(group):
        return -1
    return len(_made(group).ranks)


def get_backend(group: ProcessGroup | None = None) -> str:
    """The name that the group's backend was asked for by; ``"undefined"`` if by none."""
    return _made(group).backend


def get_backend_config(group: ProcessGroup | None = None) -> str:
    """The group's backend for each kind of device, as in ``"cpu:gloo"``."""
    return str(_made(group).config)


def get_pg_count() -> int:
    """How many groups have been made since `init_process_group`, that of all processes included."""
    return world.made


def get_process_group_ranks(group: ProcessGroup | None) -> list[int]:
    """The global ranks of a group's processes, of all by default.

    Raises:
        KeyError: there is no such group.
    """
    known = world.groups.get(_get_default_group() if group is None else group)
    if known is None:
        raise KeyError(f"taeda.distributed.get_process_group_ranks: {group!r} is no process group")
    return list(known.ranks)


def get_global_rank(group: ProcessGroup, group_rank: int) -> int:
    """The number, among all, of the group's process ``group_rank``.

    Raises:
        ValueError: there is none.
    """
    if group is world.default:
        return group_rank
    ranks = _made(group).ranks
    if not 0 <= group_rank < len(ranks):
        raise ValueError(f"taeda.distributed.get_global_rank: rank {group_rank} of a group of {len(ranks)}")
    return ranks[group_rank]


def get_group_rank(group: ProcessGroup, global_rank: int) -> int:
    """The number in the group of the process ``global_rank``.

    Raises:
        ValueError: it is not in it.
    """
    if group is world.default:
        return global_rank
    ranks = _made(group).ranks
    if global_rank not in ranks:
        raise ValueError(f"taeda.distributed.get_group_rank: process {global_rank} is none of {ranks}")
    return ranks.index(global_rank)


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """This process's number on its machine, as the launcher says in LOCAL_RANK.

    Raises:
        RuntimeError: it does not, and there is no ``fallback_rank``.
    """
    if "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"])
    if fallback_rank is None:
        raise RuntimeError("taeda.distributed.get_node_local_rank: LOCAL_RANK is not set, and no fallback_rank given")
    return int(fallback_rank)
