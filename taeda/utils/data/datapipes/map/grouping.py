"""Pipes that make batches."""

from __future__ import annotations

from typing import Any

from taeda.utils.data.datapipes._decorator import functional_datapipe
from taeda.utils.data.datapipes.datapipe import DataChunk, MapDataPipe
from taeda.utils.data.datapipes.iter.grouping import _Batches

__all__ = ["BatcherMapDataPipe"]


@functional_datapipe("batch")
class BatcherMapDataPipe(_Batches, MapDataPipe[DataChunk[Any]]):
    """Batches of samples (functional name: ``batch``).

    Args:
        datapipe: the pipe before it, with keys from 0.
        batch_size: samples in a batch.
        drop_last: leaves out a last batch that is not full.
        wrapper_class: what a batch is made of its list.

    Raises:
        AssertionError: ``batch_size`` is not above 0.

    Example:
        >>> list(SequenceWrapper(range(5)).batch(2))
        [[0, 1], [2, 3], [4]]
    """

    def __getitem__(self, index: int) -> Any:
        if not 0 <= index < len(self):
            raise IndexError(f"Batcher: there is no batch {index}, there are {len(self)}")
        first = index * self.batch_size
        last = min(first + self.batch_size, len(self.datapipe))
        return self.wrapper_class([self.datapipe[i] for i in range(first, last)])

    def __len__(self) -> int:
        return self._batches(len(self.datapipe))
