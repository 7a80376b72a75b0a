"""A loop over slices that carries a state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor
from taeda._control_flow.capture import current_capture, recorders
from taeda.utils import _pytree as pytree


def leaves_along(function: str, xs: Any, dim: int) -> tuple[list[Tensor], Any, int, int]:
    """The tensors in ``xs``, their nesting, the dimension counted from 0, and its size, which is the same in all.

    Raises:
        RuntimeError: there is no tensor, or the sizes differ.
        IndexError: ``dim`` is out of range.
    """
    capture = current_capture()
    if capture is not None:
        with capture.quiet():
            return leaves_along(function, xs, dim)
    leaves, spec = pytree.tree_flatten(xs)
    if not leaves or not all(isinstance(leaf, Tensor) for leaf in leaves):
        raise RuntimeError(f"taeda.{function}: xs must be a tensor or a container of tensors; got {xs!r}")
    ndim = leaves[0].dim()
    if not -ndim <= dim < ndim:
        raise IndexError(f"taeda.{function}: dim {dim} is out of range for {ndim} dimensions")
    dim %= ndim
    sizes = {leaf.shape[dim] if dim < leaf.dim() else None for leaf in leaves}
    if len(sizes) > 1 or 0 in sizes:
        shapes = ", ".join(str(tuple(leaf.shape)) for leaf in leaves)
        raise RuntimeError(f"taeda.{function}: the tensors must have one size along dim {dim}, not 0; got {shapes}")
    return leaves, spec, dim, leaves[0].shape[dim]


def scan(
    combine_fn: Callable[[Any, Any], tuple[Any, Any]], init: Any, xs: Any, *, dim: int = 0, reverse: bool = False
) -> tuple[Any, Any]:
    """Carries a state over the slices of ``xs``: ``state, y = combine_fn(state, x)`` for one after another.

    Args:
        combine_fn: takes the state and a slice; returns the new state and a result.
        init: the state at the start, a container of tensors.
        xs: a container of tensors.
        dim: the dimension of the slices.
        reverse: begin with the last slice.

    Returns:
        The last state, and the results stacked along a new first dimension, in the order of the slices.

    Raises:
        RuntimeError: ``combine_fn`` cannot be called, or ``xs`` does not fit together.
        IndexError: ``dim`` is out of range.
    """
    if not callable(combine_fn):
        raise RuntimeError("taeda.scan: combine_fn must be callable")
    leaves, spec, dim, count = leaves_along("scan", xs, dim)
    capture = current_capture()
    if capture is not None:
        return recorders["scan"](capture, combine_fn, init, leaves, spec, dim, reverse)
    order = range(count - 1, -1, -1) if reverse else range(count)
    results: list[Any] = []
    state = init
    for i in order:
        state, result = combine_fn(state, spec.unflatten(leaf.select(dim, i) for leaf in leaves))
        results.append(result)
    if reverse:
        results.reverse()
    return state, pytree.tree_map(lambda *each: taeda.stack(each), *results)
