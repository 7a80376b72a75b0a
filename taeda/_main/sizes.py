"""Arithmetic that works on sizes as on numbers, and stays in the graph where they are symbols."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from taeda import _C
from taeda._main.listed import listed
from taeda._schema.symbols import SymBool, SymFloat, SymInt, calculate

_SYMBOLS = (SymInt, SymFloat, SymBool)


def _apply(name: str, function: Callable[..., Any], *operands: Any) -> Any:
    if any(isinstance(operand, _SYMBOLS) for operand in operands):
        return calculate(name, function, *operands)
    return function(*operands)


@_C._overridable
def sym_int(a: Any) -> Any:
    """``int(a)`` rounding toward zero."""
    return a if isinstance(a, SymInt) else _apply("sym_int", int, a)


@_C._overridable
def sym_float(a: Any) -> Any:
    """``float(a)``."""
    return a if isinstance(a, SymFloat) else _apply("sym_float", float, a)


@_C._overridable
def sym_max(a: Any, b: Any) -> Any:
    """The larger of two sizes; a float where either is one."""
    return _apply("sym_max", _like_both(max), a, b)


@_C._overridable
def sym_min(a: Any, b: Any) -> Any:
    """The smaller of two sizes; a float where either is one."""
    return _apply("sym_min", _like_both(min), a, b)


def _like_both(choose: Callable[..., Any]) -> Callable[..., Any]:
    def chosen(a: Any, b: Any) -> Any:
        return float(choose(a, b)) if isinstance(a, float) or isinstance(b, float) else choose(a, b)

    return chosen


@_C._overridable
def sym_not(a: Any) -> Any:
    """The negation of a truth value."""
    return _apply("sym_not", operator.not_, a)


@_C._overridable
def sym_sqrt(a: Any) -> Any:
    """The square root of a size."""
    return _apply("sym_sqrt", math.sqrt, a)


@_C._overridable
def sym_sum(args: Any) -> Any:
    """The sum of sizes."""
    args = listed("taeda.sym_sum: args", args)
    return _apply("sym_sum", lambda *all: sum(all), *args)


@_C._overridable
def sym_ite(b: Any, t: Any, f: Any) -> Any:
    """``t if b else f``."""
    return _apply("sym_ite", lambda b, t, f: t if b else f, b, t, f) if isinstance(b, SymBool) else (t if b else f)


def sym_fresh_size(expr: Any) -> Any:
    """The size itself, which an expression of sizes stands for."""
    return expr


def sym_constrain_range(size: Any, *, min: int | None = None, max: int | None = None) -> None:
    """Checks that a size is from ``min`` to ``max``; recorded graphs keep that as a condition.

    Raises:
        RuntimeError: it is not, or ``min`` is above ``max``.
    """
    _constrain("sym_constrain_range", size, min, max)


def sym_constrain_range_for_size(size: Any, *, min: int | None = None, max: int | None = None) -> None:
    """Like `sym_constrain_range`, for what becomes the size of a tensor: it is at least 0.

    Raises:
        RuntimeError: it is out of the range, or ``max`` is below 3, so that a graph would hold for sizes that are
            special in it.
    """
    if max is not None and max <= 2:
        raise RuntimeError(f"taeda.sym_constrain_range_for_size: max must be above 2; got {max}")
    _constrain("sym_constrain_range_for_size", size, 0 if min is None else min, max)


def _constrain(name: str, size: Any, least: int | None, most: int | None) -> None:
    if least is not None and most is not None and least > most:
        raise RuntimeError(f"taeda.{name}: min must not be above max; got {least} and {most}")
    if (least is not None and size < least) or (most is not None and size > most):
        raise RuntimeError(f"taeda.{name}: the size must be from {least} to {most}; got {size}")
