"""``SymInt``, ``SymFloat``, ``SymBool``: sizes that a graph keeps as values.

A symbol carries a number, its *hint*, and where it comes from: a size that was read, or an operation on other symbols.
Symbols are made while a recorder is set (``taeda._schema.recorder``) and calculate as numbers do; the results are
symbols again. Where Python needs the number itself (``if``, ``range``, an index of a list) the recorder is told that
the program took that way: a guard. After the recording they give plain numbers.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import taeda
from taeda import _C

if TYPE_CHECKING:
    from taeda import Tensor
    from taeda._schema.recorder import SizeRecorder

__all__ = ["SymBool", "SymFloat", "SymInt", "SymNode", "calculate"]

Number = int | float | bool


class SymNode:
    """What a symbol is: its number, the operation that made it and on what.

    ``operation`` is ``"size"``, ``"stride"``, ``"numel"`` or ``"storage_offset"`` of a tensor and a dimension, or the
    name of a function on symbols and numbers, as in the module ``operator``.
    """

    __slots__ = ("__weakref__", "hint", "name", "operands", "operation", "recorder")

    def __init__(self, hint: Number, operation: str, operands: tuple[Any, ...], recorder: SizeRecorder | None,
                 name: str = "") -> None:  # fmt: skip
        self.hint, self.operation, self.operands = hint, operation, operands
        self.recorder, self.name = recorder, name

    @property
    def pytype(self) -> type:
        """int, float or bool."""
        return type(self.hint)

    @property
    def expr(self) -> str:
        """How Python would write it over the sizes that were read: ``(s0 * s1) // 2``."""
        if self.name:
            return self.name
        texts = [_inner_text(operand) for operand in self.operands]
        sign = _SIGNS.get(self.operation)
        if sign is None:
            return f"{self.operation}({', '.join(texts)})"
        return f" {sign} ".join(texts) if len(texts) == 2 else f"{sign}{texts[0]}"

    def has_hint(self) -> bool:
        """True: there is always a number."""
        return True

    def require_hint(self) -> Number:
        """The number."""
        return self.hint

    def is_symbolic(self) -> bool:
        """True."""
        return True

    def is_constant(self) -> bool:
        """False: another call may bring another number."""
        return False

    is_nested_int = is_constant

    def is_int(self) -> bool:
        """Whether it is a whole number."""
        return self.pytype is int

    def is_float(self) -> bool:
        """Whether it is a real number."""
        return self.pytype is float

    def is_bool(self) -> bool:
        """Whether it is a truth value."""
        return self.pytype is bool

    def maybe_as_int(self) -> int | None:
        """None: nothing says that it stays the same."""
        return None

    maybe_as_float = maybe_as_bool = maybe_as_int

    def __str__(self) -> str:
        return self.expr

    def __repr__(self) -> str:
        return f"SymNode({self.expr}, hint={self.hint})"


_SIGNS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "lshift": "<<",
    "rshift": ">>", "and_": "&", "or_": "|", "xor": "^", "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">",
    "ge": ">=", "neg": "-", "sym_not": "not ",
}  # fmt: skip


def _inner_text(operand: Any) -> str:
    if not isinstance(operand, SymNode):
        return repr(operand)
    return operand.expr if operand.name or operand.operation not in _SIGNS else f"({operand.expr})"


class _Symbol:
    """What the three classes have in common."""

    __slots__ = ("__weakref__", "node")

    node: SymNode

    def __init__(self, node: Any) -> None:
        """A symbol is made by whoever records; ``node`` is a ``SymNode`` or has its ``hint``, at least."""
        if not hasattr(node, "hint"):
            kind = type(self).__name__
            raise TypeError(
                f"taeda.{kind}: takes a node with a hint, got {type(node).__name__}; for a number as it is use "
                f"{kind.removeprefix('Sym').lower()}()"
            )
        self.node = node

    def __bool__(self) -> bool:
        hint = self.node.hint
        return _guarded(self if isinstance(hint, bool) else calculate("ne", operator.ne, self, 0), bool(hint))

    def __repr__(self) -> str:
        return str(self.node)

    def __format__(self, spec: str) -> str:
        return format(str(self) if not spec else _fixed(self), spec)

    def _as_tensor(self) -> Tensor:
        """The tensor of no dimension that a function of tensors calculates with."""
        dtype = {int: taeda.int64, bool: taeda.bool}.get(self.node.pytype)
        return taeda.scalar_tensor(self, dtype=dtype)  # type: ignore[arg-type]

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def __reduce__(self) -> Any:
        return type(self.node.hint), (_fixed(self),)


def _recorder_of(operands: tuple[Any, ...]) -> SizeRecorder | None:
    for operand in operands:
        recorder = getattr(operand.node, "recorder", None) if isinstance(operand, _Symbol) else None
        if recorder is not None and recorder.is_recording:
            return recorder
    return None


def _number(operand: Any) -> Any:
    return operand.node.hint if isinstance(operand, _Symbol) else operand


