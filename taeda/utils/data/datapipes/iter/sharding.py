"""Pipes that share samples out to processes."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from typing import Any

from taeda.utils.data.datapipes._decorator import functional_datapipe
from taeda.utils.data.datapipes.datapipe import IterDataPipe
from taeda.utils.data.datapipes.iter.callable import _length

__all__ = ["SHARDING_PRIORITIES", "ShardingFilterIterDataPipe"]


class SHARDING_PRIORITIES(IntEnum):
    """Who samples are shared out to, first ranks, then each rank's workers; ``DEFAULT`` is for both at once."""

    DEFAULT = 1
    DISTRIBUTED = 2
    MULTIPROCESSING = 3


class _ShardingIterDataPipe(IterDataPipe[Any]):
    def apply_sharding(self, num_of_instances: int, instance_id: int, sharding_group: Any) -> Any:
        """Has the pipe read one share."""
        raise NotImplementedError(f"{type(self).__name__} must define apply_sharding")


@functional_datapipe("sharding_filter")
class ShardingFilterIterDataPipe(_ShardingIterDataPipe):
    """Every n-th sample, once ``apply_sharding`` says so: the whole pipe before (functional name: ``sharding_filter``).

    Args:
        datapipe: the pipe before it.
        sharding_group_filter: the only group whose shares it heeds.
    """

    def __init__(self, source_datapipe: Any, sharding_group_filter: Any = None) -> None:
        self.source_datapipe, self.sharding_group_filter = source_datapipe, sharding_group_filter
        self.groups: dict[Any, tuple[int, int]] = {}
        self.num_of_instances, self.instance_id = 1, 0

    def apply_sharding(
        self, num_of_instances: int, instance_id: int, sharding_group: Any = SHARDING_PRIORITIES.DEFAULT
    ) -> None:
        """Has the pipe read share ``instance_id`` of ``num_of_instances``, for one group of processes.

        Raises:
            ValueError: there is no such share.
            RuntimeError: the group ``DEFAULT`` is used with others.
        """
        if instance_id >= num_of_instances:
            raise ValueError(f"apply_sharding: there is no share {instance_id} of {num_of_instances}")
        default = SHARDING_PRIORITIES.DEFAULT
        if any((group == default) != (sharding_group == default) for group in self.groups):
            raise RuntimeError("apply_sharding: the group DEFAULT cannot be used with others; name a group each time")
        self.groups[sharding_group] = (num_of_instances, instance_id)
        self._update_num_of_instances()

    def _update_num_of_instances(self) -> None:
        self.num_of_instances, self.instance_id = 1, 0
        for group in sorted(self.groups):
            if self.sharding_group_filter in (None, group):
                number, share = self.groups[group]
                self.instance_id += self.num_of_instances * share
                self.num_of_instances *= number

    def __iter__(self) -> Iterator[Any]:
        for i, sample in enumerate(self.source_datapipe):
            if i % self.num_of_instances == self.instance_id:
                yield sample

    def __len__(self) -> int:
        whole, rest = divmod(_length(self, self.source_datapipe), self.num_of_instances)
        return whole + (self.instance_id < rest)
