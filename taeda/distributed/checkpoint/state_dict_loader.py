"""Reading checkpoints."""

from __future__ import annotations

import os
import warnings
from typing import Any

from taeda.distributed._world import is_initialized
from taeda.distributed.checkpoint._former import as_called_first
from taeda.distributed.checkpoint._together import Together
from taeda.distributed.checkpoint.default_planner import DefaultLoadPlanner, _EmptyStateDictLoadPlanner
from taeda.distributed.checkpoint.filesystem import FileSystemReader
from taeda.distributed.checkpoint.planner import LoadPlanner
from taeda.distributed.checkpoint.stateful import Stateful
from taeda.distributed.checkpoint.storage import StorageReader

__all__ = ["load", "load_state_dict"]


def load_state_dict(
    state_dict: dict[str, Any], storage_reader: StorageReader, process_group: Any = None, coordinator_rank: int = 0,
    no_dist: bool = False, planner: LoadPlanner | None = None,
) -> None:  # fmt: skip
    """`load`, as it was called first."""
    storage_reader.reset()
    _load_state_dict(state_dict, storage_reader, process_group, coordinator_rank, no_dist, planner)


@as_called_first("storage_reader")
def load(
    state_dict: dict[str, Any], *, checkpoint_id: str | os.PathLike[str] | None = None,
    storage_reader: StorageReader | None = None, planner: LoadPlanner | None = None, process_group: Any = None,
    no_dist: bool = False,
) -> None:  # fmt: skip
    """Fills the tensors of a state in place, and replaces what else is in it. All processes call this.

    However many processes wrote the checkpoint, and however their tensors were cut, each reads what its own need.

    Args:
        checkpoint_id: the folder, or the storage's name for the checkpoint.
        storage_reader: where from; by default `FileSystemReader`.
        planner, process_group, no_dist: as in `save`.

    Raises:
        CheckpointException: a name is missing, a shape is another, or a file; all processes raise it.
        RuntimeError: neither a folder nor a reader.
    """
    if not no_dist and not is_initialized():
        warnings.warn("taeda.distributed.checkpoint: there is no process group; this process is taken as the only one",
                      stacklevel=2)  # fmt: skip
        no_dist = True
    if storage_reader is None:
        if checkpoint_id is None:
            raise RuntimeError("taeda.distributed.checkpoint.load: checkpoint_id or storage_reader is wanted")
        storage_reader = FileSystemReader(checkpoint_id)
    else:
        storage_reader.reset(checkpoint_id)
    together = Together(process_group, not no_dist, 0)
    told = together.all_gather("the names", lambda: list(state_dict))
    # All processes ask the same objects for their state, in the same order: that may take collectives.
    names = list(dict.fromkeys(name for one in told for name in one))
    plain = {}
    for name in names:
        if name in state_dict:
            one = state_dict[name]
            plain[name] = one.state_dict() if isinstance(one, Stateful) else one
    _load_state_dict(plain, storage_reader, process_group, 0, no_dist, planner)
    for name in names:
        if name not in state_dict:
            continue
        one = state_dict[name]
        if isinstance(one, Stateful):
            one.load_state_dict(plain[name])
        else:
            state_dict[name] = plain[name]


def _load_state_dict(
    state_dict: dict[str, Any], storage_reader: StorageReader, process_group: Any = None, coordinator_rank: int = 0,
    no_dist: bool = False, planner: LoadPlanner | None = None,
) -> None:  # fmt: skip
    together, reader = Together(process_group, not no_dist, coordinator_rank), storage_reader
    chosen = planner or DefaultLoadPlanner()

    def local() -> Any:
        metadata = reader.read_metadata()
        chosen.set_up_planner(state_dict, metadata, together.is_coordinator)
        reader.set_up_storage_reader(metadata, together.is_coordinator)
        return reader.prepare_local_plan(chosen.create_local_plan())

    def middle(plans: list[Any]) -> list[Any]:
        return reader.prepare_global_plan(chosen.create_global_plan(plans))

    central = together.reduce_scatter("the plan", local, middle)

    def read() -> None:
        reader.read_data(chosen.finish_plan(central), chosen).wait()

    together.all_gather("reading", read)


def _load_state_dict_from_keys(
    keys: set[str] | str | None = None, *, checkpoint_id: str | os.PathLike[str] | None = None,
    storage_reader: StorageReader | None = None, process_group: Any = None,
) -> dict[str, Any]:  # fmt: skip
    """A whole checkpoint, or what is below ``keys``, as new tensors."""
    if storage_reader is None:
        if checkpoint_id is None:
            raise RuntimeError("taeda.distributed.checkpoint: checkpoint_id or storage_reader is wanted")
        storage_reader = FileSystemReader(checkpoint_id)
    state: dict[str, Any] = {}
    wanted = {keys} if isinstance(keys, str) else keys
    _load_state_dict(
        state, storage_reader, process_group, 0, not is_initialized(), _EmptyStateDictLoadPlanner(keys=wanted)
    )
    return state
