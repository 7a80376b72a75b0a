"""RAdam."""

from __future__ import annotations

from typing import Any

from taeda import Tensor

from ._checks import at_least, check_betas
from ._table import Batch, TableOptimizer, step_on_lists
from .optimizer import ParamsT

__all__ = ["RAdam", "radam"]


class RAdam(TableOptimizer):
    """RAdam: Adam that corrects the variance of its first steps, with plain momentum steps while it is unknown.

    With ``r_inf = 2 / (1 - beta2) - 1`` and ``r = r_inf - 2 * t * beta2**t / (1 - beta2**t)``, the adaptive step is
    used once ``r > 5``, scaled by the root of ``(r - 4)(r - 2) r_inf / ((r_inf - 4)(r_inf - 2) r)``.
    Source: Liu et al., On the variance of the adaptive learning rate and beyond, 2020.

    Raises:
        ValueError: an option is out of its range.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_betas("RAdam", betas)
        at_least("RAdam", 0, eps=eps, weight_decay=weight_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "decoupled_weight_decay": decoupled_weight_decay,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _slots(self, group: dict[str, Any]) -> tuple[str, ...]:
        return ("step", "exp_avg", "exp_avg_sq")

    def _rule(self, ops: Any, group: dict[str, Any], batch: Batch) -> None:
        grads, lr = batch.grads, ops.number(group["lr"])
        beta1, beta2 = group["betas"]
        means, squares = batch.column("exp_avg"), batch.column("exp_avg_sq")
        steps = ops.steps(batch.column("step"))
        ops.lerp_(means, grads, 1 - beta1)
        ops.mul_(squares, beta2)
        ops.addcmul_(squares, grads, grads, 1 - beta2)
        scales = [_adaptive_and_plain(t, beta2) for t in steps]
        roots = ops.add_own(ops.sqrt(squares), group["eps"])
        factors = ops.add_own(ops.mul(ops.reciprocal(roots), [a for a, _ in scales]), [b for _, b in scales])
        means = ops.mul(means, [-lr / (1 - beta1**t) for t in steps])
        ops.addcmul_(batch.params, means, factors)


def _adaptive_and_plain(t: Any, beta2: float) -> tuple[Any, Any]:
    """The weights of ``1 / sqrt(v)`` and of 1 in the step's factor: one of them is 0."""
    decayed = beta2**t
    longest = 2 / (1 - beta2) - 1
    length = longest - 2 * t * decayed / (1 - decayed)
    enough = length > 5.0
    # The clamp keeps the root real where its value is not used, so that a count on an accelerator needs no branch.
    usable = length * enough + 5.0 * (1 - 1 * enough)
    rectified = (usable - 4) * (usable - 2) * longest / ((longest - 4) * (longest - 2) * usable)
    return 1 * enough * (rectified * (1 - decayed)) ** 0.5, 1.0 - 1 * enough


def radam(
    params: list[Tensor],
    grads: list[Tensor],
    exp_avgs: list[Tensor],
    exp_avg_sqs: list[Tensor],
    state_steps: list[Tensor],
    decoupled_weight_decay: bool = False,
    foreach: bool | None = None,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    maximize: bool = False,
    *,
    beta1: float | Tensor,
    beta2: float | Tensor,
    lr: float | Tensor,
    weight_decay: float,
    eps: float,
) -> None:
    """One step of `RAdam` on lists, which it changes. Not for new programs: an optimiser keeps the lists itself."""
    columns: dict[str, list[Any]] = {"exp_avg": exp_avgs, "exp_avg_sq": exp_avg_sqs, "step": state_steps}
    options = {
        "decoupled_weight_decay": decoupled_weight_decay,
        "foreach": foreach,
        "differentiable": differentiable,
        "capturable": capturable,
        "maximize": maximize,
        "betas": (beta1, beta2),
        "lr": lr,
        "weight_decay": weight_decay,
        "eps": eps,
    }
    step_on_lists(RAdam, params, grads, columns, options)
