"""A sampler that goes on in the middle of an epoch."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import taeda
from taeda.utils.data import DistributedSampler

__all__ = ["ElasticDistributedSampler"]


class ElasticDistributedSampler(DistributedSampler):
    """A `DistributedSampler` of what of each epoch's order comes at ``start_index`` or later.

    Raises:
        ValueError: the dataset is shorter than that.
    """

    def __init__(
        self, dataset: Any, num_replicas: int | None = None, rank: int | None = None, start_index: int = 0
    ) -> None:
        super().__init__(dataset, num_replicas=num_replicas, rank=rank)
        if not 0 <= start_index < len(dataset):
            raise ValueError(
                f"taeda.distributed.elastic.ElasticDistributedSampler: start_index {start_index} of {len(dataset)}"
            )
        self.start_index = start_index
        self.num_samples = math.ceil((len(dataset) - start_index) / self.num_replicas)
        self.total_size = self.num_samples * self.num_replicas

    def __iter__(self) -> Iterator[int]:
        generator = taeda.Generator()
        generator.manual_seed(self.epoch)
        rest = len(self.dataset) - self.start_index
        order = [self.start_index + int(i) for i in taeda.randperm(rest, generator=generator)]
        order += order[: self.total_size - len(order)]
        return iter(order[self.rank : self.total_size : self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples
