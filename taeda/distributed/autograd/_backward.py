"""The backward pass of a computation that crosses workers.

The worker that begins asks the others first how what they sent depends on what they received, so that everyone knows
which gradients will come. A worker passes on the gradient of what it received once all that it depends on is there,
so each crossing is taken once, and the sums are those of one graph.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import taeda
from taeda import Tensor
from taeda.autograd.graph import get_gradient_edge
from taeda.distributed.autograd._context import DistAutogradContext, contexts
from taeda.distributed.rpc import _references as references
from taeda.distributed.rpc._agent import Agent, handles
from taeda.distributed.rpc._wire import Kind
from taeda.distributed.rpc._worker_info import WorkerInfo
from taeda.futures import Future, wait_all

_ROOTS = 0  # the number of the tensors at which the pass begins, among those of messages
_FOREVER = 0.0

Grads = list[Tensor | None]
_aside = threading.Lock()


class Exit(NamedTuple):
    """Where the graph here ends: in a tensor of this worker's, or in all that came with one message."""

    message: int  # 0 for a tensor of this worker's
    leaves: list[Tensor]
    bits: int

    def watched(self) -> bool:
        """Whether someone waits for the gradient to be added up: `DistributedDataParallel`, which wants all at once."""
        return not self.message and bool(self.leaves[0]._post_accumulate_grad_hooks)


class Graph:
    """The part of a graph that is on this worker: which exits each set of tensors, its start, leads to."""

    def __init__(self, starts: dict[int, list[Tensor]], context: DistAutogradContext) -> None:
        self.starts = starts
        self._leaves: list[Tensor] = []
        self._reached: dict[Any, int] = {}  # by node, a bit for each leaf
        self._bits = {number: self._from(tensors) for number, tensors in starts.items()}
        arrived = {id(leaf): number for number, came in context.received.items() for leaf in came.leaves}
        self.exits: list[Exit] = []
        by_message: dict[int, list[int]] = {}
        for i, leaf in enumerate(self._leaves):
            if message := arrived.get(id(leaf), 0):
                by_message.setdefault(message, []).append(i)
            else:
                self.exits.append(Exit(0, [leaf], 1 << i))
        for message, places in by_message.items():
            self.exits.append(Exit(message, [self._leaves[i] for i in places], sum(1 << i for i in places)))

    def leads(self, start: int, to: Exit) -> bool:
        """Whether an exit depends on a start."""
        return bool(self._bits[start] & to.bits)

    def _from(self, tensors: Iterable[Tensor]) -> int:
        reached = 0
        for tensor in tensors:
            reached |= self._visit(get_gradient_edge(tensor).node)
        return reached

    def _visit(self, root: Any) -> int:
        """The leaves below a node, by a walk that visits children first."""
        stack = [(root, False)]
        while stack:
            node, seen = stack.pop()
            if node in self._reached:
                continue
            below = [edge[0] for edge in node.next_functions if edge[0] is not None]
            if seen or not below:
                bits = self._leaf(node)
                for child in below:
                    bits |= self._reached[child]
                self._reached[node] = bits
            else:
                stack.append((node, True))
                stack += [(child, False) for child in below if child not in self._reached]
        return self._reached[root]

    def _leaf(self, node: Any) -> int:
        tensor = getattr(node, "variable", None)
        if tensor is None:
            return 0
        self._leaves.append(tensor)
        return 1 << (len(self._leaves) - 1)


