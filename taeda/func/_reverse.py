"""Transforms by reverse mode: ``vjp``, ``grad``, ``grad_and_value``, ``jacrev``.

Each call differentiates copies of its inputs, so that what it records is its own. A result stays in the graph exactly
where it depends on something else that is differentiated: an input of an enclosing transform, or a tensor that
requires a gradient.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import taeda
from taeda import Tensor
from taeda._C import _autograd
from taeda.autograd._transforms import leaf_of
from taeda.func._active import transforming
from taeda.func._batch import vmap
from taeda.func._batched.tensor import holds_linked, mapped
from taeda.func._captured import Captured, captured
from taeda.utils._pytree import TreeSpec, tree_flatten, tree_leaves, tree_map_only, tree_unflatten

Argnums = int | tuple[int, ...]


def check_tensors(leaves: Sequence[Any], function: str, what: str, error: type[Exception] = ValueError) -> None:
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise error(f"taeda.func.{function}: {what} must hold tensors only; got {type(leaf).__name__}")


def check_real(leaves: Sequence[Tensor], function: str, what: str) -> None:
    """What Jacobians are for: of complex numbers there are several kinds."""
    for leaf in leaves:
        if leaf.is_complex():
            raise RuntimeError(
                f"taeda.func.{function}: {what} must be real; got {leaf.dtype}, which view_as_real makes real"
            )


def check_differentiable(leaves: Sequence[Tensor], function: str) -> None:
    for leaf in leaves:
        if not (leaf.is_floating_point() or leaf.is_complex()):
            raise RuntimeError(f"taeda.func.{function}: only floating-point and complex tensors; got {leaf.dtype}")


def chosen_arguments(args: tuple[Any, ...], argnums: Argnums, function: str) -> Any:
    """The arguments to differentiate by: one, or a tuple of them."""
    numbers = argnums if isinstance(argnums, tuple) else (argnums,)
    if not numbers:
        raise RuntimeError(f"taeda.func.{function}: argnums must not be empty")
    for number in numbers:
        if not isinstance(number, int) or isinstance(number, bool):
            raise RuntimeError(f"taeda.func.{function}: argnums must be an int or a tuple of ints; got {argnums!r}")
        if not -len(args) <= number < len(args):
            raise RuntimeError(f"taeda.func.{function}: argnum {number} of {len(args)} positional arguments")
    if len({number % len(args) for number in numbers}) != len(numbers):
        raise RuntimeError(f"taeda.func.{function}: argnums must differ; got {argnums}")
    picked = tuple(args[number] for number in numbers)
    return picked if isinstance(argnums, tuple) else picked[0]


def over_arguments(
    func: Callable[..., Any], args: tuple[Any, ...], argnums: Argnums, kwargs: dict[str, Any]
) -> Callable[..., Any]:
    """``func`` as a function of the chosen arguments. It may write to the others, which take on values, no history."""
    numbers = argnums if isinstance(argnums, tuple) else (argnums,)
    others: list[Any] = list(args)
    for number in numbers:
        others[number] = None
    others, kwargs = tree_map_only(Tensor, lambda x: x if x.requires_grad else _autograd._without_history(x),
                                   (others, kwargs))  # fmt: skip

    def run(values: Any) -> Any:
        whole = list(others)
        for number, value in zip(numbers, values if isinstance(argnums, tuple) else (values,), strict=True):
            whole[number] = value
        return func(*whole, **kwargs)

    return run


def split_aux(result: Any, has_aux: bool, function: str) -> tuple[Any, Any]:
    if not has_aux:
        return result, None
    if not (isinstance(result, tuple) and len(result) == 2):
        raise RuntimeError(f"taeda.func.{function}: with has_aux=True the function must return (output, aux)")
    check_tensors(tree_leaves(result[1]), function, "aux", RuntimeError)
    return result


def flat_outputs(result: Any, function: str) -> tuple[list[Tensor], TreeSpec]:
    """The tensors that a function returned, and their structure."""
    outputs, spec = tree_flatten(result)
    check_tensors(outputs, function, "what the function returns", RuntimeError)
    if not outputs:
        raise RuntimeError(f"taeda.func.{function}: the function must return at least one tensor")
    return outputs, spec


class Recorded(NamedTuple):
    """A function's outputs at copies of its inputs, with their graph."""

    points: list[Tensor]
    outputs: list[Tensor]
    spec: TreeSpec  # of the outputs
    aux: Any
    is_linked: bool  # the outputs depend on more than the points
    is_shown: bool  # and the caller records

    def released(self, tree: Any) -> Any:
        """Results as the caller may see them."""
        return tree if self.is_shown else tree_map_only(Tensor, _autograd._without_history, tree)


