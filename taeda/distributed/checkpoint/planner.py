"""What is written and read: the items of plans, and those who make them."""

from __future__ import annotations

import abc
import io
import math
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from taeda import Size, Tensor
from taeda.distributed.checkpoint.metadata import (
    ChunkStorageMetadata,
    Metadata,
    MetadataIndex,
    StorageMeta,
    TensorProperties,
)

__all__ = [
    "BytesIOWriteData", "LoadItemType", "LoadPlan", "LoadPlanner", "ReadItem", "SavePlan", "SavePlanner",
    "TensorWriteData", "WriteItem", "WriteItemType",
]  # fmt: skip


class WriteItemType(Enum):
    """A whole tensor, a part of one, or anything else."""

    TENSOR = auto()
    SHARD = auto()
    BYTE_IO = auto()


class LoadItemType(Enum):
    """A tensor's chunk, or anything else."""

    TENSOR = auto()
    BYTE_IO = auto()


@dataclass(frozen=True)
class BytesIOWriteData:
    """How long it is."""

    nbytes: int


@dataclass(frozen=True)
class TensorWriteData:
    """Which chunk of what tensor."""

    chunk: ChunkStorageMetadata
    properties: TensorProperties
    size: Size


@dataclass(frozen=True)
class WriteItem:
    """Something to write."""

    index: MetadataIndex
    type: WriteItemType
    bytes_io_data: BytesIOWriteData | None = None
    tensor_data: TensorWriteData | None = None

    def tensor_storage_size(self) -> int | None:
        """A tensor's bytes."""
        if self.tensor_data is None:
            return None
        return math.prod(self.tensor_data.chunk.sizes) * self.tensor_data.properties.dtype.itemsize


@dataclass(frozen=True)
class ReadItem:
    """Something to read: a part, of ``lengths``, of a stored chunk, and where in the own chunk it goes."""

    type: LoadItemType
    dest_index: MetadataIndex
    dest_offsets: Size
    storage_index: MetadataIndex
    storage_offsets: Size
    lengths: Size


@dataclass(frozen=True)
class SavePlan:
    """What a process writes."""

    items: list[WriteItem]
    storage_data: Any = None
    planner_data: Any = None
    usable: bool = True


@dataclass
class LoadPlan:
    """What a process reads."""

    items: list[ReadItem]
    storage_data: Any = None
    planner_data: Any = None


class SavePlanner(abc.ABC):
    """Decides what each process writes."""

    @abc.abstractmethod
    def set_up_planner(
        self, state_dict: dict[str, Any], storage_meta: StorageMeta | None = None, is_coordinator: bool = False
    ) -> None:
        """Called first, on all processes."""

    @abc.abstractmethod
    def create_local_plan(self) -> SavePlan:
        """What this process has to write."""

    @abc.abstractmethod
    def create_global_plan(self, all_plans: list[SavePlan]) -> tuple[list[SavePlan], Metadata]:
        """What each process is to write, and what the checkpoint says of itself. On the coordinator only."""

    @abc.abstractmethod
    def finish_plan(self, new_plan: SavePlan) -> SavePlan:
        """The last word, on all processes."""

    @abc.abstractmethod
    def resolve_data(self, write_item: WriteItem) -> Tensor | io.BytesIO:
        """The value of an item."""


class LoadPlanner(abc.ABC):
    """Decides what each process reads."""

    @abc.abstractmethod
    def set_up_planner(
        self, state_dict: dict[str, Any], metadata: Metadata | None = None, is_coordinator: bool = False
    ) -> None:
        """Called first, on all processes."""

    @abc.abstractmethod
    def create_local_plan(self) -> LoadPlan:
        """What this process needs."""

    @abc.abstractmethod
    def create_global_plan(self, global_plan: list[LoadPlan]) -> list[LoadPlan]:
        """What each process is to read. On the coordinator only."""

    @abc.abstractmethod
    def finish_plan(self, central_plan: LoadPlan) -> LoadPlan:
        """The last word, on all processes."""

    @abc.abstractmethod
    def load_bytes(self, read_item: ReadItem, value: io.BytesIO) -> None:
        """Takes what is no tensor."""

    def resolve_bytes(self, read_item: ReadItem) -> io.BytesIO:
        """Where to read bytes to."""
        raise NotImplementedError("LoadPlanner.resolve_bytes: this planner has none")

    @abc.abstractmethod
    def resolve_tensor(self, read_item: ReadItem) -> Tensor:
        """Where to read a tensor to."""

    @abc.abstractmethod
    def commit_tensor(self, read_item: ReadItem, tensor: Tensor) -> None:
        """Called when the tensor that `resolve_tensor` gave is filled."""
