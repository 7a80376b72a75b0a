"""Several processes that run one function or one program: start, wait, end."""

from __future__ import annotations

import abc
import contextlib
import multiprocessing as standard
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import taeda.multiprocessing as mp
from taeda.distributed.elastic.multiprocessing._logs import (
    DefaultLogsSpecs,
    LogsDest,
    LogsSpecs,
    Std,
    to_map,
)
from taeda.distributed.elastic.multiprocessing.errors import ProcessFailure, record
from taeda.distributed.elastic.multiprocessing.redirects import redirect_stderr, redirect_stdout
from taeda.distributed.elastic.multiprocessing.subprocess_handler import SubprocessHandler, get_subprocess_handler
from taeda.distributed.elastic.multiprocessing.tail_log import TailLog

__all__ = [
    "DefaultLogsSpecs", "LogsDest", "LogsSpecs", "MultiprocessContext", "PContext", "RunProcsResult",
    "SignalException", "Std", "SubprocessContext", "get_std_cm", "to_map",
]  # fmt: skip

_LOOK = 1.0  # seconds between two looks at whether the process that started this one lives


class SignalException(Exception):
    """A signal told this process to end, while it had workers."""

    def __init__(self, msg: str, sigval: signal.Signals) -> None:
        super().__init__(msg)
        self.sigval = sigval


def _raise_for_signal(number: int, frame: FrameType | None) -> None:
    sigval = signal.Signals(number)
    raise SignalException(f"process {os.getpid()} got the signal {sigval.name}", sigval=sigval)


def _handle_signals() -> None:
    """Has the signals that TORCHELASTIC_SIGNALS_TO_HANDLE lists raise `SignalException` in the main thread."""
    names = os.environ.get("TORCHELASTIC_SIGNALS_TO_HANDLE", "SIGTERM,SIGINT,SIGHUP,SIGQUIT")
    for name in filter(None, (one.strip() for one in names.split(","))):
        number = getattr(signal, name, None)
        if not isinstance(number, signal.Signals):
            raise ValueError(f"taeda.distributed.elastic: there is no signal {name}")
        with contextlib.suppress(ValueError):  # only the main thread may
            signal.signal(number, _raise_for_signal)


@dataclass
class RunProcsResult:
    """What came of the processes, by local rank: results of functions, failures, files of what they printed."""

    return_values: dict[int, Any] = field(default_factory=dict)
    failures: dict[int, ProcessFailure] = field(default_factory=dict)
    stdouts: dict[int, str] = field(default_factory=dict)
    stderrs: dict[int, str] = field(default_factory=dict)

    def is_failed(self) -> bool:
        """Whether any failed."""
        return bool(self.failures)


def _matches(filters: list[str] | None) -> Callable[[str], bool]:
    return lambda line: any(one in line for one in filters or ())


