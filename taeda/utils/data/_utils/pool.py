"""The parent's side of the worker processes."""

from __future__ import annotations

import contextlib
import os
import signal
import time
import weakref
from multiprocessing.connection import wait
from typing import Any

from taeda.multiprocessing.connection import Connection, Pipe

from .transport import receive
from .worker import Reply, Task, WorkerSpec, run_worker

# The parent's ends of all pipes: a forked worker must close the copies it gets, for the pipe of another worker only
# ends when nobody holds it.
_open_ends: set[Connection] = set()

_GRACE = 5.0  # seconds that a worker gets to finish its sample before it is terminated


class WorkerPool:
    """Worker processes, each at its own pipe: no lock is shared, so one that dies cannot block the others.

    The processes end with :meth:`shutdown`, when the pool is collected, or at the end of the program.
    """

    def __init__(self, context: Any, specs: list[WorkerSpec]) -> None:
        self.processes: list[Any] = []
        self.connections: list[Connection] = []
        self._finalizer = weakref.finalize(self, _end_workers, os.getpid(), self.processes, self.connections)
        forks = context.get_start_method() == "fork"
        if forks:  # a worker would wait for ever for a module that another thread is importing just now
            import numpy.random  # noqa: F401
        for spec in specs:
            ours, theirs = Pipe()
            self.connections.append(ours)
            _open_ends.add(ours)
            foreign = list(_open_ends) if forks else []
            process = context.Process(target=run_worker, args=(spec, theirs, foreign), daemon=True)
            try:
                process.start()
            except BaseException:
                self.shutdown()
                raise
            finally:
                theirs.close()
            self.processes.append(process)

    def submit(self, worker: int, task: Task) -> None:
        """Hands ``task`` to a worker; that it is dead shows in :meth:`collect`, after the answers it still gave."""
        with contextlib.suppress(OSError):
            self.connections[worker].send(task)

    def collect(self, timeout: float) -> list[tuple[int, Reply]]:
        """Waits for replies and returns those that are there, as (worker, reply).

        Raises:
            RuntimeError: none came in ``timeout`` seconds (0 waits for ever), or a worker has died.
        """
        sources: list[Any] = [*self.connections, *(process.sentinel for process in self.processes)]
        ready = set(wait(sources, timeout if timeout > 0 else None))
        if not ready:
            raise RuntimeError(f"DataLoader: no batch came from a worker in {timeout} seconds (argument timeout)")
        replies = []
        for worker, connection in enumerate(self.connections):
            if connection in ready:
                try:
                    replies.append((worker, receive(connection)))
                except (EOFError, OSError):
                    ready.add(self.processes[worker].sentinel)
        if not replies:
            self._report_dead([process for process in self.processes if process.sentinel in ready])
        return replies

    def _report_dead(self, dead: list[Any]) -> None:
        for process in dead:
            process.join(_GRACE)
        names = ", ".join(f"pid {process.pid} {_cause(process.exitcode)}" for process in dead)
        self.shutdown()
        raise RuntimeError(
            f"DataLoader: a worker process ended unexpectedly ({names}); with num_workers=0 the error would show here"
        )

    def shutdown(self) -> None:
        """Ends all workers; those that do not stop by themselves in time are terminated, then killed."""
        self._finalizer()


def _cause(exitcode: int | None) -> str:
    if exitcode is None or exitcode >= 0:
        return f"exited with code {exitcode}"
    hint = " (perhaps out of memory)" if -exitcode == signal.SIGKILL else ""
    return f"was killed by {signal.Signals(-exitcode).name}{hint}"


def _end_workers(owner: int, processes: list[Any], connections: list[Connection]) -> None:
    """Tells the workers to stop, and sees to it that they do; nothing is done in a forked copy of the owner."""
    if os.getpid() != owner:
        return
    for connection in connections:
        with contextlib.suppress(OSError):
            connection.send(None)
        connection.close()
        _open_ends.discard(connection)
    deadline = time.monotonic() + _GRACE
    for process in processes:
        process.join(max(0.0, deadline - time.monotonic()))
    for end in ("terminate", "kill"):
        for process in processes:
            if process.is_alive():
                getattr(process, end)()
        for process in processes:
            process.join(_GRACE)
