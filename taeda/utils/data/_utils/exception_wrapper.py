"""An exception as PyTorch sends it from one process or thread to another: ``torch._utils.ExceptionWrapper``."""

from __future__ import annotations

from typing import Any

from taeda.utils.data._utils.worker import WorkerError


class ExceptionWrapper:
    """The type and the traceback of an exception.

    Args:
        exc_info: what ``sys.exc_info()`` gives; of the exception at hand if None.
        where: the place, for the text.
    """

    def __init__(self, exc_info: Any = None, where: str = "in background") -> None:
        import sys

        info: Any = sys.exc_info() if exc_info is None else exc_info
        kind, error, _ = info
        self.exc_type: Any = kind
        self.exc_msg = WorkerError.of(error, where).trace
        self.where = where

    def reraise(self) -> None:
        """Raises it here, with the traceback as its text; a RuntimeError where its type wants other arguments."""
        WorkerError(self.exc_type, self.exc_type.__name__, self.where.removeprefix("in "), self.exc_msg).reraise()
