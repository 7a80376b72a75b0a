"""What is put around ``__iter__``, ``__next__`` and ``reset`` of every pipe: one valid iterator, and a count."""

from __future__ import annotations

import functools
import inspect
import reprlib
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any


class _SnapshotState(Enum):
    """Whether a pipe was put forward to where it had been: the next iterator then goes on from there."""

    NotStarted = 0
    Restored = 1
    Iterating = 2


_SHORT = (str, bytes, int, float, list, tuple, dict, set, range)


def _describe(datapipe: Any) -> str:
    """Its class, with what it was made of."""
    shown = []
    for name in inspect.signature(type(datapipe).__init__).parameters:
        value = datapipe.__dict__.get(name)
        if value is not None:
            text = (
                reprlib.repr(value) if isinstance(value, _SHORT) else getattr(value, "__name__", type(value).__name__)
            )
            shown.append(f"{name}={text}")
    return f"{type(datapipe).__name__}({', '.join(shown)})"


def _check_iterator_valid(datapipe: Any, iterator_id: int) -> None:
    """Refuses an iterator when there is a newer one.

    Raises:
        RuntimeError: the iterator is not the pipe's newest.
    """
    if getattr(datapipe, "_is_child_datapipe", False):
        valid = datapipe._check_valid_iterator_id(iterator_id)
    else:
        valid = datapipe._valid_iterator_id == iterator_id
    if not valid:
        raise RuntimeError(
            f"{_describe(datapipe)}: this iterator is not valid any more, there is a newer one; a pipe is read by one"
            " at a time, so read them one after the other, or fork the pipe"
        )


def _set_datapipe_valid_iterator_id(datapipe: Any) -> int:
    """Numbers a new iterator, and resets the pipe."""
    if getattr(datapipe, "_is_child_datapipe", False):
        datapipe._set_main_datapipe_valid_iterator_id()
    else:
        last = datapipe._valid_iterator_id
        datapipe._valid_iterator_id = 0 if last is None else last + 1
        datapipe.reset()
    number: int = datapipe._valid_iterator_id
    return number


class IteratorDecorator:
    """The iterator of a pipe whose ``__iter__`` is no generator."""

    def __init__(self, iterator: Any, datapipe: Any, iterator_id: int) -> None:
        self.iterator, self.datapipe, self.iterator_id = iterator, datapipe, iterator_id

    def __iter__(self) -> IteratorDecorator:
        return self

    def __next__(self) -> Any:
        _check_iterator_valid(self.datapipe, self.iterator_id)
        sample = next(self.iterator)
        if self.iterator is not self.datapipe:  # whose __next__ counts by itself
            self.datapipe._number_of_samples_yielded += 1
        return sample

    def __getattr__(self, name: str) -> Any:
        return getattr(self.iterator, name)


def _continued(datapipe: Any) -> Any:
    """The iterator that a snapshot left, once."""
    left, datapipe._fast_forward_iterator = datapipe._fast_forward_iterator, None
    if left is not None:
        datapipe._snapshot_state = _SnapshotState.Iterating
    return left


def _hooked_generator(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def hooked(self: Any, *args: Any, **kwargs: Any) -> Iterator[Any]:
        left = _continued(self)
        if left is not None:
            yield from left
            return
        number = _set_datapipe_valid_iterator_id(self)
        samples = function(self, *args, **kwargs)
        try:
            for sample in samples:
                self._number_of_samples_yielded += 1
                yield sample
                _check_iterator_valid(self, number)
        except Exception as error:
            error.add_note(f"raised within the iterator of {_describe(self)}")
            raise
        finally:
            samples.close()

    return hooked


def _hooked_function(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def hooked(self: Any, *args: Any, **kwargs: Any) -> Any:
        left = _continued(self)
        if left is not None:
            return left
        number = _set_datapipe_valid_iterator_id(self)
        return IteratorDecorator(function(self, *args, **kwargs), self, number)

    return hooked


def _counted(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def counted(self: Any, *args: Any, **kwargs: Any) -> Any:
        sample = function(self, *args, **kwargs)
        self._number_of_samples_yielded += 1
        return sample

    return counted


def hook_iterator(namespace: dict[str, Any]) -> None:
    """Puts the hooks around the methods of a class in the making that has an ``__iter__``."""
    function = namespace["__iter__"]
    wrap = _hooked_generator if inspect.isgeneratorfunction(function) else _hooked_function
    namespace["__iter__"] = wrap(function)
    if "__next__" in namespace:
        namespace["__next__"] = _counted(namespace["__next__"])


def hook_reset(namespace: dict[str, Any]) -> None:
    """Has ``reset`` do nothing to a pipe that was put forward, and count from 0 otherwise."""
    function = namespace["reset"]

    @functools.wraps(function)
    def reset(self: Any, *args: Any, **kwargs: Any) -> None:
        if self._snapshot_state is not _SnapshotState.Restored:
            self._number_of_samples_yielded = 0
            self._snapshot_state = _SnapshotState.Iterating
            function(self, *args, **kwargs)

    namespace["reset"] = reset
