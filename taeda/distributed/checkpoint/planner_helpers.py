"""Parts of plans, for planners of a program's own."""

from __future__ import annotations

from typing import Any

from taeda import Size, Tensor
from taeda.distributed.checkpoint._chunks import overlaps, read_items, write_items
from taeda.distributed.checkpoint.metadata import ChunkStorageMetadata, MetadataIndex, TensorStorageMetadata
from taeda.distributed.checkpoint.planner import LoadItemType, ReadItem, WriteItem

__all__ = ["create_read_items_for_chunk_list"]


def _create_write_items(fqn: str, object: Any) -> list[WriteItem]:
    """What to write of a value."""
    return write_items(fqn, object)


def _create_write_item_for_tensor(fqn: str, tensor: Tensor) -> WriteItem:
    """What to write of a tensor that is whole on this process."""
    return write_items(fqn, tensor)[0]


def _create_read_items(fqn: str, md: Any, obj: Any) -> list[ReadItem]:
    """What to read into a value."""
    return read_items(fqn, md, obj)


def create_read_items_for_chunk_list(
    fqn: str, checkpoint_md: TensorStorageMetadata, local_chunks: list[ChunkStorageMetadata]
) -> list[ReadItem]:
    """What to read of a stored tensor for the chunks of it that this process has."""
    return [item for at, chunk in enumerate(local_chunks) for item in overlaps(fqn, checkpoint_md, chunk, at)]


def _create_read_item_for_tensor(
    dest_index: MetadataIndex, dest_offsets: Size, storage_index: MetadataIndex, storage_offsets: Size, lengths: Size
) -> ReadItem:
    """A part of a stored tensor, and where it goes."""
    return ReadItem(LoadItemType.TENSOR, dest_index, dest_offsets, storage_index, storage_offsets, lengths)
