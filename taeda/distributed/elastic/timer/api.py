"""What every timer is: a client in the worker, a server that ends the worker."""

from __future__ import annotations

import abc
import logging
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["RequestQueue", "TimerClient", "TimerRequest", "TimerServer", "configure", "expires"]

log = logging.getLogger(__name__)


class TimerRequest:
    """That ``worker_id`` is to be done with ``scope_id`` by a time, in seconds since 1970; below 0: that it is."""

    __slots__ = ("expiration_time", "scope_id", "worker_id")

    def __init__(self, worker_id: Any, scope_id: str, expiration_time: float) -> None:
        self.worker_id, self.scope_id, self.expiration_time = worker_id, scope_id, expiration_time

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TimerRequest) and all(
            getattr(self, name) == getattr(other, name) for name in TimerRequest.__slots__
        )

    __hash__ = None  # type: ignore[assignment]


class TimerClient(abc.ABC):
    """A worker's side."""

    @abc.abstractmethod
    def acquire(self, scope_id: str, expiration_time: float) -> None:
        """Sets a timer."""

    @abc.abstractmethod
    def release(self, scope_id: str) -> None:
        """Takes it back."""


class RequestQueue(abc.ABC):
    """What brings requests to a server."""

    @abc.abstractmethod
    def size(self) -> int:
        """How many there are."""

    @abc.abstractmethod
    def get(self, size: int, timeout: float) -> list[TimerRequest]:
        """Up to ``size`` of them, waiting up to ``timeout`` seconds."""


class TimerServer(abc.ABC):
    """Ends workers whose timers have run out.

    Args:
        request_queue: where requests come from.
        max_interval: seconds between two looks, at most.
        daemon: whether its thread may be left behind at the end of the process.
    """

    def __init__(self, request_queue: RequestQueue, max_interval: float, daemon: bool = True) -> None:
        self._request_queue, self._max_interval, self._daemon = request_queue, max_interval, daemon
        self._watchdog_thread: threading.Thread | None = None
        self._stop_signaled = threading.Event()

    @abc.abstractmethod
    def register_timers(self, timer_requests: list[TimerRequest]) -> None:
        """Sets and takes back timers."""

    @abc.abstractmethod
    def clear_timers(self, worker_ids: set[Any]) -> None:
        """Takes back all of these workers."""

    @abc.abstractmethod
    def get_expired_timers(self, deadline: float) -> dict[Any, list[TimerRequest]]:
        """Those that have run out by ``deadline``, by worker."""

    @abc.abstractmethod
    def _reap_worker(self, worker_id: Any) -> bool:
        """Ends a worker; whether it has ended."""

    def start(self) -> None:
        """Begins, in a thread of its own."""
        self._stop_signaled.clear()
        self._watchdog_thread = threading.Thread(target=self._watch, name="taeda-timers", daemon=self._daemon)
        self._watchdog_thread.start()

    def stop(self) -> None:
        """Ends that thread."""
        self._stop_signaled.set()
        if self._watchdog_thread is not None:
            self._watchdog_thread.join(self._max_interval)
            self._watchdog_thread = None

    def _watch(self) -> None:
        while not self._stop_signaled.is_set():
            try:
                self._run_watchdog()
            except Exception:
                log.exception("a look at timers failed")

    def _run_watchdog(self) -> None:
        size = max(1, self._request_queue.size())
        self.register_timers(self._request_queue.get(size, self._max_interval))
        done = set()
        for worker in self.get_expired_timers(time.time()):
            try:
                if self._reap_worker(worker):
                    done.add(worker)
            except Exception:
                log.exception("worker %s could not be ended", worker)
                done.add(worker)  # once is enough
        self.clear_timers(done)


_client: list[TimerClient] = []


def configure(timer_client: TimerClient | None) -> None:
    """Has `expires` use this client; none if it is None."""
    _client[:] = [] if timer_client is None else [timer_client]


@contextmanager
def expires(after: float, scope: str | None = None, client: TimerClient | None = None) -> Iterator[None]:
    """What is within it has ``after`` seconds; then the server ends the process.

    Args:
        scope: a name, by default that of file and line.
        client: in place of that of `configure`.

    Raises:
        RuntimeError: there is no client.
    """
    if client is None and not _client:
        raise RuntimeError("taeda.distributed.elastic.timer.expires: call configure() first, or give a client")
    chosen = client or _client[0]
    if scope is None:
        caller = sys._getframe(2)
        scope = f"{os.path.abspath(caller.f_code.co_filename)}#{caller.f_lineno}"
    chosen.acquire(scope, time.time() + after)
    try:
        yield
    finally:
        chosen.release(scope)
