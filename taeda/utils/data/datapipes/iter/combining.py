"""Pipes that make one of several, or several of one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, TypeVar

from taeda.utils.data.datapipes._decorator import functional_datapipe
from taeda.utils.data.datapipes.datapipe import IterDataPipe
from taeda.utils.data.datapipes.iter._children import (
    _ChildDataPipe,
    _DemultiplexerIterDataPipe,
    _ForkerIterDataPipe,
)
from taeda.utils.data.datapipes.iter.callable import _length
from taeda.utils.data.datapipes.utils.common import _check_unpickable_fn

__all__ = [
    "ConcaterIterDataPipe",
    "DemultiplexerIterDataPipe",
    "ForkerIterDataPipe",
    "MultiplexerIterDataPipe",
    "ZipperIterDataPipe",
]
_T_co = TypeVar("_T_co", covariant=True)


def _check_pipes(name: str, datapipes: tuple[Any, ...]) -> None:
    if not all(isinstance(pipe, IterDataPipe) for pipe in datapipes):
        raise TypeError(f"{name}: IterDataPipes are wanted; got {[type(pipe).__name__ for pipe in datapipes]}")


@functional_datapipe("concat")
class ConcaterIterDataPipe(IterDataPipe[Any]):
    """All samples of one pipe, then those of the next (functional name: ``concat``).

    Args:
        datapipes: the pipes.

    Raises:
        ValueError: there is none.
        TypeError: one is no IterDataPipe.

    Example:
        >>> list(IterableWrapper([1, 2]).concat(IterableWrapper([3])))
        [1, 2, 3]
    """

    def __init__(self, *datapipes: Any) -> None:
        if not datapipes:
            raise ValueError("Concater: at least one pipe is wanted")
        _check_pipes("Concater", datapipes)
        self.datapipes = datapipes

    def __iter__(self) -> Iterator[Any]:
        for datapipe in self.datapipes:
            yield from datapipe

    def __len__(self) -> int:
        return sum(_length(self, pipe) for pipe in self.datapipes)


@functional_datapipe("fork")
class ForkerIterDataPipe(IterDataPipe[Any]):
    """Several pipes that each give all samples of one (functional name: ``fork``).

    Args:
        datapipe: the pipe before them.
        num_instances: how many; of 1 comes the pipe itself.
        buffer_size: how many samples the first may be ahead of the last, -1 for as many as there are.
        copy: whether each gives a copy of its own: ``"shallow"`` or ``"deep"``.

    Raises:
        ValueError: there are none, or ``copy`` is another word.

    Example:
        >>> a, b = IterableWrapper([1, 2]).fork(2)
        >>> list(a), list(b)
        ([1, 2], [1, 2])
    """

    def __new__(  # type: ignore[misc]
        cls,
        datapipe: Any,
        num_instances: int,
        buffer_size: int = 1000,
        copy: Literal["shallow", "deep"] | None = None,
    ) -> Any:
        if num_instances < 1:
            raise ValueError(f"Forker: num_instances must be 1 or more; got {num_instances}")
        if num_instances == 1:
            return datapipe
        container = _ForkerIterDataPipe(datapipe, num_instances, buffer_size=buffer_size, copy=copy)
        return [_ChildDataPipe(container, i) for i in range(num_instances)]


@functional_datapipe("demux")
class DemultiplexerIterDataPipe(IterDataPipe[Any]):
    """Several pipes that share the samples of one, as a function says (functional name: ``demux``).

    Args:
        datapipe: the pipe before them.
        num_instances: how many.
        classifier_fn: the number of the pipe that a sample goes to.
        drop_none: leaves out samples for which that is None.
        buffer_size: how many samples may wait to be read, -1 for as many as there are.

    Raises:
        ValueError: there are none.

    Example:
        >>> even, odd = IterableWrapper(range(5)).demux(2, lambda x: x % 2)
        >>> list(even), list(odd)
        ([0, 2, 4], [1, 3])
    """

    def __new__(  # type: ignore[misc]
        cls,
        datapipe: Any,
        num_instances: int,
        classifier_fn: Callable[[Any], int | None],
        drop_none: bool = False,
        buffer_size: int = 1000,
    ) -> Any:
        if num_instances < 1:
            raise ValueError(f"Demultiplexer: num_instances must be 1 or more; got {num_instances}")
        _check_unpickable_fn(classifier_fn)
        container = _DemultiplexerIterDataPipe(datapipe, num_instances, classifier_fn, drop_none, buffer_size)
        return [_ChildDataPipe(container, i) for i in range(num_instances)]


@functional_datapipe("mux")
class MultiplexerIterDataPipe(IterDataPipe[Any]):
    """One sample of each pipe in turn, until one has none left (functional name: ``mux``).

    Args:
        datapipes: the pipes.

    Example:
        >>> list(IterableWrapper([1, 2]).mux(IterableWrapper([10, 20, 30])))
        [1, 10, 2, 20]
    """

    def __init__(self, *datapipes: Any) -> None:
        self.datapipes = datapipes

    def __iter__(self) -> Iterator[Any]:
        for samples in zip(*self.datapipes, strict=False):
            yield from samples

    def __len__(self) -> int:
        return min(_length(self, pipe) for pipe in self.datapipes) * len(self.datapipes)


@functional_datapipe("zip")
class ZipperIterDataPipe(IterDataPipe[tuple[_T_co]]):
    """Tuples of one sample of each pipe, until one has none left (functional name: ``zip``).

    Args:
        datapipes: the pipes.

    Raises:
        TypeError: one is no IterDataPipe.

    Example:
        >>> list(IterableWrapper([1, 2]).zip(IterableWrapper([10, 20, 30])))
        [(1, 10), (2, 20)]
    """

    def __init__(self, *datapipes: Any) -> None:
        _check_pipes("Zipper", datapipes)
        super().__init__()
        self.datapipes = datapipes

    def __iter__(self) -> Iterator[tuple[_T_co]]:
        yield from zip(*self.datapipes, strict=False)

    def __len__(self) -> int:
        return min(_length(self, pipe) for pipe in self.datapipes)
