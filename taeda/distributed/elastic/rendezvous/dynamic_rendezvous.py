"""Nodes that come and go: whoever is there when enough have come makes a round, and a new one when that changes.

Each step of a node is an operation, which looks at the state and says what to do next (`_Action`); the executor does it
to the node's copy of the state, which its holder sends, until the operation is finished.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Any

import taeda.distributed as dist
from taeda.distributed._store import Store, TCPStore
from taeda.distributed.elastic.events import NodeState, construct_and_record_rdzv_event
from taeda.distributed.elastic.rendezvous._settings import RendezvousSettings, RendezvousTimeout
from taeda.distributed.elastic.rendezvous._state import (
    RendezvousBackend,
    _BackendRendezvousStateHolder,
    _NodeDesc,
    _NodeDescGenerator,
    _remove_participant_epilogue,
    _RendezvousState,
    _RendezvousStateHolder,
)
from taeda.distributed.elastic.rendezvous._state import Token as Token
from taeda.distributed.elastic.rendezvous.api import (
    RendezvousClosedError,
    RendezvousConnectionError,
    RendezvousError,
    RendezvousHandler,
    RendezvousInfo,
    RendezvousParameters,
    RendezvousStoreInfo,
    RendezvousTimeoutError,
)
from taeda.distributed.elastic.rendezvous.utils import _delay, _PeriodicTimer
from taeda.distributed.elastic.utils.distributed import address_towards

__all__ = [
    "DynamicRendezvousHandler", "RendezvousBackend", "RendezvousSettings", "RendezvousTimeout", "create_handler",
]  # fmt: skip

log = logging.getLogger(__name__)
_LOOKS = 30  # in the time between two heartbeats
_SKEW = 0.1  # seconds within which nodes that start together come
_ROLLBACK = 5.0  # seconds to take one's name back after a deadline
_FAREWELL = 5.0  # seconds that others have to see that it is over
_FRESH = 1.0  # seconds that a state is good enough for questions that come often


class _Action(Enum):
    """What an operation wants done next."""

    KEEP_ALIVE = 1
    ADD_TO_PARTICIPANTS = 2
    ADD_TO_WAIT_LIST = 3
    ADD_TO_REDUNDANCY_LIST = 4
    REMOVE_FROM_PARTICIPANTS = 5
    REMOVE_FROM_WAIT_LIST = 6
    REMOVE_FROM_REDUNDANCY_LIST = 7
    MARK_RENDEZVOUS_COMPLETE = 8
    MARK_RENDEZVOUS_CLOSED = 9
    SYNC = 10
    ERROR_CLOSED = 11
    ERROR_TIMEOUT = 12
    FINISH = 13


class _RendezvousContext:
    """What an operation looks at."""

    __slots__ = ("node", "settings", "state")

    def __init__(self, node: _NodeDesc, state: _RendezvousState, settings: RendezvousSettings) -> None:
        self.node, self.state, self.settings = node, state, settings


_Op = Callable[[_RendezvousContext, float], _Action]


class _DistributedRendezvousOpExecutor:
    """Does what operations want to the state that the nodes share: ``node``'s copy is in ``state_holder``."""

    def __init__(self, node: _NodeDesc, state_holder: _RendezvousStateHolder, settings: RendezvousSettings) -> None:
        self._node, self._state_holder, self._settings = node, state_holder, settings
        self.lock = threading.Lock()  # of the holder
        self._changes: dict[_Action, Callable[[_RendezvousState], None]] = {
            _Action.KEEP_ALIVE: self._keep_alive,
            _Action.ADD_TO_PARTICIPANTS: self._add_to_participants,
            _Action.ADD_TO_WAIT_LIST: lambda state: self._add(state, state.wait_list),
            _Action.ADD_TO_REDUNDANCY_LIST: lambda state: self._add(state, state.redundancy_list),
            _Action.REMOVE_FROM_PARTICIPANTS: self._remove_from_participants,
            _Action.REMOVE_FROM_WAIT_LIST: lambda state: self._remove(state, state.wait_list),
            _Action.REMOVE_FROM_REDUNDANCY_LIST: lambda state: self._remove(state, state.redundancy_list),
            _Action.MARK_RENDEZVOUS_COMPLETE: self._mark_complete,
            _Action.MARK_RENDEZVOUS_CLOSED: lambda state: setattr(state, "closed", True),
        }

    def run(
        self, state_handler: _Op, deadline: float, update_deadline: Callable[[timedelta], float] | None = None
    ) -> None:
        """Asks ``state_handler`` what to do, and does it, until there is nothing left.

        Args:
            deadline: by ``time.monotonic()``.
            update_deadline: gives a new one to a node that waited as a spare, and now may come in.

        Raises:
            RendezvousClosedError: it is over.
            RendezvousTimeoutError: the deadline has passed.
        """
        while (action := self._step(state_handler, deadline)) != _Action.FINISH:
            if action == _Action.SYNC:
                _delay(seconds=min(1.0, self._settings.keep_alive_interval.total_seconds() / _LOOKS))
            elif action == _Action.REMOVE_FROM_REDUNDANCY_LIST and update_deadline is not None:
                deadline = update_deadline(self._settings.timeout.join)

    def _step(self, state_handler: _Op, deadline: float) -> _Action:
        with self.lock:
            self._state_holder.sync()
            state = self._state_holder.state
            action = state_handler(_RendezvousContext(self._node, state, self._settings), deadline)
            if action in (_Action.ERROR_CLOSED, _Action.ERROR_TIMEOUT):
                raise self._error(action, state)
            if action in self._changes:
                self._changes[action](state)
                self._state_holder.mark_dirty()
            return action

    def _error(self, action: _Action, state: _RendezvousState) -> RendezvousError:
        name = f"the rendezvous {self._settings.run_id!r}"
        if action == _Action.ERROR_CLOSED:
            return RendezvousClosedError(f"taeda.distributed.elastic: {name} is over")
        came = len({*state.participants, self._node})
        return RendezvousTimeoutError(
            f"taeda.distributed.elastic: of {self._settings.min_nodes} nodes {came} came to {name}, which was not done "
            "in time"
        )

    def _keep_alive(self, state: _RendezvousState) -> None:
        state.last_heartbeats[self._node] = datetime.now(UTC)

    def _add_to_participants(self, state: _RendezvousState) -> None:
        state.wait_list.discard(self._node)
        state.participants[self._node] = 0  # the rank comes when all are there
        self._keep_alive(state)
        if len(state.participants) == self._settings.max_nodes:
            self._mark_complete(state)
        elif len(state.participants) >= self._settings.min_nodes and state.deadline is None:
            state.deadline = datetime.now(UTC) + self._settings.timeout.last_call

    def _add(self, state: _RendezvousState, line: set[_NodeDesc]) -> None:
        line.add(self._node)
        self._keep_alive(state)

    def _remove(self, state: _RendezvousState, line: set[_NodeDesc]) -> None:
        line.discard(self._node)
        state.last_heartbeats.pop(self._node, None)

    def _remove_from_participants(self, state: _RendezvousState) -> None:
        state.participants.pop(self._node, None)
        state.last_heartbeats.pop(self._node, None)
        _remove_participant_epilogue(state, self._settings)

    @staticmethod
    def _mark_complete(state: _RendezvousState) -> None:
        state.complete, state.deadline = True, None
        state.participants = {node: rank for rank, node in enumerate(sorted(state.participants))}


