"""Arithmetic that works on sizes as on numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def sym_int(a: Any) -> int:
    """``int(a)`` rounding toward zero."""
    return int(a)


def sym_float(a: Any) -> float:
    """``float(a)``."""
    return float(a)


def sym_max(a: Any, b: Any) -> Any:
    """The larger of two sizes; a float where either is one."""
    return _like_both(max, a, b)


def sym_min(a: Any, b: Any) -> Any:
    """The smaller of two sizes; a float where either is one."""
    return _like_both(min, a, b)


def _like_both(choose: Callable[..., Any], a: Any, b: Any) -> Any:
    chosen = choose(a, b)
    return float(chosen) if isinstance(a, float) or isinstance(b, float) else chosen


def sym_not(a: Any) -> bool:
    """The negation of a truth value."""
    return not a


def sym_sqrt(a: Any) -> float:
    """The square root of a size."""
    return float(a) ** 0.5


def sym_sum(args: Any) -> Any:
    """The sum of sizes."""
    return sum(args)


def sym_ite(b: bool, t: Any, f: Any) -> Any:
    """``t if b else f``."""
    return t if b else f
