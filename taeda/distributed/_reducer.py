"""The reducer of `DistributedDataParallel`: collects gradients in buckets as they become ready, has each bucket reduced
while the backward pass goes on, and puts the results back."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda.autograd import Variable
from taeda.futures import Future

__all__ = ["GradBucket", "Reducer"]

FIRST_BUCKET_BYTES = 1 << 20  # small, so that the first reduction starts early


class GradBucket:
    """Some parameters' gradients, one behind the other in one tensor."""

    def __init__(self, index: int, buffer: Tensor, parameters: Sequence[Tensor], is_last: bool) -> None:
        self._index = index
        self._buffer = buffer
        self._parameters = list(parameters)
        self._is_last = is_last

    def index(self) -> int:
        """Its number; buckets are reduced in this order."""
        return self._index

    def buffer(self) -> Tensor:
        """The gradients in one dimension."""
        return self._buffer

    def set_buffer(self, buffer: Tensor) -> None:
        """Puts another tensor in the buffer's place."""
        self._buffer = buffer

    def gradients(self) -> list[Tensor]:
        """Views of the buffer in the shapes of the parameters."""
        return pieces(self._buffer, self._parameters)

    def parameters(self) -> list[Tensor]:
        """Whose gradients they are."""
        return list(self._parameters)

    def is_last(self) -> bool:
        """Whether this is the last bucket of the backward pass."""
        return self._is_last


def pieces(buffer: Tensor, parameters: Sequence[Tensor]) -> list[Tensor]:
    """The parts of ``buffer`` in the shapes of ``parameters``."""
    parts = buffer.split([parameter.numel() for parameter in parameters])
    return [part.view(parameter.shape) for part, parameter in zip(parts, parameters, strict=True)]


def in_buckets(parameters: Iterable[Tensor], limits: Sequence[int]) -> list[list[Tensor]]:
    """``parameters`` in lists of one dtype and device, each closed once it has as many bytes as its limit."""
    closed: list[list[Tensor]] = []
    open_ones: dict[Any, list[Tensor]] = {}
    filled: dict[Any, int] = {}  # how many lists of that kind are closed
    for parameter in parameters:
        kind = parameter.dtype, parameter.device
        bucket = open_ones.setdefault(kind, [])
        bucket.append(parameter)
        limit = limits[min(filled.get(kind, 0), len(limits) - 1)]
        if sum(one.numel() * one.element_size() for one in bucket) >= limit:
            closed.append(open_ones.pop(kind))
            filled[kind] = filled.get(kind, 0) + 1
    return closed + list(open_ones.values())