def record(run: Callable[..., Any], inputs: Any, has_aux: bool, function: str, func: Callable[..., Any]) -> Recorded:
    """Runs ``run(copies of inputs)``, which calls the user's ``func`` for a tree of tensors (and auxiliary results)."""
    was_recording = taeda.is_grad_enabled()
    leaves, spec = tree_flatten(inputs)
    check_tensors(leaves, function, "the inputs")
    check_differentiable(leaves, function)
    leaves = [mapped(x) for x in leaves]
    brought = captured(func, parameters=False)  # which require gradients as a rule
    known = Captured(x for x in brought if isinstance(x, Tensor) and not x.requires_grad)
    with taeda.enable_grad():
        linked = [x.requires_grad for x in leaves]
        points = [x.view_as(x) if outside else leaf_of(x) for x, outside in zip(leaves, linked, strict=True)]
        with transforming():
            returned = run(tree_unflatten(points, spec))
        result, aux = split_aux(returned, has_aux, function)
    known.check_plain(lambda x: x.requires_grad, function)
    outputs, output_spec = flat_outputs(result, function)
    tracked = [o for o in [*outputs, *tree_leaves(aux)] if isinstance(o, Tensor) and o.requires_grad]
    own = [p for p, outside in zip(points, linked, strict=True) if not outside]
    is_linked = any(linked) or any(map(holds_linked, outputs)) or _autograd._leads_elsewhere(tracked, own)
    return Recorded(points, outputs, output_spec, aux, is_linked, is_linked and was_recording)


