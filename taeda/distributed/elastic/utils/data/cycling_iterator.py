"""Epoch after epoch as one iterator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["CyclingIterator"]


class CyclingIterator(Iterator[Any]):
    """The items of ``generator_fn(epoch)`` for the epochs from ``start_epoch`` to ``n - 1``, one after the other."""

    def __init__(self, n: int, generator_fn: Callable[[int], Iterator[Any]], start_epoch: int = 0) -> None:
        self._end, self._epoch = n, start_epoch
        self._make = generator_fn
        self._items = generator_fn(start_epoch)

    def __iter__(self) -> CyclingIterator:
        return self

    def __next__(self) -> Any:
        while True:
            try:
                return next(self._items)
            except StopIteration:
                self._epoch += 1
                if self._epoch >= self._end:
                    raise
                self._items = self._make(self._epoch)
