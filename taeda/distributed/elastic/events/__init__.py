"""Events of a job: what agents and workers did, for logs."""

from __future__ import annotations

import logging
import os
import socket
import traceback

from taeda.distributed.elastic.events.api import Event as Event
from taeda.distributed.elastic.events.api import EventSource as EventSource
from taeda.distributed.elastic.events.api import NodeState as NodeState
from taeda.distributed.elastic.events.api import RdzvEvent as RdzvEvent
from taeda.distributed.elastic.events.handlers import get_logging_handler as get_logging_handler

_loggers: dict[str, logging.Logger] = {}


def _get_or_create_logger(destination: str = "null") -> logging.Logger:
    if destination not in _loggers:
        logger = logging.getLogger(f"torchelastic-events-{destination}")
        logger.setLevel(os.environ.get("LOGLEVEL", "INFO"))
        logger.propagate = False  # not a second time
        logger.addHandler(get_logging_handler(destination))
        _loggers[destination] = logger
    return _loggers[destination]


def record(event: Event, destination: str = "null") -> None:
    """Sends an event to ``destination``."""
    _get_or_create_logger(destination).info(event.serialize())


def record_rdzv_event(event: RdzvEvent) -> None:
    """Sends an event of a rendezvous to whoever takes those."""
    _get_or_create_logger("dynamic_rendezvous").info(event.serialize())


def construct_and_record_rdzv_event(
    run_id: str,
    message: str,
    node_state: NodeState,
    name: str = "",
    hostname: str = "",
    pid: int | None = None,
    master_endpoint: str = "",
    local_id: int | None = None,
    rank: int | None = None,
) -> None:
    """Makes an event of a rendezvous and sends it, if anybody takes those."""
    if isinstance(get_logging_handler("dynamic_rendezvous"), logging.NullHandler):
        return
    failed = node_state == NodeState.FAILED
    event = RdzvEvent(
        name=name or "rendezvous", run_id=run_id, message=message, hostname=hostname or socket.getfqdn(),
        pid=os.getpid() if pid is None else pid, node_state=node_state, master_endpoint=master_endpoint, rank=rank,
        local_id=local_id, error_trace=traceback.format_exc() if failed else "",
    )  # fmt: skip
    record_rdzv_event(event)
