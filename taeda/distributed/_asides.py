"""What programs do beside their collectives: name them in profiles, and stop one process to look at it."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from taeda.distributed._barriers import barrier
from taeda.distributed._engine import titles
from taeda.distributed._queries import get_rank

__all__ = ["breakpoint", "record_comm"]

_calls = threading.local()


@contextlib.contextmanager
def record_comm(name: str) -> Iterator[None]:
    """A scope whose collectives have this name in profiles."""
    before = getattr(titles, "own", None)
    titles.own = name
    try:
        yield
    finally:
        titles.own = before


def breakpoint(rank: int = 0, skip: int = 0, timeout_s: float = 3600) -> None:
    """Stops the process ``rank`` in the debugger; the others wait for it.

    Args:
        skip: how many calls go on first.
        timeout_s: accepted; the group's own timeout says how long the others wait.
    """
    _calls.count = getattr(_calls, "count", 0) + 1
    if _calls.count <= skip:
        return
    if get_rank() == rank:
        from taeda.distributed._debugger import Debugger

        debugger = Debugger()
        debugger.message("\ntaeda.distributed.breakpoint: the other processes wait; the caller is one frame up\n")
        debugger.set_trace()
    barrier()
