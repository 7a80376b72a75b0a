"""Muon."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

from ._checks import at_least, check_lr
from ._lists import number
from .optimizer import Optimizer, ParamsT

__all__ = ["Muon"]

_ADJUSTMENTS = (None, "original", "match_rms_adamw")


class Muon(Optimizer):
    """Muon: momentum whose update matrix is replaced by a near-orthogonal one, for the 2-D weights of hidden layers.

    ``ns_steps`` rounds of a quintic Newton-Schulz iteration with ``ns_coefficients`` push the singular values of the
    update towards 1; they run in bfloat16. ``adjust_lr_fn`` scales ``lr`` by the matrix's shape: ``"original"`` (also
    None) or ``"match_rms_adamw"``. Source: Jordan et al., Muon, 2024; Liu et al., arXiv:2502.16982.

    Raises:
        ValueError: an option is out of its range, or a parameter is not 2-D.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.7750, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        check_lr("Muon", lr)
        at_least("Muon", 0, momentum=momentum, weight_decay=weight_decay)
        if adjust_lr_fn not in _ADJUSTMENTS:
            raise ValueError(f"Muon: adjust_lr_fn must be one of {_ADJUSTMENTS}; got {adjust_lr_fn!r}")
        defaults = {
            "lr": lr,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "nesterov": nesterov,
            "ns_coefficients": ns_coefficients,
            "eps": eps,
            "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
        }
        super().__init__(params, defaults)
        for group in self.param_groups:
            for p in group["params"]:
                if p.dim() != 2:
                    raise ValueError(f"Muon: wants 2-D parameters; got shape {tuple(p.shape)}")

    def step(self, closure: Any = None) -> Any:
        """Does one update; returns what ``closure`` returns."""
        loss = None
        if closure is not None:
            with taeda.enable_grad():
                loss = closure()
        with taeda.no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        self._update(p, p.grad, group)
        return loss

    def _update(self, p: Tensor, grad: Tensor, group: dict[str, Any]) -> None:
        if taeda.is_complex(p) or grad.is_sparse:
            raise RuntimeError("Muon: does not support complex parameters or sparse gradients")
        state, momentum = self.state[p], group["momentum"]
        if not state:
            state["momentum_buffer"] = taeda.zeros_like(grad)
        buffer = state["momentum_buffer"].lerp_(grad, 1 - momentum)
        update = grad.lerp(buffer, momentum) if group["nesterov"] else buffer
        update = orthogonalize(update, group["ns_coefficients"], group["ns_steps"], group["eps"])
        lr = number(group["lr"])
        p.mul_(1 - lr * group["weight_decay"])
        p.add_(update, alpha=-lr * _adjustment(group["adjust_lr_fn"], p))


def _adjustment(kind: str | None, p: Tensor) -> float:
    rows, columns = p.shape
    if kind == "match_rms_adamw":
        return 0.2 * max(rows, columns) ** 0.5
    return max(1.0, rows / columns) ** 0.5


def orthogonalize(matrix: Tensor, coefficients: tuple[float, float, float], steps: int, eps: float) -> Tensor:
    """A bfloat16 matrix with the singular vectors of ``matrix`` and singular values near 1.

    Raises:
        ValueError: 100 steps or more, or not three coefficients.
    """
    if steps >= 100 or len(coefficients) != 3:
        raise ValueError(f"Muon: wants ns_steps below 100 and 3 ns_coefficients; got {steps} and {coefficients}")
    a, b, c = coefficients
    x = matrix.bfloat16()
    tall = x.size(0) > x.size(1)
    if tall:
        x = x.T
    x = x / x.norm().clamp(min=eps)
    for _ in range(steps):
        gram = x @ x.T
        x = taeda.addmm(x, taeda.addmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.T if tall else x
