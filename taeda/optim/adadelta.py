"""Adadelta."""

from __future__ import annotations

from typing import Any

from taeda import Tensor

from ._checks import at_least
from ._table import Batch, TableOptimizer, step_on_lists
from .optimizer import ParamsT

__all__ = ["Adadelta", "adadelta"]


class Adadelta(TableOptimizer):
    """Adadelta: steps in the units of the parameter, from running means of squared gradients and squared steps.

    ``v = rho * v + (1 - rho) * g * g``; ``d = sqrt(u + eps) / sqrt(v + eps) * g``; ``u`` is the same mean of ``d * d``;
    ``p -= lr * d``. Source: Zeiler, arXiv:1212.5701.

    Raises:
        ValueError: an option is negative, or ``rho`` above 1.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        at_least("Adadelta", 0, rho=rho, eps=eps, weight_decay=weight_decay)
        if rho > 1:
            raise ValueError(f"Adadelta: rho must be at most 1; got {rho}")
        defaults = {
            "lr": lr,
            "rho": rho,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "capturable": capturable,
            "foreach": foreach,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _slots(self, group: dict[str, Any]) -> tuple[str, ...]:
        return ("step", "square_avg", "acc_delta")

    def _rule(self, ops: Any, group: dict[str, Any], batch: Batch) -> None:
        grads, rho, eps = batch.grads, group["rho"], group["eps"]
        ops.steps(batch.column("step"))
        squares, moves = batch.column("square_avg"), batch.column("acc_delta")
        ops.mul_(squares, rho)
        ops.addcmul_(squares, grads, grads, 1 - rho)
        roots = ops.sqrt(ops.add(squares, eps))
        deltas = ops.mul(ops.div(ops.sqrt(ops.add(moves, eps)), roots), grads)
        ops.mul_(moves, rho)
        ops.addcmul_(moves, deltas, deltas, 1 - rho)
        ops.add_(batch.params, deltas, alpha=-ops.number(group["lr"]))


def adadelta(
    params: list[Tensor],
    grads: list[Tensor],
    square_avgs: list[Tensor],
    acc_deltas: list[Tensor],
    state_steps: list[Tensor],
    capturable: bool = False,
    foreach: bool | None = None,
    differentiable: bool = False,
    has_complex: bool = False,
    *,
    lr: float | Tensor,
    rho: float,
    eps: float,
    weight_decay: float,
    maximize: bool,
) -> None:
    """One step of `Adadelta` on lists, which it changes. Not for new programs: an optimiser keeps the lists itself."""
    columns: dict[str, list[Any]] = {"square_avg": square_avgs, "acc_delta": acc_deltas, "step": state_steps}
    options = {
        "capturable": capturable,
        "foreach": foreach,
        "differentiable": differentiable,
        "lr": lr,
        "rho": rho,
        "eps": eps,
        "weight_decay": weight_decay,
        "maximize": maximize,
    }
    step_on_lists(Adadelta, params, grads, columns, options)
