"""Adam for gradients of which most rows are zero."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

from ._checks import at_least
from .optimizer import Optimizer, ParamsT

__all__ = ["SparseAdam"]


class SparseAdam(Optimizer):
    """Adam that moves only what a sparse gradient names: the moments of all else rest, and do not fade.

    With ``g`` the stored values of the coalesced gradient, at their places only: ``m += (1 - beta1) * (g - m)``,
    ``v += (1 - beta2) * (g * g - v)`` and ``p -= lr * sqrt(1 - beta2**t) / (1 - beta1**t) * m / (sqrt(v) + eps)``.
    Source: Kingma and Ba, Adam: a method for stochastic optimization, 2015, made lazy.

    Args:
        params: dense parameters, whose gradients must be sparse in coordinates.
        lr, betas, eps: as of Adam.
        maximize: go uphill.

    Raises:
        ValueError: an option is out of range, or a parameter is sparse or complex.
    """

    def __init__(self, params: ParamsT, lr: float | Tensor = 1e-3, betas: tuple[float, float] = (0.9, 0.999),
                 eps: float = 1e-8, maximize: bool = False) -> None:  # fmt: skip
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError(f"SparseAdam: lr must have one element; got shape {tuple(lr.shape)}")
        if not lr > 0:
            raise ValueError(f"SparseAdam: lr must be positive; got {lr}")
        if not eps > 0:
            raise ValueError(f"SparseAdam: eps must be positive; got {eps}")
        at_least("SparseAdam", 0, beta1=betas[0], beta2=betas[1])
        if max(betas) >= 1:
            raise ValueError(f"SparseAdam: betas must be below 1; got {betas}")
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        for group in self.param_groups:
            if any(p.layout != taeda.strided for p in group["params"]):
                raise ValueError("SparseAdam: parameters must be dense; it is their gradients that are sparse")
            if any(p.is_complex() for p in group["params"]):
                raise ValueError("SparseAdam: parameters must be real; Adam takes complex ones, with dense gradients")

    def step(self, closure: Any = None) -> Any:
        """Does one update of every parameter that has a gradient; returns what ``closure`` returns.

        Raises RuntimeError where a gradient is dense.
        """
        loss = None
        if closure is not None:
            with taeda.enable_grad():
                loss = closure()
        with taeda.no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        self._update(group, p, p.grad)
        return loss

    def _update(self, group: dict[str, Any], p: Tensor, grad: Tensor) -> None:
        if not grad.is_sparse:
            raise RuntimeError("SparseAdam: gradients must be sparse in coordinates; Adam takes dense ones")
        state = self.state[p]
        if not state:
            state.update(step=0, exp_avg=taeda.zeros_like(p), exp_avg_sq=taeda.zeros_like(p))
        state["step"] += 1
        grad = grad.coalesce()
        values, places = grad.values(), tuple(grad.indices())
        if not values.numel():
            return
        if group["maximize"]:
            values = -values
        (beta1, beta2), t = group["betas"], float(state["step"])
        rate = group["lr"] * (1 - beta2**t) ** 0.5 / (1 - beta1**t)
        moments = []
        for name, beta, fresh in (("exp_avg", beta1, values), ("exp_avg_sq", beta2, values * values)):
            old = state[name][places]
            moments.append(old + (fresh - old) * (1 - beta))
            state[name][places] = moments[-1]
        p[places] -= rate * moments[0] / (moments[1].sqrt() + group["eps"])
