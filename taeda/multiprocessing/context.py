"""Contexts: a start method, and the classes that go with it."""

from __future__ import annotations

import multiprocessing
from multiprocessing import context as standard
from typing import Any

__all__ = ["get_context"]


class _WithTensors:
    """A standard context whose pipes and queues carry the memory of tensors."""

    def get_context(self, method: str | None = None) -> Any:
        """The context of another start method; this one without."""
        return self if method is None else get_context(method)

    def Pipe(self, duplex: bool = True) -> Any:
        """Two connected ends."""
        from .connection import Pipe

        return Pipe(duplex)

    def Queue(self, maxsize: int = 0) -> Any:
        """A queue between processes."""
        from .queue import Queue

        return Queue(maxsize, ctx=self)

    def JoinableQueue(self, maxsize: int = 0) -> Any:
        """A queue whose consumers report that they are done."""
        from .queue import JoinableQueue

        return JoinableQueue(maxsize, ctx=self)

    def SimpleQueue(self) -> Any:
        """A locked pipe."""
        from .queue import SimpleQueue

        return SimpleQueue(ctx=self)


class ForkContext(_WithTensors, standard.ForkContext):
    """Children are copies of the parent."""


class SpawnContext(_WithTensors, standard.SpawnContext):
    """Children are fresh interpreters."""


class ForkServerContext(_WithTensors, standard.ForkServerContext):
    """Children are copies of a fresh interpreter."""


_CONTEXTS = {kind._name: kind() for kind in (ForkContext, SpawnContext, ForkServerContext)}


def get_context(method: str | None = None) -> Any:
    """The context of a start method; of the one that is set, without.

    Raises:
        ValueError: there is no such start method.
    """
    return _CONTEXTS[multiprocessing.get_context(method).get_start_method()]
