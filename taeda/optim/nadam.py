"""NAdam."""

from __future__ import annotations

from typing import Any

from taeda import Tensor

from ._checks import at_least, check_betas
from ._lists import numbers
from ._table import Batch, TableOptimizer, step_on_lists
from .optimizer import ParamsT

__all__ = ["NAdam", "nadam"]


class NAdam(TableOptimizer):
    """NAdam: Adam with Nesterov momentum of the rate ``beta1 * (1 - 0.5 * 0.96**(t * momentum_decay))``.

    Source: Dozat, Incorporating Nesterov momentum into Adam, 2016.

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
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_betas("NAdam", betas)
        at_least("NAdam", 0, eps=eps, weight_decay=weight_decay, momentum_decay=momentum_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _slots(self, group: dict[str, Any]) -> tuple[str, ...]:
        return ("step", "mu_product", "exp_avg", "exp_avg_sq")

    def _fresh(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {**super()._fresh(p, group), "mu_product": self._count(p, group, 1.0)}

    def _rule(self, ops: Any, group: dict[str, Any], batch: Batch) -> None:
        grads, lr, decay = batch.grads, ops.number(group["lr"]), group["momentum_decay"]
        beta1, beta2 = group["betas"]
        means, squares = batch.column("exp_avg"), batch.column("exp_avg_sq")
        products = batch.column("mu_product")
        steps = ops.steps(batch.column("step"))
        now = [beta1 * (1 - 0.5 * 0.96 ** (t * decay)) for t in steps]
        following = [beta1 * (1 - 0.5 * 0.96 ** ((t + 1) * decay)) for t in steps]
        ops.mul_(products, now)
        products = numbers(products)
        ops.lerp_(means, grads, 1 - beta1)
        ops.mul_(squares, beta2)
        ops.addcmul_(squares, grads, grads, 1 - beta2)
        roots = ops.sqrt(ops.div(squares, [1 - beta2**t for t in steps]))
        roots = ops.add_own(roots, group["eps"])
        of_grad = [-lr * (1 - mu) / (1 - done) for mu, done in zip(now, products, strict=True)]
        of_mean = [-lr * mu / (1 - done * mu) for mu, done in zip(following, products, strict=True)]
        ops.addcdiv_(batch.params, grads, roots, of_grad)
        ops.addcdiv_(batch.params, means, roots, of_mean)


def nadam(
    params: list[Tensor],
    grads: list[Tensor],
    exp_avgs: list[Tensor],
    exp_avg_sqs: list[Tensor],
    mu_products: list[Tensor],
    state_steps: list[Tensor],
    decoupled_weight_decay: bool = False,
    foreach: bool | None = None,
    capturable: bool = False,
    differentiable: bool = False,
    has_complex: bool = False,
    maximize: bool = False,
    *,
    beta1: float | Tensor,
    beta2: float | Tensor,
    lr: float | Tensor,
    weight_decay: float,
    momentum_decay: float,
    eps: float,
) -> None:
    """One step of `NAdam` on lists, which it changes. Not for new programs: an optimiser keeps the lists itself."""
    columns: dict[str, list[Any]] = {
        "exp_avg": exp_avgs,
        "exp_avg_sq": exp_avg_sqs,
        "mu_product": mu_products,
        "step": state_steps,
    }
    options = {
        "decoupled_weight_decay": decoupled_weight_decay,
        "foreach": foreach,
        "capturable": capturable,
        "differentiable": differentiable,
        "maximize": maximize,
        "betas": (beta1, beta2),
        "lr": lr,
        "weight_decay": weight_decay,
        "momentum_decay": momentum_decay,
        "eps": eps,
    }
    step_on_lists(NAdam, params, grads, columns, options)
