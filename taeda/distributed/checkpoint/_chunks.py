"""Which chunks of tensors a process has, and which stored chunks have what it needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from taeda import Size, Tensor
from taeda.distributed.checkpoint.metadata import (
    BytesStorageMetadata,
    ChunkStorageMetadata,
    MetadataIndex,
    TensorProperties,
    TensorStorageMetadata,
)
from taeda.distributed.checkpoint.planner import (
    BytesIOWriteData,
    LoadItemType,
    ReadItem,
    TensorWriteData,
    WriteItem,
    WriteItemType,
)
from taeda.distributed.tensor import DTensor
from taeda.distributed.tensor._spec import part_in_whole


def _shards(value: Tensor) -> list[Any] | None:
    """The shards of a `ShardedTensor`, which is told by what it can do, so that its module need not be imported."""
    return value.local_shards() if hasattr(value, "local_shards") else None


def local_chunks(value: Tensor) -> list[ChunkStorageMetadata]:
    """The chunks that this process has; none if it is not on the tensor's mesh, or has nothing of it."""
    if (shards := _shards(value)) is not None:
        places = [one.metadata for one in shards]
        return [ChunkStorageMetadata(Size(one.shard_offsets), Size(one.shard_sizes)) for one in places]
    if not isinstance(value, DTensor):
        return [ChunkStorageMetadata(Size([0] * value.dim()), value.size())]
    if value.device_mesh.get_coordinate() is None:
        return []
    sizes, offsets = part_in_whole(value._spec)
    if 0 in sizes and 0 not in value.shape:
        return []
    return [ChunkStorageMetadata(Size(offsets), Size(sizes))]


def local_part(value: Tensor, offset: Size | None = None) -> Tensor:
    """The tensor of the chunk that begins at ``offset``."""
    if (shards := _shards(value)) is not None:
        return next(
            one.tensor for one in shards if offset is None or tuple(one.metadata.shard_offsets) == tuple(offset)
        )
    return value.to_local() if isinstance(value, DTensor) else value


def write_items(name: str, value: Any) -> list[WriteItem]:
    """What to write of a value."""
    if not isinstance(value, Tensor):
        return [WriteItem(MetadataIndex(name), WriteItemType.BYTE_IO, BytesIOWriteData(0))]
    whole = not isinstance(value, DTensor) and _shards(value) is None
    items = []
    for at, chunk in enumerate(local_chunks(value)):
        properties = TensorProperties.create_from_tensor(local_part(value, chunk.offsets))
        kind = WriteItemType.TENSOR if whole else WriteItemType.SHARD
        data = TensorWriteData(chunk, properties, Size(value.shape))
        items.append(WriteItem(MetadataIndex(name, chunk.offsets, at), kind, tensor_data=data))
    return items


def read_items(name: str, stored: TensorStorageMetadata | BytesStorageMetadata, value: Any) -> list[ReadItem]:
    """What to read into a value.

    Raises:
        ValueError: a tensor's shape is another.
    """
    if isinstance(stored, BytesStorageMetadata):
        index, none = MetadataIndex(name), Size([0])
        return [ReadItem(LoadItemType.BYTE_IO, index, none, index, none, none)]
    if not isinstance(value, Tensor):
        raise ValueError(f"taeda.distributed.checkpoint: {name} is stored as a tensor; got {type(value).__name__}")
    if tuple(value.shape) != tuple(stored.size):
        raise ValueError(f"taeda.distributed.checkpoint: {name} is stored with shape {tuple(stored.size)}; "
                         f"got {tuple(value.shape)}")  # fmt: skip
    return [item for at, own in enumerate(local_chunks(value)) for item in overlaps(name, stored, own, at)]


def overlaps(
    name: str, stored: TensorStorageMetadata, own: ChunkStorageMetadata, number: int = 0
) -> Iterator[ReadItem]:
    """The parts of stored chunks that belong into the chunk of that number on this process."""
    for at, chunk in enumerate(stored.chunks):
        starts = [max(a, b) for a, b in zip(own.offsets, chunk.offsets, strict=True)]
        ends = [min(a + x, b + y) for a, x, b, y in
                zip(own.offsets, own.sizes, chunk.offsets, chunk.sizes, strict=True)]  # fmt: skip
        if any(end <= start for start, end in zip(starts, ends, strict=True)):
            continue
        yield ReadItem(
            LoadItemType.TENSOR,
            MetadataIndex(name, own.offsets, number),
            Size(start - first for start, first in zip(starts, own.offsets, strict=True)),
            MetadataIndex(name, chunk.offsets, at),
            Size(start - first for start, first in zip(starts, chunk.offsets, strict=True)),
            Size(end - start for start, end in zip(starts, ends, strict=True)),
        )
