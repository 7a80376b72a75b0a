"""An agent by itself, and the timers that it looks at."""

from __future__ import annotations

import contextlib
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from taeda.distributed.elastic import metrics, timer
from taeda.distributed.elastic.agent.server.api import RunResult, SimpleElasticAgent, WorkerSpec, WorkerState
from taeda.distributed.elastic.multiprocessing import DefaultLogsSpecs, SignalException
from taeda.distributed.elastic.multiprocessing.errors import record
from taeda.distributed.elastic.utils.distributed import create_c10d_store
from taeda.distributed.launcher import api as launcher
from taeda.distributed.run import _get_logs_specs_class


class Alone:
    """A rendezvous of one node."""

    def get_run_id(self) -> str:
        return "id"

    def get_backend(self) -> str:
        return "static"

    def is_closed(self) -> bool:
        return False

    def shutdown(self) -> None: ...


class Agent(SimpleElasticAgent):
    """One whose workers are in no known state."""

    def _initialize_workers(self, worker_group: Any) -> None: ...

    def _start_workers(self, worker_group: Any) -> dict[int, Any]:
        return {}

    def _stop_workers(self, worker_group: Any) -> None: ...

    def _monitor_workers(self, worker_group: Any) -> RunResult:
        return RunResult(WorkerState.UNKNOWN)

    def _shutdown(self, death_sig: signal.Signals = signal.SIGTERM) -> None: ...


def _agent_for(max_restarts: int) -> Agent:
    handler: Any = Alone()
    return Agent(WorkerSpec("of", 1, handler, print, max_restarts=max_restarts, monitor_interval=0.01))


def test_a_worker_that_cannot_be_ended_does_not_keep_others() -> None:
    cleared: list[set[Any]] = []

    class Server(timer.TimerServer):
        def register_timers(self, timer_requests: Any) -> None: ...

        def clear_timers(self, worker_ids: Any) -> None:
            cleared.append(worker_ids)

        def get_expired_timers(self, deadline: float) -> Any:
            return {1: [], 2: [], 3: []}

        def _reap_worker(self, worker_id: Any) -> bool:
            if worker_id == 1:
                raise OSError("gone")
            return bool(worker_id == 2)

    class Empty:
        def size(self) -> int:
            return 0

        def get(self, size: int, timeout: float) -> list[Any]:
            return []

    Server(Empty(), 0.1)._run_watchdog()  # type: ignore[arg-type]
    assert cleared == [{1, 2}]
    timer.configure(None)
    with pytest.raises(RuntimeError, match="call configure"), timer.expires(after=1):
        pass


def test_a_worker_may_end_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCHELASTIC_ERROR_FILE", str(tmp_path / "error"))
    assert record(lambda: sys.exit(0))() is None
    with pytest.raises(SystemExit):
        record(lambda: sys.exit(3))()
    with pytest.raises(ValueError, match="know the server's port"):
        create_c10d_store(True, "localhost", world_size=2)


def test_an_agent_tells_how_the_job_went() -> None:
    """Each outcome as a number, and the share of the restarts that were used."""
    told: dict[str, float] = {}

    class Notes(metrics.MetricHandler):
        def emit(self, metric_data: metrics.MetricData) -> None:
            told[metric_data.name] = metric_data.value

    metrics.configure(Notes(), "torchelastic")
    try:
        agent = _agent_for(max_restarts=3)
        agent._remaining_restarts = 2
        agent._record_metrics(RunResult(WorkerState.FAILED))
        assert told == {"workers.of.flakiness": 100, "workers.of.run_success_with_retries": 0,
                        "workers.of.run_success_no_retries": 0, "workers.of.run_failed_with_retries": 1,
                        "workers.of.run_failed_no_retries": 0}  # fmt: skip
        agent._record_metrics(RunResult(WorkerState.SUCCEEDED))
        assert told["workers.of.flakiness"] == 25 and told["workers.of.run_success_with_retries"] == 1
        event = agent.get_event_succeeded()
        assert event.source == "AGENT" and event.metadata["state"] == "SUCCEEDED"
        try:
            raise ValueError("odd")
        except ValueError:
            assert "ValueError: odd" in str(agent.get_event_failed().metadata["raw_error"])
        with pytest.raises(RuntimeError, match="UNKNOWN"):
            agent.run()
    finally:
        metrics.configure(metrics.NullMetricHandler(), "torchelastic")


class _Ends:
    """An agent that ends as it is told."""

    end: Any = None
    told: list[str] = []

    def __init__(self, spec: Any, *args: Any, **kwargs: Any) -> None:
        spec.rdzv_handler.shutdown = lambda: self.told.append("closed")

    def run(self) -> RunResult:
        if isinstance(self.end, Exception):
            raise self.end
        return RunResult(self.end)

    def get_event_succeeded(self) -> str:
        return "succeeded"

    def get_event_failed(self) -> str:
        return "failed"


def test_a_launcher_tells_how_the_agent_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """It closes the rendezvous, unless a signal ended this node alone."""
    monkeypatch.setattr(launcher, "LocalElasticAgent", _Ends)
    monkeypatch.setattr(launcher.events, "record", lambda event, handler: _Ends.told.append(event))
    config = launcher.LaunchConfig(1, 1, 1, run_id="one", rdzv_backend="c10d", rdzv_endpoint="localhost:0")
    for end, told in (
        (WorkerState.SUCCEEDED, ["succeeded", "closed"]),
        (ValueError("odd"), ["failed", "closed"]),
        (SignalException("ended", signal.SIGTERM), ["failed"]),
    ):
        _Ends.end, _Ends.told = end, []
        with contextlib.suppress(ValueError, SignalException):
            launcher.launch_agent(config, "script", [])
        assert _Ends.told == told
    assert _get_logs_specs_class("default") is DefaultLogsSpecs
    with pytest.raises(ValueError, match="no entry point 'other'"):
        _get_logs_specs_class("other")
