"""Several processes that run one function or one program, with their logs and error files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from taeda.distributed.elastic.multiprocessing.api import DefaultLogsSpecs as DefaultLogsSpecs
from taeda.distributed.elastic.multiprocessing.api import LogsDest as LogsDest
from taeda.distributed.elastic.multiprocessing.api import LogsSpecs as LogsSpecs
from taeda.distributed.elastic.multiprocessing.api import MultiprocessContext as MultiprocessContext
from taeda.distributed.elastic.multiprocessing.api import PContext as PContext
from taeda.distributed.elastic.multiprocessing.api import RunProcsResult as RunProcsResult
from taeda.distributed.elastic.multiprocessing.api import SignalException as SignalException
from taeda.distributed.elastic.multiprocessing.api import Std as Std
from taeda.distributed.elastic.multiprocessing.api import SubprocessContext as SubprocessContext
from taeda.distributed.elastic.multiprocessing.api import to_map as to_map
from taeda.distributed.elastic.multiprocessing.errors import ProcessFailure as ProcessFailure

__all__ = [
    "DefaultLogsSpecs", "LogsDest", "LogsSpecs", "MultiprocessContext", "PContext", "ProcessFailure", "RunProcsResult",
    "SignalException", "Std", "SubprocessContext", "start_processes", "to_map",
]  # fmt: skip


def start_processes(
    name: str,
    entrypoint: Callable[..., Any] | str,
    args: dict[int, tuple[Any, ...]],
    envs: dict[int, dict[str, str]],
    logs_specs: LogsSpecs,
    log_line_prefixes: dict[int, str] | None = None,
    start_method: str = "spawn",
    numa_options: Any = None,
    duplicate_stdout_filters: list[str] | None = None,
    duplicate_stderr_filters: list[str] | None = None,
) -> PContext:
    """Starts a process for each entry of ``args``: of a function by `MultiprocessContext`, of a program, whose path a
    string is, by `SubprocessContext`.

    Raises:
        RuntimeError: ``args`` and ``envs`` are not of the same ranks.
    """
    filters = duplicate_stdout_filters, duplicate_stderr_filters
    context: PContext
    if isinstance(entrypoint, str):
        context = SubprocessContext(name, entrypoint, args, envs, logs_specs, log_line_prefixes, numa_options, *filters)
    else:
        context = MultiprocessContext(
            name, entrypoint, args, envs, start_method, logs_specs, log_line_prefixes, numa_options, *filters
        )
    try:
        context.start()
        return context
    except BaseException:
        context.close()
        raise
