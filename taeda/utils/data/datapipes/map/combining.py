"""Pipes that make one of several."""

from __future__ import annotations

from typing import Any, TypeVar

from taeda.utils.data.datapipes._decorator import functional_datapipe
from taeda.utils.data.datapipes.datapipe import MapDataPipe

__all__ = ["ConcaterMapDataPipe", "ZipperMapDataPipe"]
_T_co = TypeVar("_T_co", covariant=True)


def _check_pipes(name: str, datapipes: tuple[Any, ...]) -> None:
    if not datapipes:
        raise ValueError(f"{name}: at least one pipe is wanted")
    if not all(isinstance(pipe, MapDataPipe) for pipe in datapipes):
        raise TypeError(f"{name}: MapDataPipes are wanted; got {[type(pipe).__name__ for pipe in datapipes]}")
    if not all(hasattr(pipe, "__len__") for pipe in datapipes):
        raise TypeError(f"{name}: pipes with a length are wanted; got {[type(pipe).__name__ for pipe in datapipes]}")


@functional_datapipe("concat")
class ConcaterMapDataPipe(MapDataPipe[Any]):
    """The samples of one pipe, behind them those of the next (functional name: ``concat``).

    Args:
        datapipes: the pipes, with keys from 0.

    Raises:
        ValueError: there is none.
        TypeError: one is no MapDataPipe, or has no length.

    Example:
        >>> list(SequenceWrapper([1, 2]).concat(SequenceWrapper([3])))
        [1, 2, 3]
    """

    def __init__(self, *datapipes: Any) -> None:
        _check_pipes("Concater", datapipes)
        self.datapipes = datapipes

    def __getitem__(self, index: int) -> Any:
        at = index
        for pipe in self.datapipes:
            if at < len(pipe):
                return pipe[at]
            at -= len(pipe)
        raise IndexError(f"Concater: there is no sample {index}, there are {len(self)}")

    def __len__(self) -> int:
        return sum(len(pipe) for pipe in self.datapipes)


@functional_datapipe("zip")
class ZipperMapDataPipe(MapDataPipe[tuple[_T_co, ...]]):
    """Tuples of one sample of each pipe (functional name: ``zip``).

    Args:
        datapipes: the pipes.

    Raises:
        ValueError: there is none.
        TypeError: one is no MapDataPipe, or has no length.

    Example:
        >>> list(SequenceWrapper([1, 2]).zip(SequenceWrapper([3, 4])))
        [(1, 3), (2, 4)]
    """

    def __init__(self, *datapipes: Any) -> None:
        _check_pipes("Zipper", datapipes)
        self.datapipes = datapipes

    def __getitem__(self, index: Any) -> tuple[_T_co, ...]:
        try:
            return tuple(pipe[index] for pipe in self.datapipes)
        except IndexError as error:
            raise IndexError(f"Zipper: not all pipes have a sample {index}") from error

    def __len__(self) -> int:
        return min(len(pipe) for pipe in self.datapipes)
