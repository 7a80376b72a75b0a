"""Whoever records this thread's program as a graph, and so wants branches and loops as they are."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

recorders: dict[str, Callable[..., Any]] = {}  # by function, what records it: ``recorders["cond"](capture, ...)``


class _Local(threading.local):
    capture: Any = None


_local = _Local()


def current_capture() -> Any:
    """Who records this thread, or None."""
    return _local.capture


@contextlib.contextmanager
def capturing(capture: Any) -> Iterator[None]:
    """``capture`` records within; None: nobody does."""
    before, _local.capture = _local.capture, capture
    try:
        yield
    finally:
        _local.capture = before
