"""RMSprop."""

from __future__ import annotations

from typing import Any

from taeda import Tensor

from ._checks import at_least
from ._table import Batch, TableOptimizer, step_on_lists
from .optimizer import ParamsT

__all__ = ["RMSprop", "rmsprop"]


class RMSprop(TableOptimizer):
    """RMSprop: the gradient divided by the root of a running mean of its square.

    ``v = alpha * v + (1 - alpha) * g * g``; ``p -= lr * g / (sqrt(v) + eps)``, or with ``momentum`` through a buffer of
    those quotients. ``centered`` subtracts the square of a running mean of ``g`` from ``v``.
    Source: Hinton, Neural networks for machine learning, lecture 6, 2012; Graves, arXiv:1308.0850 (centered).

    Raises:
        ValueError: an option is negative.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        at_least("RMSprop", 0, eps=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha)
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "alpha": alpha,
            "eps": eps,
            "centered": centered,
            "weight_decay": weight_decay,
            "capturable": capturable,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _slots(self, group: dict[str, Any]) -> tuple[str, ...]:
        buffer = ("momentum_buffer",) if group["momentum"] > 0 else ()
        return ("step", "square_avg", *buffer, *(("grad_avg",) if group["centered"] else ()))

    def _rule(self, ops: Any, group: dict[str, Any], batch: Batch) -> None:
        grads, lr, alpha = batch.grads, ops.number(group["lr"]), group["alpha"]
        ops.steps(batch.column("step"))
        squares = batch.column("square_avg")
        ops.mul_(squares, alpha)
        ops.addcmul_(squares, grads, grads, 1 - alpha)
        if group["centered"]:
            means = batch.column("grad_avg")
            ops.lerp_(means, grads, 1 - alpha)
            squares = ops.sub(squares, ops.mul(means, means))
        roots = ops.add_own(ops.sqrt(squares), group["eps"])
        if group["momentum"] > 0:
            buffers = batch.column("momentum_buffer")
            ops.mul_(buffers, group["momentum"])
            ops.addcdiv_(buffers, grads, roots)
            ops.add_(batch.params, buffers, alpha=-lr)
        else:
            ops.addcdiv_(batch.params, grads, roots, -lr)


def rmsprop(
    params: list[Tensor],
    grads: list[Tensor],
    square_avgs: list[Tensor],
    grad_avgs: list[Tensor],
    momentum_buffer_list: list[Tensor],
    state_steps: list[Tensor],
    foreach: bool | None = None,
    maximize: bool = False,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    *,
    lr: float | Tensor,
    alpha: float,
    eps: float,
    weight_decay: float,
    momentum: float,
    centered: bool,
) -> None:
    """One step of `RMSprop` on lists, which it changes. Not for new programs: an optimiser keeps the lists itself."""
    columns: dict[str, list[Any]] = {
        "square_avg": square_avgs,
        "grad_avg": grad_avgs,
        "momentum_buffer": momentum_buffer_list,
        "step": state_steps,
    }
    options = {
        "foreach": foreach,
        "maximize": maximize,
        "differentiable": differentiable,
        "capturable": capturable,
        "lr": lr,
        "alpha": alpha,
        "eps": eps,
        "weight_decay": weight_decay,
        "momentum": momentum,
        "centered": centered,
    }
    step_on_lists(RMSprop, params, grads, columns, options)