class Reducer:
    """Watches the gradients of ``parameters``.

    Args:
        limits: bytes of the first, the second, ... bucket; the last one holds for all that follow.
        find_unused: look at each forward pass for the parameters that it did without.
        static: the same parameters are used in every iteration.
    """

    def __init__(self, parameters: Sequence[Tensor], limits: Sequence[int], find_unused: bool, static: bool) -> None:
        self.parameters = list(parameters)
        self.limits = limits
        self.find_unused = find_unused
        self.static = static
        self.hook: Callable[[GradBucket], Any] | None = None
        self._armed = False  # a forward pass waits for its gradients
        self._ready: dict[int, Tensor] = {}  # by id, in order of arrival
        self._unused: set[int] = set()
        self._running: list[tuple[GradBucket, Any]] = []  # with what the hook gave
        # Whose gradients come first is known after the first backward pass only.
        self._buckets = in_buckets(self.parameters, limits if find_unused else [sys.maxsize])[::-1]
        self._order: list[Tensor] | None = [] if find_unused else None  # of arrival; empty: keep the buckets
        _watch(self)

    def prepare(self, outputs: Iterable[Tensor]) -> None:
        """Called after a forward pass whose gradients are to be reduced, with its results.

        Raises:
            RuntimeError: some of the gradients of the pass before never came.
        """
        if self._ready:
            missing = [i for i, parameter in enumerate(self.parameters) if id(parameter) not in self._ready]
            raise RuntimeError(
                "taeda.nn.parallel.DistributedDataParallel: the last backward pass gave no gradient to parameters "
                f"{missing[:20]} (numbered as by parameters()), and the reduction of the others waits for them. Pass "
                "find_unused_parameters=True, or have every result of forward take part in the loss"
            )
        if self._order:
            self._buckets, self._order = in_buckets(self._order, self.limits), []
        self._armed = True
        self._unused = self._find_unused(outputs) if self.find_unused and not self.static else set()

    def _find_unused(self, outputs: Iterable[Tensor]) -> set[int]:
        """Ids of the parameters that no output depends upon."""
        nodes = [output.grad_fn for output in outputs if output.grad_fn is not None]
        used = {id(output) for output in outputs}
        seen = set(nodes)
        while nodes:
            node: Any = nodes.pop()
            if hasattr(node, "variable"):
                used.add(id(node.variable))
            following = {other for other, _ in node.next_functions if other is not None} - seen
            seen |= following
            nodes += following
        return {id(parameter) for parameter in self.parameters} - used

    def _has_gradient(self, parameter: Tensor) -> None:
        if not self._armed:
            return
        if self.static and not self._ready:
            Variable._execution_engine.queue_callback(self._rest_is_unused)
        self._ready[id(parameter)] = parameter
        if self.hook is not None:
            self._reduce_ready_buckets()
        if len(self._ready) + len(self._unused) == len(self.parameters):
            self._finish()

    def _is_ready(self, bucket: list[Tensor]) -> bool:
        return all(id(parameter) in self._ready or id(parameter) in self._unused for parameter in bucket)

    def _reduce_ready_buckets(self) -> None:
        """Starts the reduction of buckets that are complete, in their order."""
        assert self.hook is not None
        while (index := len(self._running)) < len(self._buckets) and self._is_ready(self._buckets[index]):
            members = self._buckets[index]
            with taeda.no_grad():
                flat = taeda.cat([self._gradient(parameter).reshape(-1) for parameter in members])
            bucket = GradBucket(index, flat, members, index + 1 == len(self._buckets))
            self._running.append((bucket, self.hook(bucket)))

    def _gradient(self, parameter: Tensor) -> Tensor:
        gradient = parameter.grad if id(parameter) in self._ready else None
        return taeda.zeros_like(parameter) if gradient is None else gradient

    def _rest_is_unused(self) -> None:
        """Called at the end of the backward pass of a static graph."""
        if self._ready:
            self._unused = {id(parameter) for parameter in self.parameters} - set(self._ready)
            self._finish()

    def _finish(self) -> None:
        if self.hook is not None:
            self._reduce_ready_buckets()
            self._put_back()
        if self._order is None:
            self._order = [*self._ready.values(), *(p for p in self.parameters if id(p) in self._unused)]
        self._armed = False
        self._ready.clear()

    def _put_back(self) -> None:
        """Waits for the reductions and copies their results into the gradients."""
        running, self._running = self._running, []
        for bucket, future in running:
            reduced = _value(future)
            with taeda.no_grad():
                for parameter, piece in zip(bucket.parameters(), pieces(reduced, bucket.parameters()), strict=True):
                    if id(parameter) in self._ready and parameter.grad is not None:
                        parameter.grad.copy_(piece)


def _watch(reducer: Reducer) -> None:
    """Has ``reducer`` told of each gradient, as long as somebody else holds it."""
    weak = weakref.ref(reducer)

    def has_gradient(parameter: Tensor) -> None:
        if (alive := weak()) is not None:
            alive._has_gradient(parameter)

    for parameter in reducer.parameters:
        weakref.finalize(reducer, parameter.register_post_accumulate_grad_hook(has_gradient).remove)


def _value(future: Any) -> Tensor:
    if not isinstance(future, Future):
        raise RuntimeError(
            "taeda.nn.parallel.DistributedDataParallel: the communication hook must return a taeda.futures.Future; got "
            f"{type(future).__name__}"
        )
    value: Any = future.wait()
    tensor: Tensor = value[0] if isinstance(value, (list, tuple)) else value
    return tensor
