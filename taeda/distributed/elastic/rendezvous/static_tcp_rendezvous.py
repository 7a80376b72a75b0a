"""Nodes whose ranks are given, and which meet at a store that node 0 serves."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from taeda.distributed._store import PrefixStore, TCPStore
from taeda.distributed.elastic.rendezvous.api import (
    RendezvousHandler,
    RendezvousInfo,
    RendezvousParameters,
    RendezvousStoreInfo,
)
from taeda.distributed.elastic.rendezvous.utils import parse_rendezvous_endpoint

__all__ = ["StaticTCPRendezvous", "create_rdzv_handler"]

_DEFAULT_TIMEOUT_SECONDS = 600


class StaticTCPRendezvous(RendezvousHandler):
    """One round, of ``world_size`` nodes; ``rank`` is this one's. ``timeout`` is in seconds."""

    def __init__(
        self, master_addr: str, master_port: int, rank: int, world_size: int, run_id: str, timeout: int
    ) -> None:
        self.master_addr, self.master_port = master_addr, master_port
        self.rank, self.world_size = rank, world_size
        self.run_id = run_id
        self.timeout = timedelta(seconds=timeout)
        self._store: TCPStore | None = None

    def get_backend(self) -> str:
        return "static"

    @property
    def use_agent_store(self) -> bool:
        return True

    def next_rendezvous(self) -> RendezvousInfo:
        if self._store is None:
            self._store = TCPStore(
                self.master_addr, self.master_port, None, self.rank == 0, self.timeout, multi_tenant=True
            )
        where = RendezvousStoreInfo(self.master_addr, self._store.port)
        return RendezvousInfo(PrefixStore(self.run_id, self._store), self.rank, self.world_size, where)

    def is_closed(self) -> bool:
        return False

    def set_closed(self) -> None:
        pass

    def num_nodes_waiting(self) -> int:
        return 0

    def get_run_id(self) -> str:
        return self.run_id

    def shutdown(self) -> bool:
        return True


def create_rdzv_handler(params: RendezvousParameters) -> RendezvousHandler:
    """The handler for ``params``, which are to give ``rank`` and the endpoint's port.

    Raises:
        ValueError: they do not.
    """
    if "rank" not in params.config:
        raise ValueError("taeda.distributed.elastic: a static rendezvous needs the node's rank (--node-rank)")
    endpoint = params.endpoint.strip()
    if not endpoint:
        raise ValueError(
            "taeda.distributed.elastic: a static rendezvous needs its address (--master-addr, or --rdzv-endpoint)"
        )
    address, port = parse_rendezvous_endpoint(endpoint, -1)
    if port == -1:
        raise ValueError(f"taeda.distributed.elastic: a static rendezvous needs its port; got {endpoint!r}")
    timeout: Any = params.get("timeout", _DEFAULT_TIMEOUT_SECONDS)
    return StaticTCPRendezvous(address, port, int(params.config["rank"]), params.max_nodes, params.run_id, int(timeout))
