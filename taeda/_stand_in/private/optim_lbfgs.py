"""The line search of L-BFGS, for optimisers that have it in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor
from taeda.optim._line_search import Point, cubic_minimum, strong_wolfe

__all__ = ["_cubic_interpolate", "_strong_wolfe"]


def _cubic_interpolate(
    x1: Any, f1: Any, g1: Any, x2: Any, f2: Any, g2: Any, bounds: tuple[Any, Any] | None = None
) -> Any:
    """Where the cubic with two points' values and slopes is least, within ``bounds``; the middle if it is nowhere."""
    none = taeda.empty(0)
    return cubic_minimum(Point(x1, f1, none, g1), Point(x2, f2, none, g2), bounds)


def _strong_wolfe(
    obj_func: Callable[[Any, Any, Any], tuple[float, Tensor]], x: Any, t: Any, d: Tensor, f: float, g: Tensor,
    gtd: Any, c1: float = 1e-4, c2: float = 0.9, tolerance_change: float = 1e-9, max_ls: int = 25,
) -> tuple[float, Tensor, Any, int]:  # fmt: skip
    """The value, gradient and step length along ``d`` that the strong Wolfe conditions accept, and the calls it took.

    ``obj_func(x, t, d)`` gives value and gradient at ``x + t * d``; ``f``, ``g`` and ``gtd`` are those at ``x``, and
    the slope along ``d``.
    """

    def evaluate(length: Any) -> Point:
        value, gradient = obj_func(x, length, d)
        return Point(length, value, gradient, gradient.dot(d))

    start = Point(0, f, g, gtd)
    found, calls = strong_wolfe(evaluate, start, t, d.abs().max(), tolerance_change, max_ls, (c1, c2))
    return found.loss, found.grad, found.t, calls
