"""Pipes that change the order of samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

from taeda.utils.data.datapipes.datapipe import IterDataPipe, MapDataPipe
from taeda.utils.data.datapipes.iter.combinatorics import _Shuffles

__all__ = ["ShufflerIterDataPipe"]
_T_co = TypeVar("_T_co", covariant=True)


class ShufflerIterDataPipe(_Shuffles, IterDataPipe[_T_co]):
    """The samples of a MapDataPipe in a random order, as an IterDataPipe (functional name: ``shuffle``).

    Args:
        datapipe: the pipe before it.
        indices: its keys, if they are not the numbers from 0.

    Example:
        >>> sorted(SequenceWrapper(range(5)).shuffle().set_seed(0))
        [0, 1, 2, 3, 4]
    """

    def __init__(self, datapipe: Any, *, indices: list[Any] | None = None) -> None:
        super().__init__()
        self.datapipe = datapipe
        self.indices = list(range(len(datapipe))) if indices is None else indices
        self._shuffled_indices: list[Any] = []

    def __iter__(self) -> Iterator[_T_co]:
        if not self._enabled:
            yield from map(self.datapipe.__getitem__, self.indices)
            return
        while self._shuffled_indices:  # what is left of them is pickled
            yield self.datapipe[self._shuffled_indices.pop()]

    def reset(self) -> None:
        if self._enabled:
            self._start_drawing()
            self._shuffled_indices = self._rng.sample(self.indices, len(self.indices))

    def __len__(self) -> int:
        return len(self.datapipe)


MapDataPipe.register_datapipe_as_function("shuffle", ShufflerIterDataPipe)
