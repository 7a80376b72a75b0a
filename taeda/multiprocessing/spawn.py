"""Starting several processes that run one function, and waiting for them."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import tempfile
import time
import warnings
import weakref
from collections.abc import Callable, Sequence
from multiprocessing.connection import wait
from typing import Any

from .context import get_context

__all__ = ["ProcessContext", "ProcessExitedException", "ProcessRaisedException", "SpawnContext", "spawn",
           "start_processes"]  # fmt: skip

ENV_VAR_PARALLEL_START = "TORCH_MP_PARALLEL_START"  # "1": processes of a forkserver start at the same time
_GRACE = 30.0  # seconds that a terminated process gets to end
_MOMENT = 1.0  # and that one gets which was interrupted
_SET_PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG


class ProcessException(Exception):
    """A process failed: number ``error_index`` of those started together, whose pid was ``error_pid``."""

    def __init__(self, msg: str, error_index: int, error_pid: int) -> None:
        super().__init__(msg)
        self.msg = msg
        self.error_index = error_index
        self.error_pid = error_pid

    def __reduce__(self) -> Any:
        return type(self), (self.msg, self.error_index, self.error_pid)


class ProcessRaisedException(ProcessException):
    """The function raised; the text holds its traceback."""


class ProcessExitedException(ProcessException):
    """The process ended with ``exit_code``, or by the signal ``signal_name``."""

    def __init__(
        self, msg: str, error_index: int, error_pid: int, exit_code: int, signal_name: str | None = None
    ) -> None:
        super().__init__(msg, error_index, error_pid)
        self.exit_code = exit_code
        self.signal_name = signal_name

    def __reduce__(self) -> Any:
        return type(self), (self.msg, self.error_index, self.error_pid, self.exit_code, self.signal_name)


def _end_with_parent(parent: int) -> None:
    """Has the system interrupt this process when its parent dies."""
    if sys.platform != "linux":
        return
    import ctypes

    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN  # as jobs in the background do
    ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGTERM if ignored else signal.SIGINT)
    if os.getppid() != parent:  # it died before
        raise KeyboardInterrupt


def _run(fn: Callable[..., Any], index: int, args: Sequence[Any], error_file: str, parent: int | None) -> None:
    try:
        if parent is not None:
            _end_with_parent(parent)
        fn(index, *args)
    except KeyboardInterrupt:  # the parent ended, or wants this process to end
        if parent is not None and os.getppid() != parent:
            _remove([error_file])  # which nobody will read
    except Exception:
        import traceback

        with open(error_file, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(traceback.format_exc())
        sys.exit(1)


def _remove(files: list[str]) -> None:
    for file in files:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(file)


class ProcessContext:
    """Processes that run together: when one fails, :meth:`join` ends the others.

    Args:
        processes: the started processes.
        error_files: for each the path to which it writes the traceback of an exception.
    """

    def __init__(self, processes: list[Any], error_files: list[str]) -> None:
        self.error_files = error_files
        self.processes = processes
        self.sentinels = {process.sentinel: index for index, process in enumerate(processes)}
        weakref.finalize(self, _remove, error_files)

    def pids(self) -> list[int]:
        """The processes' ids."""
        return [int(process.pid) for process in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Waits until a process ends; True once all have.

        Args:
            timeout: seconds to wait; without it, until one ends.
            grace_period: when one has failed, the seconds that the others get to end by themselves, then again after
                SIGTERM, before SIGKILL.

        Raises:
            ProcessRaisedException: the function raised in a process.
            ProcessExitedException: a process ended with another exit code than 0, or by a signal.
        """
        if not self.sentinels:
            return True
        for sentinel in wait(list(self.sentinels), timeout):
            index = self.sentinels.pop(sentinel)  # type: ignore[call-overload]
            self.processes[index].join()
            if self.processes[index].exitcode != 0:
                self._end_others(grace_period)
                raise self._failure(index)
        return not self.sentinels

    def _end_others(self, grace_period: float | None) -> None:
        if grace_period is not None:
            self._join_all(grace_period)
        for process in self.processes:
            if process.is_alive():
                process.terminate()
        self._join_all(_GRACE if grace_period is None else grace_period)
        for process in self.processes:
            if process.is_alive():
                process.kill()
            process.join()

    def _join_all(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        for process in self.processes:
            process.join(max(0.0, end - time.monotonic()))

    def _failure(self, index: int) -> ProcessException:
        process = self.processes[index]
        trace = ""
        with contextlib.suppress(FileNotFoundError), open(self.error_files[index], encoding="utf-8") as file:
            trace = file.read()
        if trace:
            return ProcessRaisedException(f"\n\n-- In process {index} this was raised:\n{trace}", index, process.pid)
        code = process.exitcode
        if code >= 0:
            return ProcessExitedException(f"process {index} ended with exit code {code}", index, process.pid, code)
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"<Unknown signal {-code}>"
        return ProcessExitedException(f"process {index} was ended by {name}", index, process.pid, code, name)


class SpawnContext(ProcessContext):
    """The former name of :class:`ProcessContext`."""

    def __init__(self, processes: list[Any], error_files: list[str]) -> None:
        warnings.warn("taeda.multiprocessing: SpawnContext is now ProcessContext", stacklevel=2)
        super().__init__(processes, error_files)


def start_processes(
    fn: Callable[..., Any],
    args: Sequence[Any] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Starts ``nprocs`` processes that call ``fn(i, *args)``, with ``i`` from 0 on.

    Args:
        join: waits for all of them; else returns a :class:`ProcessContext`.
        daemon: the processes end with this one.
        start_method: ``"spawn"``, ``"fork"`` or ``"forkserver"``.

    Raises:
        ProcessRaisedException, ProcessExitedException: with ``join``, a process failed; the others were ended.
    """
    mp = get_context(start_method)
    parent = None if start_method == "forkserver" else os.getpid()  # its children are the server's
    error_files: list[str] = []
    processes: list[Any] = []
    try:
        for index in range(nprocs):
            handle, path = tempfile.mkstemp(prefix="taeda-error-")
            os.close(handle)
            error_files.append(path)
            processes.append(mp.Process(target=_run, args=(fn, index, args, path, parent), daemon=daemon))
        if start_method == "forkserver" and os.environ.get(ENV_VAR_PARALLEL_START) == "1" and nprocs > 1:
            from concurrent.futures import ThreadPoolExecutor

            with ThreadPoolExecutor(nprocs) as pool:
                list(pool.map(lambda process: process.start(), processes))
        else:  # in this thread, with which the system would end them
            for process in processes:
                process.start()
    except BaseException:
        for process in processes:
            if process.pid is not None:
                process.kill()
        _remove(error_files)
        raise
    context = ProcessContext(processes, error_files)
    if not join:
        return context
    try:
        while not context.join():
            pass
    except KeyboardInterrupt:
        context._end_others(_MOMENT)  # at a terminal they were interrupted, too
        raise
    return None


def spawn(
    fn: Callable[..., Any],
    args: Sequence[Any] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """As :func:`start_processes`, always with the start method ``"spawn"``."""
    if start_method != "spawn":
        warnings.warn(
            f"taeda.multiprocessing.spawn: start_method={start_method!r} has no effect; start_processes takes it",
            FutureWarning,
            stacklevel=2,
        )
    return start_processes(fn, args, nprocs, join, daemon, "spawn")
