"""Writing checkpoints."""

from __future__ import annotations

import os
import warnings
import weakref
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from enum import Enum
from typing import Any

from taeda.distributed._group import world
from taeda.distributed._new_group import new_group
from taeda.distributed._queries import get_process_group_ranks
from taeda.distributed._world import is_initialized
from taeda.distributed.checkpoint._former import as_called_first
from taeda.distributed.checkpoint._together import Together
from taeda.distributed.checkpoint.default_planner import DefaultSavePlanner
from taeda.distributed.checkpoint.filesystem import FileSystemWriter
from taeda.distributed.checkpoint.metadata import Metadata
from taeda.distributed.checkpoint.planner import SavePlanner
from taeda.distributed.checkpoint.staging import AsyncStager, BlockingAsyncStager
from taeda.distributed.checkpoint.stateful import Stateful
from taeda.distributed.checkpoint.storage import StorageWriter

__all__ = ["AsyncCheckpointerType", "AsyncSaveResponse", "async_save", "save", "save_state_dict"]


class AsyncCheckpointerType(Enum):
    """What writes in the background; a thread, in either case."""

    THREAD = "thread"
    PROCESS = "process"


@dataclass
class AsyncSaveResponse:
    """When the copy is made, and when it is written."""

    staging_completion: Future[None]
    upload_completion: Future[None]


def save_state_dict(
    state_dict: dict[str, Any], storage_writer: StorageWriter, process_group: Any = None, coordinator_rank: int = 0,
    no_dist: bool = False, planner: SavePlanner | None = None,
) -> Metadata:  # fmt: skip
    """`save`, as it was called first."""
    storage_writer.reset()
    return _save(state_dict, storage_writer, process_group, coordinator_rank, no_dist, planner)


@as_called_first("storage_writer")
def save(
    state_dict: dict[str, Any], *, checkpoint_id: str | os.PathLike[str] | None = None,
    storage_writer: StorageWriter | None = None, planner: SavePlanner | None = None, process_group: Any = None,
    no_dist: bool = False, use_collectives: bool = True,
) -> Metadata:  # fmt: skip
    """Writes a state: each process its parts of DTensors, one of them what all have. All processes call this.

    Args:
        checkpoint_id: the folder, or the storage's name for the checkpoint.
        storage_writer: where to; by default `FileSystemWriter`.
        planner: who writes what; by default `DefaultSavePlanner`.
        process_group: whose processes; all by default.
        no_dist: only this process.
        use_collectives: accepted.

    Raises:
        CheckpointException: something went wrong on a process; all raise it.
        RuntimeError: neither a folder nor a writer.
    """
    no_dist = _alone(no_dist)
    writer = _writer(storage_writer, checkpoint_id)
    return _save(stateless(state_dict), writer, process_group, 0, no_dist, planner)


def _alone(no_dist: bool) -> bool:
    if not no_dist and not is_initialized():
        warnings.warn("taeda.distributed.checkpoint: there is no process group; this process is taken as the only one",
                      stacklevel=3)  # fmt: skip
    return no_dist or not is_initialized()


def _writer(writer: StorageWriter | None, checkpoint_id: str | os.PathLike[str] | None) -> StorageWriter:
    if writer is None:
        if checkpoint_id is None:
            raise RuntimeError("taeda.distributed.checkpoint.save: checkpoint_id or storage_writer is wanted")
        return FileSystemWriter(checkpoint_id)
    writer.reset(checkpoint_id)
    return writer


def stateless(state_dict: dict[str, Any]) -> dict[str, Any]:
    """The state with that of objects in their place."""
    return {key: one.state_dict() if isinstance(one, Stateful) else one for key, one in state_dict.items()}


def _save(
    state_dict: dict[str, Any], writer: StorageWriter, group: Any, coordinator: int, no_dist: bool,
    planner: SavePlanner | None,
) -> Metadata:  # fmt: skip
    together = Together(group, not no_dist, coordinator)
    chosen = planner or DefaultSavePlanner()
    made: Metadata | None = None

    def local() -> Any:
        chosen.set_up_planner(state_dict, writer.storage_meta(), together.is_coordinator)
        writer.set_up_storage_writer(together.is_coordinator)
        return writer.prepare_local_plan(chosen.create_local_plan())

    def middle(plans: list[Any]) -> list[Any]:
        nonlocal made
        plans, made = chosen.create_global_plan(plans)
        return writer.prepare_global_plan(plans)

    central = together.reduce_scatter("the plan", local, middle)

    def write() -> Any:
        future = writer.write_data(chosen.finish_plan(central), chosen)
        future.wait()
        return future.value()

    def finish(results: list[Any]) -> Metadata:
        assert made is not None
        writer.finish(made, results)
        return made

    result: Metadata = together.all_reduce("writing", write, finish)
    return result


_background: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
_pools: dict[int, ThreadPoolExecutor] = {}  # by process: a child that was forked off has no threads of its parent


def _pool() -> ThreadPoolExecutor:
    own = os.getpid()
    if own not in _pools:
        _pools.clear()
        _pools[own] = ThreadPoolExecutor(1, "taeda-checkpoint")
    return _pools[own]


def _group_for_background(group: Any) -> Any:
    """A group of the same processes, whose collectives do not mix with those that the program makes meanwhile."""
    key = world.default if group is None else group
    if key not in _background:
        _background[key] = new_group(get_process_group_ranks(key), use_local_synchronization=True)
    return _background[key]


def async_save(
    state_dict: dict[str, Any], *, checkpoint_id: str | os.PathLike[str] | None = None,
    storage_writer: StorageWriter | None = None, planner: SavePlanner | None = None, process_group: Any = None,
    async_checkpointer_type: AsyncCheckpointerType = AsyncCheckpointerType.THREAD,
    async_stager: AsyncStager | None = None, no_dist: bool = False, use_collectives: bool = True,
) -> Future[Any] | AsyncSaveResponse:  # fmt: skip
    """`save` of a copy, in the background: the state may change as soon as this returns.

    Args:
        async_stager: who copies; by default the writer, if it can.
        async_checkpointer_type: accepted; a thread writes.

    Returns:
        A future of what `save` returns; both futures if a stager of the program's own gave one.
    """
    no_dist = _alone(no_dist)
    writer = _writer(storage_writer, checkpoint_id)
    stager = async_stager or (writer if isinstance(writer, AsyncStager) else BlockingAsyncStager())
    staged = stager.stage(stateless(state_dict))
    group = process_group if no_dist else _group_for_background(process_group)

    def write() -> Metadata:
        ready = staged.result() if isinstance(staged, Future) else staged
        return _save(ready, writer, group, 0, no_dist, planner)

    future = _pool().submit(write)
    if isinstance(staged, Future):
        return AsyncSaveResponse(staged, future)  # type: ignore[arg-type]
    if stager.should_synchronize_after_execute:
        stager.synchronize_staging()
    return future
