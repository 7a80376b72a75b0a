"""Where checkpoints go to and come from."""

from __future__ import annotations

import abc
import os
from dataclasses import dataclass
from typing import Any

from taeda.distributed.checkpoint.metadata import Metadata, MetadataIndex, StorageMeta
from taeda.distributed.checkpoint.planner import LoadPlan, LoadPlanner, SavePlan, SavePlanner
from taeda.futures import Future

__all__ = ["StorageReader", "StorageWriter", "WriteResult"]


@dataclass(frozen=True)
class WriteResult:
    """Where an item was written to, and how long it is."""

    index: MetadataIndex
    size_in_bytes: int
    storage_data: Any


class StorageWriter(abc.ABC):
    """Writes what plans say."""

    @abc.abstractmethod
    def reset(self, checkpoint_id: str | os.PathLike[str] | None = None) -> None:
        """Called before a checkpoint is written, with its name if one was given."""

    @abc.abstractmethod
    def set_up_storage_writer(self, is_coordinator: bool, *args: Any, **kwargs: Any) -> None:
        """Called first, on all processes."""

    @abc.abstractmethod
    def prepare_local_plan(self, plan: SavePlan) -> SavePlan:
        """The plan with what the storage has to say."""

    @abc.abstractmethod
    def prepare_global_plan(self, plans: list[SavePlan]) -> list[SavePlan]:
        """The same of all plans. On the coordinator only."""

    @abc.abstractmethod
    def write_data(self, plan: SavePlan, planner: SavePlanner) -> Future[list[WriteResult]]:
        """Writes."""

    @abc.abstractmethod
    def finish(self, metadata: Metadata, results: list[list[WriteResult]]) -> None:
        """Makes the checkpoint whole. On the coordinator only."""

    @classmethod
    @abc.abstractmethod
    def validate_checkpoint_id(cls, checkpoint_id: str | os.PathLike[str]) -> bool:
        """Whether the storage has such names."""

    def storage_meta(self) -> StorageMeta | None:
        """Which checkpoint this is."""
        return None


class StorageReader(abc.ABC):
    """Reads what plans say."""

    @abc.abstractmethod
    def reset(self, checkpoint_id: str | os.PathLike[str] | None = None) -> None:
        """Called before a checkpoint is read, with its name if one was given."""

    @abc.abstractmethod
    def read_metadata(self, *args: Any, **kwargs: Any) -> Metadata:
        """What the checkpoint says of itself."""

    @abc.abstractmethod
    def set_up_storage_reader(self, metadata: Metadata, is_coordinator: bool, *args: Any, **kwargs: Any) -> None:
        """Called first, on all processes."""

    @abc.abstractmethod
    def prepare_local_plan(self, plan: LoadPlan) -> LoadPlan:
        """The plan with what the storage has to say."""

    @abc.abstractmethod
    def prepare_global_plan(self, plans: list[LoadPlan]) -> list[LoadPlan]:
        """The same of all plans. On the coordinator only."""

    @abc.abstractmethod
    def read_data(self, plan: LoadPlan, planner: LoadPlanner) -> Future[None]:
        """Reads."""

    @classmethod
    @abc.abstractmethod
    def validate_checkpoint_id(cls, checkpoint_id: str | os.PathLike[str]) -> bool:
        """Whether the storage has such names."""
