"""What every agent does: meets the other nodes, starts the workers, watches them, and starts them again."""

from __future__ import annotations

import abc
import json
import logging
import signal
import socket
import sys
import time
import traceback
from typing import Any

from taeda.distributed._errors import DistError
from taeda.distributed.elastic import events
from taeda.distributed.elastic.agent.server._workers import (
    RunResult,
    Worker,
    WorkerGroup,
    WorkerSpec,
    WorkerState,
    _RoleInstanceInfo,
)
from taeda.distributed.elastic.events import record
from taeda.distributed.elastic.metrics import prof, put_metric
from taeda.distributed.elastic.multiprocessing import SignalException
from taeda.distributed.elastic.rendezvous import RendezvousError, RendezvousGracefulExitError, RendezvousHandler
from taeda.distributed.elastic.utils import store as exchange

__all__ = [
    "ElasticAgent", "RunResult", "SimpleElasticAgent", "Worker", "WorkerGroup", "WorkerSpec", "WorkerState",
]  # fmt: skip

log = logging.getLogger(__name__)
_DONE = "torchelastic/agent/terminal_state"


def _get_fq_hostname() -> str:
    return socket.getfqdn(socket.gethostname())


class ElasticAgent(abc.ABC):
    """A node's part of a job."""

    @abc.abstractmethod
    def run(self, role: str = "default") -> RunResult:
        """Runs the workers to their end, starting them again when one fails.

        Raises:
            SignalException: a signal told this process to end; the workers have ended.
        """

    @abc.abstractmethod
    def get_worker_group(self, role: str = "default") -> WorkerGroup:
        """The workers, to be looked at only."""


