"""An agent whose workers are processes of this machine."""

from __future__ import annotations

import contextlib
import os
import signal
import tempfile
import time
from string import Template
from typing import Any

from taeda.distributed.elastic import timer
from taeda.distributed.elastic.agent.server._workers import arguments, environment
from taeda.distributed.elastic.agent.server.api import (
    RunResult,
    SimpleElasticAgent,
    WorkerGroup,
    WorkerSpec,
    WorkerState,
)
from taeda.distributed.elastic.agent.server.health_check_server import (
    HealthCheckServer,
    create_healthcheck_server,
)
from taeda.distributed.elastic.multiprocessing import LogsSpecs, PContext, start_processes

__all__ = [
    "LocalElasticAgent", "TORCHELASTIC_ENABLE_FILE_TIMER", "TORCHELASTIC_HEALTH_CHECK_PORT", "TORCHELASTIC_TIMER_FILE",
]  # fmt: skip

TORCHELASTIC_ENABLE_FILE_TIMER = "TORCHELASTIC_ENABLE_FILE_TIMER"
TORCHELASTIC_TIMER_FILE = "TORCHELASTIC_TIMER_FILE"
TORCHELASTIC_HEALTH_CHECK_PORT = "TORCHELASTIC_HEALTH_CHECK_PORT"


class LocalElasticAgent(SimpleElasticAgent):
    """Starts the workers as processes.

    Args:
        spec: what they run.
        logs_specs: where what they print goes.
        start_method: of processes that run a function: ``spawn``, ``fork`` or ``forkserver``.
        exit_barrier_timeout, shutdown_timeout: seconds; see `SimpleElasticAgent`.
        log_line_prefix_template: what stands before their lines on the console; may name ``${role_name}``,
            ``${local_rank}`` and ``${rank}``.
        health_check_server: answers whoever asks whether this agent lives; one at TORCHELASTIC_HEALTH_CHECK_PORT
            by default, if that is set.
    """

    def __init__(
        self, spec: WorkerSpec, logs_specs: LogsSpecs, start_method: str = "spawn", exit_barrier_timeout: float = 300,
        log_line_prefix_template: str | None = None, shutdown_timeout: int = 30,
        health_check_server: HealthCheckServer | None = None,
    ) -> None:  # fmt: skip
        super().__init__(spec, exit_barrier_timeout, shutdown_timeout)
        self._start_method = start_method
        self._pcontext: PContext | None = None
        self._rdzv_handler = spec.rdzv_handler
        self._log_line_prefix_template = log_line_prefix_template
        self._worker_watchdog: timer.FileTimerServer | None = None
        self._logs_specs = logs_specs
        self._health_check_server = health_check_server
        self._looked = time.time()

    def _setup_local_watchdog(self, envs: dict[int, dict[str, str]]) -> None:
        """A server for `elastic.timer`, if TORCHELASTIC_ENABLE_FILE_TIMER is 1."""
        if os.environ.get(TORCHELASTIC_ENABLE_FILE_TIMER) != "1":
            return
        path = os.environ.get(TORCHELASTIC_TIMER_FILE)
        path = path or os.path.join(tempfile.gettempdir(), f"taeda_watchdog_{os.getpid()}_{self._restart_count}")
        if self._worker_watchdog is None:
            self._worker_watchdog = timer.FileTimerServer(
                path, self._worker_group.spec.rdzv_handler.get_run_id(), max_interval=0.1, daemon=True
            )
            self._worker_watchdog.start()
        for env in envs.values():
            env[TORCHELASTIC_TIMER_FILE] = self._worker_watchdog._file_path

    def _setup_healthcheck(self) -> None:
        port = os.environ.get(TORCHELASTIC_HEALTH_CHECK_PORT)
        if self._health_check_server is None and port:
            self._health_check_server = create_healthcheck_server(lambda: int(self._looked), int(port), 60)
            self._health_check_server.start()

    def _start_workers(self, worker_group: WorkerGroup) -> dict[int, Any]:
        spec = worker_group.spec
        assert spec.entrypoint is not None
        args: dict[int, tuple[Any, ...]] = {}
        envs: dict[int, dict[str, str]] = {}
        prefixes: dict[int, str] | None = {} if self._log_line_prefix_template else None
        for worker in worker_group.workers:
            local = worker.local_rank
            envs[local] = environment(worker_group, worker, self._restart_count)
            envs[local].update(_seen_devices(spec, local))
            args[local] = arguments(spec, worker)
            if prefixes is not None:
                prefixes[local] = Template(str(self._log_line_prefix_template)).safe_substitute(
                    role_name=spec.role, rank=worker.global_rank, local_rank=local
                )
        self._setup_local_watchdog(envs)
        self._setup_healthcheck()
        self._pcontext = start_processes(
            spec.role, spec.entrypoint, args, envs, self._logs_specs, prefixes, self._start_method,
            duplicate_stdout_filters=spec.duplicate_stdout_filters,
            duplicate_stderr_filters=spec.duplicate_stderr_filters,
        )  # fmt: skip
        self._pcontext.grace = self._shutdown_timeout
        return self._pcontext.pids()

    def _stop_workers(self, worker_group: WorkerGroup) -> None:
        if self._pcontext is not None:
            self._pcontext.close(timeout=self._shutdown_timeout)

    def _shutdown(self, death_sig: signal.Signals = signal.SIGTERM) -> None:
        # A second signal must not leave workers behind.
        with _ignoring(signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if self._worker_watchdog is not None:
                self._worker_watchdog.stop()
                self._worker_watchdog = None
            if self._health_check_server is not None:
                self._health_check_server.stop()
                self._health_check_server = None
            if self._pcontext is not None:
                self._pcontext.close(death_sig, self._shutdown_timeout)

    def _monitor_workers(self, worker_group: WorkerGroup) -> RunResult:
        assert self._pcontext is not None
        self._looked = time.time()
        result = self._pcontext.wait(0)
        if result is None:
            return RunResult(WorkerState.HEALTHY)
        ranks = {worker.local_rank: worker.global_rank for worker in worker_group.workers}
        if result.is_failed():
            return RunResult(WorkerState.FAILED, failures={ranks[one]: why for one, why in result.failures.items()})
        return RunResult(WorkerState.SUCCEEDED, {ranks[one]: value for one, value in result.return_values.items()})


def _seen_devices(spec: WorkerSpec, local_rank: int) -> dict[str, str]:
    """With ``virtual_local_rank`` each worker sees its own GPU only."""
    if not spec.virtual_local_rank:
        return {}
    seen = os.environ.get("CUDA_VISIBLE_DEVICES")
    devices = seen.split(",") if seen else [str(one) for one in range(spec.local_world_size)]
    if local_rank >= len(devices):
        raise ValueError(
            f"taeda.distributed.elastic: worker {local_rank} has no device: CUDA_VISIBLE_DEVICES is {seen!r}"
        )
    return {"CUDA_VISIBLE_DEVICES": devices[local_rank]}


@contextlib.contextmanager
def _ignoring(*signals: signal.Signals) -> Any:
    try:
        before = [(one, signal.signal(one, signal.SIG_IGN)) for one in signals]
    except ValueError:  # not the main thread, which alone gets signals
        before = []
    try:
        yield
    finally:
        for one, handler in before:
            signal.signal(one, handler)
