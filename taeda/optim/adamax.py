"""Adamax."""

from __future__ import annotations

from typing import Any

from taeda import Tensor

from ._checks import at_least, check_betas
from ._table import Batch, TableOptimizer, step_on_lists
from .optimizer import ParamsT

__all__ = ["Adamax", "adamax"]


class Adamax(TableOptimizer):
    """Adamax: Adam with the infinity norm in place of the root of squares.

    ``m`` is a running mean of ``g``; ``u = max(beta2 * u, |g| + eps)``; ``p -= lr / (1 - beta1**t) * m / u``.
    Source: Kingma and Ba, Adam, 2015, section 7.1.

    Raises:
        ValueError: an option is out of its range.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_betas("Adamax", betas)
        at_least("Adamax", 0, eps=eps, weight_decay=weight_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _slots(self, group: dict[str, Any]) -> tuple[str, ...]:
        return ("step", "exp_avg", "exp_inf")

    def _rule(self, ops: Any, group: dict[str, Any], batch: Batch) -> None:
        grads, lr = batch.grads, ops.number(group["lr"])
        beta1, beta2 = group["betas"]
        means, norms = batch.column("exp_avg"), batch.column("exp_inf")
        steps = ops.steps(batch.column("step"))
        ops.lerp_(means, grads, 1 - beta1)
        ops.mul_(norms, beta2)
        ops.maximum_(norms, ops.add_own(ops.abs(grads), group["eps"]))
        ops.addcdiv_(batch.params, means, norms, [-lr / (1 - beta1**t) for t in steps])


def adamax(
    params: list[Tensor],
    grads: list[Tensor],
    exp_avgs: list[Tensor],
    exp_infs: list[Tensor],
    state_steps: list[Tensor],
    foreach: bool | None = None,
    maximize: bool = False,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    *,
    eps: float,
    beta1: float | Tensor,
    beta2: float | Tensor,
    lr: float | Tensor,
    weight_decay: float,
) -> None:
    """One step of `Adamax` on lists, which it changes. Not for new programs: an optimiser keeps the lists itself."""
    columns: dict[str, list[Any]] = {"exp_avg": exp_avgs, "exp_inf": exp_infs, "step": state_steps}
    options = {
        "foreach": foreach,
        "maximize": maximize,
        "differentiable": differentiable,
        "capturable": capturable,
        "eps": eps,
        "betas": (beta1, beta2),
        "lr": lr,
        "weight_decay": weight_decay,
    }
    step_on_lists(Adamax, params, grads, columns, options)
