"""Groups that programs make by hand beside the default one, and objects as tensors."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import taeda
from taeda import Tensor
from taeda.distributed import get_global_rank, get_process_group_ranks, get_world_size
from taeda.distributed._backend import Backend
from taeda.distributed._group import ProcessGroup, world
from taeda.distributed._objects import _from_bytes, _to_bytes
from taeda.distributed._world import checked_timeout, make

__all__ = [
    "_get_global_rank", "_get_group_size", "_get_pg_default_device", "_new_process_group_helper", "_object_to_tensor",
    "_store_based_barrier", "_tensor_to_object", "_world",
]  # fmt: skip


def _object_to_tensor(obj: Any, device: Any, group: ProcessGroup | None = None) -> tuple[Tensor, Tensor]:
    """A pickled object as bytes, and how many they are."""
    data = _to_bytes(obj).to(device)
    return data, taeda.tensor([data.numel()], device=device)


def _tensor_to_object(tensor: Tensor, tensor_size: Any, group: ProcessGroup | None = None) -> Any:
    """The object that the first ``tensor_size`` bytes are."""
    return _from_bytes(tensor.cpu(), int(tensor_size))


def _get_global_rank(group: ProcessGroup, rank: int) -> int:
    """Among all processes, of a process of ``group``."""
    return get_global_rank(group, rank)


def _get_group_size(group: ProcessGroup | None) -> int:
    """How many processes it has."""
    return get_world_size(group)


def _get_pg_default_device(group: ProcessGroup | None = None) -> taeda.device:
    """Where its collectives take tensors from."""
    return taeda.device("cpu")


def _new_process_group_helper(
    group_size: int, group_rank: int, global_ranks_in_group: list[int], backend: Any, store: Any, group_name: str,
    backend_options: Any = None, timeout: timedelta | None = None, pg_tag: str | None = None, device_id: Any = None,
    group_desc: str | None = None,
) -> tuple[ProcessGroup, Any]:  # fmt: skip
    """A group of ``group_size`` processes that meet at ``store``, which need no default group, and its part of it."""
    name = "_new_process_group_helper"
    ranks = list(global_ranks_in_group) or list(range(group_size))
    made = make(
        name, Backend(backend or Backend.UNDEFINED), ranks, group_rank, store, checked_timeout(name, timeout),
        group_desc or "undefined", backend_options, device_id, group_name,
    )  # fmt: skip
    return made, world.groups[made].store


def _store_based_barrier(
    rank: int, store: Any, group_name: str, rendezvous_count: int, timeout: timedelta, logging_interval: Any = None
) -> None:
    """Returns once ``rendezvous_count`` processes have called this.

    Raises:
        DistStoreError: some did not come within ``timeout``.
    """
    key = f"store_based_barrier:{group_name}"
    if store.add(key, 1) >= rendezvous_count:
        store.set(f"{key}:all", "")
    store.wait([f"{key}:all"], timeout)


class _Ranks(dict[ProcessGroup, dict[int, int]]):
    """By group, by global rank the rank in it; what is set is known to the group."""

    def __setitem__(self, group: ProcessGroup, ranks: dict[int, int]) -> None:
        super().__setitem__(group, ranks)
        world.groups[group] = world.groups[group]._replace(ranks=sorted(ranks, key=ranks.__getitem__))


class _World:
    """The groups of this process."""

    @property
    def default_pg(self) -> ProcessGroup | None:
        return world.default

    @property
    def group_count(self) -> int:
        return world.made

    @property
    def pg_map(self) -> dict[ProcessGroup, tuple[str, Any]]:
        """Backend and store of each."""
        return {group: (made.backend, made.store) for group, made in world.groups.items()}

    @property
    def pg_names(self) -> dict[ProcessGroup, str]:
        return {group: group.group_name for group in world.groups}

    @property
    def pg_group_ranks(self) -> _Ranks:
        return _Ranks(
            (group, {rank: index for index, rank in enumerate(get_process_group_ranks(group))})
            for group in world.groups
        )


_world = _World()
