"""The planners that are used unless others are given."""

from __future__ import annotations

import io
from collections import defaultdict
from dataclasses import replace
from typing import Any

import taeda
from taeda import Size, Tensor
from taeda.distributed.checkpoint._chunks import local_part, read_items, write_items
from taeda.distributed.checkpoint._nested_dict import flatten_state_dict, set_element
from taeda.distributed.checkpoint.metadata import (
    BytesStorageMetadata,
    ChunkStorageMetadata,
    Metadata,
    MetadataIndex,
    StorageMeta,
    TensorStorageMetadata,
)
from taeda.distributed.checkpoint.planner import (
    LoadPlan,
    LoadPlanner,
    ReadItem,
    SavePlan,
    SavePlanner,
    WriteItem,
    WriteItemType,
)
from taeda.distributed.tensor.placement_types import narrowed

__all__ = [
    "DefaultLoadPlanner", "DefaultSavePlanner", "create_default_global_load_plan", "create_default_global_save_plan",
    "create_default_local_load_plan", "create_default_local_save_plan",
]  # fmt: skip

VERSION = "1.0.0"


class DefaultSavePlanner(SavePlanner):
    """Each process writes its chunks; what several have is written by one of them.

    Args:
        flatten_state_dict: whether values in nested dictionaries are written one by one.
        flatten_sharded_tensors, enable_plan_caching: accepted.
        dedup_replicated_tensors: accepted; it is always so.
        dedup_save_to_lowest_rank: by the lowest rank that has it; else by the one that has least to write.
    """

    def __init__(
        self, flatten_state_dict: bool = True, flatten_sharded_tensors: bool = True,
        dedup_replicated_tensors: bool | None = None, dedup_save_to_lowest_rank: bool = False,
        enable_plan_caching: bool = False,
    ) -> None:  # fmt: skip
        self.flatten_state_dict = flatten_state_dict
        self.dedup_save_to_lowest_rank = dedup_save_to_lowest_rank
        self.mappings: dict[str, Any] = {}

    def set_up_planner(
        self, state_dict: dict[str, Any], storage_meta: StorageMeta | None = None, is_coordinator: bool = False
    ) -> None:
        if self.flatten_state_dict:
            state_dict, self.mappings = flatten_state_dict(state_dict)
        self.state_dict, self.is_coordinator = state_dict, is_coordinator

    def create_local_plan(self) -> SavePlan:
        plan = create_default_local_save_plan(self.state_dict, self.is_coordinator)
        self.plan = replace(plan, planner_data=self.mappings) if self.flatten_state_dict else plan
        return self.plan

    def create_global_plan(self, all_plans: list[SavePlan]) -> tuple[list[SavePlan], Metadata]:
        plans, metadata = create_default_global_save_plan(without_doubles(all_plans, self.dedup_save_to_lowest_rank))
        if self.flatten_state_dict:
            merged: dict[str, Any] = {}
            for plan in all_plans:
                merged |= plan.planner_data or {}
            metadata.planner_data = merged
        _check(metadata)
        return plans, metadata

    def finish_plan(self, new_plan: SavePlan) -> SavePlan:
        self.plan = new_plan
        return new_plan

    def resolve_data(self, write_item: WriteItem) -> Tensor | io.BytesIO:
        value = self.transform_object(write_item, self.lookup_object(write_item.index))
        return value  # type: ignore[no-any-return]

    def lookup_object(self, index: MetadataIndex) -> Any:
        """The value of an index; of a tensor the part that is here."""
        value = self.state_dict[index.fqn]
        return local_part(value, index.offset) if isinstance(value, Tensor) else value

    def transform_object(self, write_item: WriteItem, object: Any) -> Any:
        """What is no tensor as bytes."""
        if write_item.type is WriteItemType.BYTE_IO:
            buffer = io.BytesIO()
            taeda.save(object, buffer)
            return buffer
        return object


