"""Where a shard lies in its tensor, and who has it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from taeda.distributed.remote_device import _remote_device


@dataclass(init=False, unsafe_hash=False)
class ShardMetadata:
    """Where a shard begins, its sizes, and the device of the process that has it.

    Raises:
        ValueError: not as many offsets as sizes, or a negative one.
    """

    shard_offsets: list[int]
    shard_sizes: list[int]
    placement: _remote_device | None

    def __init__(
        self, shard_offsets: list[int], shard_sizes: list[int], placement: str | _remote_device | None = None
    ) -> None:
        if len(shard_offsets) != len(shard_sizes) or min([0, *shard_offsets, *shard_sizes]) < 0:
            raise ValueError(
                "ShardMetadata: an offset and a size, neither negative, are wanted for each dimension; got "
                f"{shard_offsets} and {shard_sizes}"
            )
        self.shard_offsets, self.shard_sizes = shard_offsets, shard_sizes
        self.placement = _remote_device(placement) if isinstance(placement, str) else placement

    def __hash__(self) -> int:
        return hash((tuple(self.shard_offsets), tuple(self.shard_sizes), self.placement))


def check_shards(shards: list[ShardMetadata], sizes: list[int] | None = None) -> None:
    """Raises ValueError unless the shards lie beside one another; with ``sizes``, unless they are a tensor of these."""
    if len({len(one.shard_sizes) for one in shards}) > 1:
        raise ValueError(f"ShardMetadata: shards have different numbers of dimensions: {shards}")
    for at, one in enumerate(shards):
        for other in shards[at + 1 :]:
            if _overlap(one, other):
                raise ValueError(f"ShardMetadata: two shards overlap: {one} and {other}")
    if sizes is None:
        return
    for one in shards:
        for start, size, end in zip(one.shard_offsets, one.shard_sizes, sizes, strict=True):
            if start + size > end:
                raise ValueError(f"ShardMetadata: {one} does not lie within a tensor of sizes {list(sizes)}")
    count, held = math.prod(sizes), sum(math.prod(one.shard_sizes) for one in shards)
    if held != count:
        raise ValueError(f"ShardMetadata: of {count} elements of a tensor the shards have {held}")


def _overlap(one: ShardMetadata, other: ShardMetadata) -> bool:
    each = zip(one.shard_offsets, one.shard_sizes, other.shard_offsets, other.shard_sizes, strict=True)
    return all(a < b + y and b < a + x for a, x, b, y in each)
