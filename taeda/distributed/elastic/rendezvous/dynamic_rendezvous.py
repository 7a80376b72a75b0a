"""Nodes that come and go: whoever is there when enough have come makes a round, and a new one when that changes."""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import random
import socket
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from taeda.distributed._store import PrefixStore, Store, TCPStore
from taeda.distributed.elastic.rendezvous._state import RendezvousState
from taeda.distributed.elastic.rendezvous.api import (
    RendezvousClosedError,
    RendezvousConnectionError,
    RendezvousError,
    RendezvousHandler,
    RendezvousInfo,
    RendezvousParameters,
    RendezvousStateError,
    RendezvousStoreInfo,
    RendezvousTimeoutError,
)
from taeda.distributed.elastic.utils.distributed import address_towards

__all__ = [
    "DynamicRendezvousHandler", "RendezvousBackend", "RendezvousSettings", "RendezvousTimeout", "create_handler",
]  # fmt: skip

log = logging.getLogger(__name__)
_LOOK = 0.05  # seconds between two looks at a round that is not complete
_FAREWELL = 5.0  # seconds that others have to see that it is over
_FRESH = 1.0  # seconds that a state is good enough for questions that come often


class RendezvousBackend(ABC):
    """Holds the state, and changes it for one node at a time."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Of this kind of backend."""

    @abstractmethod
    def get_state(self) -> tuple[bytes, Any] | None:
        """The state and its token; None before there is one.

        Raises:
            RendezvousConnectionError: it cannot be reached.
            RendezvousStateError: it is damaged.
        """

    @abstractmethod
    def set_state(self, state: bytes, token: Any | None = None) -> tuple[bytes, Any, bool] | None:
        """Sets the state if ``token`` is still that of the present one (None: there is none yet).

        Returns the state afterwards, its token, and whether it was set.

        Raises:
            RendezvousConnectionError, RendezvousStateError: as for `get_state`.
        """


class RendezvousTimeout:
    """How long a round waits.

    Args:
        join: for enough nodes; 600 s by default.
        last_call: for more nodes, once there are enough; 30 s.
        close: for word that it is over to reach the store; 30 s.
        heartbeat: for word that this node lives to reach it; 5 s.

    Raises:
        ValueError: a time is not above 0.
    """

    _DEFAULTS = {"join": 600, "last_call": 30, "close": 30, "heartbeat": 5}

    def __init__(
        self, join: timedelta | None = None, last_call: timedelta | None = None, close: timedelta | None = None,
        heartbeat: timedelta | None = None,
    ) -> None:  # fmt: skip
        for name, given in {"join": join, "last_call": last_call, "close": close, "heartbeat": heartbeat}.items():
            value = timedelta(seconds=self._DEFAULTS[name]) if given is None else given
            if value <= timedelta(0):
                raise ValueError(f"taeda.distributed.elastic.RendezvousTimeout: {name} is wanted above 0; got {value}")
            setattr(self, f"_{name}", value)

    join = property(lambda self: self._join, doc="How long to wait for enough nodes.")
    last_call = property(lambda self: self._last_call, doc="How long to wait for more.")
    close = property(lambda self: self._close, doc="How long closing may take.")
    heartbeat = property(lambda self: self._heartbeat, doc="How long a heartbeat may take.")


@dataclass(repr=False, eq=False, frozen=True)
class RendezvousSettings:
    """What a rendezvous was told. A node that has not been heard of for ``keep_alive_max_attempt`` times
    ``keep_alive_interval`` is taken for dead."""

    run_id: str
    min_nodes: int
    max_nodes: int
    timeout: RendezvousTimeout
    keep_alive_interval: timedelta
    keep_alive_max_attempt: int


_numbers = itertools.count()


