"""Transforms by forward mode: ``jvp``, ``jacfwd``, ``hessian``; and ``linearize``."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda._C import _autograd
from taeda.autograd._transforms import leaf_of
from taeda.func._active import transforming
from taeda.func._batch import vmap
from taeda.func._captured import Captured, captured
from taeda.func._reverse import (
    Argnums,
    basis,
    check_differentiable,
    check_real,
    check_tensors,
    chosen_arguments,
    flat_outputs,
    jacrev,
    over_arguments,
    pull_back,
    record,
    split_aux,
)
from taeda.utils._pytree import tree_flatten, tree_unflatten


def _pushed(
    run: Callable[..., Any],
    points: Sequence[Tensor],
    tangents: Sequence[Tensor],
    spec: Any,
    has_aux: bool,
    name: str,
    func: Callable[..., Any],
) -> tuple[list[Tensor], list[Tensor | None], Any, Any]:
    """What ``run(tree)``, which calls the user's ``func``, gives: outputs, tangents, structure, what came besides."""
    known = Captured(captured(func, parameters=False))
    level = _autograd._enter_dual_level(True)
    try:
        duals = [point.view_as(point) for point in points]
        for dual, tangent in zip(duals, tangents, strict=True):
            _autograd._set_tangent(dual, tangent, level)
        with transforming():
            returned = run(tree_unflatten(duals, spec))
        known.check_plain(lambda x: _autograd._get_tangent(x, level) is not None, name)
        result, aux = split_aux(returned, has_aux, name)
        outputs, output_spec = flat_outputs(result, name)
        return outputs, [_autograd._get_tangent(output, level) for output in outputs], output_spec, aux
    finally:
        _autograd._exit_dual_level(level)


def _check_tangents(points: list[Any], tangents: list[Any]) -> None:
    check_tensors(points, "jvp", "primals", RuntimeError)
    check_tensors(tangents, "jvp", "tangents", RuntimeError)
    check_differentiable(points, "jvp")
    for point, tangent in zip(points, tangents, strict=True):
        if point.shape != tangent.shape:
            raise RuntimeError(
                f"taeda.func.jvp: a tangent must have its primal's shape {tuple(point.shape)}; got "
                f"{tuple(tangent.shape)}"
            )
        if point.dtype != tangent.dtype:
            raise RuntimeError(f"taeda.func.jvp: a tangent must be {point.dtype} as its primal; got {tangent.dtype}")


def jvp(func: Callable[..., Any], primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False) -> Any:
    """The function's output, and its change along ``tangents``: one pass of forward mode.

    Args:
        func: takes ``primals``; returns a tree of tensors.
        primals: a tuple of arguments, trees of tensors.
        tangents: a tuple of the same structure, shapes and dtypes.
        strict: raise where an output does not depend on the primals, instead of giving zeros.
        has_aux: the function returns ``(output, aux)``, and ``aux`` is given back as a third result.

    Raises:
        RuntimeError: the arguments do not fit each other, or ``strict`` is violated.
    """
    if not isinstance(primals, tuple) or not isinstance(tangents, tuple):
        raise RuntimeError("taeda.func.jvp: primals and tangents must be tuples")
    points, spec = tree_flatten(primals)
    vectors, other = tree_flatten(tangents)
    if spec != other:
        raise RuntimeError(f"taeda.func.jvp: primals and tangents must have one structure; got {spec} and {other}")
    if not points:
        raise RuntimeError("taeda.func.jvp: primals must hold at least one tensor")
    _check_tangents(points, vectors)
    outputs, found, output_spec, aux = _pushed(lambda args: func(*args), points, vectors, spec, has_aux, "jvp", func)
    for index, tangent in enumerate(found):
        if tangent is None and strict:
            raise RuntimeError(
                f"taeda.func.jvp: output {index} does not depend on the primals; strict=False makes its tangent zero"
            )
    filled = [taeda.zeros_like(o) if t is None else t for o, t in zip(outputs, found, strict=True)]
    pair = tree_unflatten(outputs, output_spec), tree_unflatten(filled, output_spec)
    return (*pair, aux) if has_aux else pair


