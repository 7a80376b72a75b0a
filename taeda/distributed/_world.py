"""The group of all processes: made, asked for and taken away."""

from __future__ import annotations

import os
import warnings
from datetime import timedelta
from typing import Any

import taeda
from taeda._C import _distributed
from taeda.distributed._backend import Backend, BackendConfig, check_backends, plugins
from taeda.distributed._backend_class import BackendType
from taeda.distributed._engine import EngineBackend
from taeda.distributed._errors import DistBackendError
from taeda.distributed._group import GroupMember, Made, ProcessGroup, world
from taeda.distributed._queries import _get_default_group as _get_default_group
from taeda.distributed._queries import _get_default_store as _get_default_store
from taeda.distributed._queries import _made as _made
from taeda.distributed._queries import _rank_not_in_group as _rank_not_in_group
from taeda.distributed._queries import get_group_rank as get_group_rank
from taeda.distributed._queries import get_process_group_ranks as get_process_group_ranks
from taeda.distributed._queries import get_rank as get_rank
from taeda.distributed._queries import get_world_size as get_world_size
from taeda.distributed._store import PrefixStore, Store
from taeda.distributed.constants import default_pg_timeout
from taeda.distributed.rendezvous import rendezvous

__all__ = ["destroy_process_group", "init_process_group", "is_available", "is_initialized", "is_torchelastic_launched"]

_generation = 0  # how often this process has begun anew: keys of a store that lives on are not taken for new ones


def is_available() -> bool:
    """True: this package is there."""
    return True


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
    _ranks: list[int] | None = None,
) -> None:
    """Makes the group of all processes, which meet at a store.

    Args:
        backend: ``"gloo"`` or ``"mpi"``, which are the same here, or by kind of device as in ``"cpu:gloo"``; None for
            what there is.
        init_method: ``env://`` (the default), ``tcp://host:port`` or ``file://path``; see `rendezvous`.
        timeout: how long to wait for the other processes, now and in collectives.
        store: in place of ``init_method``; ``rank`` and ``world_size`` are needed with it.
        group_name: without meaning.
        pg_options: how a backend of a program's own is made.
        device_id: the device of this process.

    Raises:
        ValueError: there is such a group already, or ``init_method`` lacks something.
        AssertionError: an unknown backend, or arguments that do not go together.
        RuntimeError: a backend that is not there.
        DistStoreError: some processes did not come.
        DistBackendError: MPI, which several processes need, is missing or failed.
        TypeError: ``timeout`` is none.
    """
    global _generation
    if world.default is not None:
        raise ValueError("taeda.distributed.init_process_group: there is a default process group already")
    if store is not None and init_method is not None:
        raise AssertionError("taeda.distributed.init_process_group: give init_method or store, not both")
    if store is not None and (world_size < 1 or rank < 0):
        raise AssertionError(
            f"taeda.distributed.init_process_group: a store needs rank and world_size; got {rank} and {world_size}"
        )
    limit = checked_timeout("init_process_group", timeout)
    name = Backend(Backend.UNDEFINED if backend is None else backend)
    if store is None:
        store, rank, world_size = next(rendezvous(init_method or "env://", rank, world_size, timeout=limit))
        store.set_timeout(limit)
    if not 0 <= rank < world_size:
        raise RuntimeError(
            f"taeda.distributed.init_process_group: rank is wanted from 0 to {world_size - 1}; got {rank}"
        )
    _generation += 1
    _check_size(store, rank, world_size)
    ranks = list(range(world_size))
    world.default = make("init_process_group", name, ranks, rank, store, limit, "default_pg", pg_options, device_id)
    world.store = store


def _check_size(store: Any, rank: int, size: int) -> None:
    """DistBackendError if another process was told of another number of processes: it would be waited for in vain."""
    if size == 1:
        return
    try:
        others = PrefixStore(f"group/{_generation}", store).compare_set("world_size", "", str(size))
    except NotImplementedError:  # a store of a program's own has what it has
        return
    if int(others) != size:
        raise DistBackendError(
            f"taeda.distributed.init_process_group: rank {rank} was started for {size} processes, another for "
            f"{int(others)}; all want the same WORLD_SIZE, or world_size="
        )