class Pass:
    """One worker's part of one backward pass."""

    def __init__(self, agent: Agent, context: DistAutogradContext, number: int, roots: list[Tensor]) -> None:
        self.agent, self.context, self.number = agent, context, number
        starts = {_ROOTS: roots} if roots else {}
        self.graph = Graph(starts | {message: sent.tensors for message, sent in context.sent.items()}, context)
        self.done: Future[None] = Future()
        self._lock = threading.RLock()
        self._grads: dict[int, Grads] = {}
        self._waits: dict[int, int] = {}  # by exit, how many starts that lead to it have no gradient yet
        self._ready: list[Exit] = []
        self._missing: set[int] = set()
        self._under_way = 0  # starts that wait for their gradients, and gradients that have not been taken yet
        self._retain = False
        context.passes[number] = self

    def map(self) -> dict[int, list[tuple[int, int]]]:
        """By start, the messages on which it depends, with their senders."""
        received = self.context.received
        crossings = [exit for exit in self.graph.exits if exit.message]
        return {
            start: [
                (exit.message, received[exit.message].sender) for exit in crossings if self.graph.leads(start, exit)
            ]
            for start in self.graph.starts
        }

    def begin(self, starts: set[int], retain: bool) -> None:
        """Gradients of these starts will come."""
        self._missing, self._under_way, self._retain = set(starts), len(starts), retain
        for i, exit in enumerate(self.graph.exits):
            if count := sum(self.graph.leads(start, exit) for start in starts):
                self._waits[i] = count

    def take(self, start: int, grads: Grads) -> None:
        """The gradients of a start have come: computes those of the exits that wait for no other."""
        try:
            with self._lock:
                self._grads[start] = grads
                self._missing.discard(start)
                self._ready += self._complete_with(start)
                ready = [exit for exit in self._ready if not self._missing or not exit.watched()]
                self._ready = [exit for exit in self._ready if not any(exit is one for one in ready)]
                if ready:
                    self._spread(ready, self._compute(ready))
        except BaseException as error:
            self.fail(error)
        else:
            self._one_less()

    def _complete_with(self, start: int) -> list[Exit]:
        """The exits that waited for this start alone."""
        complete = []
        for i in self._waits:
            if self.graph.leads(start, self.graph.exits[i]):
                self._waits[i] -= 1
                if self._waits[i] == 0:
                    complete.append(self.graph.exits[i])
        return complete

    def _compute(self, ready: list[Exit]) -> list[Tensor | None]:
        """The gradients of all leaves of exits."""
        outputs: list[Tensor] = []
        given: list[Tensor] = []
        for start in sorted(self._grads):
            if any(self.graph.leads(start, exit) for exit in ready):
                pairs = [(t, g) for t, g in zip(self.graph.starts[start], self._grads[start]) if g is not None]
                outputs += [tensor for tensor, _ in pairs]
                given += [grad for _, grad in pairs]
        leaves = [leaf for exit in ready for leaf in exit.leaves]
        if not outputs:
            return [None] * len(leaves)
        keep = self._retain or bool(self._missing)
        if any(exit.watched() for exit in ready):
            return _accumulated(outputs, given, leaves, keep)
        return list(taeda.autograd.grad(outputs, leaves, given, retain_graph=keep, allow_unused=True))

    def _spread(self, ready: list[Exit], grads: list[Tensor | None]) -> None:
        """Keeps the gradients of this worker's tensors, and sends those of others' where these came from."""
        of_leaf = {id(leaf): grad for leaf, grad in zip((leaf for exit in ready for leaf in exit.leaves), grads)}
        for exit in ready:
            if exit.message:
                self._pass_on(exit.message, of_leaf)
            elif (grad := of_leaf[id(exit.leaves[0])]) is not None:
                with self.context.lock:
                    before = self.context.gradients.get(exit.leaves[0])
                    self.context.gradients[exit.leaves[0]] = grad if before is None else before + grad

    def _pass_on(self, message: int, of_leaf: dict[int, Tensor | None]) -> None:
        came = self.context.received[message]
        grads = [of_leaf.get(id(leaf)) for leaf in came.leaves]
        self._under_way += 1
        request = (self.context.id, self.number, message, grads)
        self.agent.call(self.agent.workers[came.sender], Kind.GRADIENTS, request, _FOREVER)._when_done(self._passed)

    def _passed(self, taken: Future[Any]) -> None:
        if taken._error is not None:
            self.fail(taken._error)
        else:
            self._one_less()

    def _one_less(self) -> None:
        with self._lock:
            self._under_way -= 1
            last = self._under_way == 0 and not self.done.done()
        if last:
            self.done.set_result(None)

    def fail(self, error: BaseException) -> None:
        """Ends the pass."""
        with self._lock:
            if self.done.done():
                return
        self.done.set_exception(error)


def _accumulated(outputs: list[Tensor], given: list[Tensor], leaves: list[Tensor], keep: bool) -> list[Tensor | None]:
    """The gradients of leaves of which some are watched. What was in ``grad`` is put back."""
    with _aside:
        before = [leaf.grad for leaf in leaves]
        try:
            for leaf in leaves:
                leaf.grad = None
            taeda.autograd.backward(outputs, given, retain_graph=keep, inputs=leaves)
            return [leaf.grad for leaf in leaves]
        finally:
            for leaf, grad in zip(leaves, before):
                leaf.grad = grad