class DefaultLoadPlanner(LoadPlanner):
    """Each process reads what its tensors need, in place.

    Args:
        flatten_state_dict: as in `DefaultSavePlanner`.
        flatten_sharded_tensors: accepted.
        allow_partial_load: whether names may be missing in the checkpoint.
    """

    def __init__(
        self, flatten_state_dict: bool = True, flatten_sharded_tensors: bool = True, allow_partial_load: bool = False
    ) -> None:
        self.flatten_state_dict, self.allow_partial_load = flatten_state_dict, allow_partial_load
        self.original_state_dict: dict[str, Any] = {}
        self.mappings: dict[str, Any] = {}

    def set_up_planner(
        self, state_dict: dict[str, Any], metadata: Metadata | None = None, is_coordinator: bool = False
    ) -> None:
        self.original_state_dict = state_dict
        if self.flatten_state_dict:
            state_dict, self.mappings = flatten_state_dict(state_dict)
        self.state_dict, self.metadata, self.is_coordinator = state_dict, metadata, is_coordinator

    def create_local_plan(self) -> LoadPlan:
        assert self.metadata is not None
        return create_default_local_load_plan(self.state_dict, self.metadata, not self.allow_partial_load)

    def create_global_plan(self, global_plan: list[LoadPlan]) -> list[LoadPlan]:
        return create_default_global_load_plan(global_plan)

    def finish_plan(self, new_plan: LoadPlan) -> LoadPlan:
        return new_plan

    def load_bytes(self, read_item: ReadItem, value: io.BytesIO) -> None:
        name = read_item.dest_index.fqn
        loaded = taeda.load(value, weights_only=False)
        self.state_dict[name] = loaded
        if self.flatten_state_dict:
            set_element(self.original_state_dict, self.mappings[name], loaded)

    def resolve_tensor(self, read_item: ReadItem) -> Tensor:
        tensor = self.lookup_tensor(read_item.dest_index)
        return self.transform_tensor(read_item, tensor)

    def commit_tensor(self, read_item: ReadItem, tensor: Tensor) -> None:
        """The tensor was filled in place."""

    def lookup_tensor(self, index: MetadataIndex) -> Tensor:
        """The part of a tensor that is here."""
        return local_part(self.state_dict[index.fqn], index.offset)

    def transform_tensor(self, read_item: ReadItem, tensor: Tensor) -> Tensor:
        """The part that an item fills."""
        return narrowed(tensor.detach(), read_item.dest_offsets, read_item.lengths)


