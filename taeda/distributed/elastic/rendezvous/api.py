"""What every rendezvous is."""

from __future__ import annotations

import socket
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from taeda.distributed._store import Store
from taeda.distributed.elastic.utils.distributed import get_free_port

__all__ = [
    "RendezvousClosedError", "RendezvousConnectionError", "RendezvousError", "RendezvousGracefulExitError",
    "RendezvousHandler", "RendezvousHandlerCreator", "RendezvousHandlerRegistry", "RendezvousInfo",
    "RendezvousParameters", "RendezvousStateError", "RendezvousStoreInfo", "RendezvousTimeoutError",
    "rendezvous_handler_registry",
]  # fmt: skip


class RendezvousError(Exception):
    """A rendezvous failed."""


class RendezvousClosedError(RendezvousError):
    """It is over: a node has failed for good, or all are done."""


class RendezvousTimeoutError(RendezvousError):
    """Not enough nodes came in time."""


class RendezvousConnectionError(RendezvousError):
    """Its store cannot be reached."""


class RendezvousStateError(RendezvousError):
    """What its store holds makes no sense."""


class RendezvousGracefulExitError(RendezvousError):
    """This node is not needed, and may end without an error."""


@dataclass
class RendezvousStoreInfo:
    """Where the workers of a round meet."""

    MASTER_ADDR_KEY: ClassVar[str] = "MASTER_ADDR"
    MASTER_PORT_KEY: ClassVar[str] = "MASTER_PORT"
    master_addr: str
    master_port: int

    @staticmethod
    def build(rank: int, store: Store, local_addr: str | None, server_port: int | None = None) -> RendezvousStoreInfo:
        """What node 0 tells the others over ``store``: its address, and the port of its server or a free one."""
        if rank == 0:
            store.set(RendezvousStoreInfo.MASTER_ADDR_KEY, local_addr or socket.getfqdn())
            store.set(RendezvousStoreInfo.MASTER_PORT_KEY, str(server_port or get_free_port()))
        address = store.get(RendezvousStoreInfo.MASTER_ADDR_KEY).decode()
        return RendezvousStoreInfo(address, int(store.get(RendezvousStoreInfo.MASTER_PORT_KEY)))


class RendezvousInfo:
    """What came of a round: a store for the nodes, this node's rank, their number, and where the workers meet."""

    def __init__(
        self, store: Store, rank: int, world_size: int, bootstrap_store_info: RendezvousStoreInfo | None
    ) -> None:
        self._store, self._rank, self._world_size = store, rank, world_size
        self._bootstrap_store_info = bootstrap_store_info

    @property
    def store(self) -> Store:
        """The round's own."""
        return self._store

    @property
    def rank(self) -> int:
        """This node's."""
        return self._rank

    @property
    def world_size(self) -> int:
        """How many nodes there are."""
        return self._world_size

    @property
    def bootstrap_store_info(self) -> RendezvousStoreInfo | None:
        """Where the workers meet."""
        return self._bootstrap_store_info


class RendezvousHandler(ABC):
    """A node's part in a rendezvous."""

    @abstractmethod
    def get_backend(self) -> str:
        """The backend's name."""

    @property
    def use_agent_store(self) -> bool:
        """Whether the workers meet at a store that an agent serves."""
        return False

    @abstractmethod
    def next_rendezvous(self) -> RendezvousInfo:
        """Takes part in the next round, once enough nodes have come.

        Raises:
            RendezvousClosedError: it is over.
            RendezvousConnectionError: its store cannot be reached.
            RendezvousStateError: what its store holds makes no sense.
            RendezvousTimeoutError: not enough nodes came in time.
        """

    @abstractmethod
    def is_closed(self) -> bool:
        """Whether it is over."""

    @abstractmethod
    def set_closed(self) -> None:
        """Says that it is over."""

    @abstractmethod
    def num_nodes_waiting(self) -> int:
        """How many nodes came after the round was complete, and wait for the next."""

    def silent_nodes(self) -> list[str]:
        """The nodes of this one's round that have not been heard of for too long; a handler may not know."""
        return []

    @abstractmethod
    def get_run_id(self) -> str:
        """The job's name."""

    @abstractmethod
    def shutdown(self) -> bool:
        """Says that it is over, and lets go of what it holds; whether that worked."""


