"""ASGD."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

from ._checks import at_least
from ._lists import numbers
from ._table import Batch, TableOptimizer, step_on_lists
from .optimizer import ParamsT

__all__ = ["ASGD", "asgd"]


class ASGD(TableOptimizer):
    """Averaged SGD: SGD with a decaying rate, and in ``state[p]["ax"]`` the mean of the parameters from step ``t0`` on.

    ``p *= 1 - lambd * eta``, ``p -= eta * g``, ``eta = lr / (1 + lambd * lr * t)**alpha``.
    Source: Polyak and Juditsky, Acceleration of stochastic approximation by averaging, 1992.

    Raises:
        ValueError: ``lr`` or ``weight_decay`` is negative.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        at_least("ASGD", 0, weight_decay=weight_decay)
        defaults = {
            "lr": lr,
            "lambd": lambd,
            "alpha": alpha,
            "t0": t0,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _slots(self, group: dict[str, Any]) -> tuple[str, ...]:
        return ("step", "eta", "mu", "ax")

    def _fresh(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        eta = self._count(p, group, float(group["lr"]))
        return {**super()._fresh(p, group), "eta": eta, "mu": self._count(p, group, 1.0)}

    def _rule(self, ops: Any, group: dict[str, Any], batch: Batch) -> None:
        lr, lambd = ops.number(group["lr"]), group["lambd"]
        etas, mus, averages = batch.column("eta"), batch.column("mu"), batch.column("ax")
        steps = ops.steps(batch.column("step"))
        eta = numbers(etas)
        ops.mul_(batch.params, [1 - lambd * e for e in eta])
        ops.add_(batch.params, ops.mul(batch.grads, [-e for e in eta]))
        distances = ops.sub(batch.params, averages)
        ops.add_(averages, ops.mul(distances, numbers(mus)))
        for t, e, m in zip(steps, etas, mus, strict=True):
            e.copy_(taeda.as_tensor(lr / (1 + lambd * lr * t) ** group["alpha"]))
            m.copy_(1 / taeda.as_tensor(t - group["t0"]).clamp(min=1.0))


def asgd(
    params: list[Tensor],
    grads: list[Tensor],
    axs: list[Tensor],
    mus: list[Tensor],
    etas: list[Tensor],
    state_steps: list[Tensor],
    foreach: bool | None = None,
    maximize: bool = False,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    *,
    lambd: float,
    lr: float | Tensor,
    t0: float,
    alpha: float,
    weight_decay: float,
) -> None:
    """One step of `ASGD` on lists, which it changes. Not for new programs: an optimiser keeps the lists itself."""
    columns: dict[str, list[Any]] = {"ax": axs, "mu": mus, "eta": etas, "step": state_steps}
    options = {
        "foreach": foreach,
        "maximize": maximize,
        "differentiable": differentiable,
        "capturable": capturable,
        "lambd": lambd,
        "lr": lr,
        "t0": t0,
        "alpha": alpha,
        "weight_decay": weight_decay,
    }
    step_on_lists(ASGD, params, grads, columns, options)
