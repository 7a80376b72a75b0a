"""What the launcher notes of a job."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from enum import Enum
from typing import Any

__all__ = ["Event", "EventSource", "NodeState", "RdzvEvent"]


class EventSource(str, Enum):  # noqa: UP042 (its str() is PyTorch's)
    """Who noted it."""

    AGENT = "AGENT"
    WORKER = "WORKER"


class NodeState(str, Enum):  # noqa: UP042
    """How a node fares at a rendezvous."""

    INIT = "INIT"
    RUNNING = "RUNNING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"


@dataclass
class Event:
    """Something that an agent or a worker did. ``timestamp`` is in milliseconds since 1970."""

    name: str
    source: EventSource
    timestamp: int = 0
    metadata: dict[str, str | int | float | bool | None] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.serialize()

    @staticmethod
    def deserialize(data: str | Event) -> Event:
        """Of what `serialize` gave."""
        if isinstance(data, Event):
            return data
        read: dict[str, Any] = json.loads(data)
        return Event(**{**read, "source": EventSource[read["source"]]})

    def serialize(self) -> str:
        """As JSON."""
        return json.dumps(asdict(self))


@dataclass
class RdzvEvent:
    """Something that happened to a node at a rendezvous."""

    name: str
    run_id: str
    message: str
    hostname: str
    pid: int
    node_state: NodeState
    master_endpoint: str = ""
    rank: int | None = None
    local_id: int | None = None
    error_trace: str = ""

    def __str__(self) -> str:
        return self.serialize()

    @staticmethod
    def deserialize(data: str | RdzvEvent) -> RdzvEvent:
        """Of what `serialize` gave."""
        if isinstance(data, RdzvEvent):
            return data
        read: dict[str, Any] = json.loads(data)
        return RdzvEvent(**{**read, "node_state": NodeState[read["node_state"]]})

    def serialize(self) -> str:
        """As JSON."""
        return json.dumps(asdict(self))
