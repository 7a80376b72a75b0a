"""The reducer of `DistributedDataParallel`: collects gradients in buckets as they become ready, has each bucket reduced
while the backward pass goes on, and puts the results back."""

from __future__ import annotations

import sys
import time
import weakref
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from enum import Enum
from typing import Any

import taeda
from taeda import Tensor
from taeda.autograd import Variable
from taeda.distributed import _collectives as collectives
from taeda.futures import Future

__all__ = ["BuiltinCommHookType", "GradBucket", "Reducer"]

FIRST_BUCKET_BYTES = 1 << 20  # small, so that the first reduction starts early
MARKS = (  # of an iteration, in nanoseconds
    "forward_compute_time_start", "backward_compute_time_start", "backward_comm_time_start",
    "backward_compute_time_end", "backward_comm_time_end",
)  # fmt: skip


class BuiltinCommHookType(Enum):
    """Communication hooks that have a name."""

    ALLREDUCE = 0
    FP16_COMPRESS = 1


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


def in_buckets(parameters: Iterable[Tensor], limits: Sequence[int], alone: Container[int] = ()) -> list[list[Tensor]]:
    """``parameters`` in lists of one dtype and device, each closed once it has as many bytes as its limit; those whose
    ids are in ``alone`` have a list of their own."""
    closed: list[list[Tensor]] = []
    open_ones: dict[Any, list[Tensor]] = {}
    filled: dict[Any, int] = {}  # how many lists of that kind are closed
    for parameter in parameters:
        if id(parameter) in alone:
            closed.append([parameter])
            continue
        kind = parameter.dtype, parameter.device
        bucket = open_ones.setdefault(kind, [])
        bucket.append(parameter)
        limit = limits[min(filled.get(kind, 0), len(limits) - 1)]
        if sum(one.numel() * one.element_size() for one in bucket) >= limit:
            closed.append(open_ones.pop(kind))
            filled[kind] = filled.get(kind, 0) + 1
    return closed + list(open_ones.values())


def _compute_bucket_assignment_by_size(
    tensors: Sequence[Tensor], bucket_size: Sequence[int], expect_sparse_gradient: Sequence[bool] = (),
    tensor_indices: Sequence[int] = (), logger: Any = None,
) -> tuple[list[list[int]], list[int]]:  # fmt: skip
    """The buckets of `DistributedDataParallel` as numbers of tensors, by the first in each, and the buckets' limits.

    Args:
        tensors: the parameters, in the order in which their gradients come.
        bucket_size: bytes of the first, the second, ... bucket of a dtype; the last one holds for all that follow.
        expect_sparse_gradient: which of them have a bucket of their own.
        tensor_indices: their numbers, by default from 0 on.
    """
    numbers = dict(zip(map(id, tensors), tensor_indices or range(len(tensors)), strict=True))
    alone = {id(tensor) for tensor, sparse in zip(tensors, expect_sparse_gradient) if sparse}
    buckets: list[tuple[list[int], int]] = []
    filled: dict[Any, int] = {}
    for bucket in in_buckets(tensors, bucket_size, alone):
        kind = bucket[0].dtype, bucket[0].device
        count = 0 if id(bucket[0]) in alone else filled.setdefault(kind, 0)
        filled[kind] = count + 1
        buckets.append(([numbers[id(one)] for one in bucket], bucket_size[min(count, len(bucket_size) - 1)]))
    if not tensor_indices:
        buckets.sort(key=lambda bucket: min(bucket[0]))
    return [members for members, _ in buckets], [limit for _, limit in buckets]


class _Bucket:
    """Parameters whose gradients are reduced together, and a place for these."""

    def __init__(self, index: int, parameters: list[Tensor], sparse: bool) -> None:
        self.index, self.parameters = index, parameters
        self.sparse = sparse  # one gradient, which is itself what is reduced
        first = parameters[0]
        self.flat = first
        self.views = list[Tensor]()
        self.pending = 0  # how many gradients are still to come
        self.running: Any = None  # the work, or what the hook gave
        if sparse:
            return
        self.flat = taeda.zeros(sum(p.numel() for p in parameters), dtype=first.dtype, device=first.device)
        self.views = pieces(self.flat, parameters)


