"""The workers of a node: what they are to run, and how they fare."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from enum import Enum
from typing import Any

from taeda.distributed.elastic.multiprocessing.errors import ProcessFailure
from taeda.distributed.elastic.rendezvous import RendezvousHandler
from taeda.distributed.elastic.utils import macros

__all__ = ["RunResult", "Worker", "WorkerGroup", "WorkerSpec", "WorkerState"]


@dataclass
class WorkerSpec:
    """What the workers of a role are to run.

    Args:
        role: the role's name.
        local_world_size: how many of them this node has.
        entrypoint: a function, or a program's path; ``fn`` is its former name.
        args: its arguments.
        max_restarts: how often to start all again when one has failed.
        monitor_interval: seconds between two looks at them.
        master_addr, master_port: where they meet, where the rendezvous is not to say so.
        local_addr: this node's address.
        virtual_local_rank: every worker is told the local rank 0.

    Raises:
        AssertionError: a number makes no sense, or there is nothing to run.
    """

    role: str
    local_world_size: int
    rdzv_handler: RendezvousHandler
    fn: Callable[..., Any] | None = None
    entrypoint: Callable[..., Any] | str | None = None
    args: tuple[Any, ...] = ()
    max_restarts: int = 3
    monitor_interval: float = 0.1
    master_port: int | None = None
    master_addr: str | None = None
    local_addr: str | None = None
    event_log_handler: str = "null"
    numa_options: Any = None
    duplicate_stdout_filters: list[str] | None = None
    duplicate_stderr_filters: list[str] | None = None
    virtual_local_rank: bool = False

    def __post_init__(self) -> None:
        self.entrypoint = self.fn or self.entrypoint
        if self.local_world_size < 1 or self.monitor_interval <= 0 or not self.entrypoint:
            raise AssertionError(
                "taeda.distributed.elastic.WorkerSpec: local_world_size and monitor_interval above 0 and an entrypoint "
                f"are wanted; got {self.local_world_size}, {self.monitor_interval} and {self.entrypoint!r}"
            )

    def get_entrypoint_name(self) -> str:
        """The function's name, or the program's path."""
        if isinstance(self.entrypoint, str):
            return self.entrypoint
        assert self.entrypoint is not None
        return self.entrypoint.__qualname__


class Worker:
    """One of the processes. ``id`` is its process id once it runs."""

    __slots__ = ("global_rank", "id", "local_rank", "role_rank", "role_world_size", "world_size")

    def __init__(
        self, local_rank: int, global_rank: int = -1, role_rank: int = -1, world_size: int = -1,
        role_world_size: int = -1,
    ) -> None:  # fmt: skip
        self.id: Any = None
        self.local_rank, self.global_rank, self.role_rank = local_rank, global_rank, role_rank
        self.world_size, self.role_world_size = world_size, role_world_size

    def __repr__(self) -> str:
        return (
            f"Worker(local_rank={self.local_rank}, global_rank={self.global_rank}, role_rank={self.role_rank}, "
            f"world_size={self.world_size}, role_world_size={self.role_world_size})"
        )


class WorkerState(str, Enum):  # noqa: UP042 (its str() is PyTorch's)
    """How the workers of a node fare, all together."""

    UNKNOWN = "UNKNOWN"
    INIT = "INIT"
    HEALTHY = "HEALTHY"
    UNHEALTHY = "UNHEALTHY"
    STOPPED = "STOPPED"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"

    @staticmethod
    def is_running(state: WorkerState) -> bool:
        """Whether they run."""
        return state in (WorkerState.HEALTHY, WorkerState.UNHEALTHY)


@dataclass(frozen=True)
class _RoleInstanceInfo:
    """What a node tells the others of its workers, and how often it has started them again."""

    role: str
    rank: int
    local_world_size: int
    restarts: int = 0

    def serialize(self) -> bytes:
        """For the store."""
        return json.dumps(asdict(self)).encode()

    @staticmethod
    def deserialize(data: bytes) -> _RoleInstanceInfo:
        """Of what `serialize` gave."""
        return _RoleInstanceInfo(**json.loads(data))

    @staticmethod
    def compare(obj1: _RoleInstanceInfo, obj2: _RoleInstanceInfo) -> int:
        """-1, 0 or 1: by role, and by rank within it."""
        one, other = (obj1.role, obj1.rank), (obj2.role, obj2.rank)
        return (one > other) - (one < other)

    @staticmethod
    def find_role_boundaries(roles_infos: list[_RoleInstanceInfo], role: str) -> tuple[int, int]:
        """The first and the last place of a role; -1 and -1 where nobody has it."""
        places = [place for place, info in enumerate(roles_infos) if info.role == role]
        return (places[0], places[-1]) if places else (-1, -1)


class WorkerGroup:
    """The workers of a node, and the round of the rendezvous that they belong to."""

    __slots__ = ("group_rank", "group_world_size", "master_addr", "master_port", "spec", "state", "store", "workers")

    def __init__(self, spec: WorkerSpec) -> None:
        self.spec = spec
        self.workers = [Worker(local_rank) for local_rank in range(spec.local_world_size)]
        self.store: Any = None
        self.group_rank: Any = None
        self.group_world_size: Any = None
        self.master_addr: Any = None
        self.master_port: Any = None
        self.state = WorkerState.INIT


@dataclass
class RunResult:
    """What came of the workers: their state, and results and failures by global rank."""

    state: WorkerState
    return_values: dict[int, Any] = field(default_factory=dict)
    failures: dict[int, ProcessFailure] = field(default_factory=dict)

    def is_failed(self) -> bool:
        """Whether any failed."""
        return self.state == WorkerState.FAILED


def environment(group: WorkerGroup, worker: Worker, restarts: int) -> dict[str, str]:
    """What a worker is told by variables."""
    spec = group.spec
    values: dict[str, Any] = {
        "LOCAL_RANK": 0 if spec.virtual_local_rank else worker.local_rank,
        "RANK": worker.global_rank,
        "GROUP_RANK": group.group_rank,
        "ROLE_RANK": worker.role_rank,
        "ROLE_NAME": spec.role,
        "LOCAL_WORLD_SIZE": spec.local_world_size,
        "WORLD_SIZE": worker.world_size,
        "GROUP_WORLD_SIZE": group.group_world_size,
        "ROLE_WORLD_SIZE": worker.role_world_size,
        "MASTER_ADDR": group.master_addr,
        "MASTER_PORT": group.master_port,
        "TORCHELASTIC_RESTART_COUNT": restarts,
        "TORCHELASTIC_MAX_RESTARTS": spec.max_restarts,
        "TORCHELASTIC_RUN_ID": spec.rdzv_handler.get_run_id(),
        "TORCHELASTIC_USE_AGENT_STORE": spec.rdzv_handler.use_agent_store,
        "TORCH_NCCL_ASYNC_ERROR_HANDLING": os.environ.get("TORCH_NCCL_ASYNC_ERROR_HANDLING", "1"),
    }
    return {name: str(value) for name, value in values.items()}


def arguments(spec: WorkerSpec, worker: Worker) -> tuple[Any, ...]:
    """A worker's arguments."""
    return tuple(macros.substitute(list(spec.args), str(worker.local_rank)))
