"""Adam."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

from ._checks import at_least, check_betas
from ._lists import number
from ._table import Batch, TableOptimizer, step_on_lists
from .optimizer import ParamsT

__all__ = ["Adam", "adam"]


class Adam(TableOptimizer):
    """Adam: steps scaled by running means of the gradient and of its square.

    ``m`` and ``v`` are exponential means of ``g`` and ``g * g`` with rates ``betas``, corrected for starting at zero;
    ``p -= lr * m / (sqrt(v) + eps)``. ``amsgrad`` divides by the largest ``v`` so far.
    ``decoupled_weight_decay`` shrinks the parameter itself instead of adding to the gradient.
    Source: Kingma and Ba, Adam, 2015; Reddi et al., On the convergence of Adam and beyond, 2018.

    Raises:
        ValueError: an option is out of its range, or of a type that ``foreach`` and ``capturable`` exclude.
    """

    _has_native = True

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        self._check_options(lr, betas, foreach, capturable)
        at_least(type(self).__name__, 0, eps=eps, weight_decay=weight_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, defaults)

    def _check_options(self, lr: Any, betas: Any, foreach: bool | None, capturable: bool) -> None:
        owner = type(self).__name__
        check_betas(owner, betas)
        are_tensors = [isinstance(value, Tensor) for value in (lr, *betas)]
        if are_tensors[1] != are_tensors[2]:
            raise ValueError(f"{owner}: betas must be two floats or two tensors, not one of each")
        if any(isinstance(beta, Tensor) and beta.numel() != 1 for beta in betas):
            raise ValueError(f"{owner}: a tensor in betas must have one element")
        if any(are_tensors) and foreach and not capturable:
            raise ValueError(f"{owner}: lr and betas as tensors with foreach=True want capturable=True")

    def _slots(self, group: dict[str, Any]) -> tuple[str, ...]:
        return _SLOTS if group["amsgrad"] else _SLOTS[:3]

    def _rule(self, ops: Any, group: dict[str, Any], batch: Batch) -> None:
        grads, lr = batch.grads, ops.number(group["lr"])
        beta1, beta2 = (ops.number(beta) for beta in group["betas"])
        exp_avgs, exp_avg_sqs = batch.column("exp_avg"), batch.column("exp_avg_sq")
        steps = ops.steps(batch.column("step"))
        ops.lerp_(exp_avgs, grads, 1 - beta1)
        ops.mul_(exp_avg_sqs, beta2)
        ops.addcmul_(exp_avg_sqs, grads, grads, 1 - beta2)
        squares = exp_avg_sqs
        if group["amsgrad"]:
            squares = batch.column("max_exp_avg_sq")
            ops.maximum_(squares, exp_avg_sqs)
        roots = ops.div(ops.sqrt(squares), [(1 - beta2**t) ** 0.5 for t in steps])
        roots = ops.add_own(roots, group["eps"])
        ops.addcdiv_(batch.params, exp_avgs, roots, [-lr / (1 - beta1**t) for t in steps])

    def _native(self, group: dict[str, Any], batch: Batch, scaling: dict[str, Any]) -> None:
        steps = batch.column("step")
        taeda._foreach_add_(steps, 1)
        beta1, beta2 = group["betas"]
        kernel = taeda._fused_adamw_ if group["decoupled_weight_decay"] else taeda._fused_adam_
        kernel(
            batch.params,
            batch.grads,
            batch.column("exp_avg"),
            batch.column("exp_avg_sq"),
            batch.column("max_exp_avg_sq") if group["amsgrad"] else [],
            steps,
            lr=number(group["lr"]),
            beta1=number(beta1),
            beta2=number(beta2),
            weight_decay=group["weight_decay"],
            eps=group["eps"],
            amsgrad=group["amsgrad"],
            maximize=group["maximize"],
            **scaling,
        )
        if scaling.get("found_inf") is not None:  # a skipped step does not count
            taeda._foreach_sub_(steps, scaling["found_inf"].item())


_SLOTS = ("step", "exp_avg", "exp_avg_sq", "max_exp_avg_sq")


def adam(
    params: list[Tensor],
    grads: list[Tensor],
    exp_avgs: list[Tensor],
    exp_avg_sqs: list[Tensor],
    max_exp_avg_sqs: list[Tensor],
    state_steps: list[Tensor],
    foreach: bool | None = None,
    capturable: bool = False,
    differentiable: bool = False,
    fused: bool | None = None,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
    has_complex: bool = False,
    decoupled_weight_decay: bool = False,
    *,
    amsgrad: bool,
    beta1: float | Tensor,
    beta2: float | Tensor,
    lr: float | Tensor,
    weight_decay: float,
    eps: float,
    maximize: bool,
) -> None:
    """One step of `Adam` on lists, which it changes. Not for new programs: an optimiser keeps the lists itself."""
    columns: dict[str, list[Any]] = {
        "exp_avg": exp_avgs,
        "exp_avg_sq": exp_avg_sqs,
        "max_exp_avg_sq": max_exp_avg_sqs,
        "step": state_steps,
    }
    options = {
        "foreach": foreach,
        "capturable": capturable,
        "differentiable": differentiable,
        "fused": fused,
        "decoupled_weight_decay": decoupled_weight_decay,
        "amsgrad": amsgrad,
        "betas": (beta1, beta2),
        "lr": lr,
        "weight_decay": weight_decay,
        "eps": eps,
        "maximize": maximize,
    }
    step_on_lists(Adam, params, grads, columns, options, grad_scale=grad_scale, found_inf=found_inf)
