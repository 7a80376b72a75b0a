"""A shard that this process has."""

from __future__ import annotations

from dataclasses import dataclass

from taeda import Tensor
from taeda.distributed._shard.metadata import ShardMetadata


@dataclass
class Shard:
    """A tensor, and where it lies in the whole.

    Raises:
        ValueError: its sizes or its device are others than the metadata's.
    """

    tensor: Tensor
    metadata: ShardMetadata

    def __post_init__(self) -> None:
        placement = self.metadata.placement
        if list(self.tensor.shape) != list(self.metadata.shard_sizes):
            raise ValueError(f"Shard: a tensor of shape {tuple(self.tensor.shape)} is not {self.metadata}")
        if placement is not None and placement.device() != self.tensor.device:
            raise ValueError(f"Shard: a tensor on {self.tensor.device} is not {self.metadata}")

    @classmethod
    def from_tensor_and_offsets(cls, tensor: Tensor, shard_offsets: list[int], rank: int) -> Shard:
        """The shard of ``rank`` that begins at ``shard_offsets``."""
        return cls(tensor, ShardMetadata(shard_offsets, list(tensor.shape), f"rank:{rank}/{tensor.device}"))
