"""Parameters that are gathered and whose gradients are reduced together.

Between uses each process has its shard. `gather` makes the whole: leaves of the autograd graph, which stay the same
objects for good, while the memory below them comes and goes. Their gradients are reduced into those of the shards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import taeda
from taeda import Tensor, nn
from taeda.distributed import _collectives as collectives
from taeda.distributed._reduce_op import ReduceOp
from taeda.distributed.fsdp._layout import FlatLayout, Layout, RowLayout, own_shard
from taeda.distributed.fsdp._outer import local


class Processes(NamedTuple):
    """Over whom parameters are cut, and who has the same shards; None where that is only this process."""

    shard: Any
    replicate: Any

    @property
    def ranks(self) -> int:
        """The number of shards."""
        return 1 if self.shard is None else int(self.shard.size())

    @property
    def rank(self) -> int:
        """The number of this process's shard."""
        return 0 if self.shard is None else int(self.shard.rank())


class Precision(NamedTuple):
    """Dtypes of parameters in use and of their reduction; None for the parameters' own, and that of their use."""

    param: taeda.dtype | None = None
    reduce: taeda.dtype | None = None
    output: taeda.dtype | None = None
    cast_inputs: bool = True
    keep_low_grads: bool = False


Place = tuple[nn.Module, str]


