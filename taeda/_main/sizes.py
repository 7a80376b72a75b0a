"""Arithmetic that works on sizes as on numbers, and stays in the graph where they are symbols."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from taeda._schema.symbols import SymBool, SymFloat, SymInt, calculate

_SYMBOLS = (SymInt, SymFloat, SymBool)


def _apply(name: str, function: Callable[..., Any], *operands: Any) -> Any:
    if any(isinstance(operand, _SYMBOLS) for operand in operands):
        return calculate(name, function, *operands)
    return function(*operands)


def sym_int(a: Any) -> Any:
    """``int(a)`` rounding toward zero."""
    return a if isinstance(a, SymInt) else _apply("sym_int", int, a)


def sym_float(a: Any) -> Any:
    """``float(a)``."""
    return a if isinstance(a, SymFloat) else _apply("sym_float", float, a)


def sym_max(a: Any, b: Any) -> Any:
    """The larger of two sizes; a float where either is one."""
    return _apply("sym_max", _like_both(max), a, b)


def sym_min(a: Any, b: Any) -> Any:
    """The smaller of two sizes; a float where either is one."""
    return _apply("sym_min", _like_both(min), a, b)


def _like_both(choose: Callable[..., Any]) -> Callable[..., Any]:
    def chosen(a: Any, b: Any) -> Any:
        return float(choose(a, b)) if isinstance(a, float) or isinstance(b, float) else choose(a, b)

    return chosen


def sym_not(a: Any) -> Any:
    """The negation of a truth value."""
    return _apply("sym_not", operator.not_, a)


def sym_sqrt(a: Any) -> Any:
    """The square root of a size."""
    return _apply("sym_sqrt", math.sqrt, a)


def sym_sum(args: Any) -> Any:
    """The sum of sizes."""
    args = tuple(args)
    return _apply("sym_sum", lambda *all: sum(all), *args)


def sym_ite(b: Any, t: Any, f: Any) -> Any:
    """``t if b else f``."""
    return _apply("sym_ite", lambda b, t, f: t if b else f, b, t, f) if isinstance(b, SymBool) else (t if b else f)