def pull_back(
    recorded: Recorded, cotangents: Sequence[Tensor], retain_graph: bool, create_graph: bool | None = None
) -> list[Tensor]:
    """The gradients of the points from those of the outputs; zeros where there is none."""
    pairs = [(o, c) for o, c in zip(recorded.outputs, cotangents, strict=True) if o.requires_grad]
    if create_graph is None:
        create_graph = taeda.is_grad_enabled() and (recorded.is_linked or any(c.requires_grad for c in cotangents))
    grads: Sequence[Tensor | None] = [None] * len(recorded.points)
    if pairs and recorded.points:
        outputs, vectors = zip(*pairs, strict=True)
        grads = taeda.autograd.grad(
            outputs, recorded.points, vectors, retain_graph or create_graph, create_graph, allow_unused=True
        )
    return [taeda.zeros_like(p) if g is None else g for p, g in zip(recorded.points, grads, strict=True)]


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """The function's output, and the function from its gradients to those of the inputs.

    Args:
        func: takes ``primals``, trees of tensors; returns a tree of tensors.
        has_aux: the function returns ``(output, aux)``, and ``aux`` is given back as a third result.

    Returns:
        ``(output, vjp_fn)`` or ``(output, vjp_fn, aux)``. ``vjp_fn(cotangents)``, which may be called often, takes a
        tree as the output and gives a tuple of trees as the inputs.

    Raises:
        RuntimeError: the function returns something else; cotangents do not fit the output.
    """
    recorded = record(lambda points: func(*points), primals, has_aux, "vjp", func)
    structure = tree_flatten(primals)[1]

    def pull(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        given, spec = tree_flatten(cotangents)
        if spec != recorded.spec:
            raise RuntimeError(f"taeda.func.vjp: the cotangents must be a tree as the output, {recorded.spec}")
        for vector, output in zip(given, recorded.outputs, strict=True):
            if vector.shape != output.shape:
                raise RuntimeError(
                    f"taeda.func.vjp: cotangents must have their output's shape {tuple(output.shape)}; got "
                    f"{tuple(vector.shape)}"
                )
        return tree_unflatten(pull_back(recorded, given, retain_graph, create_graph), structure)

    output = recorded.released(tree_unflatten(recorded.outputs, recorded.spec))
    return (output, pull, recorded.released(recorded.aux)) if has_aux else (output, pull)


def grad_and_value(func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """As ``grad``, giving ``(gradient, value)`` or ``(gradient, (value, aux))``."""

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        chosen = chosen_arguments(args, argnums, "grad")
        recorded = record(over_arguments(func, args, argnums, kwargs), chosen, has_aux, "grad", func)
        if not recorded.spec.is_leaf():
            raise RuntimeError("taeda.func.grad: the function must return a single tensor")
        (value,) = recorded.outputs
        if value.dim() != 0:
            raise RuntimeError(f"taeda.func.grad: the function must return a scalar; got shape {tuple(value.shape)}")
        grads = pull_back(recorded, [taeda.ones_like(value)], retain_graph=False)
        gradient = tree_unflatten(grads, tree_flatten(chosen)[1])
        value = recorded.released(value)
        return (gradient, (value, recorded.released(recorded.aux))) if has_aux else (gradient, value)

    return wrapper


def grad(func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """The gradient of a function that returns a scalar tensor.

    Args:
        func: takes trees of tensors and other arguments.
        argnums: which positional arguments to differentiate by.
        has_aux: the function returns ``(output, aux)``.

    Returns:
        A function of the same arguments that gives a tree as the chosen argument, or a tuple of them where ``argnums``
        is a tuple; with ``has_aux`` ``(gradient, aux)``.

    Raises:
        RuntimeError: the function returns no scalar; an argument number is out of range.
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        gradient, rest = both(*args, **kwargs)
        return (gradient, rest[1]) if has_aux else gradient

    return wrapper


def jacrev(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Callable[..., Any]:
    """The Jacobian of a function by reverse mode: one backward pass for each element of the output.

    Args:
        func: returns a tree of tensors.
        argnums: which positional arguments to differentiate by.
        has_aux: the function returns ``(output, aux)``.
        chunk_size: how many rows are computed at once, to save memory; all if None.

    Returns:
        A function of the same arguments. It gives a tree as the output, and at each of its leaves a tree as the chosen
        argument (a tuple of them where ``argnums`` is one) of tensors of shape ``output.shape + input.shape``.
    """
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"taeda.func.jacrev: chunk_size must be positive or None; got {chunk_size}")

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        chosen = chosen_arguments(args, argnums, "jacrev")
        recorded = record(over_arguments(func, args, argnums, kwargs), chosen, has_aux, "jacrev", func)
        check_real(recorded.points, "jacrev", "inputs")
        check_real(recorded.outputs, "jacrev", "outputs")
        structure = tree_flatten(chosen)[1]
        rows = [_rows(recorded, index, chunk_size) for index in range(len(recorded.outputs))]
        blocks = [tree_unflatten(leaves, structure) for leaves in rows]
        jacobian = tree_unflatten(blocks, recorded.spec)
        return (jacobian, recorded.released(recorded.aux)) if has_aux else jacobian

    return wrapper


def _rows(recorded: Recorded, index: int, chunk_size: int | None) -> list[Tensor]:
    """The Jacobians of one output, by input."""
    output = recorded.outputs[index]
    if not output.numel() or not recorded.points:
        return [p.new_zeros(*output.shape, *p.shape) for p in recorded.points]

    def row(unit: Tensor) -> list[Tensor]:
        vectors = [unit if i == index else taeda.zeros_like(o) for i, o in enumerate(recorded.outputs)]
        return pull_back(recorded, vectors, retain_graph=True)

    rows = vmap(row, chunk_size=chunk_size)(basis(output))
    return [r.reshape((*output.shape, *p.shape)) for r, p in zip(rows, recorded.points, strict=True)]


def basis(x: Tensor) -> Tensor:
    """One in one element and zero in the others, for each element of a tensor like ``x``: (count, *shape)."""
    count = x.numel()
    return taeda.eye(count, dtype=x.dtype, device=x.device).reshape(count, *x.shape)
