"""Functions of plain tensors that are given DTensors: each process calls them with its parts."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from taeda import Tensor
from taeda.distributed.device_mesh import DeviceMesh
from taeda.distributed.tensor._dtensor import DTensor
from taeda.distributed.tensor.placement_types import Placement
from taeda.utils._pytree import tree_flatten, tree_unflatten

__all__ = ["local_map"]

_NAME = "taeda.distributed.tensor.experimental.local_map"
Placements = Sequence[Placement] | None


def local_map(
    func: Callable[..., Any] | None = None,
    out_placements: Any = None,
    in_placements: tuple[Placements, ...] | None = None,
    in_grad_placements: tuple[Placements, ...] | None = None,
    device_mesh: DeviceMesh | None = None,
    *,
    redistribute_inputs: bool = False,
) -> Callable[..., Any]:
    """``func`` for DTensors: it gets the parts, and its results become DTensors. A decorator if ``func`` is None.

    Args:
        func: a function of tensors.
        out_placements: how the results lie, one list for all of them or a tuple of a list for each; None for what is
            no tensor, or stays a plain one.
        in_placements: how the arguments are to lie, in order; None for one that is no DTensor. By default as they do.
        in_grad_placements: how the gradients of the parts lie.
        device_mesh: of the results; by default that of the first DTensor.
        redistribute_inputs: move arguments that lie otherwise than ``in_placements`` says.

    Raises:
        ValueError: an argument lies otherwise than ``in_placements`` says.
        AssertionError: a DTensor has None there, or there are other numbers of arguments or results.
    """
    if func is None:
        return functools.partial(
            local_map, out_placements=out_placements, in_placements=in_placements,
            in_grad_placements=in_grad_placements, device_mesh=device_mesh, redistribute_inputs=redistribute_inputs,
        )  # fmt: skip

    @functools.wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        leaves, tree = tree_flatten(args)
        first = next((leaf for leaf in leaves if isinstance(leaf, DTensor)), None)
        if in_placements is not None and len(in_placements) != len(leaves):
            raise AssertionError(f"{_NAME}: {len(in_placements)} in_placements were given for {len(leaves)} arguments")
        wanted = in_placements or [leaf.placements if isinstance(leaf, DTensor) else None for leaf in leaves]
        of_grads = in_grad_placements or [None] * len(leaves)
        parts = [
            _part(at, *given, redistribute_inputs)
            for at, given in enumerate(zip(leaves, wanted, of_grads, strict=True))
        ]
        result = func(*tree_unflatten(parts, tree), **kwargs)
        return result if first is None else _whole(result, device_mesh or first.device_mesh, out_placements)

    return call


def _part(at: int, leaf: Any, wanted: Placements, of_grad: Placements, redistribute: bool) -> Any:
    """What this process has of the argument number ``at``."""
    if not isinstance(leaf, DTensor):
        return leaf
    if wanted is None:
        raise AssertionError(f"{_NAME}: argument {at} is a DTensor, for which in_placements has None")
    if tuple(wanted) != tuple(leaf.placements):
        if not redistribute:
            raise ValueError(
                f"{_NAME}: argument {at} must lie as {tuple(wanted)}; it lies as {tuple(leaf.placements)}, and "
                "redistribute_inputs=True would move it"
            )
        leaf = leaf.redistribute(placements=tuple(wanted))
    return leaf.to_local(grad_placements=of_grad)


def _whole(result: Any, mesh: DeviceMesh, placements: Any) -> Any:
    """The results as DTensors."""
    leaves, tree = tree_flatten(result)
    each = placements if isinstance(placements, tuple) else (placements,) * len(leaves)
    if len(each) != len(leaves):
        raise AssertionError(f"{_NAME}: {len(each)} out_placements were given for {len(leaves)} results")
    made = []
    for leaf, one in zip(leaves, each, strict=True):
        if not isinstance(leaf, Tensor) and one is not None:
            raise AssertionError(f"{_NAME}: {type(leaf).__name__} is no tensor, and is placed as None; got {one}")
        plain = one is None or not isinstance(leaf, Tensor)
        made.append(leaf if plain else DTensor.from_local(leaf, mesh, one, run_check=False))
    return tree_unflatten(made, tree)
