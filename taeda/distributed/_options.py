"""What a process group's methods are told besides tensors. A timeout below zero stands for the group's own."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from taeda.distributed._reduce_op import ReduceOp

__all__ = [
    "AllToAllOptions", "AllgatherOptions", "AllreduceCoalescedOptions", "AllreduceOptions", "BarrierOptions",
    "BroadcastOptions", "GatherOptions", "ReduceOptions", "ReduceScatterOptions", "ScatterOptions",
]  # fmt: skip

UNSET = timedelta(milliseconds=-1)


@dataclass(eq=False)
class _Options:
    """``asyncOp``: return before it is done."""

    timeout: timedelta = field(default=UNSET, init=False)
    asyncOp: bool = field(default=True, init=False)


@dataclass(eq=False)
class BroadcastOptions(_Options):
    """Of `ProcessGroup.broadcast`: from tensor ``rootTensor`` of the rank ``rootRank``."""

    rootRank: int = field(default=0, init=False)
    rootTensor: int = field(default=0, init=False)


@dataclass(eq=False)
class AllreduceOptions(_Options):
    """Of `ProcessGroup.allreduce`."""

    reduceOp: Any = field(default=ReduceOp.SUM, init=False)


@dataclass(eq=False)
class AllreduceCoalescedOptions(AllreduceOptions):
    """Of `ProcessGroup.allreduce_coalesced`."""


@dataclass(eq=False)
class ReduceOptions(AllreduceOptions):
    """Of `ProcessGroup.reduce`."""

    rootRank: int = field(default=0, init=False)
    rootTensor: int = field(default=0, init=False)


@dataclass(eq=False)
class AllgatherOptions(_Options):
    """Of `ProcessGroup.allgather`."""


@dataclass(eq=False)
class GatherOptions(_Options):
    """Of `ProcessGroup.gather`."""

    rootRank: int = field(default=0, init=False)


@dataclass(eq=False)
class ScatterOptions(_Options):
    """Of `ProcessGroup.scatter`."""

    rootRank: int = field(default=0, init=False)


@dataclass(eq=False)
class ReduceScatterOptions(AllreduceOptions):
    """Of `ProcessGroup.reduce_scatter`."""


@dataclass(eq=False)
class AllToAllOptions(_Options):
    """Of `ProcessGroup.alltoall` and `ProcessGroup.alltoall_base`."""


@dataclass(eq=False)
class BarrierOptions(_Options):
    """Of `ProcessGroup.barrier`."""

    device_ids: list[int] = field(default_factory=list, init=False)
    device: Any = field(default=None, init=False)