def checked_timeout(function: str, timeout: Any) -> timedelta:
    """``timeout``, or the usual one.

    Raises:
        TypeError: it is no timedelta.
    """
    if timeout is not None and not isinstance(timeout, timedelta):
        raise TypeError(f"taeda.distributed.{function}: timeout is wanted as a datetime.timedelta; got {timeout!r}")
    return default_pg_timeout if timeout is None else timeout


def place_of(name: str, store: Any) -> PrefixStore:
    """What of the store is the group's of that name."""
    return PrefixStore(f"group/{_generation}/{name}", store)


def make(
    function: str,
    backend: str,
    ranks: list[int],
    rank: int,
    store: Any,
    timeout: timedelta,
    description: str,
    options: Any,
    device_id: Any,
    name: str | None = None,
) -> ProcessGroup:
    """A group of the processes ``ranks``, of which this one is number ``rank``; all of them call this."""
    config = BackendConfig(backend)
    check_backends(config)
    name = str(world.made) if name is None else name
    place = place_of(name, store)
    made = ProcessGroup(place, rank, len(ranks))
    engine: Any = None
    by_kind: dict[str, Any] = {}  # one serves all devices that name it
    for device, kind in config.device_backend_map.items():
        if kind in plugins:
            if kind not in by_kind:
                by_kind[kind] = plugins[kind].make(place, rank, len(ranks), timeout, name, ranks, options)
            if isinstance(by_kind[kind], ProcessGroup):
                made = by_kind[kind]  # a whole group of the program's own
                break
            made._register_backend(device, BackendType.CUSTOM, by_kind[kind])
            continue
        if kind == "fake":
            from taeda.distributed._fake import FakeBackend

            made._register_backend(device, BackendType.CUSTOM, FakeBackend(rank, len(ranks)))
            continue
        if options is not None:
            warnings.warn(f"taeda.distributed.{function}: pg_options is ignored: {backend} has none", stacklevel=3)
            options = None
        if engine is None:
            maker = world.engine or EngineBackend
            engine = _checked_calls(maker(place, rank, len(ranks), timeout), place, timeout)
        made._register_backend(device, BackendType.MPI if kind == Backend.MPI else BackendType.GLOO, engine)
    made._set_group_name(name)
    made._set_group_desc(description)
    made._limit = timeout
    made.bound_device_id = None if device_id is None else taeda.device(device_id)
    world.made += 1
    world.groups[made] = Made(backend, config, ranks, place, timeout)
    return made


def _checked_calls(engine: EngineBackend, store: Any, timeout: timedelta) -> Any:
    """The engine, behind what compares the ranks' calls where `DebugLevel.DETAIL` asks for it."""
    from taeda.distributed._debug import CheckedBackend, DebugLevel, get_debug_level

    return CheckedBackend(engine, store, timeout) if get_debug_level() == DebugLevel.DETAIL else engine


def destroy_process_group(group: ProcessGroup | None = None) -> None:
    """Takes a group away, when its work is done; without one, or with that of all processes, all of them.

    Raises:
        AssertionError: there is none.
        ValueError: it is away already.
    """
    if group == GroupMember.NON_GROUP_MEMBER:
        return
    if group is None and world.default is None:
        raise AssertionError("taeda.distributed.destroy_process_group: there is no process group")
    if group is None or group is world.default:
        groups = [*world.groups]
        world.clear()
        for one in groups:
            one.shutdown()
        _distributed.leave_processes()
    elif world.groups.pop(group, None) is None:
        raise ValueError(f"taeda.distributed.destroy_process_group: {group} is no process group, or destroyed already")
    else:
        group.shutdown()


def _abort_process_group(group: ProcessGroup | None = None) -> None:
    """Ends a group's work with errors; without one, or with that of all processes, that of all groups."""
    groups = [*world.groups] if group is None or group is world.default else [group]
    for one in groups:
        one.abort()
    destroy_process_group(group)
