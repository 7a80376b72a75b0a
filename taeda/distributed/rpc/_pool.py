"""Threads that are started when there is work for them, and wait for more."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

Job = Callable[[], None]
_PATIENCE = 10.0  # seconds until an idle thread ends


class Pool:
    """At most ``limit`` threads, which end with the process.

    Jobs that come while all are busy wait.
    """

    def __init__(self, name: str, limit: int) -> None:
        self._name, self.limit = name, limit
        self._jobs: deque[Job] = deque()
        self._condition = threading.Condition()
        self._threads, self._idle = 0, 0
        self._closed = False

    def submit(self, job: Job) -> None:
        """Runs ``job``, which raises nothing, in a thread of the pool."""
        with self._condition:
            self._jobs.append(job)
            if self._idle >= len(self._jobs):
                self._condition.notify()
                return
            if self._threads >= self.limit:
                return
            self._threads += 1
        threading.Thread(target=self._work, name=self._name, daemon=True).start()

    def close(self) -> None:
        """Ends the threads once they have nothing to do."""
        with self._condition:
            self._closed = True
            self._condition.notify_all()

    def _work(self) -> None:
        while (job := self._next()) is not None:
            job()
            del job  # what it holds may be the last of its kind

    def _next(self) -> Job | None:
        with self._condition:
            self._idle += 1
            self._condition.wait_for(lambda: self._jobs or self._closed, _PATIENCE)
            self._idle -= 1
            if self._jobs:
                return self._jobs.popleft()
            self._threads -= 1
            return None
