"""Adafactor."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

from ._checks import at_least
from ._table import Batch, TableOptimizer
from .optimizer import ParamsT

__all__ = ["Adafactor"]


class Adafactor(TableOptimizer):
    """Adafactor: for a matrix it keeps the row and column means of squared gradients in place of the whole square.

    The rate of the means is ``t**beta2_decay``; the step is ``g`` over the root of the rank-one estimate, cut to a
    root mean square of ``d``, times ``min(lr, 1 / sqrt(t)) * max(eps[1], rms(p))``. ``eps[0]`` bounds the estimate
    from below (the dtype's machine epsilon if None).
    Source: Shazeer and Stern, Adafactor: adaptive learning rates with sublinear memory cost, 2018.

    Raises:
        ValueError: an option is out of its range.
        RuntimeError: a parameter is complex.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        at_least("Adafactor", 0, weight_decay=weight_decay, **{"eps[1]": eps[1]})
        at_least("Adafactor", 1, d=d)
        if beta2_decay > 0:
            raise ValueError(f"Adafactor: beta2_decay must be 0 or less; got {beta2_decay}")
        if eps[0] is not None:
            at_least("Adafactor", 0, **{"eps[0]": eps[0]})
        defaults = {
            "lr": lr,
            "beta2_decay": beta2_decay,
            "eps": eps,
            "d": d,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def _slots(self, group: dict[str, Any]) -> tuple[str, ...]:
        return ("step",)

    def _fresh(self, p: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        if taeda.is_complex(p):
            raise RuntimeError(f"Adafactor: does not support complex parameters; got {p.dtype}")
        step = self._count(p, group)
        if p.dim() < 2:
            return {"step": step, "variance": taeda.zeros_like(p)}
        rows, columns = p.new_zeros((*p.shape[:-1], 1)), p.new_zeros((*p.shape[:-2], 1, p.shape[-1]))
        return {"step": step, "row_var": rows, "col_var": columns}

    @staticmethod
    def _prepare(ops: Any, group: dict[str, Any], batch: Batch) -> None:
        if group["maximize"]:
            batch.grads = ops.neg(batch.grads)

    def _rule(self, ops: Any, group: dict[str, Any], batch: Batch) -> None:
        lr, steps = ops.number(group["lr"]), ops.steps(batch.column("step"))
        for p, grad, state, t in zip(batch.params, batch.grads, batch.states, steps, strict=True):
            floor, smallest = group["eps"]
            floor = taeda.finfo(p.dtype).eps if floor is None else floor
            variance = _second_moment(grad, state, t ** group["beta2_decay"], floor)
            update = grad * variance.clamp_(min=floor * floor).rsqrt_()
            scale = max(smallest, _rms(p)) * min(lr, t**-0.5)  # by the size before the decay
            if group["weight_decay"] != 0:
                p.mul_(1 - lr * group["weight_decay"])
            p.add_(update, alpha=-scale / max(1.0, _rms(update) / group["d"]))


def _second_moment(grad: Tensor, state: dict[str, Any], rate: float, floor: float) -> Tensor:
    """Advances the running means in ``state`` and returns the estimate of the mean of ``grad * grad``."""
    if grad.dim() < 2:
        return state["variance"].lerp_(grad * grad, rate).clone()
    rows, columns = state["row_var"], state["col_var"]
    rows.lerp_(grad.norm(dim=-1, keepdim=True).square_().div_(grad.size(-1)), rate)
    columns.lerp_(grad.norm(dim=-2, keepdim=True).square_().div_(grad.size(-2)), rate)
    return (rows @ columns).div_(rows.mean(dim=-2, keepdim=True).clamp_(min=floor))


def _rms(x: Tensor) -> float:
    return x.norm(2).item() / x.numel() ** 0.5
