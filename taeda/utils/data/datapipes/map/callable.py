"""Pipes that apply functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from taeda.utils.data.datapipes._decorator import functional_datapipe
from taeda.utils.data.datapipes.datapipe import MapDataPipe
from taeda.utils.data.datapipes.utils.common import _check_unpickable_fn

__all__ = ["MapperMapDataPipe", "default_fn"]
_T_co = TypeVar("_T_co", covariant=True)


def default_fn(data: Any) -> Any:
    """The sample as it is."""
    return data


@functional_datapipe("map")
class MapperMapDataPipe(MapDataPipe[_T_co]):
    """What a function makes of each sample (functional name: ``map``).

    Args:
        datapipe: the pipe before it.
        fn: the function; one with a name in a module can go to spawned workers.

    Example:
        >>> list(SequenceWrapper(range(3)).map(float))
        [0.0, 1.0, 2.0]
    """

    def __init__(self, datapipe: Any, fn: Callable[..., Any] = default_fn) -> None:
        super().__init__()
        _check_unpickable_fn(fn)
        self.datapipe, self.fn = datapipe, fn

    def __len__(self) -> int:
        return len(self.datapipe)

    def __getitem__(self, index: Any) -> _T_co:
        sample: _T_co = self.fn(self.datapipe[index])
        return sample
