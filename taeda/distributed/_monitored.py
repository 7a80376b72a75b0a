"""A barrier that says who is missing."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

from taeda.distributed._rounds import finish


def monitored(group: Any, timeout: timedelta | None, wait_all_ranks: bool) -> None:
    """Every rank leaves word at the store and waits for rank 0's, which looks for all."""
    store, limit = group.get_group_store(), timeout or group._limit
    if group.size() == 1:
        return
    group._barriers = turn = group._barriers + 1
    key, absent = f"barrier/{turn}", []
    if group.rank() != 0:
        store.set(f"{key}/{group.rank()}", b"")
        store.wait([f"{key}/verdict"], limit + timedelta(seconds=5))
        verdict = store.get(f"{key}/verdict").decode()
    else:
        absent = _absent(store, key, group.size(), limit, wait_all_ranks)
        verdict = ", ".join(map(str, absent))
        store.set(f"{key}/verdict", verdict)
    finish(store, key, group.rank(), [rank for rank in range(1, group.size()) if rank not in absent])
    if verdict:
        raise RuntimeError(
            f"taeda.distributed.monitored_barrier: rank {group.rank()} waited, but within {limit.total_seconds():g} s "
            f"rank {verdict} did not come"
        )


def _absent(store: Any, key: str, size: int, limit: timedelta, wait_all_ranks: bool) -> list[int]:
    absent, end = [], time.monotonic() + limit.total_seconds()
    for rank in range(1, size):
        left = max(0.001, end - time.monotonic())
        try:
            store.wait([f"{key}/{rank}"], timedelta(seconds=left))
        except RuntimeError:
            absent.append(rank)
            if not wait_all_ranks:
                break
    return absent
