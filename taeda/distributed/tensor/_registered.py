"""Ops for which a program has said how their DTensors may lie."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda.distributed.tensor._redistribute import move
from taeda.distributed.tensor._spec import DTensorSpec
from taeda.distributed.tensor.placement_types import Placement, Replicate
from taeda.utils._pytree import tree_flatten, tree_unflatten

Strategy = Callable[..., Sequence[tuple[Sequence[Placement | None], Sequence[Placement | None]]]]
strategies: dict[Any, Strategy] = {}  # by op


def run_registered(func: Any, args: Any, kwargs: Any, specs: list[DTensorSpec], kind: Any) -> Any:
    """The op's result, in the parts that its strategy allows; ``specs`` are those of its tensors."""
    ways = [
        ([p or Replicate() for p in results], [p for p in given if p is not None])
        for results, given in strategies[func](*args, **kwargs)
    ]
    leaves, tree = tree_flatten((args, kwargs))
    at = [i for i, leaf in enumerate(leaves) if isinstance(leaf, Tensor)]
    mesh = specs[0].mesh
    chosen = [_best(func, ways, specs, dim) for dim in range(mesh.ndim)]
    wholes = list(leaves)
    for number, (i, spec) in enumerate(zip(at, specs, strict=True)):
        wholes[i] = taeda.empty(spec.shape, dtype=leaves[i].dtype, device="meta")
        target = tuple(given[number] if number < len(given) else Replicate() for _, given in chosen)
        leaves[i] = move(leaves[i]._local_tensor if isinstance(leaves[i], kind) else leaves[i], spec, target)
    out, form = tree_flatten(_call(func, leaves, tree))
    shapes, _ = tree_flatten(_call(func, wholes, tree))
    for number, (part, whole) in enumerate(zip(out, shapes, strict=True)):
        if isinstance(part, Tensor):
            placed = tuple(results[number] for results, _ in chosen)
            out[number] = kind._made(part, DTensorSpec(mesh, placed, tuple(whole.shape)))
    return tree_unflatten(out, form)


def _call(func: Any, leaves: list[Any], tree: Any) -> Any:
    args, kwargs = tree_unflatten(leaves, tree)
    return func(*args, **kwargs)


def _best(func: Any, ways: list[Any], specs: list[DTensorSpec], dim: int) -> Any:
    """The way along a dimension of the mesh for which least is sent."""
    costs = [sum(_cost(spec, target, dim) for spec, target in zip(specs, given)) for _, given in ways]
    if not costs or min(costs) == math.inf:
        raise RuntimeError(f"{func}: none of the ways that are registered for it fits tensors of such shapes")
    return ways[costs.index(min(costs))]


def _cost(spec: DTensorSpec, target: Placement, dim: int) -> float:
    """How many elements are sent, or infinitely many where the parts would not be of one size."""
    size, here = math.prod(spec.shape), spec.placements[dim]
    if target.is_shard() and spec.shape[target.dim] < spec.mesh.size(dim):  # type: ignore[attr-defined]
        return math.inf
    if target == here or (here.is_replicate() and target.is_shard()):
        return 0
    return size * (2 if here.is_partial() and target.is_replicate() else 1)
