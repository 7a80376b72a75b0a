"""What a failed worker says of itself, and what the launcher makes of it.

A worker whose function is decorated with `record` writes an exception as JSON to the file that TORCHELASTIC_ERROR_FILE
names; the launcher reads it and ends with `ChildFailedError`, which tells the first failure.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import wraps
from typing import Any, TypeVar

from taeda.distributed.elastic.multiprocessing.errors.error_handler import ErrorHandler as ErrorHandler
from taeda.distributed.elastic.multiprocessing.errors.handlers import get_error_handler as get_error_handler

__all__ = ["ChildFailedError", "ErrorHandler", "ProcessFailure", "get_error_handler", "record"]

JSON = dict[str, Any]
_Function = TypeVar("_Function", bound=Callable[..., Any])
_NO_FILE = "<N/A>"


@dataclass
class ProcessFailure:
    """How worker ``local_rank`` failed: by its error file where it wrote one, else by its exit code."""

    local_rank: int
    pid: int
    exitcode: int
    error_file: str
    error_file_data: JSON = field(init=False)
    message: str | JSON = field(init=False)
    timestamp: int = field(init=False)

    def __post_init__(self) -> None:
        self.error_file_data, self.message, self.timestamp = _read(self.error_file)
        if not self.error_file_data:
            self.error_file = _NO_FILE
            traits = {"category": "system_terminated_error", "retryability": "False"}
            self.error_file_data = {"message": "<NONE>", "errorTraits": traits}
            self.message = self._without_file()
            self.timestamp = int(time.time())

    def _without_file(self) -> str:
        if self.exitcode < 0:
            return f"the signal {-self.exitcode} ({self.signal_name()}) ended process {self.pid}"
        return "it left no error file: its traceback is in what it printed"

    def signal_name(self) -> str:
        """The name of the signal that ended the process."""
        if self.exitcode >= 0:
            return _NO_FILE
        try:
            return signal.Signals(-self.exitcode).name
        except ValueError:
            return "<Unknown signal>"

    def timestamp_isoformat(self) -> str:
        """When it failed, as ``YYYY-MM-DD_HH:MM:SS``."""
        return datetime.fromtimestamp(self.timestamp).isoformat(sep="_")


def _read(path: str) -> tuple[JSON, str | JSON, int]:
    """An error file's content, its message and its time; nothing where there is no file."""
    if not os.path.isfile(path):
        return {}, "", 0
    try:
        with open(path, encoding="utf-8") as file:
            data: JSON = json.load(file)
        message = data["message"]
        if isinstance(message, str):  # as scheduling systems write it
            return data, message, int(data.get("timestamp", time.time()))
        return data, message, int(message["extraInfo"]["timestamp"])
    except (OSError, ValueError, KeyError, TypeError):
        return {}, "", 0


class ChildFailedError(Exception):
    """Workers failed. The text tells the first failure whole, with its traceback if it is known, and lists the others.

    Args:
        name: what ran.
        failures: by global rank.

    Raises:
        AssertionError: there is no failure.
    """

    def __init__(self, name: str, failures: dict[int, ProcessFailure]) -> None:
        self.name = name
        self.failures = failures
        if not failures:
            raise AssertionError("taeda.distributed.elastic.ChildFailedError: at least one failure is wanted")
        super().__init__(self.format_msg())

    def get_first_failure(self) -> tuple[int, ProcessFailure]:
        """The global rank and the failure of the worker that failed first."""
        rank = min(self.failures, key=lambda one: self.failures[one].timestamp)
        return rank, self.failures[rank]

    def format_msg(self, boarder_delim: str = "=", section_delim: str = "-") -> str:
        """The text of the error."""
        first, root = self.get_first_failure()
        others = [_told(rank, failure) for rank, failure in self.failures.items() if rank != first]
        lines = [f"{self.name} FAILED", section_delim * 60, "Failures:", *(others or ["  <NO_OTHER_FAILURES>"])]
        lines += [section_delim * 60, "Root Cause (first observed failure):", _told(first, root, whole=True)]
        return "\n".join([boarder_delim * 60, *lines, boarder_delim * 60])


def _told(rank: int, failure: ProcessFailure, whole: bool = False) -> str:
    message: Any = failure.message
    if isinstance(message, dict):
        stack = message.get("extraInfo", {}).get("py_callstack") if whole else None
        message = stack or message.get("message", json.dumps(message))
    message = "\n    ".join(str(message).rstrip().splitlines())
    return (
        f"  rank      : {rank} (local_rank: {failure.local_rank})\n"
        f"  host      : {socket.gethostname()}\n"
        f"  time      : {failure.timestamp_isoformat()}\n"
        f"  exitcode  : {failure.exitcode} (pid: {failure.pid})\n"
        f"  error_file: {failure.error_file}\n"
        f"  traceback : {message}"
    )


def record(fn: _Function, error_handler: ErrorHandler | None = None) -> _Function:
    """A decorator for a worker's main function: its exception is written to the error file, and raised again.

    On the launcher it writes the failure of its worker there, for who launched the launcher.
    """
    handler = error_handler or get_error_handler()

    @wraps(fn)
    def recorded(*args: Any, **kwargs: Any) -> Any:
        handler.initialize()
        try:
            return fn(*args, **kwargs)
        except SystemExit as end:
            if end.code == 0:
                return None
            if end.code is not None:
                handler.record_exception(end)
            raise
        except ChildFailedError as error:
            _, failure = error.get_first_failure()
            if failure.error_file != _NO_FILE:
                handler.dump_error_file(failure.error_file, failure.exitcode)
            raise
        except Exception as error:
            handler.record_exception(error)
            raise

    return recorded  # type: ignore[return-value]