class RendezvousParameters:
    """What a rendezvous is made of.

    Args:
        backend, endpoint: which, and where.
        run_id: the job's name, the same on all nodes.
        min_nodes, max_nodes: how many nodes a round has.
        local_addr: this node's address, where it is not to be found out.
        kwargs: what the backend takes.

    Raises:
        ValueError: ``backend`` is empty, or the numbers of nodes make no sense.
    """

    def __init__(
        self, backend: str, endpoint: str, run_id: str, min_nodes: int, max_nodes: int, local_addr: str | None = None,
        **kwargs: Any,
    ) -> None:  # fmt: skip
        if not backend:
            raise ValueError("taeda.distributed.elastic.RendezvousParameters: the name of a backend is wanted")
        if not 1 <= min_nodes <= max_nodes:
            raise ValueError(
                "taeda.distributed.elastic.RendezvousParameters: 1 <= min_nodes <= max_nodes is wanted; got "
                f"{min_nodes} and {max_nodes}"
            )
        self.backend, self.endpoint, self.run_id = backend, endpoint, run_id
        self.min_nodes, self.max_nodes = min_nodes, max_nodes
        self.config = kwargs
        self.local_addr = local_addr

    def get(self, key: str, default: Any = None) -> Any:
        """A setting of the backend's."""
        return self.config.get(key, default)

    def get_as_bool(self, key: str, default: bool | None = None) -> bool | None:
        """`get` as a bool.

        Raises:
            ValueError: it does not stand for one.
        """
        value = self.get(key, default)
        if value is None or isinstance(value, bool):
            return value
        text = str(value).lower()
        if text in ("1", "true", "t", "yes", "y"):
            return True
        if text in ("0", "false", "f", "no", "n"):
            return False
        raise ValueError(f"taeda.distributed.elastic.RendezvousParameters: {key} is wanted as a bool; got {value!r}")

    def get_as_int(self, key: str, default: int | None = None) -> int | None:
        """`get` as an int.

        Raises:
            ValueError: it does not stand for one.
        """
        value = self.get(key, default)
        try:
            return None if value is None else int(value)
        except ValueError:
            raise ValueError(
                f"taeda.distributed.elastic.RendezvousParameters: {key} is wanted as an int; got {value!r}"
            ) from None


RendezvousHandlerCreator = Callable[[RendezvousParameters], RendezvousHandler]


class RendezvousHandlerRegistry:
    """Which function makes the handler for a backend's name."""

    def __init__(self) -> None:
        self._registry: dict[str, RendezvousHandlerCreator] = {}

    def register(self, backend: str, creator: RendezvousHandlerCreator) -> None:
        """Has ``creator`` answer for the name.

        Raises:
            ValueError: the name is empty, or another one answers for it.
        """
        if not backend:
            raise ValueError("taeda.distributed.elastic.RendezvousHandlerRegistry: the name of a backend is wanted")
        if self._registry.get(backend, creator) is not creator:
            raise ValueError(f"taeda.distributed.elastic.RendezvousHandlerRegistry: {backend!r} is there already")
        self._registry[backend] = creator

    def create_handler(self, params: RendezvousParameters) -> RendezvousHandler:
        """The handler for ``params.backend``.

        Raises:
            ValueError: there is no such backend.
            RuntimeError: the function for it made a handler of another one.
        """
        if params.backend not in self._registry:
            raise ValueError(
                f"taeda.distributed.elastic: there is no rendezvous backend {params.backend!r}; there are "
                f"{sorted(self._registry)}. Another one is put in by rendezvous_handler_registry.register()"
            )
        handler = self._registry[params.backend](params)
        if handler.get_backend() != params.backend:
            raise RuntimeError(
                f"taeda.distributed.elastic: the handler for {params.backend!r} says it is {handler.get_backend()!r}"
            )
        return handler


rendezvous_handler_registry = RendezvousHandlerRegistry()