def _should_keep_alive(ctx: _RendezvousContext) -> bool:
    """Whether it is time to say again that this node lives. One that was taken for dead stays so."""
    last = ctx.state.last_heartbeats.get(ctx.node)
    return last is not None and last <= datetime.now(UTC) - ctx.settings.keep_alive_interval


class _RendezvousExitOp:
    """Leaves the round."""

    def __call__(self, ctx: _RendezvousContext, deadline: float) -> _Action:
        if ctx.node not in ctx.state.participants:
            return _Action.FINISH
        return _Action.ERROR_TIMEOUT if time.monotonic() > deadline else _Action.REMOVE_FROM_PARTICIPANTS


class _RendezvousJoinOp:
    """Becomes a part of a round that is complete."""

    def __call__(self, ctx: _RendezvousContext, deadline: float) -> _Action:
        state, node = ctx.state, ctx.node
        if state.closed:
            return _Action.ERROR_CLOSED
        if state.complete and node in state.participants:
            return _Action.FINISH
        full = len(state.participants) >= ctx.settings.max_nodes
        if node in state.redundancy_list:
            return self._wait(ctx) if full else _Action.REMOVE_FROM_REDUNDANCY_LIST
        now = time.monotonic()
        if now > deadline:
            return self._give_up(ctx, now <= deadline + _ROLLBACK)
        if state.complete:
            if node in state.wait_list:
                return self._wait(ctx)
            return _Action.ADD_TO_REDUNDANCY_LIST if full else _Action.ADD_TO_WAIT_LIST
        if node not in state.participants:
            return _Action.ADD_TO_PARTICIPANTS
        enough = len(state.participants) >= ctx.settings.min_nodes
        if enough and state.deadline is not None and state.deadline < datetime.now(UTC):
            return _Action.MARK_RENDEZVOUS_COMPLETE
        return self._wait(ctx)

    @staticmethod
    def _wait(ctx: _RendezvousContext) -> _Action:
        return _Action.KEEP_ALIVE if _should_keep_alive(ctx) else _Action.SYNC

    @staticmethod
    def _give_up(ctx: _RendezvousContext, time_left: bool) -> _Action:
        if time_left and ctx.node in ctx.state.participants:
            return _Action.REMOVE_FROM_PARTICIPANTS
        if time_left and ctx.node in ctx.state.wait_list:
            return _Action.REMOVE_FROM_WAIT_LIST
        return _Action.ERROR_TIMEOUT


