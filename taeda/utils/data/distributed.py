"""The sampler for training by several processes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import taeda

from .sampler import Sampler

__all__ = ["DistributedSampler"]


class DistributedSampler(Sampler[int]):
    """Gives each of ``num_replicas`` processes its own share of the indices, all of one length.

    The shares are every ``num_replicas``-th index from ``rank`` on. What does not divide is repeated from the start, or
    with ``drop_last`` left out. Call :meth:`set_epoch` before each epoch, or every epoch has the same order.

    Raises:
        ValueError: ``rank`` is not in range, or neither it nor a process group is given.
    """

    def __init__(
        self,
        dataset: Any,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        if num_replicas is None or rank is None:
            world: Any = getattr(taeda, "distributed", None)
            if not (world is not None and world.is_available() and world.is_initialized()):
                raise ValueError("DistributedSampler: give num_replicas and rank, or initialise a process group first")
            num_replicas = world.get_world_size() if num_replicas is None else num_replicas
            rank = world.get_rank() if rank is None else rank
        if not 0 <= rank < num_replicas:
            raise ValueError(f"DistributedSampler: rank must lie in [0, {num_replicas - 1}]; got {rank}")
        self.dataset = dataset
        self.num_replicas = num_replicas
        self.rank = rank
        self.epoch = 0
        self.drop_last = drop_last
        count = len(dataset)
        self.num_samples = count // num_replicas if drop_last else math.ceil(count / num_replicas)
        self.total_size = self.num_samples * num_replicas
        self.shuffle = shuffle
        self.seed = seed

    def __iter__(self) -> Iterator[int]:
        if self.shuffle:
            generator = taeda.Generator()
            generator.manual_seed(self.seed + self.epoch)
            indices = taeda.randperm(len(self.dataset), generator=generator).tolist()
        else:
            indices = list(range(len(self.dataset)))
        missing = self.total_size - len(indices)
        if missing > 0:
            indices += (indices * math.ceil(missing / len(indices)))[:missing]
        return iter(indices[self.rank : self.total_size : self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Chooses the order of the next iteration; the same number on every process."""
        self.epoch = epoch
