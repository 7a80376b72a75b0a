"""Checkpoints in folders: a file or more for each process, and ``.metadata``, which says what is in them."""

from __future__ import annotations

import io
import os
import uuid
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any, cast

import taeda
from taeda import Tensor
from taeda.distributed.checkpoint import _storage_pickle
from taeda.distributed.checkpoint.metadata import Metadata, MetadataIndex, StorageMeta
from taeda.distributed.checkpoint.planner import (
    LoadItemType,
    LoadPlan,
    LoadPlanner,
    ReadItem,
    SavePlan,
    SavePlanner,
    WriteItem,
    WriteItemType,
)
from taeda.distributed.checkpoint.staging import BlockingAsyncStager
from taeda.distributed.checkpoint.storage import StorageReader, StorageWriter, WriteResult
from taeda.distributed.tensor.placement_types import narrowed
from taeda.futures import Future

__all__ = ["FileSystem", "FileSystemBase", "FileSystemReader", "FileSystemWriter", "SerializationFormat"]

_SUFFIX, _METADATA = ".distcp", ".metadata"
StrPath = str | os.PathLike[str]


class SerializationFormat(Enum):
    """How tensors lie in the files."""

    TORCH_SAVE = "torch_save"
    SAFETENSORS = "safetensors"


@dataclass
class _StorageInfo:
    """Where an item lies."""

    relative_path: str
    offset: int
    length: int
    transform_descriptors: Sequence[str] | None = None


@dataclass
class _StoragePrefix:
    prefix: str


class FileSystemBase:
    """What a file system can do; one of a program's own derives from it."""

    def create_stream(self, path: StrPath, mode: str) -> Any:
        """A context that gives an open file."""
        raise NotImplementedError

    def concat_path(self, path: StrPath, suffix: str) -> StrPath:
        """A path below another."""
        raise NotImplementedError

    def rename(self, path: StrPath, new_path: StrPath) -> None:
        """Gives a file another name."""
        raise NotImplementedError

    def init_path(self, path: StrPath) -> StrPath:
        """The path as this class has it."""
        raise NotImplementedError

    def mkdir(self, path: StrPath) -> None:
        """Makes a folder, if it is not there."""
        raise NotImplementedError

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id: StrPath) -> bool:
        """Whether this is a path."""
        raise NotImplementedError

    def exists(self, path: StrPath) -> bool:
        """Whether there is such a file."""
        raise NotImplementedError

    def rm_file(self, path: StrPath) -> None:
        """Removes a file."""
        raise NotImplementedError


class FileSystem(FileSystemBase):
    """The operating system's."""

    @contextmanager
    def create_stream(self, path: StrPath, mode: str) -> Iterator[Any]:
        with open(path, mode) as file:
            yield file

    def concat_path(self, path: StrPath, suffix: str) -> StrPath:
        return Path(path) / suffix

    def init_path(self, path: StrPath) -> StrPath:
        return Path(path)

    def rename(self, path: StrPath, new_path: StrPath) -> None:
        os.replace(path, new_path)

    def mkdir(self, path: StrPath) -> None:
        Path(path).mkdir(parents=True, exist_ok=True)

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id: StrPath) -> bool:
        if isinstance(checkpoint_id, os.PathLike):
            return True
        if "://" in str(checkpoint_id):
            return False
        return any(one.exists() and os.access(one, os.W_OK) for one in Path(checkpoint_id).parents)

    def exists(self, path: StrPath) -> bool:
        return Path(path).exists()

    def rm_file(self, path: StrPath) -> None:
        Path(path).unlink()

    def ls(self, path: StrPath) -> list[str]:
        """What is in a folder."""
        return os.listdir(path)


class _Named:
    """What reader and writer have in common: a folder that may change."""

    def __init__(self, path: StrPath) -> None:
        self.fs: FileSystemBase = FileSystem()
        self.path = self.fs.init_path(path)

    def _move_to(self, checkpoint_id: StrPath | None) -> None:
        if checkpoint_id is not None:
            self.path = self.fs.init_path(checkpoint_id)

    def _get_metadata_path(self) -> Path:
        return cast(Path, self.fs.concat_path(self.path, _METADATA))

    @property
    def checkpoint_id(self) -> StrPath:
        """The folder."""
        return self.path

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id: StrPath) -> bool:
        """Whether this is a path."""
        return FileSystem.validate_checkpoint_id(checkpoint_id)


