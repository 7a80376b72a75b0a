"""Marks on the time line of NVIDIA's profiler, which a build without CUDA cannot write: every call raises."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

__all__ = ["mark", "range", "range_end", "range_pop", "range_push", "range_start"]


def _absent(name: str) -> NoReturn:
    raise RuntimeError(f"taeda.cuda.nvtx.{name}: this build has no CUDA; taeda.profiler.record_function marks a range")


def range_push(msg: str) -> NoReturn:
    """Would open a range inside the open one. Raises RuntimeError."""
    _absent("range_push")


def range_pop() -> NoReturn:
    """Would close the innermost range. Raises RuntimeError."""
    _absent("range_pop")


def range_start(msg: str) -> NoReturn:
    """Would open a range that any thread may close. Raises RuntimeError."""
    _absent("range_start")


def range_end(range_id: int) -> NoReturn:
    """Would close a range that ``range_start`` opened. Raises RuntimeError."""
    _absent("range_end")


def mark(msg: str) -> NoReturn:
    """Would mark a moment. Raises RuntimeError."""
    _absent("mark")


@contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """Would be a range around the ``with`` block. Raises RuntimeError."""
    _absent("range")
    yield
