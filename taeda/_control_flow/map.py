"""A function applied to each slice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda._control_flow.capture import current_capture, recorders
from taeda._control_flow.scan import leaves_along
from taeda.utils import _pytree as pytree


def map(f: Callable[..., Any], xs: Any, *args: Any) -> Any:
    """``f(x, *args)`` for each slice ``x`` of ``xs`` along the first dimension, stacked.

    Raises:
        RuntimeError: ``f`` cannot be called, or ``xs`` does not fit together.
    """
    if not callable(f):
        raise RuntimeError("taeda.map: f must be callable")
    leaves, spec, _, count = leaves_along("map", xs, 0)
    capture = current_capture()
    if capture is not None:
        return recorders["map"](capture, f, leaves, spec, args)
    results = [f(spec.unflatten(leaf[i] for leaf in leaves), *args) for i in range(count)]
    return pytree.tree_map(lambda *each: taeda.stack(each), *results)


def _unstack_pytree(xs: Any) -> list[Any]:
    """A container for each row: of the same nesting, with that row of each tensor."""
    leaves, spec = pytree.tree_flatten(xs)
    if not leaves or not all(isinstance(leaf, taeda.Tensor) and leaf.dim() for leaf in leaves):
        raise RuntimeError("taeda._higher_order_ops.map: all leaves must be tensors of at least one dimension")
    if len({leaf.shape[0] for leaf in leaves}) > 1:
        shapes = ", ".join(str(tuple(leaf.shape)) for leaf in leaves)
        raise RuntimeError(f"taeda._higher_order_ops.map: the tensors must have the same number of rows; got {shapes}")
    return [pytree.tree_unflatten(row, spec) for row in zip(*leaves)]


def _stack_pytree(pytrees: list[Any]) -> Any:
    """The containers as one, of stacked tensors."""
    spec = pytree.tree_structure(pytrees[0])
    columns = zip(*(pytree.tree_leaves(tree) for tree in pytrees))
    return pytree.tree_unflatten([None if c[0] is None else taeda.stack(c) for c in columns], spec)