class PContext(abc.ABC):
    """Processes that belong together: one function (`MultiprocessContext`) or program (`SubprocessContext`).

    Args:
        name: of what runs.
        entrypoint: the function, or the program's path.
        args, envs: by local rank.
        logs_specs: where what they print goes.
        log_line_prefixes: by local rank, for what is printed on the console from files.
        duplicate_stdout_filters, duplicate_stderr_filters: lines with one of these also go to a file for all.

    Raises:
        RuntimeError: ``args`` and ``envs`` are not of the same ranks.
    """

    def __init__(
        self,
        name: str,
        entrypoint: Callable[..., Any] | str,
        args: dict[int, tuple[Any, ...]],
        envs: dict[int, dict[str, str]],
        logs_specs: LogsSpecs,
        log_line_prefixes: dict[int, str] | None = None,
        duplicate_stdout_filters: list[str] | None = None,
        duplicate_stderr_filters: list[str] | None = None,
    ) -> None:
        count = len(args)
        for what, given in (("args", args), ("envs", envs)):
            if set(given) != set(range(count)):
                raise RuntimeError(
                    f"taeda.distributed.elastic: {what} is wanted for the local ranks 0 to {count - 1}; got "
                    f"{sorted(given)}"
                )
        self.name, self.entrypoint, self.args, self.envs = name, entrypoint, args, envs
        self.nprocs = count
        self.grace = 30  # seconds that processes get to end when one of them has failed
        dest = logs_specs.reify(envs)
        self.stdouts, self.stderrs, self.error_files = dest.stdouts, dest.stderrs, dest.error_files
        self._stdout_tail = TailLog(name, dest.tee_stdouts, sys.stdout, log_line_prefixes)
        self._stderr_tail = TailLog(name, dest.tee_stderrs, sys.stderr, log_line_prefixes)
        self._tails = [self._stdout_tail, self._stderr_tail]
        self._duplicates: list[tuple[dict[int, str], str, list[str]]] = []
        if duplicate_stdout_filters:
            self._duplicates.append((dest.stdouts, dest.filtered_stdout, duplicate_stdout_filters))
        if duplicate_stderr_filters:
            self._duplicates.append((dest.stderrs, dest.filtered_stderr, duplicate_stderr_filters))
        self._prefixes = log_line_prefixes
        self._opened = contextlib.ExitStack()

    def start(self) -> None:
        """Starts the processes. Signals that tell this process to end raise `SignalException` from now on."""
        _handle_signals()
        for files, path, filters in self._duplicates:
            stream = self._opened.enter_context(open(path, "w", encoding="utf-8"))  # noqa: SIM115
            kept = {rank: file for rank, file in files.items() if file and file != os.devnull}
            self._tails.append(TailLog(self.name, kept, stream, self._prefixes, log_line_filter=_matches(filters)))
        self._start()
        for tail in self._tails:
            tail.start()

    @abc.abstractmethod
    def _start(self) -> None:
        """Starts the processes."""

    @abc.abstractmethod
    def _poll(self) -> RunProcsResult | None:
        """What came of the processes; None while they run and none has failed. Ends the others when one has."""

    def wait(self, timeout: float = -1, period: float = 1) -> RunProcsResult | None:
        """What came of the processes, once they have ended or one has failed, which ends the others.

        Args:
            timeout: seconds, without end if below 0; None is the result when they are over. 0 only looks.
            period: seconds between two looks.
        """
        end = time.monotonic() + (timeout if timeout >= 0 else float("inf"))
        while True:
            result = self._poll()
            if result is not None or time.monotonic() >= end:
                return result
            time.sleep(min(period, max(0.0, end - time.monotonic())))

    @abc.abstractmethod
    def pids(self) -> dict[int, int]:
        """Ids of the processes, by local rank."""

    @abc.abstractmethod
    def _close(self, death_sig: signal.Signals, timeout: int = 30) -> None:
        """Ends the processes."""

    def close(self, death_sig: signal.Signals | None = None, timeout: int = 30) -> None:
        """Ends what still runs by ``death_sig``, SIGTERM by default, and after ``timeout`` seconds by SIGKILL."""
        self._close(signal.SIGTERM if death_sig is None else death_sig, timeout)
        for tail in self._tails:
            if not tail.stopped():
                tail.stop()
        self._opened.close()


def get_std_cm(std_rd: str, redirect_fn: Callable[[str], Any]) -> Any:
    """The context that redirects a stream to the file ``std_rd``; one that does nothing for none."""
    return redirect_fn(std_rd) if std_rd else contextlib.nullcontext()


def _call(
    local_rank: int, fn: Callable[..., Any], args: dict[int, tuple[Any, ...]], envs: dict[int, dict[str, str]],
    stdouts: dict[int, str], stderrs: dict[int, str], results: dict[int, Any], taken: dict[int, Any],
) -> None:  # fmt: skip
    """What a process of `MultiprocessContext` runs."""
    os.environ.update(envs[local_rank])
    with (
        get_std_cm(stdouts[local_rank], redirect_stdout),
        get_std_cm(stderrs[local_rank], redirect_stderr),
    ):
        results[local_rank].put(record(fn)(*args[local_rank]))
        starter = standard.parent_process()
        while not taken[local_rank].wait(_LOOK) and starter is not None and starter.is_alive():
            pass  # tensors are fetched from this process