class _RendezvousCloseOp:
    """Says that it is over."""

    def __call__(self, ctx: _RendezvousContext, deadline: float) -> _Action:
        if ctx.state.closed:
            return _Action.FINISH
        return _Action.ERROR_TIMEOUT if time.monotonic() > deadline else _Action.MARK_RENDEZVOUS_CLOSED


class _RendezvousKeepAliveOp:
    """Says that this node lives, if that is due."""

    def __call__(self, ctx: _RendezvousContext, deadline: float) -> _Action:
        if not _should_keep_alive(ctx):
            return _Action.FINISH
        return _Action.ERROR_TIMEOUT if time.monotonic() > deadline else _Action.KEEP_ALIVE


class DynamicRendezvousHandler(RendezvousHandler):
    """A node's part; made by `from_backend`.

    Args:
        node: this one.
        settings: what the rendezvous was told.
        backend_name: of the state's backend.
        store: for what the nodes of a round tell each other.
        state_holder: this node's copy of the state.
    """

    _node_desc_generator = _NodeDescGenerator()

    @classmethod
    def from_backend(
        cls, run_id: str, store: Store, backend: RendezvousBackend, min_nodes: int, max_nodes: int,
        local_addr: str | None = None, timeout: RendezvousTimeout | None = None, keep_alive_interval: int = 5,
        keep_alive_max_attempt: int = 3,
    ) -> DynamicRendezvousHandler:  # fmt: skip
        """A handler.

        Args:
            run_id: the job's name, the same on all nodes.
            store: for what the nodes of a round tell each other.
            backend: of the state; also one of a program's own.
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
        node = cls._node_desc_generator.generate(local_addr)
        holder = _BackendRendezvousStateHolder(backend, settings, cache_duration=0, node=node)
        return cls(node, settings, backend.name, store, holder)

    def __init__(
        self, node: _NodeDesc, settings: RendezvousSettings, backend_name: str, store: Store,
        state_holder: _RendezvousStateHolder,
    ) -> None:  # fmt: skip
        self._this_node, self._settings, self._backend_name, self._store = node, settings, backend_name, store
        self._state_holder = state_holder
        self._op_executor = _DistributedRendezvousOpExecutor(node, state_holder, settings)
        self._looked = float("-inf")
        self._peers: set[_NodeDesc] = set()  # of this node's round
        self._keep_alive_timer: _PeriodicTimer | None = None
        self._shared_tcp_store_server: TCPStore | None = None
        self._lost = False  # the backend could not be reached

    def _record(self, message: str, node_state: NodeState = NodeState.RUNNING, rank: int | None = None) -> None:
        construct_and_record_rdzv_event(
            self._settings.run_id, message, node_state, type(self).__name__, self._this_node.addr, self._this_node.pid,
            local_id=self._this_node.local_id, rank=rank,
        )  # fmt: skip

    @contextlib.contextmanager
    def _recorded(self) -> Any:
        """Has what fails within be an event."""
        try:
            yield
        except Exception as error:
            self._lost = self._lost or isinstance(error, RendezvousConnectionError)
            self._record(f"{type(error).__name__}: {error}", NodeState.FAILED)
            raise

    @property
    def settings(self) -> RendezvousSettings:
        """What the rendezvous was told."""
        return self._settings

    @property
    def use_agent_store(self) -> bool:
        return os.environ.get("TORCH_DISABLE_SHARE_RDZV_TCP_STORE", "0") != "1"

    def get_backend(self) -> str:
        return self._backend_name

    def get_run_id(self) -> str:
        return self._settings.run_id

    def silent_nodes(self) -> list[str]:
        return [str(node) for node in sorted(self._state_holder.silent_nodes() & self._peers)]

    def next_rendezvous(self) -> RendezvousInfo:
        self._stop_heartbeats()
        self._peers.clear()
        with self._recorded():
            if self._state_holder.state.round == 0:
                _delay(seconds=(0, _SKEW if self._settings.max_nodes > 1 else 0))
            limit = self._settings.timeout.join
            self._op_executor.run(_RendezvousExitOp(), self._get_deadline(limit))
            self._op_executor.run(_RendezvousJoinOp(), self._get_deadline(limit), self._get_deadline)
        state = self._state_holder.state
        rank, self._peers = state.participants[self._this_node], {*state.participants} - {self._this_node}
        self._start_heartbeats()
        store = dist.PrefixStore(f"torch.rendezvous.{self._settings.run_id}.{state.round}", self._store)
        self._record(f"round {state.round} is complete", rank=rank)
        port = self._serve() if rank == 0 and self.use_agent_store else None
        where = RendezvousStoreInfo.build(rank, store, self._this_node.addr, port)
        return RendezvousInfo(store, rank, len(state.participants), where)

    def _serve(self) -> int:
        """A store for the workers of this round, whose keys are no other's; gives its port."""
        self._shared_tcp_store_server = self._create_tcp_store_server(self._this_node.addr, 0)
        return self._shared_tcp_store_server.port

    def _create_tcp_store_server(self, master_addr: str, master_port: int) -> TCPStore:
        return TCPStore(master_addr, master_port, is_master=True, wait_for_workers=False)

    def is_closed(self) -> bool:
        return self._recent().closed

    def set_closed(self) -> None:
        with self._recorded():
            self._close()

    def num_nodes_waiting(self) -> int:
        return len(self._recent().wait_list)

    def shutdown(self) -> bool:
        self._stop_heartbeats()
        if self._lost:
            return False  # asking again would wait for the store to come back
        try:
            with self._recorded():
                self._within(min(self._patience, self._settings.timeout.close.total_seconds()), self._end)
            self._see_off()
            return True
        except RendezvousError as error:
            log.warning("the rendezvous %s was not told that it is over: %s", self.get_run_id(), error)
            return False
        finally:
            self._shared_tcp_store_server = None

    def _close(self) -> None:
        self._op_executor.run(_RendezvousCloseOp(), self._get_deadline(self._settings.timeout.close))

    def _end(self) -> None:
        self._close()
        self._op_executor.run(_RendezvousExitOp(), self._get_deadline(self._settings.timeout.close))

    def _see_off(self) -> None:
        """The node that serves the store waits a while for the others to see that it is over."""
        serves = isinstance(self._store, TCPStore) and self._store._serves
        end = time.monotonic() + min(_FAREWELL, self._settings.timeout.close.total_seconds())
        while serves and self._state_holder.state.participants and time.monotonic() < end:
            time.sleep(0.05)
            self._sync()

    def _recent(self) -> _RendezvousState:
        age = time.monotonic() - self._looked
        if age > _FRESH:
            with self._recorded():
                self._within(self._patience - (age if age < self._patience else 0), self._sync)
        return self._state_holder.state

    def _sync(self) -> None:
        with self._op_executor.lock:
            self._state_holder.sync()
            self._looked = time.monotonic()

    @property
    def _patience(self) -> float:
        """Seconds that a node may be silent, or the backend, which may be on another machine."""
        return self._settings.keep_alive_interval.total_seconds() * self._settings.keep_alive_max_attempt

    def _within(self, limit: float, call: Callable[[], None]) -> None:
        """``call``, for which the backend has ``limit`` seconds."""
        answer: Future[None] = Future()

        def ask() -> None:
            try:
                call()
                answer.set_result(None)
            except BaseException as error:
                answer.set_exception(error)

        threading.Thread(target=ask, name="taeda-rendezvous-question", daemon=True).start()
        try:
            answer.result(limit)
        except FutureTimeout:
            raise RendezvousConnectionError(
                f"taeda.distributed.elastic: the store of the rendezvous did not answer within {self._patience:g} s"
            ) from None

    @staticmethod
    def _keep_alive_weak(handler: weakref.ref[DynamicRendezvousHandler]) -> None:
        alive = handler()
        if alive is not None:
            alive._keep_alive()

    def _keep_alive(self) -> None:
        try:
            with self._recorded():
                deadline = self._get_deadline(self._settings.timeout.heartbeat)
                self._op_executor.run(_RendezvousKeepAliveOp(), deadline)
        except RendezvousError as error:
            log.warning("the rendezvous was not told that %s lives: %s", self._this_node, error)

    def _start_heartbeats(self) -> None:
        self._keep_alive_timer = _PeriodicTimer(
            self._settings.keep_alive_interval, self._keep_alive_weak, weakref.ref(self)
        )
        self._keep_alive_timer.set_name(f"RendezvousKeepAliveTimer_{self._this_node.local_id}")
        self._keep_alive_timer.start()

    def _stop_heartbeats(self) -> None:
        if self._keep_alive_timer is not None:
            self._keep_alive_timer.cancel()
            self._keep_alive_timer = None

    @staticmethod
    def _get_deadline(timeout: timedelta) -> float:
        return time.monotonic() + timeout.total_seconds()


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
