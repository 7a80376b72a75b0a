"""What must hold of the inputs of an exported program: which sizes vary, in which ranges, and conditions on them."""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

from taeda import Tensor, nn
from taeda._schema.symbols import SymNode
from taeda.export.dynamic_shapes import UNLIMITED


class ValueRanges(NamedTuple):
    """The least and the greatest value of a size."""

    lower: int
    upper: int

    def __repr__(self) -> str:
        return f"VR[{self.lower}, {'int_oo' if self.upper >= UNLIMITED else self.upper}]"


class SizeName(NamedTuple):
    """A size of an input that varies: the input, the dimension (None: the input is the number), names and limits."""

    node: str
    dim: int | None
    label: str | None
    root: str | None
    derived: tuple[int, int] | None
    low: int
    high: int

    @property
    def where(self) -> str:
        """How a person would write it."""
        return self.node if self.dim is None else f"{self.node}.size({self.dim})"


Expression = Any  # ("size", input, dim or None), (operation, operands...), or a number


_MOST_BITS = 4096  # sizes have 63


class InputGuard(NamedTuple):
    """A condition on sizes of inputs: its text, its expression, the line that wants it."""

    text: str
    expression: Expression
    file: str
    line: int

    @property
    def sizes(self) -> list[tuple[str, int | None]]:
        """The sizes that it is about."""
        return _sizes(self.expression)

    def holds(self, values: dict[tuple[str, int | None], int]) -> bool:
        """Whether it does for such sizes."""
        try:
            return builtins.bool(evaluated(self.expression, lambda leaf: values[leaf[1], leaf[2]]))
        except ArithmeticError:  # there is no such number
            return False


def _sizes(expression: Expression) -> list[tuple[str, int | None]]:
    if not isinstance(expression, (tuple, list)):
        return []
    if expression[0] == "size":
        return [(expression[1], expression[2])]
    return [size for operand in expression[1:] for size in _sizes(operand)]


def evaluated(expression: Expression, leaf: Callable[[Any], Any]) -> Any:
    """The number that an expression gives; ``leaf`` gives that of what is neither number nor operation."""
    if not isinstance(expression, (tuple, list)):
        return expression
    name = expression[0]
    if name in ("size", "symbol"):
        return leaf(expression)
    operands = [evaluated(operand, leaf) for operand in expression[1:]]
    if name == "pow":
        return _power(*operands)
    module = next(m for m in (operator, math, builtins) if hasattr(m, name))
    return getattr(module, name)(*operands)


def _power(base: Any, exponent: Any) -> Any:
    """As ``**``, but for whole numbers so far beyond all sizes that they would take for ever."""
    if type(base) is type(exponent) is int and abs(base) > 1 and base.bit_length() * exponent > _MOST_BITS:
        raise OverflowError(f"a number of more than {_MOST_BITS} bits is no size")
    return base**exponent


def expression_of(node: SymNode, symbols: dict[int, tuple[Any, Any]]) -> Expression | None:
    """A condition over sizes of inputs; None if it is about others."""
    if node.operation in ("size", "input"):
        found = symbols.get(id(node))
        if found is None:
            return None
        owner = found[0] if node.operation == "input" else found[0].args[0]
        if owner.op != "placeholder":
            return None
        return ("size", owner.name, None if node.operation == "input" else node.operands[1])
    operands = []
    for operand in node.operands:
        inner = expression_of(operand, symbols) if isinstance(operand, SymNode) else operand
        if inner is None:
            return None
        operands.append(inner)
    if not operands:
        return None
    known = any(hasattr(m, node.operation) for m in (operator, math, builtins))
    return (node.operation, *operands) if known else None


def _is_same(value: Any, fixed: Any) -> bool:
    return type(value) is type(fixed) and (value == fixed or value != value)


_BOUNDS = {"gt": (1, None), "ge": (0, None), "lt": (None, -1), "le": (None, 0), "eq": (0, 0)}
_MIRRORED = {"gt": "lt", "ge": "le", "lt": "gt", "le": "ge", "eq": "eq"}
_OPPOSITE = {"gt": "le", "ge": "lt", "lt": "ge", "le": "gt"}