class ShardedGroup:
    """``parameters`` of one dtype, cut over ``processes``.

    Args:
        places: for each parameter the modules that have it, and under which name.
        layout: the class of layout.
        dims: along which dimension each parameter is cut (`RowLayout`).
    """

    def __init__(
        self, parameters: Sequence[nn.Parameter], places: Sequence[list[Place]], processes: Processes,
        precision: Precision, layout: type[FlatLayout] | type[RowLayout], dims: Sequence[int] | None = None,
    ) -> None:  # fmt: skip
        self.places, self.processes, self.precision = list(places), processes, precision
        plain = [local(one) for one in parameters]
        shapes = [tuple(one.shape) for one in plain]
        ranks = processes.ranks
        self.layout: Layout = FlatLayout(shapes, ranks) if layout is FlatLayout else RowLayout(shapes, ranks, dims)
        self.outer: list[Any] = [
            getattr(one, "_spec", None) for one in parameters
        ]  # of parameters that are DTensors already
        self.dtype, self.device = plain[0].dtype, plain[0].device
        self.trained = [one.requires_grad for one in parameters]
        with taeda.no_grad():
            self.shard = own_shard(self.layout, plain, processes.rank)
        self.sharded: list[nn.Parameter] = []  # what the optimiser has: views of the shard
        self.hook: Callable[..., Any] | None = None  # reduces in place of the collective
        self.shard_hook: Callable[[Tensor], None] | None = None  # changes what was reduced
        self.divisor: float | None = None  # in place of the number of processes
        self.all_reduces = True
        self._ready: set[int] = set()
        self._kept: list[Tensor | None] = [None] * len(shapes)  # gradients not yet reduced, in the reduction's dtype
        self._partial: Tensor | None = None  # a reduced shard that is not yet added up over the replicas
        self._gathering: tuple[Any, Tensor] | None = None
        self.is_whole = False
        self._make_leaves()

    def _make_leaves(self) -> None:
        dtype = self.precision.param or self.dtype
        self.aliased = self.processes.ranks == 1 and dtype == self.dtype
        self.whole = self.shard if self.aliased else taeda.empty(self.layout.whole, dtype=dtype, device=self.device)
        self.leaves = [self._leaf(at) for at in range(len(self.places))]
        if not self.aliased:
            self.whole.untyped_storage().resize_(0)

    def _leaf(self, at: int) -> nn.Parameter:
        shape, start = self.layout.shapes[at], self.layout.offsets[at]
        strides = [1] * len(shape)
        for dim in reversed(range(len(shape) - 1)):
            strides[dim] = strides[dim + 1] * max(1, shape[dim + 1])
        # A tensor of its own, with a version of its own: filling the memory again is no change to what was saved.
        leaf: Any = taeda.empty(0, dtype=self.whole.dtype, device=self.device)
        leaf.set_(self.whole.untyped_storage(), start, shape, strides)
        if self.outer[at] is not None:
            from taeda.distributed.tensor import DTensor

            leaf = DTensor(leaf, self.outer[at], requires_grad=False)
        parameter = nn.Parameter(leaf, self.trained[at])
        if self.trained[at]:
            parameter.register_post_accumulate_grad_hook(lambda _: self._grad_came(at))
        return parameter

    when_grads_are_there: Callable[[ShardedGroup], None] = staticmethod(lambda group: None)  # type: ignore[assignment]

    def _grad_came(self, at: int) -> None:
        self._ready.add(at)
        if len(self._ready) == sum(self.trained):
            self._ready.clear()
            self.when_grads_are_there(self)

    # ---- parameters

    def start_gather(self) -> None:
        """Asks the other processes for their shards; they may come while something else is computed."""
        if self.is_whole or self._gathering is not None or self.aliased:
            return
        self.whole.untyped_storage().resize_(self.whole.numel() * self.whole.element_size())
        with taeda.no_grad():
            own = self.shard.to(self.whole.dtype)
            if self.processes.ranks == 1:
                self._gathering = None, own
                return
            moved = taeda.empty(own.numel() * self.processes.ranks, dtype=own.dtype, device=own.device)
            gathered = moved if self.layout.moves else self.whole
            work = collectives.all_gather_into_tensor(gathered, own, self.processes.shard, async_op=True)
        self._gathering = (work, own), gathered

    def gather(self) -> None:
        """Makes the leaves whole."""
        if self.is_whole:
            return
        self.start_gather()
        if self._gathering is not None:
            going, gathered = self._gathering
            self._gathering = None
            if going is not None:
                going[0].wait()
            with taeda.no_grad():
                self.layout.spread(gathered, self.whole)
        self.is_whole = True
        self._show(self.leaves)

    def free(self) -> None:
        """Gives the memory of the whole back."""
        if self._gathering is not None:
            self.gather()
        if not self.is_whole:
            return
        self.is_whole = False
        if not self.aliased:
            self.whole.untyped_storage().resize_(0)
        self._show(self.sharded)

    def _show(self, parameters: Sequence[nn.Parameter]) -> None:
        """Has the modules see these parameters."""
        for parameter, places in zip(parameters, self.places, strict=True):
            for module, name in places:
                module._parameters[name] = parameter

    def full(self) -> list[Tensor]:
        """New tensors of the whole parameters in their own dtype."""
        return self.whole_of(self.shard)

    def whole_of(self, shard: Tensor) -> list[Tensor]:
        """New tensors, in the shapes of the whole parameters, of what lies in the shards."""
        with taeda.no_grad():
            gathered = shard
            if self.processes.ranks > 1:
                gathered = shard.new_empty(self.layout.shard * self.processes.ranks)
                collectives.all_gather_into_tensor(gathered, shard.contiguous(), self.processes.shard)
            whole = shard.new_empty(self.layout.whole)
            self.layout.spread(gathered, whole)
            shapes = zip(self.layout.offsets, self.layout.numels, self.layout.shapes, strict=True)
            return [whole[start : start + numel].view(shape) for start, numel, shape in shapes]

    def take(self, parameters: Sequence[Tensor]) -> None:
        """Puts this process's part of whole parameters into its shard."""
        with taeda.no_grad():
            self.shard.copy_(
                own_shard(self.layout, [local(one).to(self.dtype) for one in parameters], self.processes.rank)
            )

    # ---- gradients

    def has_grads(self) -> bool:
        """Whether there are gradients that are not reduced."""
        return any(leaf.grad is not None for leaf in self.leaves) or any(one is not None for one in self._kept)

    def keep_grads(self) -> None:
        """Leaves gradients unreduced, for later ones to be added."""
        wanted = self.precision.reduce or self.whole.dtype
        self._ready.clear()
        if wanted == self.whole.dtype:
            return
        for at, grad in enumerate(self._taken_grads()):
            if grad is not None:
                kept = self._kept[at]
                self._kept[at] = grad.to(wanted) if kept is None else kept.add_(grad)

    def _taken_grads(self) -> list[Tensor | None]:
        grads: list[Tensor | None] = []
        for leaf, spec in zip(self.leaves, self.outer, strict=True):
            grad: Any = leaf.grad
            if grad is not None and spec is not None:
                grad = grad.redistribute(placements=spec.placements)
            grads.append(None if grad is None else local(grad))
            leaf.grad = None
        return grads

    def start_reduce(self) -> Callable[[], None]:
        """Begins to reduce the gradients; the result waits for the end and gives the shards' parameters theirs."""
        self._ready.clear()
        dtype, ranks = self.precision.reduce or self.whole.dtype, self.processes.ranks
        with taeda.no_grad():
            flat = taeda.empty(self.layout.shard * ranks, dtype=dtype, device=self.device)
            grads = self._taken_grads()
            present = [grad is not None or kept is not None for grad, kept in zip(grads, self._kept, strict=True)]
            for at, kept in enumerate(self._kept):
                if kept is not None:
                    new = grads[at]
                    grads[at] = kept if new is None else kept.add_(new)
            self._kept = [None] * len(grads)
            self.layout.collect(grads, flat)
            del grads
            own, work = flat, None
            if self.hook is not None:
                own = flat if ranks == 1 else flat.new_empty(self.layout.shard)
                self.hook(flat) if ranks == 1 else self.hook(flat, own)
            elif ranks > 1:
                own = flat.new_empty(self.layout.shard)
                work = collectives.reduce_scatter_tensor(own, flat, self._op(), self.processes.shard, async_op=True)
        return lambda: self._finish(work, own, present)

    def _op(self) -> Any:
        return ReduceOp.AVG if self.divisor is None else ReduceOp.SUM

    def _finish(self, work: Any, own: Tensor, present: list[bool]) -> None:
        if work is not None:
            work.wait()
        with taeda.no_grad():
            if self._partial is not None:
                own, self._partial = own.add_(self._partial), None
            if self.processes.replicate is not None and self.hook is None:
                if not self.all_reduces:
                    self._partial = own
                    return
                collectives.all_reduce(own, self._op(), self.processes.replicate)
            if self.divisor is not None:
                own.div_(self.divisor)
            if self.shard_hook is not None:
                self.shard_hook(own)
            self.give_grads(own if self.precision.keep_low_grads else own.to(self.dtype), present)

    def give_grads(self, shard: Tensor, present: Sequence[bool]) -> None:
        """Adds a shard of gradients to those of the shards' parameters."""
        for parameter, there, grad in zip(self.sharded, present, self.views(shard), strict=True):
            if not there or not parameter.requires_grad:
                continue
            if parameter.grad is None:
                parameter.grad = grad  # a view: they share the shard's memory
            else:
                parameter.grad.add_(grad)

    def views(self, shard: Tensor) -> list[Any]:
        """For each parameter its part of a shard, as `sharded` has them."""
        raise NotImplementedError
