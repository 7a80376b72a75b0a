"""Where a recorded graph leaves a worker and comes to another: on every message between them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import taeda
from taeda import Tensor
from taeda.autograd import Function
from taeda.distributed.autograd._context import Received, Sent, contexts
from taeda.distributed.rpc import _agent
from taeda.distributed.rpc._wire import Message


class RecvRpc(Function):
    """A tensor that has come, as a result, so that it may be changed in place."""

    @staticmethod
    def forward(ctx: Any, leaf: Tensor) -> Tensor:
        return leaf.detach()

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return grads[0]


class RecordedGraphs(_agent.Graphs):
    """Messages that are sent within a context carry its number, and that of their tensors' crossing (0 for none)."""

    def current(self) -> tuple[int, int] | None:
        context = contexts.current
        return None if context is None else (context.id, 0)

    def leave(self, to: int, tensors: list[Tensor]) -> tuple[int, int] | None:
        context = contexts.current
        if context is None:
            return None
        context.known.add(to)
        needed = [tensor for tensor in tensors if tensor.requires_grad] if taeda.is_grad_enabled() else []
        if not needed:
            return context.id, 0
        number = contexts.number()
        context.sent[number] = Sent(needed, to)
        return context.id, number

    def arrive(self, graph: tuple[int, int] | None, sender: int, message: Message) -> list[Tensor]:
        if graph is None or graph[1] == 0:
            return super().arrive(graph, sender, message)
        context = contexts.at(graph[0])
        leaves: list[Tensor] = []
        arrived = []
        for tensor, shape in zip(message.tensors, message.shapes):
            if shape.requires_grad:
                leaves.append(tensor.requires_grad_())
                tensor = RecvRpc.apply(tensor)
            arrived.append(tensor)
        context.received[graph[1]] = Received(leaves, sender)
        return arrived

    @contextlib.contextmanager
    def within(self, graph: tuple[int, int] | None) -> Iterator[None]:
        before = contexts.enter(None if graph is None else contexts.at(graph[0]))
        try:
            yield
        finally:
            contexts.enter(before)


_agent.graphs = RecordedGraphs()