class DynamicRendezvousHandler(RendezvousHandler):
    """A node's part; made by `from_backend`.

    Args:
        address: of this node.
        settings: what the rendezvous was told.
        store: for what the nodes of a round tell each other.
        backend: of the state.
    """

    def __init__(self, address: str, settings: RendezvousSettings, store: Store, backend: RendezvousBackend) -> None:
        self._settings = settings
        self._address = address
        self._node = f"{address}_{os.getpid()}_{next(_numbers)}"
        self._backend = backend
        self._store = store
        with contextlib.suppress(NotImplementedError):
            self._store = store.clone()  # the rounds' calls, which wait, do not hold up those of the backend
        self._lock = threading.Lock()
        self._state = RendezvousState()
        self._looked = float("-inf")
        self._heard: dict[str, tuple[int, float]] = {}  # a node's last beat, and when this one saw it first
        self._beating: threading.Event | None = None
        self._server: TCPStore | None = None
        self._serves = isinstance(store, TCPStore) and store._serves
        self._lost = False  # the backend could not be reached
        self._silent: dict[str, None] = {}  # nodes of this one's round that were taken for dead

    @classmethod
    def from_backend(
        cls, run_id: str, store: Store, backend: RendezvousBackend, min_nodes: int, max_nodes: int,
        local_addr: str | None = None, timeout: RendezvousTimeout | None = None, keep_alive_interval: int = 5,
        keep_alive_max_attempt: int = 3,
    ) -> DynamicRendezvousHandler:  # fmt: skip
        """A handler.

        Args:
            run_id: the job's name, the same on all nodes.
            min_nodes, max_nodes: how many nodes a round has.
            local_addr: this node's address; its name by default.
            keep_alive_interval: seconds between two signs of life.
            keep_alive_max_attempt: after how many that did not come a node is taken for dead.

        Raises:
            ValueError: ``run_id`` is empty, or the numbers of nodes make no sense.
        """
        if not run_id or not 1 <= min_nodes <= max_nodes:
            raise ValueError(
                "taeda.distributed.elastic.DynamicRendezvousHandler: a run_id and 1 <= min_nodes <= max_nodes are "
                f"wanted; got {run_id!r}, {min_nodes} and {max_nodes}"
            )
        interval = timedelta(seconds=keep_alive_interval)
        limits = timeout or RendezvousTimeout()
        settings = RendezvousSettings(run_id, min_nodes, max_nodes, limits, interval, keep_alive_max_attempt)
        return cls(local_addr or socket.getfqdn(), settings, store, backend)

    @property
    def settings(self) -> RendezvousSettings:
        """What the rendezvous was told."""
        return self._settings

    @property
    def use_agent_store(self) -> bool:
        return True

    def get_backend(self) -> str:
        return self._backend.name

    def get_run_id(self) -> str:
        return self._settings.run_id

    def silent_nodes(self) -> list[str]:
        return list(self._silent)

    def next_rendezvous(self) -> RendezvousInfo:
        self._silent.clear()
        self._change(lambda state: state.leave(self._node))
        state = self._join()
        self._beat()
        rank = state.participants[self._node]
        assert rank is not None
        store = PrefixStore(f"torch.rendezvous.{self._settings.run_id}.{state.round}", self._store)
        port = self._serve() if rank == 0 else None
        where = RendezvousStoreInfo.build(rank, store, self._address, port)
        return RendezvousInfo(store, rank, len(state.participants), where)

    def _serve(self) -> int:
        """A store for the workers of this round, whose keys are no other's; gives its port."""
        self._server = TCPStore(self._address, 0, is_master=True, wait_for_workers=False)
        return self._server.port

    def is_closed(self) -> bool:
        return self._recent().closed

    def set_closed(self) -> None:
        def close(state: RendezvousState) -> None:
            state.closed = True

        self._change(close)

    def num_nodes_waiting(self) -> int:
        return len(self._recent().waiting)

    def shutdown(self) -> bool:
        if self._beating is not None:
            self._beating.set()
            self._beating = None
        try:
            return self._end()
        except RendezvousError as error:
            log.warning("the rendezvous %s was not told that it is over: %s", self.get_run_id(), error)
            return False
        finally:
            self._server = None

    def _end(self) -> bool:
        """Says that it is over, and leaves. The node that serves the store waits a while for the others to see it."""
        if self._lost:
            return False  # asking again would wait for the store to come back

        def end_and_leave(state: RendezvousState) -> None:
            state.closed = True
            state.leave(self._node)

        state = self._ask(end_and_leave, min(self._patience, self._settings.timeout.close.total_seconds()))
        end = time.monotonic() + min(_FAREWELL, self._settings.timeout.close.total_seconds())
        while self._serves and state.participants and time.monotonic() < end:
            time.sleep(_LOOK)
            state = self._change(lambda state: None)
        return True

    def _join(self) -> RendezvousState:
        """Waits for a round with this node in it."""
        limits = self._settings.timeout
        most, least = self._settings.max_nodes, self._settings.min_nodes
        end = time.monotonic() + limits.join.total_seconds()
        enough: float | None = None  # since when
        while True:
            state = self._change(lambda state: state.join(self._node, most))
            now = time.monotonic()
            if state.closed:
                raise RendezvousClosedError(f"taeda.distributed.elastic: the rendezvous {self.get_run_id()!r} is over")
            if state.complete and self._node in state.participants:
                return state
            if state.complete or len(state.participants) < least:
                enough = None
            elif enough is None:
                enough = now
            elif now - enough >= limits.last_call.total_seconds():
                self._change(RendezvousState.finish)
                continue
            if self._node in state.spare:
                end = now + limits.join.total_seconds()
            if now > end:
                self._change(lambda state: state.leave(self._node))
                raise RendezvousTimeoutError(
                    f"taeda.distributed.elastic: of {least} nodes {len(state.participants)} came to the rendezvous "
                    f"{self.get_run_id()!r} within {limits.join.total_seconds():g} s"
                )
            self._beat()
            time.sleep(_LOOK * (0.5 + random.random()))

    def _recent(self) -> RendezvousState:
        age = time.monotonic() - self._looked
        if age > _FRESH:
            self._ask(lambda state: None, self._patience - (age if age < self._patience else 0))
        return self._state

    @property
    def _patience(self) -> float:
        """Seconds that a node may be silent, or the backend, which may be on another machine."""
        return self._settings.keep_alive_interval.total_seconds() * self._settings.keep_alive_max_attempt

    def _ask(self, change: Callable[[RendezvousState], None], limit: float) -> RendezvousState:
        """`_change`, for which the backend has ``limit`` seconds."""
        answer: Future[RendezvousState] = Future()

        def ask() -> None:
            try:
                answer.set_result(self._change(change))
            except BaseException as error:
                answer.set_exception(error)

        threading.Thread(target=ask, name="taeda-rendezvous-question", daemon=True).start()
        try:
            return answer.result(limit)
        except FutureTimeout:
            self._lost = True
            raise RendezvousConnectionError(
                f"taeda.distributed.elastic: the store of the rendezvous did not answer within {self._patience:g} s"
            ) from None

    def _change(self, change: Callable[[RendezvousState], None]) -> RendezvousState:
        """The state with ``change`` made to it, and without dead nodes, once the backend has it."""
        try:
            return self._change_held(change)
        except RendezvousConnectionError:
            self._lost = True
            raise

    def _change_held(self, change: Callable[[RendezvousState], None]) -> RendezvousState:
        with self._lock:
            held = self._backend.get_state()
            while True:
                data, token = (None, None) if held is None else held[:2]
                state = self._read(data)
                self._bury(state)
                change(state)
                new = state.to_bytes()
                if new != data:
                    answer = self._backend.set_state(new, token)
                    if answer is None or not answer[2]:
                        held = self._backend.get_state() if answer is None else answer[:2]  # another was quicker
                        continue
                self._state, self._looked = state, time.monotonic()
                return state

    @staticmethod
    def _read(data: bytes | None) -> RendezvousState:
        try:
            return RendezvousState() if data is None else RendezvousState.of(data)
        except ValueError as error:
            raise RendezvousStateError("taeda.distributed.elastic: the state of the rendezvous is damaged") from error

    def _bury(self, state: RendezvousState) -> None:
        """Removes the nodes that this one has not heard of for too long, by its own clock."""
        now = time.monotonic()
        for node, count in list(state.beats.items()):
            seen = self._heard.get(node)
            if seen is None or seen[0] != count:
                self._heard[node] = count, now
            elif now - seen[1] > self._patience and node != self._node:
                log.warning("node %s of the rendezvous %s has not been heard of: removed", node, self.get_run_id())
                if state.complete and {node, self._node} <= state.participants.keys():
                    self._silent[node] = None
                state.leave(node)

    def _beat(self) -> None:
        """Says from now on that this node lives."""
        if self._beating is not None:
            return
        self._beating = stopped = threading.Event()
        interval = self._settings.keep_alive_interval.total_seconds()

        def live() -> None:
            while not stopped.wait(interval):
                try:
                    self._change(self._count_beat)
                except RendezvousError as error:
                    log.warning("the rendezvous was not told that %s lives: %s", self._node, error)

        threading.Thread(target=live, name="taeda-rendezvous-beat", daemon=True).start()

    def _count_beat(self, state: RendezvousState) -> None:
        if self._node in state.beats:
            state.beats[self._node] += 1


