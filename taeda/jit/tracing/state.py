"""Which recording is at work in this thread."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from taeda.jit.tracing.recorder import Recorder


class _State(threading.local):
    def __init__(self) -> None:
        self.recorders: list[Recorder] = []


state = _State()


def current() -> Recorder | None:
    """The recording that hears of calls now; None outside, and while it looks away."""
    found = state.recorders[-1] if state.recorders else None
    return found if found is not None and found.listens else None


def is_tracing() -> bool:
    """Whether `trace` is making its call."""
    return bool(state.recorders)


def _get_tracing_state() -> Any:
    """The recording that is at work; None outside."""
    return state.recorders[-1] if state.recorders else None


_is_tracing = is_tracing
