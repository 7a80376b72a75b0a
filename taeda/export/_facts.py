"""What checks of the program (``torch._check``) say of numbers out of tensors, and which conditions follow from it."""

from __future__ import annotations

import math
from typing import Any

from taeda._schema.symbols import SymNode

_SAYS = {"ge": (0, None), "gt": (1, None), "le": (None, 0), "lt": (None, -1), "eq": (0, 0)}
_MIRRORED = {"gt": "lt", "ge": "le", "lt": "gt", "le": "ge", "eq": "eq", "ne": "ne"}
Range = tuple[float, float]


class Facts:
    """Conditions that hold, and the ranges that they give whole numbers."""

    def __init__(self) -> None:
        self._holding: set[str] = set()
        self._ranges: dict[str, Range] = {}

    def learn(self, condition: SymNode) -> None:
        """From here on ``condition`` holds."""
        self._holding.add(condition.expr)
        if condition.operation == "and_":
            for operand in condition.operands:
                if isinstance(operand, SymNode):
                    self.learn(operand)
        compared = _compared(condition)
        if compared is None or compared[0] not in _SAYS:
            return
        operation, symbol, limit = compared
        low, high = self._ranges.get(symbol.expr, (-math.inf, math.inf))
        above, below = _SAYS[operation]
        self._ranges[symbol.expr] = (
            low if above is None else max(low, limit + above),
            high if below is None else min(high, limit + below),
        )

    def decide(self, condition: SymNode) -> bool | None:
        """Whether ``condition`` holds, as far as it follows from what is known."""
        if condition.expr in self._holding:
            return True
        if condition.operation == "sym_not" and isinstance(condition.operands[0], SymNode):
            inner = self.decide(condition.operands[0])
            return None if inner is None else not inner
        compared = _compared(condition)
        if compared is None:
            return None
        operation, symbol, limit = compared
        low, high = self._range(symbol)
        sure = {"ge": low >= limit, "gt": low > limit, "le": high <= limit, "lt": high < limit,
                "eq": low == limit == high, "ne": limit < low or limit > high}  # fmt: skip
        never = {"ge": high < limit, "gt": high <= limit, "le": low > limit, "lt": low >= limit,
                 "eq": limit < low or limit > high, "ne": low == limit == high}  # fmt: skip
        return True if sure[operation] else False if never[operation] else None

    def _range(self, value: Any) -> Range:
        """The least and the greatest value that a number may have."""
        if not isinstance(value, SymNode):
            return float(value), float(value)
        low, high = self._ranges.get(value.expr, (-math.inf, math.inf))
        if value.operation == "add":
            a, b = map(self._range, value.operands)
            return max(low, a[0] + b[0]), min(high, a[1] + b[1])
        if value.operation == "sub":
            a, b = map(self._range, value.operands)
            return max(low, a[0] - b[1]), min(high, a[1] - b[0])
        return low, high


def _compared(condition: SymNode) -> tuple[str, SymNode, int] | None:
    """The comparison of a symbol with a whole number that a condition is."""
    if condition.operation not in _MIRRORED:
        return None
    left, right = condition.operands
    if isinstance(left, SymNode) and type(right) is int and left.is_int():
        return condition.operation, left, right
    if isinstance(right, SymNode) and type(left) is int and right.is_int():
        return _MIRRORED[condition.operation], right, left
    return None
