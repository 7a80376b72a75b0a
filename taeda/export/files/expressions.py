"""Numbers that vary, as files have them: SymPy's texts of expressions over named symbols.

In memory an expression is as `guards` has it, with ``("symbol", name)`` for what the sizes are made of.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from typing import Any

from taeda.export.guards import Expression, evaluated

Leaf = Callable[[ast.expr], Any]

_CALLS = {
    "add": "Add", "mul": "Mul", "floordiv": "FloorDiv", "mod": "Mod", "pow": "PowByNatural", "max": "Max", "min": "Min",
    "truediv": "IntTrueDiv", "float": "ToFloat", "trunc": "TruncToInt", "floor": "FloorToInt", "ceil": "CeilToInt",
    "abs": "Abs", "eq": "Equality", "ne": "Unequality", "lt": "StrictLessThan", "le": "LessThan",
    "gt": "StrictGreaterThan", "ge": "GreaterThan", "and_": "And", "or_": "Or", "not_": "Not",
}  # fmt: skip
_FUNCTIONS = {text: name for name, text in _CALLS.items()} | {
    "FloatTrueDiv": "truediv", "Pow": "pow", "PythonMod": "mod", "CleanDiv": "floordiv", "Rational": "truediv",
    "max": "max", "min": "min", "abs": "abs", "Ne": "ne", "Eq": "eq",
}  # fmt: skip
_SIGNS = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.FloorDiv: "floordiv", ast.Mod: "mod", ast.Pow: "pow",
    ast.Div: "truediv", ast.USub: "neg", ast.Not: "not_", ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.LtE: "le",
    ast.Gt: "gt", ast.GtE: "ge", ast.And: "and_", ast.Or: "or_", ast.BitAnd: "and_", ast.BitOr: "or_",
}  # fmt: skip
_SPELLED = {
    "add": "+", "sub": "-", "mul": "*", "floordiv": "//", "mod": "%", "pow": "**", "truediv": "/", "eq": "==",
    "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "and_": "and", "or_": "or",
}  # fmt: skip
_OF_ONE = frozenset(["neg", "not_", "abs", "float", "trunc", "floor", "ceil"])


class Unreadable(Exception):
    """A text that is no expression of these kinds."""


def can_write(operation: str) -> bool:
    """Whether files have a word for an operation."""
    return operation in _CALLS or operation in ("sub", "neg")


def written(expression: Expression) -> str:
    """SymPy's text."""
    if isinstance(expression, bool):
        return str(expression).lower()
    if isinstance(expression, int):
        return f"Integer({expression})"
    if isinstance(expression, float):
        return f"Float('{expression!r}', precision=53)"
    operation, *operands = expression
    if operation == "symbol":
        return f"Symbol('{operands[0]}'{_assumed(operands[0])})"
    if operation == "sub":
        return written(("add", operands[0], ("neg", operands[1])))
    if operation == "neg":
        return f"Mul(Integer(-1), {written(operands[0])})"
    return f"{_CALLS[operation]}({', '.join(map(written, operands))})"


def _assumed(name: str) -> str:
    """Sizes are positive, numbers out of tensors (``u0``) whole, others (``zuf0``) anything."""
    if name.startswith("zuf"):
        return ""
    return ", integer=True" if name.startswith("u") else ", positive=True, integer=True"


def spelled(expression: Expression, leaf: Callable[[Any], str]) -> str:
    """Python's text; ``leaf`` spells what is neither number nor operation."""
    if not isinstance(expression, (tuple, list)):
        return repr(expression)
    operation, *operands = expression
    if operation in ("size", "symbol"):
        return leaf(expression)
    texts = [_bracketed(operand, leaf) for operand in operands]
    if operation in _SPELLED:
        return f" {_SPELLED[operation]} ".join(texts)
    if operation in ("neg", "not_"):
        return f"-{texts[0]}" if operation == "neg" else f"not {texts[0]}"
    return f"{operation}({', '.join(spelled(operand, leaf) for operand in operands)})"


def _bracketed(operand: Any, leaf: Callable[[Any], str]) -> str:
    text = spelled(operand, leaf)
    inner = isinstance(operand, (tuple, list)) and (operand[0] in _SPELLED or operand[0] in ("neg", "not_"))
    return f"({text})" if inner else text


def read(text: str, leaf: Leaf) -> Expression:
    """The expression of a text of either kind; ``leaf`` reads what is neither number nor operation.

    Raises:
        Unreadable: it has something else in it.
    """
    try:
        return _read(ast.parse(text, mode="eval").body, leaf)
    except (SyntaxError, ValueError, TypeError, IndexError, ArithmeticError, RecursionError, MemoryError) as error:
        raise Unreadable(text[:200]) from error


def _read(node: ast.expr, leaf: Leaf) -> Expression:
    if isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float)):
        return node.value
    if isinstance(node, ast.Name) and node.id in ("true", "false"):
        return node.id == "true"
    if isinstance(node, ast.BinOp):
        return _folded(_sign(node.op), [node.left, node.right], leaf)
    if isinstance(node, ast.UnaryOp):
        return _folded(_sign(node.op), [node.operand], leaf)
    if isinstance(node, ast.BoolOp):
        return _folded(_sign(node.op), node.values, leaf)
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        parts = [_folded(_sign(op), list(pair), leaf) for op, *pair in zip(node.ops, sides, sides[1:])]
        return functools.reduce(lambda a, b: ("and_", a, b), parts)
    if isinstance(node, ast.Call) and isinstance(node.func, (ast.Name, ast.Attribute)):
        name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
        if name == "Integer" or name == "Float":
            return (int if name == "Integer" else float)(ast.literal_eval(node.args[0]))
        if name == "Symbol":
            return "symbol", str(ast.literal_eval(node.args[0]))
        if name in _FUNCTIONS:
            return _folded(_FUNCTIONS[name], node.args, leaf)
    return leaf(node)


def _sign(operator: Any) -> str:
    found = _SIGNS.get(type(operator))
    if found is None:
        raise Unreadable(type(operator).__name__)
    return found


def _folded(operation: str, operands: list[ast.expr], leaf: Leaf) -> Expression:
    """Sums and the like of many operands as those of two."""
    parts = [_read(operand, leaf) for operand in operands]
    if (len(parts) == 1) != (operation in _OF_ONE) or not parts:
        raise Unreadable(f"{operation} of {len(parts)}")
    if len(parts) <= 2:
        return (operation, *parts)
    return functools.reduce(lambda a, b: (operation, a, b), parts)


def symbols_in(expression: Expression) -> list[str]:
    """The names that it is made of."""
    if not isinstance(expression, (tuple, list)):
        return []
    if expression[0] == "symbol":
        return [expression[1]]
    return [name for operand in expression[1:] for name in symbols_in(operand)]


def value_of(expression: Expression, values: dict[str, Any]) -> Any:
    """The number, where those of the symbols are given."""
    return evaluated(expression, lambda leaf: values[leaf[1]])


def affine(expression: Expression) -> tuple[str, int, int] | None:
    """The symbol, factor and offset, where an expression is one symbol times and plus a number."""
    names = symbols_in(expression)
    if len(names) != 1:
        return None
    try:
        at = [value_of(expression, {names[0]: value}) for value in (1, 2, 5, 12)]
    except (ArithmeticError, TypeError, ValueError):
        return None
    factor, offset = at[1] - at[0], 2 * at[0] - at[1]
    fits = all(type(v) is int and v == factor * n + offset for n, v in zip((1, 2, 5, 12), at))
    return (names[0], factor, offset) if fits and factor > 0 else None