class _EmptyStateDictLoadPlanner(DefaultLoadPlanner):
    """Reads a whole checkpoint, or what begins with ``keys``, into an empty dictionary."""

    def __init__(self, keys: set[str] | None = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.keys = keys

    def _should_include_key(self, key: str, metadata: Metadata) -> bool:
        if self.keys is None or key in self.keys:
            return True
        path = (metadata.planner_data or {}).get(key, (key,))
        starts = {".".join(map(str, path[:count])) for count in range(1, len(path) + 1)}
        return bool(starts & self.keys)

    def set_up_planner(
        self, state_dict: dict[str, Any], metadata: Metadata | None = None, is_coordinator: bool = False
    ) -> None:
        assert not state_dict and metadata is not None
        for name, stored in metadata.state_dict_metadata.items():
            if not self._should_include_key(name, metadata):
                continue
            value: Any = stored
            if isinstance(stored, TensorStorageMetadata):
                value = taeda.empty(stored.size, dtype=stored.properties.dtype)
            path = (metadata.planner_data or {}).get(name, (name,))
            set_element(state_dict, path, value)
        super().set_up_planner(state_dict, metadata, is_coordinator)


def create_default_local_save_plan(state_dict: dict[str, Any], is_coordinator: bool) -> SavePlan:
    """All tensors that are here; what is no tensor on the coordinator only."""
    items: list[WriteItem] = []
    for name, value in state_dict.items():
        if isinstance(value, Tensor) or is_coordinator:
            items += write_items(name, value)
    return SavePlan(items)


def without_doubles(plans: list[SavePlan], lowest: bool) -> list[SavePlan]:
    """Each chunk in one plan only."""
    owners: dict[MetadataIndex, list[int]] = defaultdict(list)
    sizes: dict[MetadataIndex, int] = {}
    for rank, plan in enumerate(plans):
        for item in plan.items:
            owners[item.index].append(rank)
            sizes[item.index] = item.tensor_storage_size() or 1
    load = [0] * len(plans)
    chosen: dict[MetadataIndex, int] = {}
    for index, ranks in sorted(owners.items(), key=lambda one: len(one[1])):  # first those without a choice
        chosen[index] = ranks[0] if lowest else min(ranks, key=lambda rank: load[rank])
        load[chosen[index]] += sizes[index]
    return [replace(plan, items=[item for item in plan.items if chosen[item.index] == rank])
            for rank, plan in enumerate(plans)]  # fmt: skip


def create_default_global_save_plan(
    all_plans: list[SavePlan], rewrite_index_hints: bool = True
) -> tuple[list[SavePlan], Metadata]:
    """The plans, with each chunk's number among those of its tensor, and what they write in all."""
    known: dict[str, TensorStorageMetadata | BytesStorageMetadata] = {}
    plans = []
    for plan in all_plans:
        items = []
        for item in plan.items:
            data = item.tensor_data
            if data is None:
                known[item.index.fqn] = BytesStorageMetadata()
                items.append(item)
                continue
            stored = known.setdefault(item.index.fqn, TensorStorageMetadata(data.properties, data.size, []))
            assert isinstance(stored, TensorStorageMetadata)
            if rewrite_index_hints:
                item = replace(item, index=MetadataIndex(item.index.fqn, item.index.offset, len(stored.chunks)))
            stored.chunks.append(data.chunk)
            items.append(item)
        plans.append(replace(plan, items=items))
    return plans, Metadata(known, version=VERSION)


def create_default_local_load_plan(state_dict: dict[str, Any], metadata: Metadata, strict: bool = True) -> LoadPlan:
    """What the values of ``state_dict`` need.

    Raises:
        RuntimeError: a name is missing in the checkpoint.
        ValueError: a shape is another.
    """
    items: list[ReadItem] = []
    for name, value in state_dict.items():
        stored = metadata.state_dict_metadata.get(name)
        if stored is None:
            if strict:
                raise RuntimeError(f"taeda.distributed.checkpoint: the checkpoint has no {name}")
            continue
        items += read_items(name, stored, value)
    return LoadPlan(items)


def create_default_global_load_plan(all_plans: list[LoadPlan]) -> list[LoadPlan]:
    """The plans as they are."""
    return all_plans


def _check(metadata: Metadata) -> None:
    """Raises ValueError where chunks do not make up a tensor, or overlap."""
    for name, stored in metadata.state_dict_metadata.items():
        if not isinstance(stored, TensorStorageMetadata):
            continue
        covered = sum(_volume(chunk.sizes) for chunk in stored.chunks)
        outside = any(first + length > size for chunk in stored.chunks
                      for first, length, size in zip(chunk.offsets, chunk.sizes, stored.size, strict=True))  # fmt: skip
        if outside or covered != _volume(stored.size) or _overlapping(stored.chunks):
            raise ValueError(f"taeda.distributed.checkpoint: the processes' parts of {name} do not make up a tensor of "
                             f"shape {tuple(stored.size)}: {stored.chunks}")  # fmt: skip


def _volume(sizes: Size) -> int:
    result = 1
    for size in sizes:
        result *= size
    return result


def _overlapping(chunks: list[ChunkStorageMetadata]) -> bool:
    ordered = sorted(chunks, key=lambda chunk: tuple(chunk.offsets))
    if len(ordered) > 64:  # the volumes agree; more would take the square of time
        return False
    return any(
        all(a < b + y and b < a + x for a, x, b, y in
            zip(one.offsets, one.sizes, other.offsets, other.sizes, strict=True))
        for at, one in enumerate(ordered) for other in ordered[at + 1 :] if _volume(one.sizes) and _volume(other.sizes)
    )  # fmt: skip