def symbol_of(node: SymNode) -> SymInt | SymFloat | SymBool:
    """The symbol of a node, by the kind of its number."""
    return (SymBool if node.is_bool() else SymFloat if node.is_float() else SymInt)(node)


def calculate(operation: str, function: Callable[..., Any], *operands: Any) -> Any:
    """``function`` of symbols and numbers: a symbol while someone records, else a number."""
    result = function(*map(_number, operands))
    recorder = _recorder_of(operands)
    if recorder is None:
        return result
    inner = tuple(operand.node if isinstance(operand, _Symbol) else operand for operand in operands)
    node = SymNode(result, operation, inner, recorder)
    recorder.operation(node)
    return symbol_of(node)


def _guarded(condition: Any, value: Any) -> Any:
    """``value``, which holds because ``condition`` does (or does not, if it is false)."""
    recorder = _recorder_of((condition,))
    if recorder is not None:
        from taeda._main.callers import caller

        recorder.guard(condition.node, bool(condition.node.hint), caller())
    return value


def _fixed(symbol: Any) -> Any:
    """The number of a symbol, which the program needs as such."""
    hint = symbol.node.hint
    condition = symbol if isinstance(hint, bool) else calculate("eq", operator.eq, symbol, hint)
    return _guarded(condition, hint)


def _is_number(operand: Any) -> bool:
    return isinstance(operand, (_Symbol, int, float))


def _binary(name: str, function: Callable[..., Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def forward(self: Any, other: Any) -> Any:
        return calculate(name, function, self, other) if _is_number(other) else NotImplemented

    def reflected(self: Any, other: Any) -> Any:
        return calculate(name, function, other, self) if _is_number(other) else NotImplemented

    return forward, reflected


def _unary(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self: calculate(name, function, self)


def _give_operators(cls: type, arithmetic: str, unary: dict[str, tuple[str, Callable[..., Any]]]) -> None:
    for name in arithmetic.split():
        plain = name.rstrip("_")
        forward, reflected = _binary(name, getattr(operator, name))
        setattr(cls, f"__{plain}__", forward)
        setattr(cls, f"__r{plain}__", reflected)
    for name in ("eq", "ne", "lt", "le", "gt", "ge"):
        setattr(cls, f"__{name}__", _binary(name, getattr(operator, name))[0])
    for method, (name, function) in unary.items():
        setattr(cls, method, _unary(name, function))


class SymInt(_Symbol):
    """A whole number of a graph."""

    __slots__ = ()

    def __index__(self) -> int:
        return _fixed(self)

    __int__ = __index__

    def __float__(self) -> float:
        return float(_fixed(self))

    def __round__(self, digits: int | None = None) -> SymInt:
        return self

    def __floor__(self) -> SymInt:
        return self

    __ceil__ = __trunc__ = __pos__ = conjugate = __floor__

    def __hash__(self) -> int:
        raise TypeError("unhashable type: 'SymInt': sizes that are equal now need not stay so; use int() of it")

    def as_integer_ratio(self) -> tuple[SymInt, int]:
        """The number and 1."""
        return self, 1

    def bit_length(self) -> int:
        """How many bits the number takes; the graph is then for this number."""
        return _fixed(self).bit_length()


class SymFloat(_Symbol):
    """A real number of a graph."""

    __slots__ = ()

    def __float__(self) -> float:
        return _fixed(self)

    def __int__(self) -> int:
        return int(_fixed(self))

    def __round__(self, digits: int | None = None) -> Any:
        return calculate("round", round, self) if digits is None else calculate("round", round, self, digits)

    def __pos__(self) -> SymFloat:
        return self

    conjugate = __pos__

    def __hash__(self) -> int:
        return hash(_fixed(self))

    def is_integer(self) -> Any:
        """Whether nothing stands behind the point."""
        return calculate("is_integer", float.is_integer, self)

    def as_integer_ratio(self) -> tuple[int, int]:
        """Numerator and denominator; the graph is then for this number."""
        return _fixed(self).as_integer_ratio()

    def hex(self) -> str:
        """The number as a hexadecimal text; the graph is then for this number."""
        return _fixed(self).hex()


class SymBool(_Symbol):
    """A truth value of a graph, as the comparison of two sizes."""

    __slots__ = ()

    def __int__(self) -> int:
        return int(_fixed(self))

    def __hash__(self) -> int:
        return hash(_fixed(self))


_ARITHMETIC = "add sub mul truediv floordiv mod pow"
_SIGNED: dict[str, tuple[str, Any]] = {"__neg__": ("neg", operator.neg), "__abs__": ("abs", abs)}
_ROUNDED: dict[str, tuple[str, Any]] = {
    "__floor__": ("floor", math.floor),
    "__ceil__": ("ceil", math.ceil),
    "__trunc__": ("trunc", math.trunc),
}
_give_operators(SymInt, f"{_ARITHMETIC} lshift rshift and_ or_ xor", _SIGNED)
_give_operators(SymFloat, _ARITHMETIC, _SIGNED | _ROUNDED)
_give_operators(SymBool, f"{_ARITHMETIC} and_ or_ xor", {})
_C._set_symbol_class(_Symbol)
