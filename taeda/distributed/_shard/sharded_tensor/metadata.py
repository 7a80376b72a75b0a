"""What is to know of a tensor in shards."""

from __future__ import annotations

from dataclasses import dataclass, field

from taeda import Size
from taeda.distributed._shard.metadata import ShardMetadata
from taeda.distributed.checkpoint.metadata import TensorProperties as TensorProperties


@dataclass
class ShardedTensorMetadata:
    """All its shards, its size, and what the shards are."""

    shards_metadata: list[ShardMetadata] = field(default_factory=list)
    size: Size = field(default_factory=Size)
    tensor_properties: TensorProperties = field(default_factory=TensorProperties)
