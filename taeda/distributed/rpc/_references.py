"""Who refers to objects that live on one worker: the owner keeps an object as long as somebody does.

Each reference on another worker is a fork with a number of its own. The owner knows all forks: of one that a user
passes on, whoever receives it tells the owner, and until the owner has answered, the user keeps its own.
"""

from __future__ import annotations

import itertools
import queue
import threading
import time
import weakref
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from taeda.distributed.rpc._agent import Agent, handles
from taeda.distributed.rpc._wire import Kind
from taeda.distributed.rpc._worker_info import WorkerInfo
from taeda.futures import Future

if TYPE_CHECKING:
    from taeda.distributed.rpc.rref import RRef

_PATIENCE = 2.0  # seconds
Id = tuple[int, int]  # of an object or a fork: the worker that made it up, and a number


class Owned:
    """An object that lives here: its value, once it is there, and the forks that refer to it."""

    def __init__(self, id: Id) -> None:
        self.id = id
        self.value: Future[Any] = Future()
        self.forks: set[Id] = set()


class Dead(NamedTuple):
    """A fork that is gone."""

    id: Id
    fork: Id
    owner: WorkerInfo


class References:
    """What one worker knows of objects and forks."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.owned: dict[Id, Owned] = {}
        self.users: weakref.WeakSet[RRef[Any]] = weakref.WeakSet()
        self.passed_on: dict[Id, RRef[Any]] = {}
        self.unconfirmed: dict[Id, Future[Any]] = {}
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._dead: queue.SimpleQueue[Dead | None] = queue.SimpleQueue()
        self._undertaker: threading.Thread | None = None

    def new_id(self) -> Id:
        return self.agent.worker.id, next(self._numbers)

    # The owner's side.

    def own(self, id: Id, fork: Id | None = None, known: Owned | None = None) -> Owned:
        """The object of that id, which may only be about to come, with one more fork of it."""
        with self._lock:
            found = self.owned.setdefault(id, known or Owned(id))
            if fork is not None:
                found.forks.add(fork)
            return found

    def forget(self, id: Id, fork: Id) -> None:
        """One fork less."""
        with self._lock:
            found = self.owned.get(id)
            if found is None:
                return
            found.forks.discard(fork)
            if not found.forks:
                del self.owned[id]
        del found  # outside the lock: the object may hold references itself

    # The users' side.

    def confirm(self, fork: Id, owner_knows: Future[Any]) -> None:
        """Until then, the fork counts as under way."""
        with self._lock:
            self.unconfirmed[fork] = owner_knows

        def known(_: Any) -> None:
            with self._lock:
                self.unconfirmed.pop(fork, None)

        owner_knows._when_done(known)

    def bury(self, dead: Dead) -> None:
        """Tells the owner of a fork that is gone. Anything may be going on in this thread: it only leaves word."""
        self._dead.put(dead)

    def start(self) -> None:
        """Begins to tell owners."""
        self._undertaker = threading.Thread(target=self._tell_owners, name="taeda rpc references", daemon=True)
        self._undertaker.start()

    def _tell_owners(self) -> None:
        while (dead := self._dead.get()) is not None:
            under_way = self.unconfirmed.get(dead.fork)
            if under_way is None:
                self._tell(dead)
            else:
                under_way._when_done(partial(self._told, dead))

    def _told(self, dead: Dead, _: Any) -> None:
        self._tell(dead)

    def _tell(self, dead: Dead) -> None:
        try:
            self.agent.call(dead.owner, Kind.DELETE, (dead.id, dead.fork))
        except RuntimeError:  # the owner is gone, and its objects with it
            pass

    def stop(self) -> None:
        """Ends what `start` began, when all owners have been told; one that does not listen is waited for in vain."""
        self._dead.put(None)
        if self._undertaker is not None:
            self._undertaker.join(_PATIENCE)

    def drain(self, deadline: float | None = None) -> None:
        """Deletes all forks that this worker still has.

        Raises:
            RuntimeError: an owner was not told before the deadline.
        """
        for user in list(self.users):
            user._delete()
        while not self._dead.empty():
            if deadline is not None and time.monotonic() > deadline:
                raise RuntimeError(f"taeda.distributed.rpc.shutdown: timed out: {self.agent.under_way()}")
            time.sleep(0.001)


_current: References | None = None


def current() -> References:
    """This process's.

    Raises:
        RuntimeError: there is none.
    """
    if _current is None:
        raise RuntimeError("taeda.distributed.rpc: this process is no worker; init_rpc makes it one")
    return _current


def set_current(references: References | None) -> None:
    """Makes them this process's."""
    global _current
    _current = references


@handles(Kind.FETCH)
def _fetch(agent: Agent, sender: WorkerInfo, id: Id) -> Future[Any]:
    return current().own(id).value


@handles(Kind.FORK)
def _fork(agent: Agent, sender: WorkerInfo, ids: tuple[Id, Id]) -> None:
    current().own(*ids)


@handles(Kind.ADOPTED)
def _adopted(agent: Agent, sender: WorkerInfo, fork: Id) -> None:
    current().passed_on.pop(fork, None)


@handles(Kind.DELETE)
def _delete(agent: Agent, sender: WorkerInfo, ids: tuple[Id, Id]) -> None:
    current().forget(*ids)
