"""Between checkpoints in folders and files of `taeda.save`."""

from __future__ import annotations

import os
from typing import Any

import taeda
from taeda import Tensor
from taeda.distributed import _objects as objects
from taeda.distributed._world import is_initialized
from taeda.distributed.checkpoint._chunks import write_items
from taeda.distributed.checkpoint._nested_dict import flatten_state_dict
from taeda.distributed.checkpoint.default_planner import DefaultLoadPlanner, _EmptyStateDictLoadPlanner
from taeda.distributed.checkpoint.metadata import BytesStorageMetadata, Metadata, TensorStorageMetadata
from taeda.distributed.checkpoint.planner import LoadItemType, LoadPlan, LoadPlanner
from taeda.distributed.checkpoint.state_dict_loader import _load_state_dict
from taeda.distributed.checkpoint.state_dict_saver import save
from taeda.distributed.checkpoint.storage import StorageReader
from taeda.distributed.tensor.placement_types import narrowed
from taeda.futures import Future

__all__ = ["BroadcastingTorchSaveReader", "DynamicMetaLoadPlanner", "dcp_to_torch_save", "torch_save_to_dcp"]

StrPath = str | os.PathLike[str]


def dcp_to_torch_save(dcp_checkpoint_dir: StrPath, torch_save_path: StrPath) -> None:
    """Writes the state in a folder, whole, into one file. In one process."""
    from taeda.distributed.checkpoint.filesystem import FileSystemReader

    state: dict[str, Any] = {}
    _load_state_dict(state, FileSystemReader(dcp_checkpoint_dir), None, 0, True, _EmptyStateDictLoadPlanner())
    taeda.save(state, torch_save_path)


def torch_save_to_dcp(torch_save_path: StrPath, dcp_checkpoint_dir: StrPath) -> None:
    """Writes the state in a file into a folder. In one process."""
    state = taeda.load(torch_save_path, weights_only=False)
    save(state, checkpoint_id=dcp_checkpoint_dir, no_dist=True)


class BroadcastingTorchSaveReader(StorageReader):
    """Reads a file of `taeda.save` on one process, and gives the others what they need.

    Args:
        checkpoint_id: the file.
        coordinator_rank: who reads it.
    """

    def __init__(self, checkpoint_id: StrPath | None = None, coordinator_rank: int = 0) -> None:
        self.checkpoint_id, self.coordinator_rank = checkpoint_id, coordinator_rank
        self.is_coordinator = True

    def reset(self, checkpoint_id: StrPath | None = None) -> None:
        self.checkpoint_id = self.checkpoint_id if checkpoint_id is None else checkpoint_id

    def read_metadata(self, *args: Any, **kwargs: Any) -> Metadata:
        """Empty: the file says nothing of itself; `DynamicMetaLoadPlanner` takes it from the state."""
        return Metadata({})

    def set_up_storage_reader(self, metadata: Metadata, is_coordinator: bool, *args: Any, **kwargs: Any) -> None:
        self.is_coordinator = is_coordinator
        if self.checkpoint_id is None:
            raise RuntimeError("BroadcastingTorchSaveReader: checkpoint_id is wanted")

    def prepare_local_plan(self, plan: LoadPlan) -> LoadPlan:
        return plan

    def prepare_global_plan(self, plans: list[LoadPlan]) -> list[LoadPlan]:
        return plans

    def read_data(self, plan: LoadPlan, planner: LoadPlanner) -> Future[None]:
        state = None
        if self.is_coordinator:
            assert self.checkpoint_id is not None
            state = flatten_state_dict(taeda.load(self.checkpoint_id, map_location="cpu", weights_only=False))[0]
        if is_initialized():
            told = [state]
            objects.broadcast_object_list(told, src=self.coordinator_rank)
            state = told[0]
        assert state is not None
        for item in plan.items:
            if item.type is LoadItemType.BYTE_IO:
                raise RuntimeError("BroadcastingTorchSaveReader: only tensors are read; "
                                   f"{item.storage_index.fqn} is none")  # fmt: skip
            part = narrowed(state[item.storage_index.fqn], item.storage_offsets, item.lengths)
            target = planner.resolve_tensor(item).detach()
            target.copy_(part)
            planner.commit_tensor(item, target)
        future: Future[None] = Future()
        future.set_result(None)
        return future

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id: StrPath) -> bool:
        return os.path.isfile(checkpoint_id)


class DynamicMetaLoadPlanner(DefaultLoadPlanner):
    """Takes for granted that what is read has the names and shapes of the state that is filled."""

    def set_up_planner(
        self, state_dict: dict[str, Any], metadata: Metadata | None = None, is_coordinator: bool = False
    ) -> None:
        super().set_up_planner(state_dict, metadata, is_coordinator)
        known: dict[str, TensorStorageMetadata | BytesStorageMetadata] = {}
        for name, value in self.state_dict.items():
            if not isinstance(value, Tensor):
                raise RuntimeError(f"DynamicMetaLoadPlanner: tensors are wanted; {name} is {type(value).__name__}")
            whole = taeda.empty(value.shape, dtype=value.dtype, device="meta")
            (item,) = write_items(name, whole)
            assert item.tensor_data is not None
            known[name] = TensorStorageMetadata(item.tensor_data.properties, item.tensor_data.size,
                                                [item.tensor_data.chunk])  # fmt: skip
        self.metadata = Metadata(known)


def _main() -> None:
    import argparse

    parser = argparse.ArgumentParser(description="Between checkpoints in folders and files of torch.save.")
    parser.add_argument("mode", choices=["torch_to_dcp", "dcp_to_torch"])
    parser.add_argument("src")
    parser.add_argument("dst")
    given = parser.parse_args()
    (torch_save_to_dcp if given.mode == "torch_to_dcp" else dcp_to_torch_save)(given.src, given.dst)


if __name__ == "__main__":
    _main()
