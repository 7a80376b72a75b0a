"""A line search for the strong Wolfe conditions, by bracketing and cubic interpolation.

Source: Nocedal and Wright, Numerical optimization, algorithms 3.5 and 3.6, with the safeguards of M. Schmidt's minFunc.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from taeda import Tensor

Conditions = tuple[float, float]  # the least decrease and the largest slope that are left, as shares of the slope at 0
USUAL = (1e-4, 0.9)


class Point(NamedTuple):
    """A step length, the loss and flat gradient there, and the gradient's component along the direction."""

    t: Any
    loss: float
    grad: Tensor
    slope: Any


def strong_wolfe(
    evaluate: Callable[[Any], Point],
    start: Point,
    t: Any,
    largest: Any,
    tolerance: float,
    budget: int = 25,
    wanted: Conditions = USUAL,
) -> tuple[Point, int]:
    """The point found and the number of evaluations. ``start`` is the point at 0, ``t`` the first length to try,
    ``largest`` the largest absolute component of the direction; brackets shorter than ``tolerance`` are left alone.
    """
    bracket, done, used = _bracket(evaluate, start, t, budget, wanted)
    calls = used + 1
    if len(bracket) == 1:
        return bracket[0], calls
    stalled = False
    while not done and used < budget:
        low, high = _ordered(bracket)
        if abs(bracket[1].t - bracket[0].t) * largest < tolerance:
            break
        t, stalled = _inside(bracket, stalled)
        new = evaluate(t)
        calls += 1
        used += 1
        if not _decreases_enough(new, start, wanted) or new.loss >= bracket[low].loss:
            bracket[high] = new
            continue
        if abs(new.slope) <= -wanted[1] * start.slope:
            done = True
        elif new.slope * (bracket[high].t - bracket[low].t) >= 0:
            bracket[high] = bracket[low]
        bracket[low] = new
        if done:
            return new, calls
    return bracket[_ordered(bracket)[0]], calls


def _ordered(bracket: list[Point]) -> tuple[int, int]:
    """The indices of the lower and the higher end."""
    return (0, 1) if bracket[0].loss <= bracket[1].loss else (1, 0)


def _decreases_enough(new: Point, start: Point, wanted: Conditions) -> bool:
    return not new.loss > start.loss + wanted[0] * new.t * start.slope


def _bracket(
    evaluate: Callable[[Any], Point], start: Point, t: Any, budget: int, wanted: Conditions
) -> tuple[list[Point], bool, int]:
    """Two points around an acceptable one, or one that is acceptable itself; and the number of extrapolations."""
    previous, new = start, evaluate(t)
    for used in range(budget):
        if not _decreases_enough(new, start, wanted) or (used > 1 and new.loss >= previous.loss):
            return [previous, new], False, used
        if abs(new.slope) <= -wanted[1] * start.slope:
            return [new], True, used
        if new.slope >= 0:
            return [previous, new], False, used
        t = cubic_minimum(previous, new, (new.t + 0.01 * (new.t - previous.t), new.t * 10))
        previous, new = new, evaluate(t)
    return [start, new], False, budget


def _inside(bracket: list[Point], stalled: bool) -> tuple[Any, bool]:
    """The next length to try, and whether it lies close to an end (twice in a row is not allowed)."""
    t = cubic_minimum(bracket[0], bracket[1])
    low, high = min(p.t for p in bracket), max(p.t for p in bracket)
    margin = 0.1 * (high - low)
    if min(high - t, t - low) >= margin:
        return t, False
    if stalled or t >= high or t <= low:
        return (high - margin if abs(t - high) < abs(t - low) else low + margin), False
    return t, True


def cubic_minimum(a: Point, b: Point, bounds: tuple[Any, Any] | None = None) -> Any:
    """The minimum within ``bounds`` of the cubic with the losses and slopes of two points; else their middle."""
    if a.t > b.t:
        a, b = b, a
    low, high = bounds if bounds is not None else (a.t, b.t)
    mixed = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
    square = mixed**2 - a.slope * b.slope
    if square < 0:
        return (low + high) / 2.0
    root = square**0.5
    t = b.t - (b.t - a.t) * ((b.slope + root - mixed) / (b.slope - a.slope + 2 * root))
    return min(max(t, low), high)
