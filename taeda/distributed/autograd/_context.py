"""What a worker knows of a computation that crosses workers."""

from __future__ import annotations

import itertools
import threading
from typing import TYPE_CHECKING, NamedTuple

from taeda import Tensor
from taeda.distributed.rpc import _references as references
from taeda.distributed.rpc._agent import Agent, handles
from taeda.distributed.rpc._wire import Kind
from taeda.distributed.rpc._worker_info import WorkerInfo

if TYPE_CHECKING:
    from taeda.distributed.autograd._backward import Pass

_SHIFT = 48  # a number's upper bits tell the worker that made it up


class Sent(NamedTuple):
    """Tensors that went to a worker."""

    tensors: list[Tensor]
    to: int


class Received(NamedTuple):
    """Tensors that came from a worker: the leaves of the graph here."""

    leaves: list[Tensor]
    sender: int


class DistAutogradContext:
    """One worker's part of a context: messages by number, which sender and receiver share, and gradients."""

    def __init__(self, id: int) -> None:
        self.id = id
        self.sent: dict[int, Sent] = {}
        self.received: dict[int, Received] = {}
        self.known: set[int] = set()
        self.gradients: dict[Tensor, Tensor] = {}
        self.passes: dict[int, Pass] = {}
        self.lock = threading.Lock()

    def _context_id(self) -> int:
        return self.id

    def _known_worker_ids(self) -> set[int]:
        return set(self.known)


class Contexts:
    """The contexts of this process, and which of them each thread records for."""

    def __init__(self) -> None:
        self.all: dict[int, DistAutogradContext] = {}
        self._numbers = itertools.count(1)
        self._thread = threading.local()

    @property
    def current(self) -> DistAutogradContext | None:
        return getattr(self._thread, "current", None)

    def enter(self, context: DistAutogradContext | None) -> DistAutogradContext | None:
        """Makes it this thread's; gives the one before."""
        before = self.current
        self._thread.current = context
        return before

    def needed(self) -> DistAutogradContext:
        """This thread's.

        Raises:
            RuntimeError: there is none.
        """
        if self.current is None:
            raise RuntimeError("taeda.distributed.autograd: this thread is in no distributed autograd context")
        return self.current

    def number(self) -> int:
        """A number that no other worker makes up."""
        return (references.current().agent.worker.id << _SHIFT) + next(self._numbers)

    def begin(self) -> DistAutogradContext:
        """A new one, which is this thread's."""
        if self.current is not None:
            raise RuntimeError(
                f"taeda.distributed.autograd.context: this thread is in context {self.current.id} already; they do "
                "not nest"
            )
        made = self.at(self.number())
        self.enter(made)
        return made

    def end(self, context: DistAutogradContext) -> None:
        """Forgets it, here and wherever it went."""
        self.enter(None)
        self.release(context.id)

    def release(self, id: int) -> None:
        context = self.all.pop(id, None)
        if context is None or references._current is None:
            return
        agent = references.current().agent
        for worker in context.known - {agent.worker.id}:
            try:
                agent.call(agent.workers[worker], Kind.RELEASE, id)
            except RuntimeError:  # it is gone, and the context with it
                pass

    def at(self, id: int) -> DistAutogradContext:
        """The context of that number, which another worker may have begun."""
        return self.all.setdefault(id, DistAutogradContext(id))

    def find(self, id: int) -> DistAutogradContext:
        """The context of that number.

        Raises:
            RuntimeError: there is none.
        """
        if id not in self.all:
            raise RuntimeError(f"taeda.distributed.autograd: could not find autograd context with id: {id}")
        return self.all[id]

    def passes(self) -> int:
        """How many backward passes are under way."""
        return sum(len(context.passes) for context in list(self.all.values()))


contexts = Contexts()


@handles(Kind.RELEASE)
def _release(agent: Agent, sender: WorkerInfo, id: int) -> None:
    contexts.release(id)
