"""Launching a function or a program as several workers."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from taeda.distributed.elastic import events
from taeda.distributed.elastic.agent.server import WorkerSpec
from taeda.distributed.elastic.agent.server.local_elastic_agent import LocalElasticAgent
from taeda.distributed.elastic.multiprocessing import DefaultLogsSpecs, LogsSpecs, SignalException
from taeda.distributed.elastic.multiprocessing.errors import ChildFailedError
from taeda.distributed.elastic.rendezvous import RendezvousParameters
from taeda.distributed.elastic.rendezvous import registry as rdzv_registry
from taeda.distributed.elastic.rendezvous.utils import parse_rendezvous_endpoint

__all__ = ["LaunchConfig", "elastic_launch", "launch_agent"]


@dataclass
class LaunchConfig:
    """How to launch.

    Args:
        min_nodes, max_nodes: how many nodes the job has.
        nproc_per_node: how many workers each has.
        logs_specs: where what they print goes; to the console by default.
        run_id: the job's name, the same on all nodes.
        role: the workers'.
        rdzv_endpoint, rdzv_backend, rdzv_configs, rdzv_timeout: where and how the nodes meet; the timeout in seconds.
        max_restarts: how often to start all again when one has failed.
        monitor_interval: seconds between two looks at them.
        start_method: of processes that run a function.
        log_line_prefix_template: what stands before their lines on the console.
        local_addr: this node's address.
        signals_to_handle: those that end the workers first.
        shutdown_timeout: seconds that workers get to end, before SIGKILL; 30 by default, or what
            TORCH_ELASTIC_SHUTDOWN_TIMEOUT says.
        virtual_local_rank: every worker is told the local rank 0, and sees its own GPU only.
    """

    min_nodes: int
    max_nodes: int
    nproc_per_node: int
    logs_specs: LogsSpecs | None = None
    run_id: str = ""
    role: str = "default_role"
    rdzv_endpoint: str = ""
    rdzv_backend: str = "c10d"
    rdzv_configs: dict[str, Any] = field(default_factory=dict)
    rdzv_timeout: int = -1
    max_restarts: int = 3
    monitor_interval: float = 0.1
    start_method: str = "spawn"
    log_line_prefix_template: str | None = None
    metrics_cfg: dict[str, str] = field(default_factory=dict)
    local_addr: str | None = None
    event_log_handler: str = "null"
    numa_options: Any = None
    signals_to_handle: str = "SIGTERM,SIGINT,SIGHUP,SIGQUIT"
    duplicate_stdout_filters: list[str] | None = None
    duplicate_stderr_filters: list[str] | None = None
    virtual_local_rank: bool = False
    shutdown_timeout: int | None = None

    def __post_init__(self) -> None:
        if self.rdzv_timeout != -1:
            self.rdzv_configs["timeout"] = self.rdzv_timeout
        elif "timeout" not in self.rdzv_configs:
            self.rdzv_configs["timeout"] = 900
        if self.logs_specs is None:
            self.logs_specs = DefaultLogsSpecs()
        if self.shutdown_timeout is None:
            self.shutdown_timeout = int(os.environ.get("TORCH_ELASTIC_SHUTDOWN_TIMEOUT", 30))


class elastic_launch:
    """Launches a function, or a program by its path; called with its arguments.

    The result is what the function returned on each worker of this node, by global rank.

    Raises:
        ChildFailedError: a worker failed, for the last time.
    """

    def __init__(self, config: LaunchConfig, entrypoint: Callable[..., Any] | str | None) -> None:
        self._config = config
        self._entrypoint = entrypoint

    def __call__(self, *args: Any) -> dict[int, Any]:
        return launch_agent(self._config, self._entrypoint, list(args))


def _get_entrypoint_name(entrypoint: Callable[..., Any] | str | None, args: list[Any]) -> str:
    """The function's name or the program's path; of Python, the script's."""
    if callable(entrypoint):
        return getattr(entrypoint, "__name__", type(entrypoint).__name__)
    if entrypoint == sys.executable:
        return next((str(one) for one in args if not str(one).startswith("-")), "")
    return entrypoint or ""


def _get_addr_and_port(params: RendezvousParameters) -> tuple[str | None, int | None]:
    """Where workers meet, where that is known before the nodes have met."""
    if params.backend != "static":
        return None, None
    endpoint = params.endpoint.strip() or None
    if endpoint is None:
        raise ValueError("taeda.distributed.launcher: a static rendezvous needs its address")
    address, port = parse_rendezvous_endpoint(endpoint, -1)
    if port == -1:
        raise ValueError(f"taeda.distributed.launcher: a static rendezvous needs its port; got {endpoint!r}")
    return address, port or None


def launch_agent(
    config: LaunchConfig,
    entrypoint: Callable[..., Any] | str | None,
    args: list[Any],
    health_check_server: Any = None,
) -> dict[int, Any]:
    """Runs this node's agent to its end; see `elastic_launch`.

    Raises:
        ChildFailedError: a worker failed, for the last time.
        SignalException: a signal told this process to end; the workers have ended.
        ValueError: ``config`` makes no sense.
    """
    if not config.run_id:
        import uuid

        config.run_id = str(uuid.uuid4().int)
    os.environ["TORCHELASTIC_SIGNALS_TO_HANDLE"] = config.signals_to_handle
    params = RendezvousParameters(
        backend=config.rdzv_backend, endpoint=config.rdzv_endpoint, run_id=config.run_id, min_nodes=config.min_nodes,
        max_nodes=config.max_nodes, local_addr=config.local_addr, **config.rdzv_configs,
    )  # fmt: skip
    address, port = _get_addr_and_port(params)
    spec = WorkerSpec(
        role=config.role, local_world_size=config.nproc_per_node, entrypoint=entrypoint, args=tuple(args),
        rdzv_handler=rdzv_registry.get_rendezvous_handler(params), max_restarts=config.max_restarts,
        monitor_interval=config.monitor_interval, master_addr=address, master_port=port, local_addr=config.local_addr,
        event_log_handler=config.event_log_handler, duplicate_stdout_filters=config.duplicate_stdout_filters,
        duplicate_stderr_filters=config.duplicate_stderr_filters, virtual_local_rank=config.virtual_local_rank,
    )  # fmt: skip
    assert config.logs_specs is not None
    agent = LocalElasticAgent(
        spec, config.logs_specs, config.start_method, log_line_prefix_template=config.log_line_prefix_template,
        shutdown_timeout=config.shutdown_timeout or 30, health_check_server=health_check_server,
    )  # fmt: skip
    closes = True
    try:
        result = agent.run()
        events.record(agent.get_event_succeeded(), config.event_log_handler)
    except Exception as error:
        closes = not isinstance(error, SignalException)  # other nodes may go on without this one
        events.record(agent.get_event_failed(), config.event_log_handler)
        raise
    finally:
        if closes:
            spec.rdzv_handler.shutdown()
    if result.is_failed():
        raise ChildFailedError(_get_entrypoint_name(entrypoint, args), result.failures)
    return result.return_values
