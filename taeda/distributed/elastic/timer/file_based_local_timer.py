"""Timers whose requests go through a named pipe, for workers that share nothing else with the server."""

from __future__ import annotations

import json
import os
import select
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

from taeda.distributed.elastic.timer.api import TimerClient, TimerRequest
from taeda.distributed.elastic.timer.debug_info_logging import log_debug_info_for_expired_timers

__all__ = ["FileTimerClient", "FileTimerRequest", "FileTimerServer"]


class FileTimerRequest(TimerRequest):
    """A request of a process, and by which signal to end it."""

    __slots__ = ("signal", "version")

    def __init__(self, worker_pid: int, scope_id: str, expiration_time: float, signal: int = 0) -> None:
        super().__init__(worker_pid, scope_id, expiration_time)
        self.version, self.signal = 1, signal

    @property
    def worker_pid(self) -> int:
        """Whose it is."""
        return int(self.worker_id)

    def to_json(self) -> str:
        """As a line of JSON."""
        return json.dumps({"version": self.version, "pid": self.worker_pid, "scope_id": self.scope_id,
                           "expiration_time": self.expiration_time, "signal": self.signal})  # fmt: skip


class FileTimerClient(TimerClient):
    """Sends requests of this process to the pipe ``file_path``; ``signal`` ends it."""

    def __init__(self, file_path: str, signal: int = signal.SIGKILL) -> None:
        self._file_path, self.signal = file_path, int(signal)

    def _send_request(self, request: FileTimerRequest) -> None:
        try:
            pipe = os.open(self._file_path, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            raise BrokenPipeError(
                f"taeda.distributed.elastic.FileTimerClient: nobody reads {self._file_path}: {error}"
            ) from error
        try:
            os.write(pipe, (request.to_json() + "\n").encode())  # short enough to arrive in one piece
        finally:
            os.close(pipe)

    def acquire(self, scope_id: str, expiration_time: float) -> None:
        self._send_request(FileTimerRequest(os.getpid(), scope_id, expiration_time, self.signal))

    def release(self, scope_id: str) -> None:
        self._send_request(FileTimerRequest(os.getpid(), scope_id, -1, 0))


class FileTimerServer:
    """Makes the pipe, and ends processes whose timers have run out.

    Args:
        file_path: the pipe's.
        run_id: the job's name, for logs.
        max_interval: seconds between two looks, at most.
        daemon: whether its thread may be left behind at the end of the process.
        log_event: called with a name and the request about each that has run out.
    """

    def __init__(
        self, file_path: str, run_id: str, max_interval: float = 10, daemon: bool = True,
        log_event: Callable[[str, FileTimerRequest | None], None] | None = None,
    ) -> None:  # fmt: skip
        self._file_path, self._run_id, self._max_interval, self._daemon = file_path, run_id, max_interval, daemon
        self._log_event = log_event or (lambda name, request: None)
        self._timers: dict[tuple[int, str], FileTimerRequest] = {}
        self._stop_signaled = False
        self._watchdog_thread: threading.Thread | None = None
        if os.path.exists(file_path):
            os.remove(file_path)
        os.mkfifo(file_path)
        self._pipe = os.open(file_path, os.O_RDWR | os.O_NONBLOCK)  # open for writing, too: it never ends
        self._rest = b""
        self._request_count = 0

    def start(self) -> None:
        """Begins, in a thread of its own."""
        self._watchdog_thread = threading.Thread(target=self._watch, name="taeda-timers", daemon=self._daemon)
        self._watchdog_thread.start()

    def run_once(self) -> None:
        """Ends the thread, and handles what has been sent until now."""
        self._end_thread()
        while self._run_watchdog(0):
            pass

    def _end_thread(self) -> None:
        self._stop_signaled = True
        if self._watchdog_thread is not None:
            self._watchdog_thread.join()
            self._watchdog_thread = None

    def stop(self) -> None:
        """Ends that thread, and removes the pipe."""
        self._end_thread()
        if self._pipe >= 0:
            os.close(self._pipe)
            self._pipe = -1
        if os.path.exists(self._file_path):
            os.remove(self._file_path)

    def _watch(self) -> None:
        while not self._stop_signaled:
            self._run_watchdog(min(self._max_interval, 0.5))

    def _run_watchdog(self, wait: float) -> bool:
        """Waits that long for requests, and ends who is late; whether there were any."""
        requests = self._requests(wait)
        self.register_timers(requests)
        expired = self.get_expired_timers(time.time())
        names = {pid: [one.scope_id for one in timers] for pid, timers in expired.items()}
        log_debug_info_for_expired_timers(self._run_id, names)
        for pid, timers in expired.items():
            if self.is_process_running(pid):  # who has ended may have left a timer behind
                self._log_event("kill worker process", timers[0])
                self._reap_worker(pid, timers[0].signal or signal.SIGKILL)
        self.clear_timers(set(expired))
        return bool(requests)

    @staticmethod
    def is_process_running(pid: int) -> bool:
        """Whether there is such a process."""
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        except OSError:
            pass
        return True

    def _requests(self, timeout: float) -> list[FileTimerRequest]:
        if not select.select([self._pipe], [], [], timeout)[0]:
            return []
        *lines, self._rest = (self._rest + os.read(self._pipe, 1 << 16)).split(b"\n")
        read: list[dict[str, Any]] = [json.loads(line) for line in lines]
        return [FileTimerRequest(one["pid"], one["scope_id"], one["expiration_time"], one["signal"]) for one in read]

    def register_timers(self, timer_requests: list[FileTimerRequest]) -> None:
        """Sets and takes back timers."""
        self._request_count += len(timer_requests)
        for request in timer_requests:
            key = request.worker_pid, request.scope_id
            if request.expiration_time < 0:
                self._timers.pop(key, None)
            else:
                self._timers[key] = request

    def clear_timers(self, worker_pids: set[int]) -> None:
        """Takes back all of these processes."""
        self._timers = {key: one for key, one in self._timers.items() if key[0] not in worker_pids}

    def get_expired_timers(self, deadline: float) -> dict[int, list[FileTimerRequest]]:
        """Those that have run out by ``deadline``, by process."""
        expired: dict[int, list[FileTimerRequest]] = {}
        for request in self._timers.values():
            if request.expiration_time <= deadline:
                expired.setdefault(request.worker_pid, []).append(request)
        return expired

    def _reap_worker(self, worker_pid: int, signal: int) -> bool:
        try:
            os.kill(worker_pid, signal)
        except ProcessLookupError:
            pass
        except OSError:
            return False
        return True
