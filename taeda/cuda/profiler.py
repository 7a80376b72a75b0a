"""NVIDIA's profiler, which a build without CUDA cannot start or stop."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from taeda.cuda._absent import absent

__all__ = ["profile", "start", "stop"]


def start() -> None:
    """Begins to collect. Raises AssertionError."""
    absent.refuse("profiler.start")


def stop() -> None:
    """Ends collecting. Raises AssertionError."""
    absent.refuse("profiler.stop")


@contextlib.contextmanager
def profile() -> Iterator[None]:
    """Collects within. Raises AssertionError."""
    start()
    yield
