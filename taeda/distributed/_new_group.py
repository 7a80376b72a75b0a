"""Groups of some of the processes."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any

from taeda.distributed._backend import Backend, BackendConfig
from taeda.distributed._errors import DistError
from taeda.distributed._group import GroupMember, ProcessGroup, world
from taeda.distributed._queries import _made, get_process_group_ranks, get_rank, get_world_size
from taeda.distributed._world import checked_timeout, make, place_of

__all__ = ["new_group", "new_subgroups", "new_subgroups_by_enumeration", "split_group"]


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

    All processes call this, also those that get no group (`GroupMember.NON_GROUP_MEMBER`), in the same order; with
    ``use_local_synchronization`` the members alone: others get None.

    Raises:
        ValueError: there is no such process, one is named twice, or none.
    """
    default = _made(None)
    limit = default.timeout if timeout is None else checked_timeout("new_group", timeout)
    members = list(default.ranks if ranks is None else ranks)
    if not members or len(set(members)) != len(members) or not set(members) <= set(default.ranks):
        raise ValueError(f"taeda.distributed.new_group: ranks are wanted once each of {default.ranks}; got {members}")
    if sort_ranks:
        members.sort()
    if use_local_synchronization and get_rank() not in members:
        return None  # type: ignore[return-value]
    name = Backend(default.backend if backend is None else backend)
    server = None if use_local_synchronization else _server_outside(default.ranks, members, name)
    place = place_of(str(world.made), world.store)
    if get_rank() not in members:
        world.made += 1
        if get_rank() == server:
            place.wait([MADE], limit)
        return GroupMember.NON_GROUP_MEMBER  # type: ignore[return-value]
    title = _local_name(members) if use_local_synchronization else None
    rank = members.index(get_rank())
    made = make(
        "new_group", name, members, rank, world.store, limit, group_desc or "undefined", pg_options, device_id, title
    )
    world.made -= use_local_synchronization  # which other processes do not count
    if rank == 0 and server is not None:
        with suppress(DistError):  # who waited for others than this one may be gone
            place.set(MADE, b"")  # one member has the group, so that all have met
    return made


MADE = "made"


def _server_outside(everyone: list[int], members: list[int], backend: str) -> int | None:
    """The process that may serve the store at which the members meet, and must not end before they have, unless it is
    one of them; None also where nobody meets."""
    met = {Backend.GLOO, Backend.MPI} & {*BackendConfig(backend).device_backend_map.values()}
    return everyone[0] if met and everyone[0] not in members and len(members) > 1 and world.engine is None else None


def _local_name(members: list[int]) -> str:
    """A name that the members agree on without the others."""
    who = hashlib.sha1(",".join(map(str, members)).encode()).hexdigest()
    world.local[who] = world.local.get(who, 0) + 1
    return f"{who}_{world.local[who]}"


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
    """A group of each list of ranks: this process's own one (None without), and all.

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
    own = next((one for ranks, one in zip(ranks_per_subgroup_list, made) if get_rank() in ranks), None)
    return own, made  # type: ignore[return-value]


def split_group(
    parent_pg: ProcessGroup | None = None,
    split_ranks: Sequence[Sequence[int]] | None = None,
    timeout: timedelta | None = None,
    pg_options: Any = None,
    group_desc: str | None = None,
    backend: str | None = None,
) -> ProcessGroup | None:
    """This process's own one of the groups ``split_ranks``, lists of ranks of the parent; None if it is in none.

    All processes of the parent call this. Unlike with `new_group` no other process takes part.

    Raises:
        ValueError: no lists, an empty one, or a rank that is twice or not in the parent.
    """
    if not split_ranks:
        raise ValueError("taeda.distributed.split_group: split_ranks is wanted as at least one list of ranks")
    parent = get_process_group_ranks(parent_pg)
    everyone = [rank for ranks in split_ranks for rank in ranks]
    if len(set(everyone)) != len(everyone) or not set(everyone) <= set(range(len(parent))) or not all(split_ranks):
        raise ValueError(
            f"taeda.distributed.split_group: split_ranks is wanted as lists of ranks of {len(parent)}, once each; "
            f"got {split_ranks}"
        )
    own = next((ranks for ranks in split_ranks if get_rank(parent_pg) in ranks), None)
    if own is None:
        return None
    members = [parent[rank] for rank in own]
    made = _made(parent_pg)
    return new_group(
        members, timeout or made.timeout, backend or made.backend, pg_options, True, group_desc, sort_ranks=False
    )