class _FileSystemWriter(_Named, StorageWriter):
    def __init__(
        self, path: StrPath, single_file_per_rank: bool = True, sync_files: bool = True, thread_count: int = 1,
        per_thread_copy_ahead: int = 10_000_000, overwrite: bool = True, _extensions: Any = None,
        serialization_format: SerializationFormat = SerializationFormat.TORCH_SAVE, *args: Any, **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(path)
        if serialization_format is not SerializationFormat.TORCH_SAVE:
            raise NotImplementedError("FileSystemWriter: tensors are written as taeda.save writes them")
        self.single_file_per_rank, self.sync_files = single_file_per_rank, sync_files
        self.thread_count, self.overwrite = max(1, thread_count), overwrite
        self.save_id = str(uuid.uuid4())

    def reset(self, checkpoint_id: StrPath | None = None) -> None:
        self._move_to(checkpoint_id)
        self.save_id = str(uuid.uuid4())

    def set_up_storage_writer(self, is_coordinator: bool, *args: Any, **kwargs: Any) -> None:
        self.is_coordinator = is_coordinator

    def prepare_local_plan(self, plan: SavePlan) -> SavePlan:
        self.fs.mkdir(self.path)
        if self.fs.exists(self._get_metadata_path()) and not self.overwrite:
            raise RuntimeError(f"FileSystemWriter: there is a checkpoint in {self.path}; set overwrite=True")
        return plan

    def prepare_global_plan(self, plans: list[SavePlan]) -> list[SavePlan]:
        return [
            replace(plan, storage_data=plan.storage_data or _StoragePrefix(f"__{at}_")) for at, plan in enumerate(plans)
        ]

    def write_data(self, plan: SavePlan, planner: SavePlanner) -> Future[list[WriteResult]]:
        parts = _in_parts(plan.items, self.thread_count, not self.single_file_per_rank)
        named = [(f"{plan.storage_data.prefix}{at}{_SUFFIX}", items) for at, items in enumerate(parts)]
        if len(named) == 1 or self.thread_count == 1:
            written = [self._write_file(name, items, planner) for name, items in named]
        else:
            with ThreadPoolExecutor(self.thread_count) as pool:
                written = list(pool.map(lambda one: self._write_file(one[0], one[1], planner), named))
        future: Future[list[WriteResult]] = Future()
        future.set_result([result for results in written for result in results])
        return future

    def _write_file(self, name: str, items: list[WriteItem], planner: SavePlanner) -> list[WriteResult]:
        results = []
        ordered = sorted(items, key=lambda item: item.type is not WriteItemType.BYTE_IO)
        with self.fs.create_stream(self.fs.concat_path(self.path, name), "wb") as file:
            for item in ordered:
                start, value = file.tell(), planner.resolve_data(item)
                if isinstance(value, Tensor):
                    # Only what the tensor shows of its storage.
                    own = value.detach().cpu()
                    whole = own.untyped_storage().nbytes() == own.numel() * own.element_size()
                    buffer = io.BytesIO()  # an archive that begins at its own start
                    taeda.save(own if whole else own.clone(), buffer)
                    value = buffer
                file.write(value.getbuffer())
                length = file.tell() - start
                results.append(WriteResult(item.index, length, _StorageInfo(name, start, length)))
            if self.sync_files:
                file.flush()
                try:
                    os.fsync(file.fileno())
                except (AttributeError, OSError):  # a stream of another kind
                    pass
        return results

    def finish(self, metadata: Metadata, results: list[list[WriteResult]]) -> None:
        places: dict[MetadataIndex, _StorageInfo] = {}
        for written in results:
            places.update({result.index: result.storage_data for result in written})
        metadata = replace(metadata, storage_data=places, storage_meta=self.storage_meta())
        target, draft = self._get_metadata_path(), self.fs.concat_path(self.path, f"{_METADATA}.tmp")
        with self.fs.create_stream(draft, "wb") as file:
            file.write(_storage_pickle.dumps(metadata))
            if self.sync_files:
                file.flush()
        self.fs.rename(draft, target)

    def storage_meta(self) -> StorageMeta | None:
        return StorageMeta(checkpoint_id=str(self.path), save_id=self.save_id)


class FileSystemWriter(_FileSystemWriter, BlockingAsyncStager):
    """Writes into a folder.

    Args:
        path: the folder, made if it is not there.
        single_file_per_rank: else each item has a file of its own.
        sync_files: wait until the system has the files on disk.
        thread_count: how many threads write.
        per_thread_copy_ahead: accepted.
        cache_staged_state_dict: keep the copies that `async_save` writes, for the next time.
        overwrite: whether a checkpoint may be there already.

    Raises:
        RuntimeError: there is one, and ``overwrite`` is False.
    """

    def __init__(
        self, path: StrPath, single_file_per_rank: bool = True, sync_files: bool = True, thread_count: int = 1,
        per_thread_copy_ahead: int = 10_000_000, cache_staged_state_dict: bool = False, overwrite: bool = True,
        _extensions: Any = None, serialization_format: SerializationFormat = SerializationFormat.TORCH_SAVE,
    ) -> None:  # fmt: skip
        _FileSystemWriter.__init__(
            self, path, single_file_per_rank, sync_files, thread_count, per_thread_copy_ahead, overwrite, _extensions,
            serialization_format,
        )  # fmt: skip
        BlockingAsyncStager.__init__(self, cache_staged_state_dict)


def _in_parts(items: list[WriteItem], count: int, apart: bool) -> list[list[WriteItem]]:
    """The items for each file."""
    if apart:
        return [[item] for item in items]
    if count == 1:
        return [items] if items else []
    parts: list[list[WriteItem]] = [[] for _ in range(count)]
    sizes = [0] * count
    for item in sorted(items, key=lambda item: item.tensor_storage_size() or 0, reverse=True):
        at = sizes.index(min(sizes))
        parts[at].append(item)
        sizes[at] += item.tensor_storage_size() or 1
    return [part for part in parts if part]


class FileSystemReader(_Named, StorageReader):
    """Reads from a folder.

    Args:
        path: the folder.
    """

    def __init__(self, path: StrPath, _extension_registry: Any = None) -> None:
        super().__init__(path)
        self.storage_data: dict[MetadataIndex, _StorageInfo] = {}
        self.load_id = str(uuid.uuid4())

    def reset(self, checkpoint_id: StrPath | None = None) -> None:
        self.storage_data = {}
        self._move_to(checkpoint_id)
        self.load_id = str(uuid.uuid4())

    def read_metadata(self, *args: Any, **kwargs: Any) -> Metadata:
        with self.fs.create_stream(self._get_metadata_path(), "rb") as file:
            metadata: Metadata = _storage_pickle.loads(file.read())
        metadata.storage_meta = metadata.storage_meta or StorageMeta()
        metadata.storage_meta.load_id = self.load_id
        return metadata

    def set_up_storage_reader(self, metadata: Metadata, is_coordinator: bool, *args: Any, **kwargs: Any) -> None:
        self.storage_data = metadata.storage_data

    def prepare_local_plan(self, plan: LoadPlan) -> LoadPlan:
        return plan

    def prepare_global_plan(self, plans: list[LoadPlan]) -> list[LoadPlan]:
        return plans

    def read_data(self, plan: LoadPlan, planner: LoadPlanner) -> Future[None]:
        by_file: dict[str, list[ReadItem]] = defaultdict(list)
        for item in plan.items:
            by_file[self.storage_data[item.storage_index].relative_path].append(item)
        for name, items in by_file.items():
            with self.fs.create_stream(self.fs.concat_path(self.path, name), "rb") as file:
                self._read_file(file, items, planner)
        future: Future[None] = Future()
        future.set_result(None)
        return future

    def _read_file(self, file: Any, items: list[ReadItem], planner: LoadPlanner) -> None:
        ordered = sorted(items, key=lambda item: self.storage_data[item.storage_index].offset)
        last: tuple[Any, Tensor] | None = None  # a chunk of which several parts are wanted is read once
        for item in ordered:
            place = self.storage_data[item.storage_index]
            if item.type is LoadItemType.TENSOR and last is not None and last[0] == item.storage_index:
                stored = last[1]
            else:
                file.seek(place.offset)
                data = io.BytesIO(file.read(place.length))
                if item.type is LoadItemType.BYTE_IO:
                    planner.load_bytes(item, data)
                    continue
                stored = taeda.load(data, map_location="cpu", weights_only=True)
                last = item.storage_index, stored
            part = narrowed(stored, item.storage_offsets, item.lengths)
            target = planner.resolve_tensor(item).detach()
            if target.shape != part.shape:
                raise AssertionError(f"FileSystemReader: {item.storage_index} has shape {tuple(part.shape)} and its "
                                     f"target {tuple(target.shape)}")  # fmt: skip
            target.copy_(part)
            planner.commit_tensor(item, target)
