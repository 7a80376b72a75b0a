"""Queues whose messages carry the memory of their tensors; see :mod:`taeda.multiprocessing.connection`."""

from __future__ import annotations

import multiprocessing.queues
from multiprocessing import reduction
from typing import Any

from .connection import Pipe, attach, collecting

__all__ = ["JoinableQueue", "Queue", "SimpleQueue"]


class _Parcel:
    """An object pickled already, and the descriptors that go with it."""

    def __init__(self, obj: Any) -> None:
        with collecting() as self.descriptors:
            self.payload = bytes(reduction.ForkingPickler.dumps(obj))


def _open_parcel(payload: bytes) -> Any:
    return reduction.ForkingPickler.loads(payload)


def _reduce_parcel(parcel: _Parcel) -> Any:
    attach(parcel.descriptors)
    return _open_parcel, (parcel.payload,)


reduction.register(_Parcel, _reduce_parcel)


def _context(given: Any) -> Any:
    from .context import get_context

    return given or get_context()


def _replace_pipe(queue: Any) -> None:
    for end in (queue._reader, queue._writer):
        end.close()
    queue._reader, queue._writer = Pipe(duplex=False)


class _Parcels:
    """Pickles in ``put``: errors are raised there, and what happens to the object afterwards does not show."""

    def __init__(self, maxsize: int = 0, *, ctx: Any = None) -> None:
        queue: Any = super()
        queue.__init__(maxsize, ctx=_context(ctx))
        _replace_pipe(self)
        queue._reset()

    def put(self, obj: Any, block: bool = True, timeout: float | None = None) -> None:
        """Adds an object; raises ``queue.Full``, or whatever pickling it raises."""
        queue: Any = super()
        queue.put(_Parcel(obj), block, timeout)


class Queue(_Parcels, multiprocessing.queues.Queue):  # type: ignore[type-arg]
    """``multiprocessing.Queue``; tensors go over in shared memory."""


class JoinableQueue(_Parcels, multiprocessing.queues.JoinableQueue):  # type: ignore[type-arg]
    """``multiprocessing.JoinableQueue``; tensors go over in shared memory."""


class SimpleQueue(multiprocessing.queues.SimpleQueue):  # type: ignore[type-arg]
    """``multiprocessing.SimpleQueue``; tensors go over in shared memory."""

    def __init__(self, *, ctx: Any = None) -> None:
        super().__init__(ctx=_context(ctx))
        _replace_pipe(self)
        self._poll = self._reader.poll  # type: ignore[attr-defined]

    def put(self, obj: Any) -> None:
        """Adds an object; blocks while the pipe is full."""
        with collecting():
            super().put(obj)