class MultiprocessContext(PContext):
    """Processes that run a function."""

    def __init__(
        self, name: str, entrypoint: Callable[..., Any], args: dict[int, tuple[Any, ...]],
        envs: dict[int, dict[str, str]], start_method: str, logs_specs: LogsSpecs,
        log_line_prefixes: dict[int, str] | None = None, numa_options: Any = None,
        duplicate_stdout_filters: list[str] | None = None, duplicate_stderr_filters: list[str] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(name, entrypoint, args, envs, logs_specs, log_line_prefixes, duplicate_stdout_filters,
                         duplicate_stderr_filters)  # fmt: skip
        self.start_method = start_method
        context = standard.get_context(start_method)
        self._queues = {rank: context.SimpleQueue() for rank in range(self.nprocs)}
        self._taken = {rank: context.Event() for rank in range(self.nprocs)}
        self._return_values: dict[int, Any] = {}
        self._pc: mp.ProcessContext | None = None

    def _start(self) -> None:
        if self._pc is not None:
            raise ValueError(f"taeda.distributed.elastic: the processes of {self.name} have been started already")
        given = (self.entrypoint, self.args, self.envs, self.stdouts, self.stderrs, self._queues, self._taken)
        self._pc = mp.start_processes(_call, given, self.nprocs, join=False, start_method=self.start_method)

    def _take_results(self) -> None:
        for rank, queue in self._queues.items():
            if rank not in self._return_values and not queue.empty():
                self._return_values[rank] = queue.get()  # or the process waits for room in the pipe
                self._taken[rank].set()

    def _poll(self) -> RunProcsResult | None:
        assert self._pc is not None
        self._take_results()
        try:
            done = self._pc.join(timeout=0)
        except (mp.ProcessRaisedException, mp.ProcessExitedException) as error:
            failed = error.error_index
            code = self._pc.processes[failed].exitcode
            failure = ProcessFailure(failed, error.error_pid, code, self.error_files[failed])
            if failure.error_file == "<N/A>" and isinstance(error, mp.ProcessRaisedException):
                failure.message = error.msg
            self.close(timeout=self.grace)
            return RunProcsResult(failures={failed: failure}, stdouts=self.stdouts, stderrs=self.stderrs)
        if not done:
            return None
        self._take_results()
        self.close()
        return RunProcsResult(self._return_values, stdouts=self.stdouts, stderrs=self.stderrs)

    def pids(self) -> dict[int, int]:
        assert self._pc is not None
        return dict(enumerate(self._pc.pids()))

    def _close(self, death_sig: signal.Signals, timeout: int = 30) -> None:
        if self._pc is None:
            return
        processes = self._pc.processes
        for process in processes:
            if process.is_alive():
                os.kill(process.pid, death_sig)
        end = time.monotonic() + timeout
        for process in processes:
            process.join(max(0.0, end - time.monotonic()))
            if process.is_alive():
                process.kill()
            process.join()


class SubprocessContext(PContext):
    """Processes that run a program."""

    def __init__(
        self, name: str, entrypoint: str, args: dict[int, tuple[Any, ...]], envs: dict[int, dict[str, str]],
        logs_specs: LogsSpecs, log_line_prefixes: dict[int, str] | None = None, numa_options: Any = None,
        duplicate_stdout_filters: list[str] | None = None, duplicate_stderr_filters: list[str] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(name, entrypoint, args, envs, logs_specs, log_line_prefixes, duplicate_stdout_filters,
                         duplicate_stderr_filters)  # fmt: skip
        self._running_local_ranks = set(range(self.nprocs))
        self._failures: dict[int, ProcessFailure] = {}
        self.subprocess_handlers: dict[int, SubprocessHandler] = {}

    def _start(self) -> None:
        if self.subprocess_handlers:
            raise ValueError(f"taeda.distributed.elastic: the processes of {self.name} have been started already")
        for rank in range(self.nprocs):
            self.subprocess_handlers[rank] = get_subprocess_handler(
                entrypoint=str(self.entrypoint), args=self.args[rank], env=self.envs[rank], stdout=self.stdouts[rank],
                stderr=self.stderrs[rank], local_rank_id=rank,
            )  # fmt: skip

    def _poll(self) -> RunProcsResult | None:
        for rank in sorted(self._running_local_ranks):
            process = self.subprocess_handlers[rank].proc
            code = process.poll()
            if code is None:
                continue
            self._running_local_ranks.discard(rank)
            if code:
                self._failures[rank] = ProcessFailure(rank, process.pid, code, self.error_files[rank])
        if self._running_local_ranks and not self._failures:
            return None
        self.close(timeout=self.grace)  # ends the others if one has failed
        results = {} if self._failures else dict.fromkeys(range(self.nprocs))
        return RunProcsResult(results, self._failures, self.stdouts, self.stderrs)

    def pids(self) -> dict[int, int]:
        return {rank: handler.proc.pid for rank, handler in self.subprocess_handlers.items()}

    def _close(self, death_sig: signal.Signals, timeout: int = 30) -> None:
        if not self._running_local_ranks and not self._failures:
            return  # what successful workers leave running is theirs
        handlers = list(self.subprocess_handlers.values())
        for handler in handlers:
            handler.close(death_sig=death_sig)
        end = time.monotonic() + timeout
        for handler in handlers:
            with contextlib.suppress(subprocess.TimeoutExpired):
                handler.proc.wait(max(0.0, end - time.monotonic()))
        for handler in handlers:
            handler.close(death_sig=signal.SIGKILL)  # the processes that it started, too
            handler.proc.wait()
