"""Ops that a rule of letters does not describe: what is looked up in parts, random numbers, losses over parts."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import taeda
from taeda import Size, Tensor
from taeda.distributed._reduce_op import ReduceOp
from taeda.distributed.tensor._redistribute import local_of, move, reduce_along
from taeda.distributed.tensor._spec import DTensorSpec, local_shape, part_in_whole
from taeda.distributed.tensor.placement_types import Partial, Placement, Replicate, Shard, _MaskPartial
from taeda.utils._pytree import tree_unflatten


class _State(threading.local):
    def __init__(self) -> None:
        self.losses = False  # within loss_parallel
        self.replicates = False  # plain tensors count as whole on each process


state = _State()
Special = Callable[..., Any]


@contextmanager
def loss_parallel() -> Iterator[None]:
    """Within, ``cross_entropy`` of scores that are cut along their classes works on the parts, forward and backward.

    Targets may be plain tensors, the same on all processes.
    """
    before = state.losses, state.replicates
    state.losses = state.replicates = True
    try:
        yield
    finally:
        state.losses, state.replicates = before


@contextmanager
def implicit_replication() -> Iterator[None]:
    """Within, plain tensors in ops with DTensors count as whole on each process."""
    before, state.replicates = state.replicates, True
    try:
        yield
    finally:
        state.replicates = before


def special_for(name: str, tensors: list[Tensor], specs: list[DTensorSpec], args: Any = ()) -> Special | None:
    """What runs the op ``name`` of ``args``, if it is one of these."""
    first = specs[0]
    if name == "embedding":
        return _embedding if any(one.is_shard(0) for one in first.placements) else None
    if name == "gather":
        return _gather if len(args) > 1 and _is_lookup(args[1], *specs) else None
    if name in _RANDOM:
        if name != "bernoulli" and any(one.is_partial() for one in first.placements):  # which reads its input
            raise RuntimeError(f"DTensor: {name} of terms of a sum (Partial) is not supported; redistribute first")
        return _random if any(one.is_shard() for one in first.placements) else None
    if name in _NEW:
        return _new
    if name in _LOSSES and state.losses:
        scores = specs[_LOSSES[name][1]]
        return _LOSSES[name][0] if len(scores.shape) == 2 and _class_dim(scores) is not None else None
    return None


def _embedding(func: Any, leaves: list[Any], at: list[int], tree: Any, specs: list[DTensorSpec], kind: Any) -> Any:
    """Of a table in parts of its rows: each process looks up those that it has; the sum of all is what is meant."""
    table, indices = specs
    mesh = table.mesh
    rows = [one if one.is_shard(0) else Replicate() for one in table.placements]
    whole = [Replicate() if row.is_shard() or one.is_partial() else one
             for row, one in zip(rows, indices.placements, strict=True)]  # fmt: skip
    own = move(_local(leaves[at[0]], kind), table, tuple(rows))
    wanted = move(_local(leaves[at[1]], kind), indices, tuple(whole))
    first = part_in_whole(table._replace(placements=tuple(rows)))[1][0]
    there = (wanted >= first) & (wanted < first + own.shape[0])
    leaves[at[0]], leaves[at[1]] = own, (wanted - first).masked_fill(~there, 0)
    if not own.shape[0]:
        leaves[at[0]] = own.new_zeros(1, *own.shape[1:])
    given, named = tree_unflatten(leaves, tree)
    found = taeda.embedding(given[0], given[1]).masked_fill(~there.unsqueeze(-1), 0)
    placed = tuple(Partial() if row.is_shard() else one for row, one in zip(rows, whole, strict=True))
    made = kind._made(found, DTensorSpec(mesh, placed, (*indices.shape, table.shape[1])))
    return _with_masks(made, rows, table, 0)


def _with_masks(found: Any, cut: Sequence[Placement], table: DTensorSpec, dim: int) -> Any:
    mask = _MaskPartial(offset_shape=Size(table.shape), offset_dim=dim)
    found._masks = tuple(mask if one.is_shard(dim) else own for one, own in zip(cut, found.placements, strict=True))
    return found


def _is_lookup(dim: int, whole: DTensorSpec, index: DTensorSpec) -> bool:
    """Whether each place wants one element along ``dim``, the one dimension that is cut."""
    if not index.shape or index.shape[dim] != 1 or not all(one.is_replicate() for one in index.placements):
        return False
    cuts = [one for one in whole.placements if not one.is_replicate()]
    return len(cuts) == 1 and cuts[0].is_shard(dim % len(index.shape))


def _gather(func: Any, leaves: list[Any], at: list[int], tree: Any, specs: list[DTensorSpec], kind: Any) -> Any:
    """Of a tensor in parts, one element each along the dimension that is cut: each process gives those that it has."""
    whole, index = specs
    (given, dim, wanted, *rest), named = tree_unflatten(leaves, tree)
    dim %= len(whole.shape)
    own, wanted = _local(given, kind), _local(wanted, kind)
    first = part_in_whole(whole)[1][dim]
    there = (wanted >= first) & (wanted < first + own.shape[dim])
    if not own.shape[dim]:
        own = own.new_zeros([*own.shape[:dim], 1, *own.shape[dim + 1 :]])
    found = func(own, dim, (wanted - first).masked_fill(~there, 0), *rest, **named).masked_fill(~there, 0)
    placed = tuple(Partial() if one.is_shard() else one for one in whole.placements)
    return _with_masks(kind._made(found, DTensorSpec(whole.mesh, placed, index.shape)), whole.placements, whole, dim)


_NEW = {"new_empty", "new_full", "new_ones", "new_zeros", "new_empty_strided"}


def _new(func: Any, leaves: list[Any], at: list[int], tree: Any, specs: list[DTensorSpec], kind: Any) -> Any:
    """Lies as the given tensor if it is of the same shape, else whole on each process; nothing is sent."""
    (given, sizes, *rest), named = tree_unflatten(leaves, tree)
    spec, strided = specs[0], func._schema.name.endswith("strided")
    cut = [(dim, p) for dim, p in enumerate(spec.placements) if isinstance(p, Shard)]
    even = all(spec.shape[p.dim] % spec.mesh.size(dim) == 0 for dim, p in cut)
    whole = tuple(Replicate() if p.is_partial() else p for p in spec.placements)
    alike = tuple(sizes) == tuple(spec.shape) and (even or not strided)
    placed = DTensorSpec(spec.mesh, whole if alike else (Replicate(),) * spec.mesh.ndim, tuple(sizes))
    parts = local_shape(placed)
    if strided:
        rest[0] = [
            stride // math.prod(size for size, other in zip(sizes, rest[0], strict=True) if other < stride)
            * math.prod(part for part, other in zip(parts, rest[0], strict=True) if other < stride)
            for stride in rest[0]
        ]  # fmt: skip
    return kind._made(func(_local(given, kind), list(parts), *rest, **named), placed)


_RANDOM = {"native_dropout", "bernoulli", "uniform_", "normal_", "random_", "exponential_", "rand_like", "randn_like",
           "log_normal_", "cauchy_", "geometric_", "bernoulli_"}  # fmt: skip


def _random(func: Any, leaves: list[Any], at: list[int], tree: Any, specs: list[DTensorSpec], kind: Any) -> Any:
    """Each process draws the whole and keeps its part: with one seed the numbers are those of a single process."""
    tensor, spec = leaves[at[0]], specs[0]
    own = tensor._local_tensor
    name = func._schema.name.partition("::")[2]
    if name == "bernoulli":
        leaves[at[0]] = move(own, spec, (Replicate(),) * spec.mesh.ndim)
    else:
        leaves[at[0]] = own.new_ones(spec.shape)
    given, named = tree_unflatten(leaves, tree)
    if name == "native_dropout":
        scaled, mask = (local_of(one, spec) for one in func(*given, **named))
        return kind._made(own * scaled, spec), kind._made(mask, spec)
    part = local_of(func(*given, **named), spec)
    if not name.endswith("_"):
        return kind._made(part, spec)
    own.copy_(part)
    return tensor


def _local(tensor: Any, kind: Any) -> Tensor:
    return tensor._local_tensor if isinstance(tensor, kind) else tensor


# ---- losses of scores (rows, classes) that are cut along their classes


def _class_dim(spec: DTensorSpec) -> int | None:
    """The dimension of the mesh that cuts the classes, if one does and the others leave the scores whole."""
    cutting = [dim for dim, one in enumerate(spec.placements) if one.is_shard(1)]
    others = all(one.is_replicate() for dim, one in enumerate(spec.placements) if dim not in cutting)
    return cutting[0] if len(cutting) == 1 and others else None


class _Parts:
    """The operands of a loss: the own classes' scores, and what is whole."""

    def __init__(self, leaves: list[Any], at: list[int], specs: list[DTensorSpec], kind: Any, scores: int) -> None:
        self.spec, self.kind = specs[scores], kind
        whole = (Replicate(),) * self.spec.mesh.ndim
        dim = _class_dim(self.spec)
        assert dim is not None
        self.dim = dim
        self.first = part_in_whole(self.spec)[1][1]
        for place, spec in zip(at, specs, strict=True):
            keeps = spec.shape == self.spec.shape
            leaves[place] = move(_local(leaves[place], kind), spec, self.spec.placements if keeps else whole)
        self.scores: Tensor = leaves[at[scores]]

    def reduced(self, tensor: Tensor, op: Any = ReduceOp.SUM) -> Tensor:
        """Over the processes that have the other classes."""
        return reduce_along(tensor, self.spec.mesh, self.dim, op)

    def lse(self) -> Tensor:
        """The logarithm of each row's sum of exponentials."""
        low = taeda.finfo(self.scores.dtype).min
        top = self.scores.amax(1) if self.scores.shape[1] else self.scores.new_full((self.spec.shape[0],), low)
        top = self.reduced(top, ReduceOp.MAX)
        return top + self.reduced((self.scores - top[:, None]).exp().sum(1)).log()

    def targets(self, target: Tensor) -> tuple[Tensor, Tensor]:
        """Where each row's class is among the own ones, and whether it is there."""
        there = (target >= self.first) & (target < self.first + self.scores.shape[1])
        return (target - self.first).masked_fill(~there, 0), there

    def picked(self, values: Tensor, target: Tensor) -> Tensor:
        """Each row's value at its class."""
        if not values.shape[1]:
            return self.reduced(values.new_zeros(values.shape[0]))
        index, there = self.targets(target)
        return self.reduced(values.gather(1, index[:, None])[:, 0].masked_fill(~there, 0))

    def hot(self, target: Tensor, values: Tensor) -> Tensor:
        """The own classes of rows that are ``values`` at their class and 0 elsewhere."""
        index, there = self.targets(target)
        made = values.new_zeros(self.scores.shape)
        return made.scatter_(1, index[:, None], values.masked_fill(~there, 0)[:, None]) if made.shape[1] else made

    def whole(self, tensor: Tensor) -> Any:
        """A DTensor of what every process has."""
        placed: tuple[Placement, ...] = (Replicate(),) * self.spec.mesh.ndim
        return self.kind._made(tensor, DTensorSpec(self.spec.mesh, placed, tuple(tensor.shape)))

    def cut(self, tensor: Tensor) -> Any:
        """A DTensor that lies as the scores do."""
        assert tuple(tensor.shape) == local_shape(self.spec)
        return self.kind._made(tensor, self.spec)