class SimpleElasticAgent(ElasticAgent):
    """An agent of workers of one role; one that derives from it says how they start, end, and fare.

    Args:
        spec: what they run.
        exit_barrier_timeout: seconds that a node whose workers are done waits for the other nodes.
        shutdown_timeout: seconds that workers get to end, before SIGKILL.
    """

    def __init__(self, spec: WorkerSpec, exit_barrier_timeout: float = 300, shutdown_timeout: int = 30) -> None:
        self._worker_group = WorkerGroup(spec)
        self._remaining_restarts = spec.max_restarts
        self._restart_count = 0  # of the round, the same on all nodes
        self._store: Any = None
        self._exit_barrier_timeout = exit_barrier_timeout
        self._shutdown_timeout = shutdown_timeout
        self._total_execution_time = 0

    def get_worker_group(self, role: str = "default") -> WorkerGroup:
        return self._worker_group

    @abc.abstractmethod
    def _start_workers(self, worker_group: WorkerGroup) -> dict[int, Any]:
        """Starts the workers; gives their ids by local rank."""

    @abc.abstractmethod
    def _stop_workers(self, worker_group: WorkerGroup) -> None:
        """Ends them."""

    @abc.abstractmethod
    def _monitor_workers(self, worker_group: WorkerGroup) -> RunResult:
        """How they fare."""

    @abc.abstractmethod
    def _shutdown(self, death_sig: signal.Signals = signal.SIGTERM) -> None:
        """Ends them by a signal, and lets go of all that the agent holds."""

    @prof
    def _rendezvous(self, worker_group: WorkerGroup) -> None:
        """Meets the other nodes, and gives the workers their ranks."""
        spec = worker_group.spec
        info = spec.rdzv_handler.next_rendezvous()
        self._store = worker_group.store = info.store
        worker_group.group_rank, worker_group.group_world_size = info.rank, info.world_size
        where = info.bootstrap_store_info
        worker_group.master_addr = spec.master_addr or (where.master_addr if where else _get_fq_hostname())
        worker_group.master_port = spec.master_port or (where.master_port if where else None)
        worker_group.workers = self._assign_worker_ranks(info.store, info.rank, info.world_size, spec)

    @prof
    def _assign_worker_ranks(
        self, store: Any, group_rank: int, group_world_size: int, spec: WorkerSpec
    ) -> list[Worker]:
        """The workers with their ranks: node by node, counted over all and over those of the role.

        The nodes also tell each other how often they have started again: the most counts for all, since the workers
        meet under that number.
        """
        restarts = spec.max_restarts - self._remaining_restarts
        nodes = [_RoleInstanceInfo(spec.role, group_rank, spec.local_world_size, restarts)]
        if group_world_size > 1:
            prefix = "torchelastic/role_info/"
            if spec.rdzv_handler.get_backend() == "static":
                prefix += f"{restarts}/"  # the store is the same in all rounds
            told = exchange.synchronize(store, nodes[0].serialize(), group_rank, group_world_size, prefix)
            nodes = [_RoleInstanceInfo.deserialize(one) for one in told]
        self._restart_count = max(node.restarts for node in nodes)
        before = sum(node.local_world_size for node in nodes[:group_rank])
        role_before = sum(node.local_world_size for node in nodes[:group_rank] if node.role == spec.role)
        world = sum(node.local_world_size for node in nodes)
        role_world = sum(node.local_world_size for node in nodes if node.role == spec.role)
        return [
            Worker(local, before + local, role_before + local, world, role_world)
            for local in range(spec.local_world_size)
        ]

    @prof
    def _initialize_workers(self, worker_group: WorkerGroup) -> None:
        """Meets the other nodes and starts the workers."""
        self._rendezvous(worker_group)
        ids = self._start_workers(worker_group)
        for local_rank, worker_id in ids.items():
            worker_group.workers[local_rank].id = worker_id
        worker_group.state = WorkerState.HEALTHY

    @prof
    def _restart_workers(self, worker_group: WorkerGroup) -> None:
        """Ends the workers and starts them again."""
        self._stop_workers(worker_group)
        worker_group.state = WorkerState.STOPPED
        self._initialize_workers(worker_group)

    def run(self, role: str = "default") -> RunResult:
        start = time.monotonic()
        closing: tuple[signal.Signals, ...] = ()
        try:
            result = self._invoke_run(role)
            self._total_execution_time = int(time.monotonic() - start)
            self._record_metrics(result)
            self._record_worker_events(result)
            return result
        except RendezvousGracefulExitError as end:
            log.info("this node is not needed: %s", end)
            return RunResult(WorkerState.SUCCEEDED)
        except SignalException as end:
            closing = (end.sigval,)
            raise
        except Exception:
            self._record_flakiness_metric(True)
            raise
        finally:
            self._shutdown(*closing)

    def _invoke_run(self, role: str = "default") -> RunResult:
        group = self._worker_group
        spec = group.spec
        handler = spec.rdzv_handler
        self._initialize_workers(group)
        while True:
            time.sleep(spec.monitor_interval)
            result = self._monitor_workers(group)
            group.state = result.state
            if result.state == WorkerState.SUCCEEDED:
                self._exit_barrier()
                return result
            if result.state in (WorkerState.UNHEALTHY, WorkerState.FAILED):
                if self._remaining_restarts <= 0 or self._is_over():
                    self._stop_workers(group)
                    group.state = WorkerState.FAILED
                    return result
                self._remaining_restarts -= 1
                log.warning("a worker failed: all start again; %d times are left", self._remaining_restarts)
                self._restart_workers(group)
            elif result.state != WorkerState.HEALTHY:
                raise RuntimeError(
                    f"taeda.distributed.elastic: the workers' state is {result.state}, which no one knows"
                )
            elif self._is_over():
                return self._end_with_others(group)
            elif isinstance(handler, RendezvousHandler) and (silent := handler.silent_nodes()):
                self._go_on_without(silent, group)
            elif handler.num_nodes_waiting() > 0:
                log.warning("more nodes have come: all workers start again")
                self._restart_workers(group)

    def _is_over(self) -> bool:
        """Whether another node has said that the job is over; that it cannot be asked is for the workers to find."""
        try:
            return self._worker_group.spec.rdzv_handler.is_closed()
        except RendezvousError as error:
            raise RendezvousError(f"taeda.distributed.elastic: this node has lost the others: {error}") from error

    def _end_with_others(self, group: WorkerGroup) -> RunResult:
        """The result when another node has failed for good."""
        self._stop_workers(group)
        group.state = WorkerState.FAILED
        raise RendezvousError(
            "taeda.distributed.elastic: another node of the job has failed for good, and this one ends with it; the "
            "reason is in what that node's launcher printed"
        )

    def _go_on_without(self, silent: list[str], group: WorkerGroup) -> None:
        """Starts again with the nodes that are left; RendezvousError where that is not wanted."""
        if self._remaining_restarts <= 0:
            self._stop_workers(group)
            group.state = WorkerState.FAILED
            raise RendezvousError(
                f"taeda.distributed.elastic: of the job's nodes {', '.join(silent)} has not been heard of: its machine "
                "or its network is down, or its launcher was killed"
            )
        self._remaining_restarts -= 1
        log.warning("a node is gone: all start again; %d times are left", self._remaining_restarts)
        self._restart_workers(group)

    def _exit_barrier(self) -> None:
        """Waits for the other nodes' workers, so that a store that this node serves lives as long as they do."""
        if self._worker_group.group_world_size == 1:
            return
        key = f"{_DONE}/{self._restart_count}"
        try:
            self._store.add(key, 1)
            end = time.monotonic() + self._exit_barrier_timeout
            over = False  # as another node says that has seen all come, too
            while self._store.add(key, 0) < self._worker_group.group_world_size:
                if over or time.monotonic() > end:
                    log.warning("this node is done; not all of the others said so, too")
                    return
                time.sleep(min(0.1, self._worker_group.spec.monitor_interval))
                over = self._is_over()
        except (DistError, RendezvousError) as error:
            log.warning("this node is done; the others cannot be asked: %s", error)

    def _record_metrics(self, result: RunResult) -> None:
        """Publishes how it ended, and after how many restarts."""
        spec = self._worker_group.spec
        self._record_flakiness_metric(result.is_failed())
        ended = "failed" if result.is_failed() else "success"
        restarted = "with" if self._remaining_restarts < spec.max_restarts else "no"
        for outcome in ("success", "failed"):
            for restarts in ("with", "no"):
                holds = (outcome, restarts) == (ended, restarted)
                put_metric(f"workers.{spec.role}.run_{outcome}_{restarts}_retries", int(holds))

    def _record_flakiness_metric(self, is_agent_error: bool = False) -> None:
        """Publishes how much of the restarts was used, in percent; all, if the agent itself failed."""
        spec = self._worker_group.spec
        left = 0.0 if is_agent_error else (self._remaining_restarts + 1) / (spec.max_restarts + 1)
        put_metric(f"workers.{spec.role}.flakiness", int(100 - 100 * left))

    def _record_worker_events(self, result: RunResult) -> None:
        """Publishes how each worker ended."""
        spec = self._worker_group.spec
        for worker in self._worker_group.workers:
            failure = result.failures.get(worker.global_rank)
            state = "SUCCEEDED" if not result.is_failed() else "FAILED" if failure else "TERMINATED"
            raw = json.dumps(failure.error_file_data) if failure else None
            code = failure.exitcode if failure else None
            event = self._construct_event(state, events.EventSource.WORKER, worker, raw_error=raw, exit_code=code)
            record(event, spec.event_log_handler)

    def get_event_succeeded(self) -> events.Event:
        """What the agent tells of a job that went well."""
        return self._construct_event("SUCCEEDED", events.EventSource.AGENT)

    def get_event_failed(self) -> events.Event:
        """What it tells of one that failed; with a traceback while an exception is handled."""
        raw = traceback.format_exc() if sys.exc_info()[0] is not None else None
        return self._construct_event("FAILED", events.EventSource.AGENT, raw_error=raw)

    def _construct_event(
        self, state: str, source: events.EventSource, worker: Worker | None = None, raw_error: str | None = None,
        duration_ms: float | None = None, exit_code: int | None = None,
    ) -> events.Event:  # fmt: skip
        group = self._worker_group
        spec = group.spec
        about: dict[str, Any] = {"group_world_size": group.group_world_size,
                                 "entry_point": spec.get_entrypoint_name()}  # fmt: skip
        if worker is not None:
            about |= {"local_rank": [worker.local_rank], "role_rank": [worker.role_rank],
                      "role_world_size": [worker.role_world_size]}  # fmt: skip
        metadata: dict[str, Any] = {
            "run_id": spec.rdzv_handler.get_run_id(), "hostname": socket.gethostname(), "state": state,
            "global_rank": worker.global_rank if worker else None, "group_rank": group.group_rank,
            "worker_id": str(worker.id) if worker else None, "role": spec.role,
            "total_run_time": self._total_execution_time, "rdzv_backend": spec.rdzv_handler.get_backend(),
            "raw_error": raw_error, "metadata": json.dumps(about),
            "agent_restarts": spec.max_restarts - self._remaining_restarts,
            "duration_ms": duration_ms, "exit_code": exit_code,
        }  # fmt: skip
        return events.Event(f"torchelastic.worker.status.{state}", source, int(time.time() * 1000), metadata)