def bounds_of(expression: Expression) -> tuple[tuple[str, int | None], ValueRanges] | None:
    """The size and its range, where a condition says no more than a range of one size."""
    negated = isinstance(expression, (tuple, list)) and expression[0] == "not_"
    operation, *operands = expression[1] if negated else expression
    if negated:
        operation = _OPPOSITE.get(operation, "")
    if operation not in _BOUNDS or len(operands) != 2:
        return None
    if type(operands[0]) is int:
        operands, operation = operands[::-1], _MIRRORED[operation]
    size, limit = operands
    if type(limit) is not int or not isinstance(size, (tuple, list)) or size[0] != "size":
        return None
    low, high = _BOUNDS[operation]
    return (size[1], size[2]), ValueRanges(
        0 if low is None else limit + low, UNLIMITED if high is None else limit + high
    )


class CheckInputs(nn.Module):
    """Checks the sizes of a program's inputs at each call.

    Raises:
        AssertionError: a size is not as the program was exported for; which, and why.
    """

    _is_impure = True  # a call of it stays in a graph

    def __init__(self, names: list[str], shapes: dict[str, tuple[int, ...]], sizes: list[SizeName],
                 guards: list[InputGuard], fixed: dict[str, Any] | None = None) -> None:  # fmt: skip
        super().__init__()
        self.names, self.shapes, self.sizes, self.guards = names, shapes, sizes, guards
        self.fixed = fixed or {}
        self.varying = {(s.node, s.dim) for s in sizes}

    def forward(self, *inputs: Any) -> None:
        """Takes the leaves of the arguments."""
        values: dict[tuple[str, int | None], int] = {}
        for name, value in zip(self.names, inputs):
            if isinstance(value, Tensor):
                self._check_fixed(name, value, values)
            elif (name, None) in self.varying:
                values[name, None] = value
            elif name in self.fixed and not _is_same(value, self.fixed[name]):
                raise AssertionError(
                    f"Guard failed: {name} == {self.fixed[name]!r}; got {value!r}. Export with Dim.DYNAMIC for a whole "
                    "number that varies, with a tensor for any other"
                )
        roots: dict[str, tuple[int, SizeName]] = {}
        for size in self.sizes:
            value = values[size.node, size.dim]
            if not size.low <= value <= size.high:
                limits = f"{size.low} to {'any' if size.high >= UNLIMITED else size.high}"
                raise AssertionError(f"Guard failed: {size.where} must be from {limits}; got {value}")
            self._check_equal(size, value, roots)
        for guard in self.guards:
            if not guard.holds(values):
                given = ", ".join(f"{n if d is None else f'{n}.size({d})'} = {values[n, d]}" for n, d in guard.sizes)
                raise AssertionError(
                    f"Guard failed: {guard.text}; got {given}. The program took this way at {guard.file}:{guard.line}"
                )

    def _check_fixed(self, name: str, value: Tensor, values: dict[tuple[str, int | None], int]) -> None:
        wanted = self.shapes.get(name)
        if wanted is None:
            return
        if len(wanted) != value.dim():
            raise AssertionError(
                f"Guard failed: {name} must have {len(wanted)} dimensions; got shape {tuple(value.shape)}"
            )
        for dim, (size, other) in enumerate(zip(value.shape, wanted)):
            values[name, dim] = int(size)
            if (name, dim) not in self.varying and size != other:
                raise AssertionError(
                    f"Guard failed: {name}.size({dim}) == {other}; got shape {tuple(value.shape)}. Export with "
                    "dynamic_shapes for sizes that vary"
                )

    @staticmethod
    def _check_equal(size: SizeName, value: int, roots: dict[str, tuple[int, SizeName]]) -> None:
        if size.root is None:
            return
        factor, offset = size.derived or (1, 0)
        root, rest = divmod(value - offset, factor)
        known, other = roots.setdefault(size.root, (root, size))
        if rest:
            raise AssertionError(f"Guard failed: {size.where} must be {size.label} of a whole number; got {value}")
        if root != known:
            raise AssertionError(
                f"Guard failed: {size.where} must be {size.label} where {other.where} is {other.label}; got {value}"
            )