def _reduce(rows: Tensor, count: Tensor, reduction: int) -> Tensor:
    return rows if reduction == 0 else rows.sum() / count if reduction == 1 else rows.sum()


def _spread(grad: Tensor, count: Tensor, reduction: int) -> Tensor:
    return grad / count if reduction == 1 else grad


def _cross_entropy(func: Any, leaves: list[Any], at: list[int], tree: Any, specs: Any, kind: Any) -> Any:
    parts = _Parts(leaves, at, specs, kind, 0)
    (scores, target, reduction, ignored), _ = tree_unflatten(leaves, tree)
    lse, valid = parts.lse(), target != ignored
    rows = (lse - parts.picked(scores, target)).masked_fill(~valid, 0)
    count = valid.sum().to(scores.dtype)
    return parts.whole(_reduce(rows, count, reduction)), parts.whole(lse), parts.whole(count)


def _cross_entropy_grad(func: Any, leaves: list[Any], at: list[int], tree: Any, specs: Any, kind: Any) -> Any:
    parts = _Parts(leaves, at, specs, kind, 1)
    (grad, scores, target, lse, count, reduction, ignored), _ = tree_unflatten(leaves, tree)
    scale = _spread(grad, count, reduction).expand(target.shape).masked_fill(target == ignored, 0)
    return parts.cut((scores - lse[:, None]).exp() * scale[:, None] - parts.hot(target, scale))