def backward(context_id: int, roots: Sequence[Tensor], retain_graph: bool = False) -> None:
    """Computes the gradients of ``roots`` in all tensors that they depend on, on all workers.

    They are left in the context, where `get_gradients` and `taeda.distributed.optim.DistributedOptimizer` find them;
    ``grad`` of tensors stays as it is.

    Args:
        context_id: that of `context`.
        roots: tensors of one element.
        retain_graph: whether another backward pass will come.

    Raises:
        RuntimeError: there is no such context, or a root has no gradient, or another worker failed.
    """
    if not isinstance(context_id, int):
        raise TypeError(f"taeda.distributed.autograd.backward: context_id is wanted as an int; got {context_id!r}")
    context, checked = contexts.find(context_id), _checked(roots)
    agent = references.current().agent
    mine = Pass(agent, context, contexts.number(), checked)
    workers = {agent.worker.id}
    try:
        starts = _plan(agent, mine)
        workers |= set(starts)
        others = [agent.workers[worker] for worker in starts if worker != agent.worker.id]
        place = (context_id, mine.number)
        wait_all([agent.call(to, Kind.BEGIN, (*place, starts[to.id], retain_graph)) for to in others])
        mine.begin(starts[agent.worker.id], retain_graph)
        mine.take(_ROOTS, [taeda.ones_like(root) for root in checked])
        _first_error([mine.done, *(agent.call(to, Kind.FINISH, (*place, False), _FOREVER) for to in others)]).wait()
    except BaseException as error:
        for worker in workers - {agent.worker.id}:
            agent.call(agent.workers[worker], Kind.FINISH, (context_id, mine.number, True))
        if isinstance(error, RuntimeError) or not isinstance(error, Exception):
            raise
        raise RuntimeError(f"taeda.distributed.autograd.backward: {error}") from error
    finally:
        context.passes.pop(mine.number, None)


def _checked(roots: Any) -> list[Tensor]:
    name = "taeda.distributed.autograd.backward"
    if not isinstance(roots, (list, tuple)) or not all(isinstance(root, Tensor) for root in roots):
        raise TypeError(f"{name}: roots are wanted as a list of tensors; got {type(roots).__name__}")
    if not roots:
        raise RuntimeError(f"{name}: no tensors provided for gradient computations; roots is empty")
    for root in roots:
        if not root.requires_grad:
            raise RuntimeError(f"{name}: a root requires grad is needed; got one that does not require grad")
        if root.numel() != 1:
            raise RuntimeError(f"{name}: a root is wanted with one element; got shape {tuple(root.shape)}")
    return list(roots)


def _plan(agent: Agent, mine: Pass) -> dict[int, set[int]]:
    """By worker, the starts whose gradients will come: what the roots depend on, across all workers."""
    maps = {agent.worker.id: mine.map()}
    starts = {agent.worker.id: {_ROOTS}}
    left = [(agent.worker.id, _ROOTS)]
    while left:
        worker, start = left.pop()
        for message, sender in maps[worker][start]:
            if message in starts.setdefault(sender, set()):
                continue
            if sender not in maps:
                request = (mine.context.id, mine.number)
                maps[sender] = agent.call(agent.workers[sender], Kind.MAP, request).wait()
            starts[sender].add(message)
            left.append((sender, message))
    return starts


def _first_error(futures: list[Future[Any]]) -> Future[None]:
    """Done when all are, or one has failed."""
    result: Future[None] = Future()
    lock = threading.Lock()
    left = len(futures)

    def one_is_done(done: Future[Any]) -> None:
        nonlocal left
        with lock:
            left -= 1
            if result.done() or (left and done._error is None):
                return
            result._finish(None, done._error)

    for future in futures:
        future._when_done(one_is_done)
    return result


def _pass(context: int, number: int) -> Pass:
    passes = contexts.find(context).passes
    if number not in passes:
        raise RuntimeError(f"taeda.distributed.autograd: backward pass {number} has ended")
    return passes[number]


@handles(Kind.MAP)
def _map(agent: Agent, sender: WorkerInfo, request: tuple[int, int]) -> dict[int, list[tuple[int, int]]]:
    context, number = request
    return Pass(agent, contexts.find(context), number, []).map()


@handles(Kind.BEGIN)
def _begin(agent: Agent, sender: WorkerInfo, request: tuple[int, int, set[int], bool]) -> None:
    context, number, starts, retain = request
    _pass(context, number).begin(starts, retain)


@handles(Kind.GRADIENTS)
def _gradients(agent: Agent, sender: WorkerInfo, request: tuple[int, int, int, Grads]) -> None:
    context, number, message, grads = request
    _pass(context, number).take(message, grads)


@handles(Kind.FINISH)
def _finish(agent: Agent, sender: WorkerInfo, request: tuple[int, int, bool]) -> Future[None] | None:
    id, number, abandoned = request
    passes = contexts.find(id).passes  # the context may be released before the pass ends
    if abandoned:
        passes.pop(number, None)
        return None
    done = _pass(id, number).done
    done._when_done(lambda _: passes.pop(number, None))
    return done
