"""Pipes that make batches, and undo them."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from taeda.utils.data.datapipes._decorator import functional_datapipe
from taeda.utils.data.datapipes.datapipe import DataChunk, IterDataPipe
from taeda.utils.data.datapipes.iter.callable import _length
from taeda.utils.data.datapipes.utils.common import _check_unpickable_fn

__all__ = ["BatcherIterDataPipe", "GrouperIterDataPipe", "UnBatcherIterDataPipe"]


def __getattr__(name: str) -> Any:
    from taeda.utils.data.datapipes.iter import sharding

    if name not in ("SHARDING_PRIORITIES", "ShardingFilterIterDataPipe"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warnings.warn(f"{name} has moved to datapipes.iter.sharding; import it from there", FutureWarning, stacklevel=2)
    return getattr(sharding, name)


class _Batches:
    """How batches of samples are made, in order or by key."""

    def __init__(
        self, datapipe: Any, batch_size: int, drop_last: bool = False, wrapper_class: type[Any] = DataChunk
    ) -> None:
        if batch_size <= 0:
            raise AssertionError(f"Batcher: batch_size must be above 0; got {batch_size}")
        super().__init__()
        self.datapipe, self.batch_size, self.drop_last, self.wrapper_class = (
            datapipe, batch_size, drop_last, wrapper_class,
        )  # fmt: skip

    def _batches(self, samples: int) -> int:
        return samples // self.batch_size if self.drop_last else -(-samples // self.batch_size)


@functional_datapipe("batch")
class BatcherIterDataPipe(_Batches, IterDataPipe[DataChunk[Any]]):
    """Batches of samples (functional name: ``batch``).

    Args:
        datapipe: the pipe before it.
        batch_size: samples in a batch.
        drop_last: leaves out a last batch that is not full.
        wrapper_class: what a batch is made of its list.

    Raises:
        AssertionError: ``batch_size`` is not above 0.

    Example:
        >>> list(IterableWrapper(range(5)).batch(2))
        [[0, 1], [2, 3], [4]]
    """

    def __iter__(self) -> Iterator[Any]:
        batch: list[Any] = []
        for sample in self.datapipe:
            batch.append(sample)
            if len(batch) == self.batch_size:
                yield self.wrapper_class(batch)
                batch = []
        if batch and not self.drop_last:
            yield self.wrapper_class(batch)

    def __len__(self) -> int:
        return self._batches(_length(self, self.datapipe))


@functional_datapipe("unbatch")
class UnBatcherIterDataPipe(IterDataPipe[Any]):
    """The samples of batches (functional name: ``unbatch``).

    Args:
        datapipe: the pipe before it.
        unbatch_level: how many levels of batches are undone, -1 for all.

    Raises:
        ValueError: when iterated, ``unbatch_level`` is below -1.
        IndexError: when iterated, there are not as many levels.

    Example:
        >>> list(IterableWrapper([[1, 2], [3]]).unbatch())
        [1, 2, 3]
    """

    def __init__(self, datapipe: Any, unbatch_level: int = 1) -> None:
        self.datapipe, self.unbatch_level = datapipe, unbatch_level

    def __iter__(self) -> Iterator[Any]:
        if self.unbatch_level < -1:
            raise ValueError(f"UnBatcher: unbatch_level must be -1 or more; got {self.unbatch_level}")
        for element in self.datapipe:
            yield from self._dive(element, self.unbatch_level)

    def _dive(self, element: Any, unbatch_level: int) -> Iterator[Any]:
        batch = isinstance(element, list)
        if unbatch_level == 0 or (unbatch_level < 0 and not batch):
            yield element
        elif not batch:
            raise IndexError(f"UnBatcher: unbatch_level={self.unbatch_level} is more than there are levels of lists")
        else:
            for part in element:
                yield from self._dive(part, unbatch_level - (unbatch_level > 0))


@functional_datapipe("groupby")
class GrouperIterDataPipe(IterDataPipe[DataChunk[Any]]):
    """Batches of samples with the same key (functional name: ``groupby``).

    A group is given when it is full; when the buffer is, its largest group is; and the rest at the end.

    Args:
        datapipe: the pipe before it.
        group_key_fn: the key of a sample.
        keep_key: gives tuples of the key and the group.
        buffer_size: samples that may wait for others of their group.
        group_size: samples in a group at most.
        guaranteed_group_size: samples in a group at least, where the buffer is full.
        drop_remaining: leaves out what is smaller then, which else is an error.

    Raises:
        AssertionError: the sizes do not fit each other.
        RuntimeError: when iterated, the buffer is full of groups that are too small.

    Example:
        >>> list(IterableWrapper(range(5)).groupby(lambda x: x % 2))
        [[0, 2, 4], [1, 3]]
    """

    def __init__(
        self,
        datapipe: Any,
        group_key_fn: Callable[[Any], Any],
        *,
        keep_key: bool = False,
        buffer_size: int = 10000,
        group_size: int | None = None,
        guaranteed_group_size: int | None = None,
        drop_remaining: bool = False,
    ) -> None:
        _check_unpickable_fn(group_key_fn)
        if group_size is not None and not 0 < group_size <= buffer_size:
            raise AssertionError(f"Grouper: group_size must be above 0 and at most {buffer_size}; got {group_size}")
        least = guaranteed_group_size
        if least is not None and (group_size is None or not 0 < least <= group_size):
            raise AssertionError(
                f"Grouper: guaranteed_group_size must be above 0 and at most group_size={group_size}; got {least}"
            )
        self.datapipe, self.group_key_fn, self.keep_key = datapipe, group_key_fn, keep_key
        self.max_buffer_size, self.group_size, self.drop_remaining = buffer_size, group_size, drop_remaining
        self.guaranteed_group_size = group_size if least is None and group_size is not None else least
        self.wrapper_class = DataChunk
        self.reset()

    def _remove_biggest_key(self) -> Any:
        """Takes the largest group out; gives it if it is large enough."""
        key = max(self.buffer_elements, key=lambda k: len(self.buffer_elements[k]))
        group = self.buffer_elements[key]
        large = self.guaranteed_group_size is None or len(group) >= self.guaranteed_group_size
        if not large and not self.drop_remaining:
            raise RuntimeError(
                f"Grouper: the buffer of {self.max_buffer_size} is full, and its largest group has {len(group)} of"
                f" guaranteed_group_size={self.guaranteed_group_size}; enlarge it, or give drop_remaining=True"
            )
        del self.buffer_elements[key]
        self.curr_buffer_size -= len(group)
        return self._given(key, group) if large else None

    def _given(self, key: Any, group: list[Any]) -> Any:
        chunk = self.wrapper_class(group)
        return (key, chunk) if self.keep_key else chunk

    def __iter__(self) -> Iterator[Any]:
        for sample in self.datapipe:
            key = self.group_key_fn(sample)
            self.buffer_elements[key].append(sample)
            self.curr_buffer_size += 1
            if self.group_size is not None and len(self.buffer_elements[key]) == self.group_size:
                group = self.buffer_elements.pop(key)
                self.curr_buffer_size -= len(group)
                yield self._given(key, group)
            if self.curr_buffer_size == self.max_buffer_size:
                largest = self._remove_biggest_key()
                if largest is not None:
                    yield largest
        for key in tuple(self.buffer_elements):
            group = self.buffer_elements.pop(key)
            self.curr_buffer_size -= len(group)
            yield self._given(key, group)

    def reset(self) -> None:
        self.curr_buffer_size = 0
        self.buffer_elements: defaultdict[Any, list[Any]] = defaultdict(list)
