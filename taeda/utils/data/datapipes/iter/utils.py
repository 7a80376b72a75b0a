"""Pipes that begin a chain."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable, Iterator, Sized
from typing import TypeVar

from taeda.utils.data.datapipes.datapipe import IterDataPipe

__all__ = ["IterableWrapperIterDataPipe"]
_T = TypeVar("_T")


class IterableWrapperIterDataPipe(IterDataPipe[_T]):
    """The samples of an iterable, by default of a deep copy of it, made when the first sample is read.

    Args:
        deepcopy: copies the iterable for every reading; what has no copy is read itself, with a warning.
    """

    def __init__(self, iterable: Iterable[_T], deepcopy: bool = True) -> None:
        self.iterable, self.deepcopy = iterable, deepcopy

    def __iter__(self) -> Iterator[_T]:
        source = self.iterable
        if self.deepcopy:
            try:
                source = copy.deepcopy(source)
            except TypeError:  # generators and files
                warnings.warn(
                    "IterableWrapper: the iterable cannot be copied, and may be read only once; deepcopy=False says so",
                    UserWarning,
                    stacklevel=2,
                )
        yield from source

    def __len__(self) -> int:
        if not isinstance(self.iterable, Sized):
            raise TypeError(f"{type(self).__name__} instance doesn't have valid length: its iterable has none")
        return len(self.iterable)
