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
        ValueError: ``grad_out`` is something else, or an output is complex.
    """
    _told("get_numerical_jacobian", grad_out)
    return [columns[0] for columns in _get_numerical_jacobian(lambda *xs: fn(xs), inputs, None, target, eps)]


def _get_numerical_jacobian(
    fn: Callable[..., Any], inputs: Any, outputs: Any = None, target: Any = None, eps: float = 1e-3
) -> list[list[Tensor]]:
    """For each input a list with one Jacobian for each output of ``fn(*inputs)``."""
    inputs = inputs if isinstance(inputs, (tuple, list)) else (inputs,)
    meant = [x for x in _tensors(inputs if target is None else target) if x.requires_grad]
    shown = _tensors(fn(*inputs) if outputs is None else outputs)
    for output in shown:
        _check_real(output, "get_numerical_jacobian")
    return [_by_differences(fn, inputs, x, shown, eps) for x in meant]


def _by_differences(fn: Callable[..., Any], inputs: Any, x: Tensor, outputs: list[Tensor], eps: float) -> list[Tensor]:
    made = [x.detach().new_zeros(x.numel(), output.numel()) for output in outputs]
    data = x.data  # shares memory, and autograd does not see the changes
    original = data.clone()
    for index in range(x.numel()):
        for part in (1, 1j) if x.is_complex() else (1,):
            step = taeda.zeros_like(original, memory_format=taeda.contiguous_format)
            step.view(-1)[index] = part * eps
            sides = [_outputs_at(fn, inputs, data, original + sign * step) for sign in (1, -1)]
            data.copy_(original)
            for jacobian, a, b in zip(made, *sides, strict=True):
                jacobian[index] += part * (a - b).reshape(-1) / (2 * eps)
    return made


def _outputs_at(fn: Callable[..., Any], inputs: Any, data: Tensor, values: Tensor) -> list[Tensor]:
    data.copy_(values)
    return [output.detach().clone() for output in _tensors(fn(*inputs))]


def get_analytical_jacobian(
    inputs: Any, output: Tensor, nondet_tol: float = 0.0, grad_out: float = 1.0
) -> tuple[tuple[Tensor, ...], bool, bool, bool]:
    """The Jacobians of ``output`` by backward passes; whether two passes agree within ``nondet_tol``; whether
    gradients have their inputs' sizes, and their dtypes. ValueError unless ``grad_out`` is 1 and ``output`` real."""
    _told("get_analytical_jacobian", grad_out)
    _check_real(output, "get_analytical_jacobian")
    meant = [x for x in _tensors(inputs) if x.requires_grad]
    passes = [[_gradients(output, meant, index) for index in range(output.numel())] for _ in range(2)]
    once, again = ([_columns([row[i] for row in rows], x) for i, x in enumerate(meant)] for rows in passes)
    agree = all(float((a - b).abs().max()) <= nondet_tol for a, b in zip(once, again, strict=True) if a.numel())
    pairs = [(g, x) for row in passes[0] for g, x in zip(row, meant, strict=True)]
    return tuple(once), agree, all(g.shape == x.shape for g, x in pairs), all(g.dtype == x.dtype for g, x in pairs)


def _columns(gradients: list[Tensor], x: Tensor) -> Tensor:
    """The Jacobian of the gradients of an input, of which there may be none."""
    return taeda.stack([g.reshape(-1) for g in gradients], 1) if gradients else x.detach().new_zeros(x.numel(), 0)


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


def _check_real(output: Tensor, name: str) -> None:
    if output.is_complex():
        raise ValueError(f"taeda.autograd.gradcheck.{name}: takes real outputs only; got {output.dtype}")
