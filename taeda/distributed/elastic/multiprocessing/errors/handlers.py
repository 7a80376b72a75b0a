"""Which handler of errors a worker takes."""

from __future__ import annotations

from taeda.distributed.elastic.multiprocessing.errors.error_handler import ErrorHandler

__all__ = ["get_error_handler"]


def get_error_handler() -> ErrorHandler:
    """The one that writes JSON to TORCHELASTIC_ERROR_FILE."""
    return ErrorHandler()
