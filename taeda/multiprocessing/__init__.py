"""The standard library's ``multiprocessing``, with tensors in shared memory.

A tensor that goes through a queue, a pipe or a pool, or to a new process as an argument, is not copied: its memory
moves to shared memory, and both sides see what either writes. Importing this module teaches the standard library's
own queues the same.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable
from multiprocessing import *  # noqa: F403
from typing import Any

from . import _files, reductions
from ._threads import _get_thread_name as _get_thread_name
from ._threads import _set_thread_name as _set_thread_name
from .connection import Pipe as Pipe
from .context import get_context
from .reductions import init_reductions
from .spawn import ENV_VAR_PARALLEL_START as ENV_VAR_PARALLEL_START
from .spawn import (
    ProcessContext,
    ProcessExitedException,
    ProcessRaisedException,
    SpawnContext,
    spawn,
    start_processes,
)

__all__ = [
    "ProcessContext",
    "ProcessExitedException",
    "ProcessRaisedException",
    "SpawnContext",
    "get_all_sharing_strategies",
    "get_sharing_strategy",
    "init_reductions",
    "reductions",
    "set_sharing_strategy",
    "spawn",
    "start_processes",
    *multiprocessing.__all__,
]

_STRATEGIES = frozenset({"file_descriptor", "file_system"})
_strategy = "file_descriptor"


def set_sharing_strategy(new_strategy: str) -> None:
    """Chooses how memory that is not shared yet will be.

    ``"file_descriptor"`` makes nameless files that stay open; nothing can be left behind. ``"file_system"`` makes named
    ones in ``/dev/shm`` that are not kept open, for programs that share more tensors than they may open files; call it
    before processes are forked. Memory that ``share_memory_()`` has moved is nameless and stays so.

    Raises:
        AssertionError: there is no such strategy.
    """
    global _strategy
    if new_strategy not in _STRATEGIES:
        raise AssertionError(
            f"taeda.multiprocessing.set_sharing_strategy: takes one of {sorted(_STRATEGIES)}; got {new_strategy!r}"
        )
    if new_strategy == "file_system":
        _files.start_tracker()
    _strategy = new_strategy


def get_sharing_strategy() -> str:
    """How memory that is not shared yet will be."""
    return _strategy


def get_all_sharing_strategies() -> set[str]:
    """The strategies that :func:`set_sharing_strategy` takes."""
    return set(_STRATEGIES)


def Queue(maxsize: int = 0) -> Any:  # type: ignore[no-redef]
    """A queue between processes."""
    return get_context().Queue(maxsize)


def JoinableQueue(maxsize: int = 0) -> Any:  # type: ignore[no-redef]
    """A queue whose consumers report that they are done."""
    return get_context().JoinableQueue(maxsize)


def SimpleQueue() -> Any:  # type: ignore[no-redef]
    """A locked pipe."""
    return get_context().SimpleQueue()


def Pool(  # type: ignore[no-redef]
    processes: int | None = None,
    initializer: Callable[..., object] | None = None,
    initargs: Iterable[Any] = (),
    maxtasksperchild: int | None = None,
) -> Any:
    """Worker processes that take calls."""
    return get_context().Pool(processes, initializer, initargs, maxtasksperchild)


init_reductions()