def _seconds(params: RendezvousParameters, key: str) -> timedelta | None:
    value = params.get_as_int(f"{key}_timeout")
    return None if value is None else timedelta(seconds=value)


def _own_address(store: Store, several: bool) -> str:
    """By which address the other nodes reach this one."""
    if not isinstance(store, TCPStore):
        return socket.getfqdn() if several else "localhost"
    address = address_towards(store.host, store.port)
    if several and (address.startswith("127.") or address == "::1"):
        return socket.getfqdn()
    return address


def create_handler(store: Store, backend: RendezvousBackend, params: RendezvousParameters) -> DynamicRendezvousHandler:
    """A handler by ``params``: ``join_timeout``, ``last_call_timeout``, ``close_timeout`` and
    ``heartbeat_timeout`` are in seconds, as is ``keep_alive_interval``.

    Raises:
        RendezvousConnectionError: the store cannot be reached.
        ValueError: a setting makes no sense.
    """
    timeout = RendezvousTimeout(*(_seconds(params, key) for key in ("join", "last_call", "close", "heartbeat")))
    try:
        address = params.local_addr or _own_address(store, params.max_nodes > 1)
    except OSError as error:
        raise RendezvousConnectionError(f"taeda.distributed.elastic: this node has no address: {error}") from error
    return DynamicRendezvousHandler.from_backend(
        params.run_id, store, backend, params.min_nodes, params.max_nodes, address, timeout,
        keep_alive_interval=params.get_as_int("keep_alive_interval", 5) or 5,
        keep_alive_max_attempt=params.get_as_int("keep_alive_max_attempt", 3) or 3,
    )  # fmt: skip