def jacfwd(
    func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Callable[..., Any]:
    """The Jacobian of a function by forward mode: one pass for each element of the inputs.

    Args:
        func: returns a tree of tensors.
        argnums: which positional arguments to differentiate by.
        has_aux: the function returns ``(output, aux)``.
        randomness: what the passes may draw from the default generator, as in ``vmap``.

    Returns:
        A function of the same arguments; see ``jacrev`` for what it gives.
    """

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        chosen = chosen_arguments(args, argnums, "jacfwd")
        points, spec = tree_flatten(chosen)
        check_tensors(points, "jacfwd", "the inputs")
        check_differentiable(points, "jacfwd")
        check_real(points, "jacfwd", "inputs")

        shown: list[Any] = []  # the outputs, which are the same for all directions, their structure, what came besides

        def moved(index: int, unit: Tensor) -> list[Tensor]:
            tangents = [unit if i == index else taeda.zeros_like(p) for i, p in enumerate(points)]
            outputs, found, *shown[:] = _pushed(
                over_arguments(func, args, argnums, kwargs), points, tangents, spec, has_aux, "jacfwd", func
            )
            shown.insert(0, outputs)
            return [taeda.zeros_like(o) if t is None else t for o, t in zip(outputs, found, strict=True)]

        passes = [
            vmap(functools.partial(moved, i), randomness=randomness)(basis(p)) if p.numel() else None
            for i, p in enumerate(points)
        ]
        if not shown:
            moved(0, taeda.zeros_like(points[0]))
        outputs, output_spec, aux = shown
        check_real(outputs, "jacfwd", "outputs")
        blocks = []
        for j, output in enumerate(outputs):
            columns = [
                output.new_zeros(*output.shape, *p.shape)
                if some is None
                else some[j].movedim(0, -1).reshape((*output.shape, *p.shape))
                for some, p in zip(passes, points, strict=True)
            ]
            blocks.append(tree_unflatten(columns, spec))
        jacobian = tree_unflatten(blocks, output_spec)
        return (jacobian, aux) if has_aux else jacobian

    return wrapper


def hessian(func: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """All second derivatives: forward mode over reverse mode. The tree of ``jacfwd(jacrev(func))``."""
    return jacfwd(jacrev(func, argnums), argnums)


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """The function's output, and its derivative as a function of tangents, for many of them at one point.

    The function is run once. Its gradients are linear in the output's, and the derivative of that map is what
    ``jvp_fn(*tangents)`` applies.

    Returns:
        ``(output, jvp_fn)``; ``jvp_fn`` takes trees as the primals and gives a tree as the output.
    """
    structure = tree_flatten(primals)[1]
    recorded = record(lambda points: func(*points), primals, False, "linearize", func)
    with taeda.enable_grad():
        seeds = [leaf_of(taeda.ones_like(o)) for o in recorded.outputs]
        gradients = pull_back(recorded, seeds, retain_graph=True, create_graph=True)

    def push(*tangents: Any) -> Any:
        vectors, spec = tree_flatten(tangents)
        if spec != structure:
            raise RuntimeError(f"taeda.func.linearize: the tangents must be trees as the primals, {structure}")
        for vector, point in zip(vectors, recorded.points, strict=True):
            if vector.shape != point.shape or vector.dtype != point.dtype:
                raise RuntimeError("taeda.func.linearize: tangents must have the shapes and dtypes of the primals")
        pairs = [(g, v) for g, v in zip(gradients, vectors, strict=True) if g.requires_grad]
        found: Sequence[Tensor | None] = [None] * len(seeds)
        if pairs:
            outputs, weights = zip(*pairs, strict=True)
            keep = taeda.is_grad_enabled() and (recorded.is_linked or any(v.requires_grad for v in vectors))
            found = taeda.autograd.grad(outputs, seeds, weights, True, keep, allow_unused=True)
        filled = [taeda.zeros_like(o) if t is None else t for o, t in zip(recorded.outputs, found, strict=True)]
        return tree_unflatten(filled, recorded.spec)

    return recorded.released(tree_unflatten(recorded.outputs, recorded.spec)), push
