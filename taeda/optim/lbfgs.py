"""L-BFGS."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor

from ._checks import check_lr
from ._line_search import Point, strong_wolfe
from ._lists import number
from .optimizer import Optimizer, ParamsT

__all__ = ["LBFGS"]


class LBFGS(Optimizer):
    """Limited-memory BFGS over all parameters as one vector; each ``step(closure)`` does up to ``max_iter`` iterations.

    ``closure`` clears the gradients, computes the loss, calls ``backward`` and returns the loss. It runs at most
    ``max_eval`` times a step (``max_iter * 5 // 4`` if None). The step ends earlier when the largest gradient component
    is at most ``tolerance_grad``, or loss or parameters move by no more than ``tolerance_change``.
    ``line_search_fn`` is None (length ``lr``) or ``"strong_wolfe"``.
    Source: Liu and Nocedal, On the limited memory BFGS method, 1989.

    Raises:
        ValueError: more than one parameter group, or ``lr`` is negative.
        RuntimeError: an unknown line search.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        check_lr("LBFGS", lr)
        defaults = {
            "lr": lr,
            "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
        }
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError(f"LBFGS: wants one parameter group; got {len(self.param_groups)}")
        self._params: list[Tensor] = self.param_groups[0]["params"]

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Does up to ``max_iter`` iterations; returns the loss of the first evaluation."""
        if closure is None:
            raise TypeError("LBFGS.step: wants a closure that computes the loss and its gradients")
        with taeda.no_grad():
            return self._minimise(closure)

    def _minimise(self, closure: Callable[[], Any]) -> Any:
        group, state = self.param_groups[0], self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        with taeda.enable_grad():
            first_loss = closure()
        loss, grad = float(number(first_loss)), self._flat_grad()
        evals = 1
        state["func_evals"] += 1
        if grad.abs().max() <= group["tolerance_grad"]:
            return first_loss
        for n in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            direction = self._direction(state, grad, group["history_size"])
            previous, state["prev_flat_grad"], state["prev_loss"] = loss, grad.clone(), loss
            lr = number(group["lr"])
            state["t"] = lr if state["n_iter"] > 1 else min(1.0, 1.0 / grad.abs().sum()) * lr
            slope = grad.dot(direction)
            if slope > -group["tolerance_change"]:
                break
            loss, grad, calls = self._advance(closure, Point(0, loss, grad, slope), n == group["max_iter"])
            evals += calls
            state["func_evals"] += calls
            moved = (direction * state["t"]).abs().max()
            if evals >= group["max_eval"] or self._converged(grad, moved, loss - previous):
                break
        return first_loss

    def _converged(self, grad: Tensor, moved: Tensor, change: float) -> bool:
        group = self.param_groups[0]
        tolerance = group["tolerance_change"]
        return bool(grad.abs().max() <= group["tolerance_grad"] or moved <= tolerance or abs(change) < tolerance)

    def _advance(self, closure: Callable[[], Any], here: Point, last: bool) -> tuple[float, Tensor, int]:
        """Moves the parameters along the direction; the loss and gradient there, and how often closure ran."""
        group, state = self.param_groups[0], self.state[self._params[0]]
        direction = state["d"]
        if group["line_search_fn"] is None:
            self._move(state["t"], direction)
            if last:  # nobody reads the loss after the last iteration
                return here.loss, here.grad, 0
            with taeda.enable_grad():
                loss = float(number(closure()))
            return loss, self._flat_grad(), 1
        if group["line_search_fn"] != "strong_wolfe":
            raise RuntimeError(f"LBFGS: line_search_fn must be None or 'strong_wolfe'; got {group['line_search_fn']!r}")
        origin = [p.clone(memory_format=taeda.contiguous_format) for p in self._params]

        def evaluate(t: Any) -> Point:
            self._move(t, direction)
            with taeda.enable_grad():
                loss = float(number(closure()))
            grad = self._flat_grad()
            for p, value in zip(self._params, origin, strict=True):
                p.copy_(value)
            return Point(t, loss, grad, grad.dot(direction))

        largest = direction.abs().max()
        found, calls = strong_wolfe(evaluate, here, state["t"], largest, group["tolerance_change"])
        state["t"] = found.t
        self._move(found.t, direction)
        return found.loss, found.grad, calls

    @staticmethod
    def _direction(state: dict[str, Any], grad: Tensor, history: int) -> Tensor:
        """Updates the curvature pairs from the last move and returns the new direction, also in ``state["d"]``."""
        if state["n_iter"] == 1:
            state.update(d=grad.neg(), old_dirs=[], old_stps=[], ro=[], H_diag=1)
            return state["d"]
        difference, move = grad.sub(state["prev_flat_grad"]), state["d"].mul(state["t"])
        curvature = difference.dot(move)
        if curvature > 1e-10:
            if len(state["old_dirs"]) == history:
                for name in ("old_dirs", "old_stps", "ro"):
                    state[name].pop(0)
            state["old_dirs"].append(difference)
            state["old_stps"].append(move)
            state["ro"].append(1.0 / curvature)
            state["H_diag"] = curvature / difference.dot(difference)
        state["d"] = _two_loops(grad, state, history)
        return state["d"]

    def _flat_grad(self) -> Tensor:
        parts = []
        for p in self._params:
            grad = p.new_zeros(p.shape) if p.grad is None else p.grad.to_dense() if p.grad.is_sparse else p.grad
            parts.append((taeda.view_as_real(grad) if taeda.is_complex(grad) else grad).reshape(-1))
        return taeda.cat(parts, 0)

    def _move(self, t: Any, direction: Tensor) -> None:
        offset = 0
        for p in self._params:
            flat = taeda.view_as_real(p) if taeda.is_complex(p) else p
            flat.add_(direction[offset : offset + flat.numel()].view_as(flat), alpha=number(t))
            offset += flat.numel()


def _two_loops(grad: Tensor, state: dict[str, Any], history: int) -> Tensor:
    """``-H @ grad`` for the inverse Hessian estimate ``H`` that the curvature pairs define."""
    pairs = list(zip(state["old_dirs"], state["old_stps"], state["ro"], strict=True))
    weights = state.setdefault("al", [None] * history)
    q = grad.neg()
    for i in reversed(range(len(pairs))):
        difference, move, ro = pairs[i]
        weights[i] = move.dot(q) * ro
        q.add_(difference, alpha=-weights[i].item())
    d = q.mul(state["H_diag"])
    for i, (difference, move, ro) in enumerate(pairs):
        d.add_(move, alpha=(weights[i] - difference.dot(d) * ro).item())
    return d
