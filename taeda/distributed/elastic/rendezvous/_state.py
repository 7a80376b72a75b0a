"""What the nodes of a rendezvous agree on, and who holds it."""

from __future__ import annotations

import io
import itertools
import logging
import os
import pickle
import socket
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

from taeda.distributed.elastic.rendezvous._settings import RendezvousSettings
from taeda.distributed.elastic.rendezvous.api import RendezvousStateError

__all__ = ["RendezvousBackend"]

log = logging.getLogger(__name__)
Token = Any


@dataclass(repr=False, order=True, frozen=True)
class _NodeDesc:
    """A node: its address, its process, and which of that process's handlers it is."""

    addr: str
    pid: int
    local_id: int

    def __repr__(self) -> str:
        return f"{self.addr}_{self.pid}_{self.local_id}"


class _NodeDescGenerator:
    """Names the nodes of this process."""

    def __init__(self) -> None:
        self._numbers = itertools.count()

    def generate(self, local_addr: str | None = None) -> _NodeDesc:
        """The next one, at ``local_addr`` or at this machine's name."""
        return _NodeDesc(local_addr or socket.getfqdn(), os.getpid(), next(self._numbers))


class _RendezvousState:
    """A round: who takes part, and who waits for the next one.

    While it is not complete, nodes come in, until ``deadline`` once there are enough. When it is, each has its rank;
    nodes that come later are in ``wait_list``, or in ``redundancy_list`` where there is no room for more. It ends when
    the last one has left, and the next begins. ``last_heartbeats`` says when each node last said that it lives, by its
    own clock.
    """

    def __init__(self) -> None:
        self.round = 0
        self.complete = False
        self.deadline: datetime | None = None
        self.closed = False
        self.participants: dict[_NodeDesc, int] = {}
        self.wait_list: set[_NodeDesc] = set()
        self.redundancy_list: set[_NodeDesc] = set()
        self.last_heartbeats: dict[_NodeDesc, datetime] = {}


def _remove_participant_epilogue(state: _RendezvousState, settings: RendezvousSettings) -> None:
    """What follows from a participant's leaving: the next round after the last one, no last call with too few."""
    if state.complete:
        if not state.participants:
            state.complete = False
            state.round += 1
    elif len(state.participants) < settings.min_nodes:
        state.deadline = None


class _Reader(pickle.Unpickler):
    """Reads a state, and calls nothing that is no part of one, whoever wrote to the store."""

    _KNOWN = {kind.__name__: kind for kind in (_NodeDesc, _RendezvousState, datetime, timedelta, timezone)}

    def find_class(self, module: str, name: str) -> Any:
        try:
            return self._KNOWN[name]
        except KeyError:
            raise pickle.UnpicklingError(f"{module}.{name} is no part of a rendezvous' state") from None


def _read(data: bytes) -> _RendezvousState:
    try:
        state = _Reader(io.BytesIO(data)).load()
    except Exception as error:  # whatever bytes of another kind lead to
        raise RendezvousStateError("taeda.distributed.elastic: the state of the rendezvous is damaged") from error
    if not isinstance(state, _RendezvousState):
        raise RendezvousStateError(
            f"taeda.distributed.elastic: the rendezvous holds a {type(state).__name__} in place of its state"
        )
    for name, value in vars(_RendezvousState()).items():
        if name != "deadline" and not isinstance(getattr(state, name, None), type(value)):
            raise RendezvousStateError(f"taeda.distributed.elastic: the state of the rendezvous has no valid {name}")
    return state


class RendezvousBackend(ABC):
    """Holds the state's bytes, and changes them for one node at a time."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Of this kind of backend."""

    @abstractmethod
    def get_state(self) -> tuple[bytes, Token] | None:
        """The state and its token; None before there is one.

        Raises:
            RendezvousConnectionError: it cannot be reached.
            RendezvousStateError: it is damaged.
        """

    @abstractmethod
    def set_state(self, state: bytes, token: Token | None = None) -> tuple[bytes, Token, bool] | None:
        """Sets the state if ``token`` is still that of the present one (None: there is none yet).

        Returns the state afterwards, its token, and whether it was set; None has the holder look itself.

        Raises:
            RendezvousConnectionError, RendezvousStateError: as for `get_state`.
        """


class _RendezvousStateHolder(ABC):
    """A node's copy of the state, which it changes and then sends."""

    @property
    @abstractmethod
    def state(self) -> _RendezvousState:
        """The copy."""

    @abstractmethod
    def sync(self) -> bool | None:
        """Sends the copy if it was changed, and has what the others agreed on otherwise, or where they were quicker.

        Returns whether it was sent; None if there was nothing to send.
        """

    @abstractmethod
    def mark_dirty(self) -> None:
        """Says that the copy was changed."""

    def silent_nodes(self) -> set[_NodeDesc]:
        """The nodes that were taken for dead; a holder may not know."""
        return set()


class _BackendRendezvousStateHolder(_RendezvousStateHolder):
    """A copy of what a backend holds.

    Args:
        backend: of the state.
        settings: what the rendezvous was told.
        cache_duration: seconds that a copy is good enough where nothing is to be sent.
        node: the one whose copy it is, and which does not take itself for dead.
    """

    def __init__(
        self, backend: RendezvousBackend, settings: RendezvousSettings, cache_duration: float = 1,
        node: _NodeDesc | None = None,
    ) -> None:  # fmt: skip
        self._backend, self._settings, self._cache_duration = backend, settings, cache_duration
        self._node = node
        self._state = _RendezvousState()
        self._token: Token = None
        self._dirty = False
        self._looked = float("-inf")
        self._heard: dict[_NodeDesc, tuple[datetime, float]] = {}  # a node's last beat, and when it was seen first
        self._silent: set[_NodeDesc] = set()

    @property
    def state(self) -> _RendezvousState:
        return self._state

    def mark_dirty(self) -> None:
        self._dirty = True

    def silent_nodes(self) -> set[_NodeDesc]:
        return self._silent

    def sync(self) -> bool | None:
        sent: bool | None = None
        data: bytes | None
        if self._dirty:
            data, self._token, sent = self._send(pickle.dumps(self._state))
        elif time.monotonic() - self._looked <= self._cache_duration:
            return None
        else:
            data, self._token = self._backend.get_state() or (None, None)
        self._state = _RendezvousState() if data is None else _read(data)
        self._dirty = False
        self._looked = time.monotonic()
        self._sanitize()
        return sent

    def _send(self, data: bytes) -> tuple[bytes, Token, bool]:
        answer = self._backend.set_state(data, self._token)
        if answer is not None:
            return answer
        held, token = self._backend.get_state() or (data, None)
        return held, token, held == data

    def _sanitize(self) -> None:
        """Removes the nodes that have not been heard of for too long, by this one's own clock: those of several
        machines differ."""
        state, now = self._state, time.monotonic()
        patience = (self._settings.keep_alive_interval * self._settings.keep_alive_max_attempt).total_seconds()
        before = len(state.participants)
        for node, beat in list(state.last_heartbeats.items()):
            seen = self._heard.get(node)
            if seen is None or seen[0] != beat:
                self._heard[node] = beat, now
            elif now - seen[1] > patience and node != self._node:
                if node not in self._silent:
                    log.warning("node %s of %s has not been heard of: removed", node, self._settings.run_id)
                self._silent.add(node)
                del state.last_heartbeats[node]
                state.participants.pop(node, None)
                state.wait_list.discard(node)
                state.redundancy_list.discard(node)
        if len(state.participants) < before:
            _remove_participant_epilogue(state, self._settings)
