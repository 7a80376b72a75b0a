"""Jacobians as ``gradcheck`` once gave them, which tests of older programs call."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import taeda
from taeda import Tensor


def get_numerical_jacobian(
    fn: Callable[..., Any], inputs: Any, target: Any = None, eps: float = 1e-3, grad_out: float = 1.0
) -> list[Tensor]:
    """The Jacobians of the first output of ``fn(inputs)``, by central differences: rows run over an input's elements.

    Args:
        fn: takes the inputs as one tuple.
        inputs: a tensor or a tuple of them; those that require gradients are meant.
        target: the inputs to differentiate by; all if None.
        eps: the step.
        grad_out: must be 1.

    Raises:
        ValueError: ``grad_out`` is something else.
    """
    _told("get_numerical_jacobian", grad_out)
    return [columns[0] for columns in _get_numerical_jacobian(fn, inputs, None, target, eps)]


def _get_numerical_jacobian(
    fn: Callable[..., Any], inputs: Any, outputs: Any = None, target: Any = None, eps: float = 1e-3
) -> list[list[Tensor]]:
    """For each input a list with one Jacobian for each output."""
    meant = _tensors(inputs if target is None else target)
    return [_by_differences(fn, inputs, x, eps) for x in meant if x.requires_grad]


def _by_differences(fn: Callable[..., Any], inputs: Any, x: Tensor, eps: float) -> list[Tensor]:
    rows: list[list[Tensor]] = []
    data = x.data  # shares memory, and autograd does not see the changes
    for index in range(x.numel()):
        place = taeda.zeros(x.numel(), dtype=x.dtype)
        place[index] = eps
        original, step = data.clone(), place.view(x.shape)
        sides = [_outputs_at(fn, inputs, data, original + sign * step) for sign in (1, -1)]
        data.copy_(original)
        rows.append([(a - b).reshape(-1) / (2 * eps) for a, b in zip(*sides, strict=True)])
    return [taeda.stack(column) for column in zip(*rows, strict=True)]


def _outputs_at(fn: Callable[..., Any], inputs: Any, data: Tensor, values: Tensor) -> list[Tensor]:
    data.copy_(values)
    return [output.detach().clone() for output in _tensors(fn(inputs))]


def get_analytical_jacobian(
    inputs: Any, output: Tensor, nondet_tol: float = 0.0, grad_out: float = 1.0
) -> tuple[tuple[Tensor, ...], bool, bool, bool]:
    """The Jacobians of ``output`` by backward passes; whether two passes agree within ``nondet_tol``; whether
    gradients have their inputs' sizes, and their dtypes. ValueError unless ``grad_out`` is 1."""
    _told("get_analytical_jacobian", grad_out)
    meant = [x for x in _tensors(inputs) if x.requires_grad]
    passes = [[_gradients(output, meant, index) for index in range(output.numel())] for _ in range(2)]
    once, again = ([taeda.stack([g.reshape(-1) for g in row], 1) for row in zip(*p, strict=True)] for p in passes)
    agree = all(float((a - b).abs().max()) <= nondet_tol for a, b in zip(once, again, strict=True) if a.numel())
    fits = [all(g.shape == x.shape for g, x in zip(row, meant, strict=True)) for row in passes[0]]
    typed = [all(g.dtype == x.dtype for g, x in zip(row, meant, strict=True)) for row in passes[0]]
    return tuple(once), agree, all(fits), all(typed)


def _gradients(output: Tensor, inputs: Sequence[Tensor], index: int) -> list[Tensor]:
    seed = taeda.zeros_like(output, memory_format=taeda.contiguous_format)
    seed.view(-1)[index] = 1
    found = taeda.autograd.grad(output, inputs, seed, retain_graph=True, allow_unused=True)
    return [taeda.zeros_like(x) if g is None else g for g, x in zip(found, inputs, strict=True)]


def _tensors(tree: Any) -> list[Tensor]:
    items = tree if isinstance(tree, (tuple, list)) else [tree]
    return [item for item in items if isinstance(item, Tensor)]


def _iter_tensors(x: Any, only_requiring_grad: bool = False) -> Iterator[Tensor]:
    """The tensors of nested tuples and lists."""
    if isinstance(x, Tensor):
        if x.requires_grad or not only_requiring_grad:
            yield x
    elif isinstance(x, (tuple, list)):
        for item in x:
            yield from _iter_tensors(item, only_requiring_grad)


def _told(name: str, grad_out: float) -> None:
    warnings.warn(f"taeda.autograd.gradcheck.{name}: is left over; gradcheck checks gradients, func.jacrev gives them",
                  FutureWarning, stacklevel=3)  # fmt: skip
    if grad_out != 1.0:
        raise ValueError(f"taeda.autograd.gradcheck.{name}: grad_out must be 1; got {grad_out}")
