"""Groups by their ranks and a tag: a group of the same two is made once."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from taeda.distributed._errors import DistError
from taeda.distributed._group import ProcessGroup, world
from taeda.distributed._new_group import MADE, new_group
from taeda.distributed._queries import _made, get_process_group_ranks, get_rank
from taeda.distributed._world import place_of

_UNTAGGED, _TAGGED = "ptd:", "user:"  # before the name of a group without a tag, and before a program's tag


def _get_group_tag(pg: ProcessGroup) -> str:
    """The group's tag; one without has its name for it.

    Raises:
        ValueError: it is no group.
    """
    return _made(pg).tag or _UNTAGGED + pg.group_name


def _find_pg_by_ranks_and_tag(tag: str, ranks: Sequence[int]) -> ProcessGroup | None:
    """The first group of these ranks with the tag, or where that is empty without one; None if there is none."""
    for group, made in world.groups.items():
        fits = _get_group_tag(group) == tag if tag.startswith(_UNTAGGED) else made.tag == tag.removeprefix(_TAGGED)
        if fits and sorted(made.ranks) == sorted(ranks):
            return group
    return None


def _new_group_with_tag(
    ranks: Sequence[int] | None = None,
    timeout: Any = None,
    backend: str | None = None,
    backend_options: Any = None,
    pg_tag: str | None = None,
    use_local_synchronization: bool = False,
    group_desc: str | None = None,
    device_id: Any = None,
    sort_ranks: bool = True,
) -> ProcessGroup:
    """`new_group`, unless there is one of these ranks with the tag ``pg_tag``, which then is the result."""
    members = list(_made(None).ranks if ranks is None else ranks)
    if pg_tag and (found := _find_pg_by_ranks_and_tag(pg_tag, members)) is not None:
        if not use_local_synchronization:
            _count_as_made(members)
        return found
    made = new_group(
        members, timeout, backend, backend_options, use_local_synchronization, group_desc, device_id, sort_ranks
    )
    if pg_tag and made in world.groups:
        world.groups[made] = world.groups[made]._replace(tag=pg_tag.removeprefix(_TAGGED))
    return made


def _count_as_made(members: list[int]) -> None:
    """Processes outside of a group do not know that there is one, and count another."""
    if get_rank() == min(members):
        with suppress(DistError):
            place_of(str(world.made), world.store).set(MADE, b"")
    world.made += 1


def _find_or_create_pg_by_ranks_and_tag(tag: str, ranks: Sequence[int], stride: int) -> ProcessGroup:
    """This process's group of those that ``ranks`` gives in runs of ``stride``.

    Raises:
        ValueError: the runs are not of one length.
        RuntimeError: this process is in none, or there is no such group and no tag to make one for.
    """
    if len(ranks) % stride:
        raise ValueError(f"taeda.distributed: {len(ranks)} ranks do not make groups of {stride}")
    runs = [list(ranks[start : start + stride]) for start in range(0, len(ranks), stride)]
    own = next((run for run in runs if get_rank() in run), None)
    found = None if own is None else _find_pg_by_ranks_and_tag(tag, own)
    if found is not None:
        return found
    if own is None or not tag:
        raise RuntimeError(f"taeda.distributed: there is no process group of {own or list(ranks)} for {get_rank()}")
    return _new_group_with_tag(sorted(own), pg_tag=tag, use_local_synchronization=True)


def expand_group(group: Any, tag: str = "") -> tuple[str, list[int], int]:
    """What ``group`` stands for: its tag unless one is given, ranks, and how many of these are one group.

    Args:
        group: ranks, groups' lists of ranks, a process group, a mesh of one dimension, or a mesh and a dimension.

    Raises:
        ValueError: lists of different lengths, or no group at all.
        AssertionError: a mesh of several dimensions.
    """
    if isinstance(group, list):
        lists = group if group and isinstance(group[0], list) else [group]
        if len({len(one) for one in lists}) != 1:
            raise ValueError(f"taeda.distributed: groups of one size are wanted; got {group}")
        return tag, [rank for one in lists for rank in one], len(lists[0])
    if isinstance(group, tuple):
        mesh, dim = group
        group = mesh.get_group(dim)
    elif hasattr(group, "get_group"):
        if group.ndim != 1:
            raise AssertionError(
                f"taeda.distributed: a mesh of one dimension, or a dimension too, is wanted; got {group}"
            )
        group = group.get_group()
    if not isinstance(group, ProcessGroup):
        raise ValueError(f"taeda.distributed: a group, ranks or a mesh is wanted; got {group!r}")
    ranks = get_process_group_ranks(group)
    return tag or _get_group_tag(group), ranks, len(ranks)
