"""The pool of the standard library over pipes that carry tensors."""

from __future__ import annotations

import multiprocessing.pool
from collections.abc import Callable, Iterable
from typing import Any

from .context import get_context

__all__ = ["Pool"]


class Pool(multiprocessing.pool.Pool):
    """Worker processes that take calls; tensors go there and back in shared memory."""

    def __init__(
        self,
        processes: int | None = None,
        initializer: Callable[..., object] | None = None,
        initargs: Iterable[Any] = (),
        maxtasksperchild: int | None = None,
        context: Any = None,
    ) -> None:
        super().__init__(processes, initializer, initargs, maxtasksperchild, context or get_context())
