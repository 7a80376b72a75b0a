"""Printing what files of several processes gain, line by line, each with a prefix."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TextIO

__all__ = ["TailLog", "tail_logfile"]


def tail_logfile(
    header: str,
    file: str,
    dst: TextIO,
    finished: threading.Event,
    interval_sec: float,
    log_line_filter: Callable[[str], bool] | None = None,
) -> None:
    """Writes every line of ``file``, once it is whole, to ``dst`` behind ``header``, until ``finished`` is set.

    Args:
        interval_sec: seconds between two looks.
        log_line_filter: which lines to write; all by default.
    """
    stream, rest = None, ""
    while True:
        last = finished.is_set()  # asked before reading: what was written until then is read
        if stream is None:
            try:
                stream = open(file, encoding="utf-8", errors="replace")  # noqa: SIM115
            except FileNotFoundError:
                pass
        if stream is not None:
            *lines, rest = (rest + stream.read()).split("\n")
            for line in [*lines, rest] if last and rest else lines:
                if log_line_filter is None or log_line_filter(line):
                    dst.write(f"{header}{line}\n")
            if lines or last:
                dst.flush()
        if last:
            break
        finished.wait(interval_sec)
    if stream is not None:
        stream.close()


class TailLog:
    """`tail_logfile` of several files, each in a thread.

    Args:
        name: of what runs, for the default prefix ``[name local_rank]:``.
        log_files: by local rank.
        dst: where to.
        log_line_prefixes: by local rank.
    """

    def __init__(
        self,
        name: str,
        log_files: dict[int, str],
        dst: TextIO,
        log_line_prefixes: dict[int, str] | None = None,
        interval_sec: float = 0.1,
        log_line_filter: Callable[[str], bool] | None = None,
    ) -> None:
        self._name, self._files, self._to = name, log_files, dst
        self._prefixes = log_line_prefixes or {}
        self._interval, self._filter = interval_sec, log_line_filter
        self._finished_events = {rank: threading.Event() for rank in log_files}
        self._threads: list[threading.Thread] = []
        self._stopped = False

    def start(self) -> TailLog:
        """Begins; gives itself."""
        for rank, file in self._files.items():
            header = self._prefixes.get(rank, f"[{self._name}{rank}]:")
            given: Any = (header, file, self._to, self._finished_events[rank], self._interval, self._filter)
            thread = threading.Thread(target=tail_logfile, args=given, name=f"tail-{self._name}{rank}", daemon=True)
            thread.start()
            self._threads.append(thread)
        return self

    def stop(self) -> None:
        """Writes what is there, and ends."""
        for event in self._finished_events.values():
            event.set()
        for thread in self._threads:
            thread.join()
        self._stopped = True

    def stopped(self) -> bool:
        """Whether `stop` was called."""
        return self._stopped
