"""Pipes that begin a chain."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from taeda.utils.data.datapipes.datapipe import MapDataPipe

__all__ = ["SequenceWrapperMapDataPipe"]
_T = TypeVar("_T")


class SequenceWrapperMapDataPipe(MapDataPipe[_T]):
    """The samples of a sequence or mapping, by default of a deep copy of it.

    Args:
        deepcopy: copies it now; what has no copy is taken itself, with a warning.
    """

    def __init__(self, sequence: Sequence[_T] | Mapping[Any, _T], deepcopy: bool = True) -> None:
        self.sequence = sequence
        if deepcopy:
            try:
                self.sequence = copy.deepcopy(sequence)
            except TypeError:
                warnings.warn(
                    "SequenceWrapper: the sequence cannot be copied; deepcopy=False says that it is taken itself",
                    UserWarning,
                    stacklevel=2,
                )

    def __getitem__(self, index: Any) -> _T:
        return self.sequence[index]

    def __len__(self) -> int:
        return len(self.sequence)
