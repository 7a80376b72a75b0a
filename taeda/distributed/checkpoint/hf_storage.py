"""Checkpoints as safetensors files, named as Hugging Face's models are."""

from __future__ import annotations

import io
import json
import os
from collections import defaultdict
from pathlib import Path
from typing import Any, cast

from taeda import Size, Tensor
from taeda.distributed.checkpoint import _safetensors
from taeda.distributed.checkpoint._consolidate_hf_safetensors import INDEX, OFFSETS, consolidate_safetensors_files
from taeda.distributed.checkpoint.filesystem import FileSystemReader, FileSystemWriter, _StorageInfo
from taeda.distributed.checkpoint.metadata import (
    ChunkStorageMetadata,
    Metadata,
    MetadataIndex,
    StorageMeta,
    TensorProperties,
    TensorStorageMetadata,
)
from taeda.distributed.checkpoint.planner import LoadPlan, LoadPlanner, SavePlan, SavePlanner, WriteItem
from taeda.distributed.checkpoint.storage import WriteResult
from taeda.distributed.tensor.placement_types import narrowed
from taeda.futures import Future

__all__ = ["HuggingFaceStorageReader", "HuggingFaceStorageWriter"]

StrPath = str | os.PathLike[str]


class HuggingFaceStorageWriter(FileSystemWriter):
    """Writes tensors into ``model-00001-of-00002.safetensors`` and so on, and ``model.safetensors.index.json``.

    Args:
        path: the folder.
        fqn_to_index_mapping: which file, from 1 on, each name goes to; one file by default.
        thread_count: how many threads write.
        save_distributed: each process writes files of its own, whose names begin with ``shard-``.
        enable_consolidation: with ``save_distributed``, join these afterwards; they stay in the folder ``sharded``.
        thread_count_consolidation: how many threads join.
    """

    def __init__(
        self, path: str, fqn_to_index_mapping: dict[str, int] | None = None, thread_count: int = 1,
        save_distributed: bool = False, enable_consolidation: bool = False, thread_count_consolidation: int = 1,
    ) -> None:  # fmt: skip
        self.consolidated = path
        self.save_distributed = save_distributed
        self.enable_consolidation = save_distributed and enable_consolidation
        super().__init__(
            os.path.join(path, "sharded") if self.enable_consolidation else path, thread_count=thread_count
        )
        self.fqn_to_index_mapping = fqn_to_index_mapping
        self.thread_count_consolidation = thread_count_consolidation

    def prepare_global_plan(self, plans: list[SavePlan]) -> list[SavePlan]:
        from dataclasses import replace

        return [replace(plan, storage_data=at + 1) for at, plan in enumerate(plans)]

    def write_data(self, plan: SavePlan, planner: SavePlanner) -> Future[list[WriteResult]]:
        mapping = self.fqn_to_index_mapping or {}
        count = max(mapping.values(), default=1)
        files: dict[int, list[WriteItem]] = defaultdict(list)
        for item in plan.items:
            files[mapping.get(item.index.fqn, 1)].append(item)
        results = []
        for at, items in sorted(files.items()):
            name = f"model-{at:05d}-of-{count:05d}.safetensors"
            if self.save_distributed:
                name = f"shard-{plan.storage_data:05d}-{name}"
            results += self._write_tensors(name, items, planner)
        future: Future[list[WriteResult]] = Future()
        future.set_result(results)
        return future

    def _write_tensors(self, name: str, items: list[WriteItem], planner: SavePlanner) -> list[WriteResult]:
        tensors: dict[str, Tensor] = {}
        for item in items:
            value = planner.resolve_data(item)
            if not isinstance(value, Tensor):
                raise ValueError(f"HuggingFaceStorageWriter: tensors are wanted; {item.index.fqn} is none")
            tensors[item.index.fqn] = value
        offsets = {item.index.fqn: {"saved_offsets": list(item.index.offset or ())} for item in items}
        told = {"format": "pt", "DCP_VERSION": "1.0", OFFSETS: json.dumps(offsets)}
        buffer = io.BytesIO()
        _safetensors.write(buffer, tensors, told)
        with self.fs.create_stream(self.fs.concat_path(self.path, name), "wb") as file:
            file.write(buffer.getbuffer())
        return [
            WriteResult(item.index, (size := item.tensor_storage_size() or 0), _StorageInfo(name, 0, size))
            for item in items
        ]

    def finish(self, metadata: Metadata, results: list[list[WriteResult]]) -> None:
        if self.enable_consolidation:
            mapping = self.fqn_to_index_mapping or dict.fromkeys(metadata.state_dict_metadata, 1)
            consolidate_safetensors_files(str(self.path), self.consolidated, mapping, self.thread_count_consolidation)
        elif not self.save_distributed:
            written = [one for part in results for one in part]
            index = {
                "metadata": {"total_size": sum(one.size_in_bytes for one in written)},
                "weight_map": {one.index.fqn: one.storage_data.relative_path for one in written},
            }
            with self.fs.create_stream(self.fs.concat_path(self.path, INDEX), "w") as file:
                json.dump(index, file, indent=2)


class HuggingFaceStorageReader(FileSystemReader):
    """Reads the safetensors files of a folder, in whole or written by several processes.

    Args:
        path: the folder.
        thread_count: accepted.
    """

    def __init__(self, path: str, thread_count: int = 1) -> None:
        super().__init__(path)

    def read_metadata(self, *args: Any, **kwargs: Any) -> Metadata:
        known: dict[str, TensorStorageMetadata] = {}
        places: dict[MetadataIndex, str] = {}
        for path in sorted(Path(self.path).glob("*.safetensors")):
            with self.fs.create_stream(path, "rb") as file:
                header, told, _ = _safetensors.read_header(file)
            offsets = json.loads(told.get(OFFSETS, "{}"))
            for name, entry in header.items():
                sizes = Size(entry["shape"])
                first = Size(offsets.get(name, {}).get("saved_offsets", [0] * len(sizes)))
                properties = TensorProperties(_safetensors.DTYPES[entry["dtype"]])
                stored = known.setdefault(name, TensorStorageMetadata(properties, sizes, []))
                stored.chunks.append(ChunkStorageMetadata(first, sizes))
                ends = [start + size for start, size in zip(first, sizes, strict=True)]
                stored.size = Size(map(max, zip(stored.size, ends, strict=True)))
                places[MetadataIndex(name, first)] = path.name
        return Metadata(cast(Any, known), storage_data=places, storage_meta=StorageMeta(load_id=self.load_id))

    def read_data(self, plan: LoadPlan, planner: LoadPlanner) -> Future[None]:
        by_file: dict[Any, list[Any]] = defaultdict(list)
        for item in plan.items:
            by_file[self.storage_data[item.storage_index]].append(item)
        for name, items in by_file.items():
            with self.fs.create_stream(self.fs.concat_path(self.path, name), "rb") as file:
                header, _, first = _safetensors.read_header(file)
                for item in items:
                    stored = _safetensors.read_tensor(file, header[item.storage_index.fqn], first)
                    target = planner.resolve_tensor(item).detach()
                    target.copy_(narrowed(stored, item.storage_offsets, item.lengths))
                    planner.commit_tensor(item, target)
        future: Future[None] = Future()
        future.set_result(None)
        return future
