"""Waiting for each other."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from taeda.distributed import _options as options
from taeda.distributed._arguments import Group, or_default, settled
from taeda.distributed._group import Work
from taeda.distributed._queries import _made, _rank_not_in_group

__all__ = ["barrier", "monitored_barrier"]


def barrier(
    group: Group = None, async_op: bool = False, device_ids: Any = None, timeout: timedelta | None = None
) -> Work | None:
    """Waits until all processes of the group are here, or raises after ``timeout`` (by default the group's)."""
    if _rank_not_in_group(group):
        return None
    opts = options.BarrierOptions()
    opts.asyncOp = async_op
    if timeout is not None:
        opts.timeout = timeout
    return settled(or_default(group).barrier(opts=opts), async_op)


def monitored_barrier(
    group: Group = None, timeout: timedelta | float | None = None, wait_all_ranks: bool = False
) -> None:
    """`barrier` that says which process did not come within ``timeout``: the first one, or with ``wait_all_ranks`` all.

    Raises:
        RuntimeError: some did not come; on all that did.
    """
    if _rank_not_in_group(group):
        return
    _made(group)
    if isinstance(timeout, (int, float)):
        timeout = timedelta(seconds=timeout)
    or_default(group).monitored_barrier(timeout, wait_all_ranks)
