"""How a tensor is cut into shards, and which process has which."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import taeda.distributed as dist
from taeda import Size, Tensor
from taeda.distributed._shard.metadata import ShardMetadata as ShardMetadata
from taeda.distributed._shard.metadata import check_shards
from taeda.distributed.remote_device import _remote_device
from taeda.distributed.tensor.placement_types import narrowed, part_of

if TYPE_CHECKING:
    from taeda.distributed._shard.sharded_tensor import ShardedTensor, ShardedTensorMetadata

__all__ = ["ChunkShardingSpec", "DevicePlacementSpec", "EnumerableShardingSpec", "PlacementSpec", "ShardMetadata",
           "ShardingSpec"]  # fmt: skip


class PlacementSpec:
    """Where something lies."""


@dataclass
class DevicePlacementSpec(PlacementSpec):
    """On a device, written as in `_remote_device`."""

    device: _remote_device

    def __post_init__(self) -> None:
        if not isinstance(self.device, _remote_device):
            self.device = _remote_device(self.device)


class ShardingSpec(ABC):
    """A way to cut tensors; a program may write its own."""

    @abstractmethod
    def build_metadata(self, tensor_sizes: Any, tensor_properties: Any) -> ShardedTensorMetadata:
        """What is to know of a tensor of these sizes in shards."""

    @abstractmethod
    def shard(self, tensor: Tensor, src_rank: int = 0, process_group: Any = None) -> ShardedTensor:
        """The values that ``tensor`` has on a rank of the group, in shards."""


def _metadata(shards: list[ShardMetadata], sizes: Any, properties: Any) -> ShardedTensorMetadata:
    from taeda.distributed._shard.sharded_tensor import ShardedTensorMetadata

    check_shards(shards, list(sizes))
    return ShardedTensorMetadata(shards, Size(sizes), properties)


def _sharded(spec: ShardingSpec, tensor: Tensor, src_rank: int, group: Any) -> ShardedTensor:
    """The values that ``tensor`` has on the rank ``src_rank`` of the group, cut as ``spec`` says."""
    from taeda.distributed._shard.sharded_tensor import Shard, ShardedTensor, TensorProperties

    whole = tensor.detach().clone()
    dist.broadcast(whole, group=group, group_src=src_rank)
    made = spec.build_metadata(tensor.shape, TensorProperties.create_from_tensor(tensor))
    own = []
    for one in made.shards_metadata:
        if one.placement is not None and one.placement.rank() == dist.get_rank():
            part = narrowed(whole, one.shard_offsets, one.shard_sizes)
            own.append(Shard(part.clone().requires_grad_(tensor.requires_grad), one))
    return ShardedTensor._init_from_local_shards_and_global_metadata(own, made, group, sharding_spec=spec)


@dataclass
class ChunkShardingSpec(ShardingSpec):
    """Cuts along the dimension ``dim``, as evenly as `chunk` does, a shard for each of ``placements``."""

    dim: int
    placements: Sequence[Any]

    def __post_init__(self) -> None:
        if not isinstance(self.dim, int):
            raise ValueError(f"ChunkShardingSpec: dim is wanted as an int; got {self.dim!r}")
        self.placements = [one if isinstance(one, _remote_device) else _remote_device(one) for one in self.placements]

    def build_metadata(self, tensor_sizes: Any, tensor_properties: Any) -> ShardedTensorMetadata:
        sizes = list(tensor_sizes)
        if not -len(sizes) <= self.dim < len(sizes):
            raise ValueError(f"ChunkShardingSpec: there is no dimension {self.dim} among sizes {sizes}")
        dim, shards = self.dim % len(sizes), []
        for rank, placement in enumerate(self.placements):
            start, size = part_of(sizes[dim], len(self.placements), rank)
            offsets = [start if at == dim else 0 for at in range(len(sizes))]
            shards.append(
                ShardMetadata(offsets, [size if at == dim else one for at, one in enumerate(sizes)], placement)
            )
        return _metadata(shards, sizes, tensor_properties)

    def shard(self, tensor: Tensor, src_rank: int = 0, process_group: Any = None) -> ShardedTensor:
        return _sharded(self, tensor, src_rank, process_group)


@dataclass
class EnumerableShardingSpec(ShardingSpec):
    """Shards that are told one by one."""

    shards: list[ShardMetadata]

    def __post_init__(self) -> None:
        if not self.shards:
            raise ValueError("EnumerableShardingSpec: a shard at least is wanted")
        check_shards(self.shards)

    def build_metadata(self, tensor_sizes: Any, tensor_properties: Any) -> ShardedTensorMetadata:
        return _metadata(self.shards, tensor_sizes, tensor_properties)

    def shard(self, tensor: Tensor, src_rank: int = 0, process_group: Any = None) -> ShardedTensor:
        return _sharded(self, tensor, src_rank, process_group)


def spec_of(shards: list[ShardMetadata], sizes: Any) -> ShardingSpec:
    """The spec that cuts so: in chunks, if they are along one dimension and of one length, the last ones but."""
    for dim in range(len(sizes)):
        if all(one.placement is not None for one in shards):
            spec = ChunkShardingSpec(dim, [one.placement for one in shards])
            if spec.build_metadata(sizes, None).shards_metadata == shards:
                return spec
    return EnumerableShardingSpec(shards)
