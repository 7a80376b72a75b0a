"""Barriers and exchanges of data over a store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from taeda.distributed._errors import DistStoreError

__all__ = ["barrier", "get_all", "store_timeout", "synchronize"]

_LAST_MEMBER = "last_member"


@contextmanager
def store_timeout(store: Any, timeout: float) -> Iterator[None]:
    """Within it, the store waits for ``timeout`` seconds."""
    before = store.timeout
    store.set_timeout(timedelta(seconds=timeout))
    try:
        yield
    finally:
        store.set_timeout(before)


def get_all(store: Any, rank: int, prefix: str, world_size: int) -> list[bytes]:
    """What each process has put under ``prefix`` and its rank, in the ranks' order.

    Whoever serves the store (rank 0) waits until all have read, so that it may end then.
    """
    values = store.multi_get([f"{prefix}{index}" for index in range(world_size)])
    done = _count_in(store, world_size, f"{prefix}/finished")
    if rank == 0:
        store.wait([done])
    return list(values)


def synchronize(
    store: Any, data: bytes, rank: int, world_size: int, key_prefix: str, timeout: float = 300
) -> list[bytes]:
    """Every process's ``data``, in the ranks' order.

    Raises:
        DistStoreError: that took longer than ``timeout`` seconds.
    """
    with store_timeout(store, timeout):
        store.set(f"{key_prefix}{rank}", data)
        return get_all(store, rank, key_prefix, world_size)


def _count_in(store: Any, world_size: int, key_prefix: str) -> str:
    """Counts this process in at a barrier; gives the key that is set once all are."""
    last = f"{key_prefix}/{_LAST_MEMBER}"
    if store.add(f"{key_prefix}/num_members", 1) == world_size:
        store.set(last, "<val_ignored>")
    return last


def barrier(
    store: Any,
    world_size: int,
    key_prefix: str,
    barrier_timeout: float = 300,
    rank: int | None = None,
    rank_tracing_decoder: Callable[[int], str] | None = None,
    trace_timeout: float = 10,
) -> None:
    """Waits until ``world_size`` processes have come to the barrier ``key_prefix``; a prefix serves one barrier.

    Args:
        barrier_timeout: seconds.
        rank: this process's; with it, rank 0 says in the error who is missing.
        rank_tracing_decoder: makes of a rank the name that the error gives it.
        trace_timeout: seconds that rank 0 waits for word of the others for that.

    Raises:
        DistStoreError: not all came in time.
    """
    with store_timeout(store, barrier_timeout):
        if rank is not None:
            store.set(f"{key_prefix}{rank}/TRACE", "1")
        last = _count_in(store, world_size, key_prefix)
        try:
            store.wait([last])
        except DistStoreError as error:
            if rank != 0:
                raise
            name = rank_tracing_decoder or str
            keys = {one: f"{key_prefix}{one}/TRACE" for one in range(world_size)}
            missing = ", ".join(name(one) for one, key in keys.items() if not store.check([key]))
            raise DistStoreError(
                f"taeda.distributed.elastic: of {world_size} processes these did not come to the barrier "
                f"{key_prefix!r} within {barrier_timeout} s: {missing}"
            ) from error
