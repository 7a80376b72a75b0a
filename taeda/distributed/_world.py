"""Making groups of processes, and asking about them. As of now a group is this process alone."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import taeda
from taeda.distributed._backend import Backend, BackendConfig, check_backends
from taeda.distributed._group import GroupMember, Made, ProcessGroup, world
from taeda.distributed._store import Store
from taeda.distributed.constants import default_pg_timeout
from taeda.distributed.rendezvous import only_one, rendezvous

__all__ = [
    "destroy_process_group", "get_backend", "get_backend_config", "get_global_rank", "get_group_rank",
    "get_node_local_rank", "get_pg_count", "get_process_group_ranks", "get_rank", "get_world_size",
    "init_process_group", "is_available", "is_initialized", "is_torchelastic_launched", "new_group", "new_subgroups",
    "new_subgroups_by_enumeration",
]  # fmt: skip


def is_available() -> bool:
    """Whether there is a process group, or a launcher asks for one by WORLD_SIZE in the environment.

    Without either it is False, since libraries take it for a promise of what needs several processes (fully sharded
    modules, distributed checkpoints). `init_process_group` and ``DTensor`` work all the same.
    """
    return is_initialized() or "WORLD_SIZE" in os.environ


def is_initialized() -> bool:
    """Whether `init_process_group` has made the group of all processes."""
    return world.default is not None


def is_torchelastic_launched() -> bool:
    """Whether a launcher that restarts failed workers started this process."""
    return "TORCHELASTIC_RUN_ID" in os.environ


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: timedelta | None = None,
    world_size: int = -1,
    rank: int = -1,
    store: Store | None = None,
    group_name: str = "",
    pg_options: Any = None,
    device_id: Any = None,
) -> None:
    """Makes the group of all processes: of this one, as of now.

    Args:
        backend: ``"gloo"``, or by kind of device as in ``"cpu:gloo"``; None for what there is.
        init_method: ``env://`` (the default), ``tcp://host:port`` or ``file://path``; see `rendezvous`.
        timeout: how long to wait for the other processes.
        store: in place of ``init_method``; ``rank`` and ``world_size`` are needed with it.
        group_name, pg_options: without meaning here.
        device_id: the device of this process.

    Raises:
        ValueError: there is such a group already, or ``init_method`` lacks something.
        AssertionError: an unknown backend, or arguments that do not go together.
        RuntimeError: several processes, or a backend that is not there.
        TypeError: ``timeout`` is none.
    """
    if world.default is not None:
        raise ValueError("taeda.distributed.init_process_group: there is a default process group already")
    if store is not None and init_method is not None:
        raise AssertionError("taeda.distributed.init_process_group: give init_method or store, not both")
    if store is not None and (world_size < 1 or rank < 0):
        raise AssertionError(
            f"taeda.distributed.init_process_group: a store needs rank and world_size; got {rank} and {world_size}"
        )
    limit = _timeout("init_process_group", timeout)
    name = Backend(Backend.UNDEFINED if backend is None else backend)
    if store is None:
        store, rank, world_size = next(rendezvous(init_method or "env://", rank, world_size, timeout=limit))
        store.set_timeout(limit)
    only_one(world_size)
    if not 0 <= rank < world_size:
        raise RuntimeError(f"taeda.distributed.init_process_group: rank {rank} of {world_size}")
    made = _new("init_process_group", name, [0], "default_pg", pg_options, device_id)
    world.default, world.store = made, store


def _timeout(function: str, timeout: Any) -> timedelta:
    if timeout is not None and not isinstance(timeout, timedelta):
        raise TypeError(f"taeda.distributed.{function}: timeout is wanted as a datetime.timedelta; got {timeout!r}")
    return default_pg_timeout if timeout is None else timeout


def _new(function: str, backend: str, ranks: list[int], description: str, options: Any, device_id: Any) -> ProcessGroup:
    config = BackendConfig(backend)
    check_backends(config)
    if options is not None:
        warnings.warn(f"taeda.distributed.{function}: pg_options is ignored: {backend} has none", stacklevel=3)
    made = ProcessGroup(0, len(ranks))
    made.group_name, made.group_desc = str(world.made), description
    made.bound_device_id = None if device_id is None else taeda.device(device_id)
    world.made += 1
    world.groups[made] = Made(backend, config, ranks)
    return made


def destroy_process_group(group: ProcessGroup | None = None) -> None:
    """Takes a group away; without one, or with that of all processes, all of them.

    Raises:
        AssertionError: there is none.
        ValueError: it is away already.
    """
    if group == GroupMember.NON_GROUP_MEMBER:
        return
    if group is None and world.default is None:
        raise AssertionError("taeda.distributed.destroy_process_group: there is no process group")
    if group is None or group is world.default:
        world.__init__()  # type: ignore[misc]
    elif world.groups.pop(group, None) is None:
        raise ValueError(f"taeda.distributed.destroy_process_group: {group} is no process group, or destroyed already")


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


def new_group(
    ranks: Sequence[int] | None = None,
    timeout: timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    use_local_synchronization: bool = False,
    group_desc: str | None = None,
    device_id: Any = None,
    sort_ranks: bool = True,
) -> ProcessGroup:
    """A group of the processes ``ranks``, all by default; its backend is that of all processes by default.

    Raises:
        ValueError: there is no such process, one is named twice, or none.
    """
    default = _made(None)
    _timeout("new_group", timeout)
    members = list(default.ranks if ranks is None else ranks)
    if not members or len(set(members)) != len(members) or not set(members) <= set(default.ranks):
        raise ValueError(f"taeda.distributed.new_group: ranks are wanted once each of {default.ranks}; got {members}")
    name = default.backend if backend is None else Backend(backend)
    return _new("new_group", name, members, group_desc or "undefined", pg_options, device_id)


def new_subgroups(
    group_size: int | None = None,
    group: ProcessGroup | None = None,
    timeout: timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    group_desc: str | None = None,
) -> tuple[ProcessGroup, list[ProcessGroup]]:
    """Groups of ``group_size`` processes next to each other: this process's own one, and all.

    Raises:
        ValueError: ``group_size`` is missing (without GPUs there is no default) or does not divide the group.
    """
    count = get_world_size(group)
    if group_size is None or group_size < 1 or count % group_size:
        raise ValueError(f"taeda.distributed.new_subgroups: group_size must divide {count}; got {group_size}")
    ranks = get_process_group_ranks(group)
    parts = [ranks[start : start + group_size] for start in range(0, count, group_size)]
    return new_subgroups_by_enumeration(parts, timeout, backend, pg_options, group_desc)


def new_subgroups_by_enumeration(
    ranks_per_subgroup_list: Sequence[Sequence[int]],
    timeout: timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    group_desc: str | None = None,
) -> tuple[ProcessGroup, list[ProcessGroup]]:
    """A group of each list of ranks: this process's own one, and all.

    Raises:
        ValueError: there is no list, or a rank is in two of them.
    """
    if not ranks_per_subgroup_list:
        raise ValueError("taeda.distributed.new_subgroups_by_enumeration: at least one list of ranks is needed")
    everyone = [rank for ranks in ranks_per_subgroup_list for rank in ranks]
    if len(set(everyone)) != len(everyone):
        raise ValueError(
            f"taeda.distributed.new_subgroups_by_enumeration: a rank is in two groups: {ranks_per_subgroup_list}"
        )
    made = [new_group(ranks, timeout, backend, pg_options, group_desc=group_desc) for ranks in ranks_per_subgroup_list]
    return made[0], made
