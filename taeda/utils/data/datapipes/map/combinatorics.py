"""Pipes that change the order of samples."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, TypeVar

from taeda.utils.data.datapipes.datapipe import IterDataPipe, MapDataPipe
from taeda.utils.data.datapipes.iter.combinatorics import random_seed

__all__ = ["ShufflerIterDataPipe"]
_T_co = TypeVar("_T_co", covariant=True)


class ShufflerIterDataPipe(IterDataPipe[_T_co]):
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
        self._enabled = True
        self._seed: int | None = None
        self._rng = random.Random()
        self._shuffled_indices: list[Any] = []

    def set_shuffle(self, shuffle: bool = True) -> ShufflerIterDataPipe[_T_co]:
        """Switches shuffling on or off."""
        self._enabled = shuffle
        return self

    def set_seed(self, seed: int) -> ShufflerIterDataPipe[_T_co]:
        """Sets what the next reading draws with; else a number of the default generator."""
        self._seed = seed
        return self

    def __iter__(self) -> Iterator[_T_co]:
        if not self._enabled:
            yield from map(self.datapipe.__getitem__, self.indices)
            return
        while self._shuffled_indices:  # what is left of them is pickled
            yield self.datapipe[self._shuffled_indices.pop()]

    def reset(self) -> None:
        if self._enabled:
            self._rng.seed(random_seed() if self._seed is None else self._seed)
            self._seed = None
            self._shuffled_indices = self._rng.sample(self.indices, len(self.indices))

    def __len__(self) -> int:
        return len(self.datapipe)


MapDataPipe.register_datapipe_as_function("shuffle", ShufflerIterDataPipe)
