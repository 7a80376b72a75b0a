"""A branch."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor
from taeda._control_flow.capture import current_capture, recorders
from taeda.utils import _pytree as pytree


def cond(
    pred: bool | int | float | Tensor,
    true_fn: Callable[..., Any],
    false_fn: Callable[..., Any],
    operands: tuple[Any, ...] | list[Any] = (),
) -> Any:
    """``true_fn(*operands)`` if ``pred``, else ``false_fn(*operands)``.

    Args:
        pred: a truth value, or a tensor of one element.
        true_fn: takes the operands.
        false_fn: takes the operands, and returns what ``true_fn`` might have returned.
        operands: tensors, or containers of tensors.

    Raises:
        RuntimeError: an argument is of another kind, or ``pred`` has several elements.
    """
    if not isinstance(pred, (bool, int, float, Tensor, taeda.SymBool, taeda.SymInt)):
        raise RuntimeError(f"taeda.cond: pred must be a bool or a tensor of one element; got {type(pred).__name__}")
    if isinstance(pred, Tensor) and pred.numel() != 1:
        raise RuntimeError(f"taeda.cond: pred must have one element; got shape {tuple(pred.shape)}")
    if not callable(true_fn) or not callable(false_fn):
        raise RuntimeError("taeda.cond: true_fn and false_fn must be callable")
    leaves = pytree.tree_leaves(operands) if isinstance(operands, (tuple, list)) else [None]
    if not all(isinstance(leaf, (Tensor, int, taeda.SymInt)) for leaf in leaves):
        raise RuntimeError(f"taeda.cond: operands must be a tuple of containers of tensors; got {operands!r}")
    capture = current_capture()
    if capture is not None and isinstance(pred, (Tensor, taeda.SymBool)):
        return recorders["cond"](capture, pred, true_fn, false_fn, tuple(operands))
    if capture is not None and isinstance(pred, (bool, int, float)):
        warnings.warn(
            f"taeda.cond: pred is {pred!r}, the same at each run of what is recorded, which holds that branch alone; a "
            "tensor, or a condition on sizes, would keep both",
            stacklevel=2,
        )
    return true_fn(*operands) if bool(pred) else false_fn(*operands)


cond_op = cond  # what classes of tensors that look at each call compare with
