"""Several collectives as one piece of work."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from taeda.distributed import _options as options
from taeda.distributed._group import ProcessGroup, Work, world

_open: dict[ProcessGroup, list[tuple[Any, ...]]] = {}


def collected(group: ProcessGroup, call: str, *arguments: Any) -> bool:
    """Whether `_coalescing_manager` keeps this call for its end."""
    if group not in _open:
        return False
    _open[group].append((call, *arguments))
    return True


class _CoalescingManager:
    """The works of calls that were made together."""

    def __init__(self) -> None:
        self.works: list[Work] = []

    def append(self, work: Work | None = None) -> None:
        """Takes a work to wait for."""
        if work is not None:
            self.works.append(work)

    def wait(self) -> None:
        """Waits for all."""
        for work in self.works:
            work.wait()


@contextlib.contextmanager
def _coalescing_manager(
    group: ProcessGroup | None = None, device: Any = None, async_ops: bool = False
) -> Iterator[_CoalescingManager]:
    """Has the collectives within start together at the end: all of one kind, `all_reduce`, `all_gather_into_tensor` or
    `reduce_scatter_tensor`. With ``async_ops`` the yielded manager is to be waited for.

    Raises:
        ValueError: it is within another one of that group.
        RuntimeError: different kinds or reductions.
    """
    made = world.default if group is None else group
    if made is None or made in _open:
        raise ValueError("taeda.distributed._coalescing_manager: there is no group, or one for it is open")
    calls = _open[made] = []
    manager = _CoalescingManager()
    try:
        yield manager
    finally:
        del _open[made]
    if calls:
        manager.append(_start(made, calls))
    if not async_ops:
        manager.wait()


def _start(group: ProcessGroup, calls: list[tuple[Any, ...]]) -> Work:
    kinds = {(call[0], *call[3:]) if call[0] != "all_reduce" else (call[0], call[2]) for call in calls}
    if len(kinds) > 1:
        raise RuntimeError(f"taeda.distributed._coalescing_manager: all calls are wanted of one kind; got {kinds}")
    (kind, *_) = calls[0]
    if kind == "all_reduce":
        opts: Any = options.AllreduceCoalescedOptions()
        opts.reduceOp = calls[0][2]
        return group.allreduce_coalesced([call[1] for call in calls], opts)
    outputs, inputs = [call[1] for call in calls], [call[2] for call in calls]
    if kind == "all_gather_into_tensor":
        return group.allgather_into_tensor_coalesced(outputs, inputs, options.AllgatherOptions())
    opts = options.ReduceScatterOptions()
    opts.reduceOp = calls[0][3]
    return group.reduce_scatter_tensor_coalesced(outputs, inputs, opts)
