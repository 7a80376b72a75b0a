"""Rprop."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

from ._table import Batch, TableOptimizer, step_on_lists
from .optimizer import ParamsT

__all__ = ["Rprop", "rprop"]


class Rprop(TableOptimizer):
    """Resilient backpropagation: each element has its own step size, which follows the sign of its gradient only.

    While the sign stays the size grows by ``etas[1]``; when it flips the size shrinks by ``etas[0]`` and the element
    rests for one step. Sizes start at ``lr`` and stay within ``step_sizes``.
    Source: Riedmiller and Braun, A direct adaptive method for faster backpropagation learning, 1993.

    Raises:
        ValueError: ``lr`` is negative, or not ``0 < etas[0] < 1 < etas[1]``.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        if not 0 < etas[0] < 1 < etas[1]:
            raise ValueError(f"Rprop: etas must satisfy 0 < etas[0] < 1 < etas[1]; got {etas}")
        defaults = {
            "lr": lr,
            "etas": etas,
            "step_sizes": step_sizes,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _slots(self, group: dict[str, Any]) -> tuple[str, ...]:
        return ("step", "prev", "step_size")

    def _fresh(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        lr = float(group["lr"])
        size = taeda.full_like(p, complex(lr, lr) if taeda.is_complex(p) else lr)
        return {**super()._fresh(p, group), "step_size": size}

    def _rule(self, ops: Any, group: dict[str, Any], batch: Batch) -> None:
        shrink, grow = group["etas"]
        low, high = group["step_sizes"]
        ops.steps(batch.column("step"))
        previous, sizes = batch.column("prev"), batch.column("step_size")
        agreement = ops.mul(batch.grads, previous)
        for i, (grad, agrees) in enumerate(zip(batch.grads, agreement, strict=True)):
            flipped = agrees < 0
            factor = taeda.ones_like(sizes[i]).masked_fill(agrees > 0, grow).masked_fill(flipped, shrink)
            sizes[i].copy_((sizes[i] * factor).clamp(low, high))
            previous[i].copy_(grad.masked_fill(flipped, 0))
        moves = [taeda.sign(last) * size for last, size in zip(previous, sizes, strict=True)]
        ops.add_(batch.params, moves, alpha=-1)


def rprop(
    params: list[Tensor],
    grads: list[Tensor],
    prevs: list[Tensor],
    step_sizes: list[Tensor],
    state_steps: list[Tensor],
    foreach: bool | None = None,
    capturable: bool = False,
    maximize: bool = False,
    differentiable: bool = False,
    has_complex: bool = False,
    *,
    step_size_min: float,
    step_size_max: float,
    etaminus: float,
    etaplus: float,
) -> None:
    """One step of `Rprop` on lists, which it changes. Not for new programs: an optimiser keeps the lists itself."""
    columns: dict[str, list[Any]] = {"prev": prevs, "step_size": step_sizes, "step": state_steps}
    options = {
        "foreach": foreach,
        "capturable": capturable,
        "maximize": maximize,
        "differentiable": differentiable,
        "step_sizes": (step_size_min, step_size_max),
        "etas": (etaminus, etaplus),
    }
    step_on_lists(Rprop, params, grads, columns, options)
