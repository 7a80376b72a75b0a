"""Collectives of bytes through a store, for what controls a job. Each takes a key of its own."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from taeda.distributed._errors import DistStoreError
from taeda.distributed._store import Store

Data = str | bytes
_PATIENCE = timedelta(minutes=5)


class _StoreCollectives:
    """Those of ``world_size`` processes that share a store.

    Every method raises RuntimeError for a key that this process used before, and DistStoreError if others do not come
    in time.
    """

    def __init__(self, store: Store, rank: int, world_size: int) -> None:
        self._store, self._rank, self._size = store, rank, world_size
        self._used: set[str] = set()

    def _take(self, key: str) -> None:
        if key in self._used:
            raise RuntimeError(
                f"taeda.distributed: the key {key} was used before by this process; each call needs another"
            )
        self._used.add(key)

    def _await(self, name: str, key: str, timeout: timedelta) -> list[bytes]:
        """What all ranks have set."""
        keys = [f"{key}/{rank}" for rank in range(self._size)]
        try:
            self._store.wait(keys, timeout)
        except DistStoreError as error:
            missing = [str(rank) for rank, one in enumerate(keys) if not self._store.check([one])]
            raise DistStoreError(
                f"taeda.distributed: {name} of {key!r} waited in vain for the ranks {', '.join(missing)}"
            ) from error
        return self._store.multi_get(keys)

    def barrier(self, key: str, timeout: timedelta = _PATIENCE, block: bool = True) -> None:
        """Tells that this process has come; waits for the others if ``block``."""
        self._take(key)
        self._store.set(f"{key}/{self._rank}", b"1")
        if block:
            self._await("barrier", key, timeout)

    def broadcast_send(self, key: str, data: Data, timeout: timedelta = _PATIENCE) -> None:
        """Gives data to all others."""
        self._take(key)
        self._store.set(key, data)

    def broadcast_recv(self, key: str, timeout: timedelta = _PATIENCE) -> bytes:
        """Takes what another gave to all."""
        self._take(key)
        self._store.wait([key], timeout)
        return self._store.get(key)

    def gather_send(self, key: str, data: Data, timeout: timedelta = _PATIENCE) -> None:
        """Gives data to the one that gathers."""
        self._take(key)
        self._store.set(f"{key}/{self._rank}", data)

    def gather_recv(self, key: str, data: Data, timeout: timedelta = _PATIENCE) -> list[bytes]:
        """The data of all, in order of rank; its own is ``data``."""
        self._take(key)
        self._store.set(f"{key}/{self._rank}", data)
        return self._await("gather", key, timeout)

    def scatter_send(self, key: str, data: Sequence[Data], timeout: timedelta = _PATIENCE) -> bytes:
        """Gives each process its part; returns its own."""
        self._take(key)
        if len(data) != self._size:
            raise RuntimeError(
                f"taeda.distributed: scatter of {key!r} has {len(data)} parts for {self._size} processes"
            )
        self._store.multi_set([f"{key}/{rank}" for rank in range(self._size)], list(data))
        own = data[self._rank]
        return own.encode() if isinstance(own, str) else own

    def scatter_recv(self, key: str, timeout: timedelta = _PATIENCE) -> bytes:
        """Takes its part."""
        self._take(key)
        own = f"{key}/{self._rank}"
        self._store.wait([own], timeout)
        return self._store.get(own)

    def all_gather(self, key: str, data: Data, timeout: timedelta = _PATIENCE) -> list[bytes]:
        """The data of all, in order of rank, on each."""
        self._take(key)
        self._store.set(f"{key}/{self._rank}", data)
        return self._await("all_gather", key, timeout)

    def all_sum(self, key: str, data: int, timeout: timedelta = _PATIENCE) -> int:
        """The sum over all."""
        return sum(int(one) for one in self.all_gather(key, str(data), timeout))


_ControlCollectives = _StoreCollectives
