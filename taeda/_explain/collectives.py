"""The hops of a collective below its Python function: from the group to the wire."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Row = tuple[str, str, str]
# A function of taeda.distributed: the group's method, the algorithm.
_METHODS = {
    "all_reduce": ("allreduce", "all_reduce"), "all_reduce_coalesced": ("allreduce_coalesced", "all_reduce"),
    "reduce": ("reduce", "reduce"), "broadcast": ("broadcast", "broadcast"), "all_gather": ("allgather", "all_gather"),
    "all_gather_coalesced": ("allgather_coalesced", "all_gather"),
    "all_gather_into_tensor": ("_allgather_base", "all_gather"), "gather": ("gather", "gather"),
    "scatter": ("scatter", "scatter"), "reduce_scatter": ("reduce_scatter", "reduce_scatter"),
    "reduce_scatter_tensor": ("_reduce_scatter_base", "reduce_scatter"), "all_to_all": ("alltoall", "all_to_all"),
    "all_to_all_single": ("alltoall_base", "all_to_all"), "barrier": ("barrier", "barrier"), "isend": ("send", ""),
    "irecv": ("recv", ""), "send": ("send", ""), "recv": ("recv", ""),
}  # fmt: skip


def rows_below(called: Any, place: Callable[[Any], str]) -> list[Row]:
    """Those hops; none for what is no collective."""
    name = getattr(called, "__name__", "")
    if not getattr(called, "__module__", "").startswith("taeda.distributed._") or name not in _METHODS:
        return []
    from taeda._C import _distributed
    from taeda.distributed._backend_class import ProcessGroup
    from taeda.distributed._engine import EngineBackend

    method, algorithm = _METHODS[name]
    group, engine = getattr(ProcessGroup, method), getattr(EngineBackend, method)
    rows = [
        ("the group", f"ProcessGroup.{method}", place(group)),
        ("CPU tensors", f"EngineBackend.{method}", place(engine)),
        ("binding", "python::submit", "csrc/python/distributed/group.cpp"),
    ]
    if algorithm:
        rows += [
            ("in order", "distributed::EngineGroup::submit", "csrc/distributed/engine_group.cpp"),
            ("memory", "distributed::ReadyTask::run", "csrc/distributed/ready_task.cpp"),
            ("algorithm", f"distributed::{algorithm}", "csrc/distributed/algorithms.cpp"),
            ("messages", "distributed::Flow", "csrc/distributed/flow.cpp"),
        ]
    else:
        rows += [("message", "distributed::PointWork", "csrc/distributed/point_work.cpp")]
    engine_below = _distributed.transport() or "the MPI library, opened by the first group of several"
    rows.append(("in pieces", "distributed::MpiTransport", "csrc/distributed/mpi_transport.cpp"))
    return [*rows, ("the wire", "MPI_Isend, MPI_Irecv, MPI_Test", engine_below)]