def _log_softmax(func: Any, leaves: list[Any], at: list[int], tree: Any, specs: Any, kind: Any) -> Any:
    parts = _Parts(leaves, at, specs, kind, 0)
    return parts.cut(parts.scores - parts.lse()[:, None])


def _log_softmax_grad(func: Any, leaves: list[Any], at: list[int], tree: Any, specs: Any, kind: Any) -> Any:
    parts = _Parts(leaves, at, specs, kind, 1)
    (grad, output, *_), _ = tree_unflatten(leaves, tree)
    return parts.cut(grad - output.exp() * parts.reduced(grad.sum(1))[:, None])


def _weights(weight: Tensor | None, target: Tensor, ignored: int, like: Tensor) -> Tensor:
    valid = target != ignored
    chosen = like.new_ones(target.shape) if weight is None else weight[target.masked_fill(~valid, 0)]
    return chosen.masked_fill(~valid, 0)


def _nll(func: Any, leaves: list[Any], at: list[int], tree: Any, specs: Any, kind: Any) -> Any:
    parts = _Parts(leaves, at, specs, kind, 0)
    (scores, target, weight, reduction, ignored), _ = tree_unflatten(leaves, tree)
    weights = _weights(weight, target, ignored, scores)
    rows, count = -parts.picked(scores, target) * weights, weights.sum()
    return parts.whole(_reduce(rows, count, reduction)), parts.whole(count)


def _nll_grad(func: Any, leaves: list[Any], at: list[int], tree: Any, specs: Any, kind: Any) -> Any:
    parts = _Parts(leaves, at, specs, kind, 1)
    (grad, scores, target, weight, reduction, ignored, count), _ = tree_unflatten(leaves, tree)
    scale = _spread(grad, count, reduction).expand(target.shape) * _weights(weight, target, ignored, scores)
    return parts.cut(parts.hot(target, -scale))


# The op, and which of its tensors has the scores' shape.
_LOSSES: dict[str, tuple[Special, int]] = {
    "cross_entropy_rows": (_cross_entropy, 0), "cross_entropy_rows_backward": (_cross_entropy_grad, 1),
    "_log_softmax": (_log_softmax, 0), "_log_softmax_backward_data": (_log_softmax_grad, 1),
    "nll_loss_forward": (_nll, 0), "nll_loss_backward": (_nll_grad, 1),
}  # fmt: skip