class Reducer:
    """Watches the gradients of ``parameters``, and makes them their mean over the processes of ``group``.

    Args:
        limits: bytes of the first, the second, ... bucket; the last one holds for all that follow.
        find_unused: look at each forward pass for the parameters that it did without.
        static: the same parameters are used in every iteration.
        as_views: the gradients are views of the buckets.
        sparse: those of the parameters whose gradients are sparse.
    """

    def __init__(
        self, parameters: Sequence[Tensor], limits: Sequence[int], find_unused: bool, static: bool, group: Any = None,
        as_views: bool = False, sparse: Iterable[Tensor] = (), biases: Mapping[Tensor, Tensor] | None = None,
    ) -> None:  # fmt: skip
        self.parameters = list(parameters)
        self.limits = limits
        self.find_unused = find_unused
        self.static = static
        self.group = group
        self.size = 1 if group is None else group.size()
        self.sends = group is not None and (self.size > 1 or group.made_by_hand)
        self.as_views = as_views
        self.sparse = {id(parameter) for parameter in sparse}
        self._biases = {id(weight): bias for weight, bias in (biases or {}).items()}
        self.hook: Callable[[GradBucket], Any] | None = None
        self.stepping = [one for one in self.parameters if hasattr(one, "_in_backward_optimizers")]
        for parameter in self.stepping:  # not before the gradient is reduced
            if (hook := vars(parameter).pop("_in_backward_hook", None)) is not None:
                hook.remove()
        self.present: Any = None  # a function that tells how many processes take part, where that is not all
        self._numbers = {id(parameter): number for number, parameter in enumerate(self.parameters)}
        self._armed = False  # a forward pass waits for its gradients
        self._ready: dict[int, Tensor] = {}  # by id, in order of arrival
        self._unused: set[int] = set()
        self._used: set[int] = set()  # since the last reduction
        self._counts: dict[int, int] = {}  # of a static graph: how often a gradient grew in this pass,
        self._expected: dict[int, int] = {}  # and how often it does in each
        self._started = 0
        self.iterations = 0  # forward passes whose gradients are reduced
        self.marks: dict[str, int] = {}  # when what of the last one was, see `MARKS`
        self.last_order: list[int] = []  # of the last one: numbers of parameters in the order of their gradients,
        self.last_unused: list[Tensor] = []
        self.last_reduced = 0  # and how many buckets were reduced before its end
        # Whose gradients come first is known after the first backward pass only.
        self._ordered = find_unused and not static
        first = limits if find_unused else [sys.maxsize]
        self._set_buckets(in_buckets(self.parameters, first, self.sparse)[::-1])
        _watch(self)

    def _set_buckets(self, members: list[list[Tensor]]) -> None:
        self._members, self._buckets = members, list[_Bucket]()
        self._bucket_of: dict[int, _Bucket] = {}

    def buckets(self) -> list[_Bucket]:
        """The buckets; they take memory from the first call on."""
        if not self._buckets:
            self._buckets = [
                _Bucket(index, members, id(members[0]) in self.sparse) for index, members in enumerate(self._members)
            ]
            self._bucket_of = {id(p): bucket for bucket in self._buckets for p in bucket.parameters}
        return self._buckets

    @property
    def members(self) -> list[list[Tensor]]:
        """Whose gradients each bucket has."""
        return self._members

    @property
    def rebuilt(self) -> bool:
        """Whether the buckets are in the order of the gradients."""
        return self.iterations > 0 and self._ordered and not (self.find_unused and not self.static)

    def number_of(self, parameter: Tensor) -> int:
        """The place of ``parameter`` among those that are watched."""
        return self._numbers[id(parameter)]

    def begin(self) -> None:
        """Called before a forward pass whose gradients are to be reduced."""
        self.iterations += 1
        self.marks = {MARKS[0]: time.time_ns()}

    def _mark(self, name: str) -> None:
        if name not in self.marks:
            self.marks[name] = time.time_ns()

    def _reduces(self) -> bool:
        return self.hook is not None or self.sends or self.as_views

    def prepare(self, outputs: Iterable[Tensor]) -> None:
        """Called after a forward pass whose gradients are to be reduced, with its results.

        Raises:
            RuntimeError: some of the gradients of the pass before never came.
        """
        if self._ready or self._counts:
            missing = [i for i, parameter in enumerate(self.parameters) if id(parameter) not in self._ready]
            raise RuntimeError(
                "taeda.nn.parallel.DistributedDataParallel: the last backward pass gave no gradient to parameters "
                f"{missing[:20]} (numbered as by parameters()), and the reduction of the others waits for them. Pass "
                "find_unused_parameters=True, or have every result of forward take part in the loss"
            )
        self._armed = True
        self._started = 0
        if self.static:
            self._unused = set(self._numbers) - set(self._expected) if self._expected else set()
        else:
            self._unused = self._find_unused(outputs) if self.find_unused else set()
        if self._reduces():
            for bucket in self.buckets():
                bucket.pending = sum(id(parameter) not in self._unused for parameter in bucket.parameters)

    prepare_for_backward = prepare  # what programs call whose forward pass was within `no_sync`

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
        key = id(parameter)
        if self.find_unused:
            self._used.add(key)  # also where nothing is reduced yet
        if not self._armed:
            return
        self._mark("backward_compute_time_start")
        if self.static and not self._is_last(key):
            return
        if key in self._ready:
            raise RuntimeError(
                f"taeda.nn.parallel.DistributedDataParallel: parameter {self._numbers[key]} got a second gradient in "
                "one backward pass, after the first was sent to be reduced. If every pass does that (as re-entrant "
                "checkpoints do), pass static_graph=True"
            )
        self._ready[key] = parameter
        if self._reduces():
            self._bucket_of[key].pending -= 1
            self._start_ready_buckets()
        if len(self._ready) + len(self._unused) == len(self.parameters):
            self._finish()

    def _is_last(self, key: int) -> bool:
        """Of a static graph: whether this gradient is whole. In the first pass nobody knows before its end."""
        if not self._counts and not self._expected:
            Variable._execution_engine.queue_callback(self._end_first_pass)
        self._counts[key] = self._counts.get(key, 0) + 1
        return self._counts[key] == self._expected.get(key)

    def _end_first_pass(self) -> None:
        """Called at the end of the first backward pass of a static graph."""
        self._expected = dict(self._counts)
        self._ready = {key: self.parameters[self._numbers[key]] for key in self._counts}
        self._unused = set(self._numbers) - set(self._counts)
        for bucket in self.buckets() if self._reduces() else ():
            bucket.pending = 0
        self._finish()

    def _start_ready_buckets(self) -> None:
        """Starts the reduction of buckets that are complete, in their order."""
        buckets = self.buckets()
        while self._started < len(buckets) and not buckets[self._started].pending:
            self._start(buckets[self._started])
            self._started += 1

    def _start(self, bucket: _Bucket) -> None:
        self._mark("backward_comm_time_start")
        with taeda.no_grad():
            self._fill(bucket)
            if self.hook is not None:
                last = bucket.index + 1 == len(self._buckets)
                bucket.running = self.hook(GradBucket(bucket.index, bucket.flat, bucket.parameters, last))
            elif self.sends:
                bucket.flat.mul_(1 / (self.size if self.present is None else self.present()))
                bucket.running = collectives.all_reduce(bucket.flat, group=self.group, async_op=True)

    def _fill(self, bucket: _Bucket) -> None:
        """Copies the gradients into the bucket; they become its views if that is wanted."""
        gradients = [parameter.grad for parameter in bucket.parameters]
        if bucket.sparse:
            parameter, gradient = bucket.parameters[0], gradients[0]
            bucket.flat = taeda.zeros_like(parameter).to_sparse(1) if gradient is None else gradient.clone()
            return
        if not self.as_views and all(gradient is not None for gradient in gradients):
            taeda.cat([gradient.reshape(-1) for gradient in gradients], out=bucket.flat)  # type: ignore[union-attr]
            return
        for parameter, gradient, view in zip(bucket.parameters, gradients, bucket.views, strict=True):
            if gradient is None or id(parameter) in self._unused and id(parameter) not in self._used:
                view.zero_()
            elif gradient.data_ptr() != view.data_ptr():
                view.copy_(gradient)
                if self.as_views:
                    parameter.grad = view

    def _finish(self) -> None:
        self._mark("backward_compute_time_end")
        self._mark("backward_comm_time_start")
        self.last_order = [self._numbers[key] for key in self._ready]
        self.last_unused = [self.parameters[self._numbers[key]] for key in self._unused]
        self.last_reduced = self._started if self._reduces() else len(self._members)
        if self._reduces():
            for bucket in self.buckets():
                bucket.pending = 0  # of what else there is, nothing comes
            self._start_ready_buckets()
            self._put_back(self._used_anywhere())
        self._mark("backward_comm_time_end")
        for parameter in self.stepping:
            if parameter.grad is not None:
                step_in_backward(parameter)
        if not self._ordered:
            self.reorder([*self._ready.values(), *(p for p in self.parameters if id(p) in self._unused)])
        self._armed = False
        self._ready, self._counts, self._used = {}, {}, set()

    def reorder(self, arrived: list[Tensor] | None) -> None:
        """Makes the buckets anew, in the order in which the gradients came on the first process."""
        self._ordered = True
        order = self.parameters if arrived is None else self._biases_first(arrived)
        if self.size > 1:
            numbers = taeda.tensor([self._numbers[id(parameter)] for parameter in order])
            collectives.broadcast(numbers, group=self.group, group_src=0)
            order = [self.parameters[number] for number in numbers.tolist()]
        self._set_buckets(in_buckets(order, self.limits, self.sparse))

    def _biases_first(self, arrived: Iterable[Tensor]) -> list[Tensor]:
        """The bias of a linear layer before its weight, as in PyTorch: hooks draw numbers in the order of buckets."""
        order: list[Tensor] = []
        for parameter in arrived:
            order.insert(len(order) - (bool(order) and self._biases.get(id(order[-1])) is parameter), parameter)
        return order

    @property
    def ordered(self) -> bool:
        """Whether the buckets are final."""
        return self._ordered

    def _used_anywhere(self) -> set[int]:
        """Ids of the parameters that some process has a gradient for."""
        if not self.find_unused:
            return set(self._ready)
        used = self._used | set(self._ready)
        if self.size == 1:
            return used
        flags = taeda.tensor([id(parameter) in used for parameter in self.parameters], dtype=taeda.int32)
        collectives.all_reduce(flags, group=self.group)
        return {id(parameter) for parameter, flag in zip(self.parameters, flags.tolist(), strict=True) if flag}

    @taeda.no_grad()
    def _put_back(self, used: set[int]) -> None:
        """Waits for the reductions and copies their results into the gradients."""
        for bucket in self._buckets:
            running, bucket.running = bucket.running, None
            views = bucket.views
            if self.hook is not None:
                reduced = _value(running)
                if bucket.sparse:
                    bucket.flat = reduced
                elif reduced.data_ptr() != bucket.flat.data_ptr() or reduced.dtype != bucket.flat.dtype:
                    if self.as_views:
                        bucket.flat.copy_(reduced)
                    else:
                        views = pieces(reduced, bucket.parameters)
            elif running is not None:
                running.get_future().wait() if self.group.made_by_hand else running.wait()
            if bucket.sparse:
                if id(bucket.parameters[0]) in used:
                    bucket.parameters[0].grad = bucket.flat
                continue
            targets, sources = [], []
            for parameter, view in zip(bucket.parameters, views, strict=True):
                if id(parameter) not in used:
                    continue
                if parameter.grad is None:
                    parameter.grad = view if self.as_views else view.to(parameter.dtype, copy=True)
                elif parameter.grad.data_ptr() != view.data_ptr():
                    targets.append(parameter.grad)
                    sources.append(view)
            if targets:
                taeda._foreach_copy_(targets, sources)


def step_in_backward(parameter: Any) -> None:
    """A step of the optimisers that were given to ``parameter`` for its backward passes; it loses its gradient."""
    for optimizer in parameter._in_backward_optimizers:
        optimizer.step()
    parameter.grad = None


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
