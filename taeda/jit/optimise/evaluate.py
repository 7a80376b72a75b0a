"""Running one node now, on constants."""

from __future__ import annotations

import functools
from typing import Any

import taeda
from taeda.jit.ir import Node, Value


class CannotEvaluate(Exception):
    """The node cannot be run now, or raises."""


def evaluate(node: Node) -> list[Any]:
    """The node's outputs, from the constants that go in.

    Raises:
        CannotEvaluate: it raises, or is none that is known.
    """
    return evaluate_with(node, [_value(value) for value in node._inputs])


def evaluate_with(node: Node, arguments: list[Any]) -> list[Any]:
    """The node's outputs if these were its inputs.

    Raises:
        CannotEvaluate: it raises, or is none that is known.
    """
    special = _SPECIAL.get(node.kind())
    try:
        if special is not None:
            return special(node, arguments)
        with taeda.no_grad():
            result = _call(node, arguments)
    except Exception as error:  # whatever it is, the program raises it when it gets there
        raise CannotEvaluate(str(error)) from error
    return [result] if node.outputsSize() == 1 else list(result)


def _value(value: Value) -> Any:
    node = value.node()
    if node.kind() == "prim::ListConstruct":
        return [_value(item) for item in node._inputs]
    return node.constant()


def _call(node: Node, arguments: list[Any]) -> Any:
    from taeda import _C

    schema = node.op_schema()
    if schema is None:
        raise CannotEvaluate(node.kind())
    name = f"{schema.name}.{schema.overload_name}" if schema.overload_name else schema.name
    if name in _primitives():
        return _C._jit.call_primitive(name, *arguments)
    space, _, name = node.kind().partition("::")
    op = getattr(getattr(getattr(taeda.ops, space), name), schema.overload_name or "default")
    values = [_converted(value, a.type) for value, a in zip(arguments, schema.arguments, strict=False)]
    positional = [v for v, a in zip(values, schema.arguments, strict=False) if not a.kwarg_only]
    named = {a.name: v for v, a in zip(values, schema.arguments, strict=False) if a.kwarg_only}
    return op(*positional, **named)


@functools.cache
def _primitives() -> frozenset[str]:
    """The names of the language's own functions."""
    from taeda import _C

    return frozenset(text[: text.index("(")] for text in _C._jit.primitive_schemas())


def _converted(value: Any, type: Any) -> Any:
    """A number as the dtype, layout or memory format that it stands for."""
    from taeda.jit._ir_types import DTYPES, LAYOUTS, MEMORY_FORMATS

    words = type.str().rstrip("?")
    if value is None or isinstance(value, bool) or not isinstance(value, int):
        return value
    if words == "ScalarType":
        return DTYPES[value]
    if words == "Layout":
        return getattr(taeda, LAYOUTS[value])
    return getattr(taeda, MEMORY_FORMATS[value]) if words == "MemoryFormat" else value


def _tuple_index(node: Node, arguments: list[Any]) -> list[Any]:
    return [arguments[0][arguments[1]]]


_SPECIAL: dict[str, Any] = {
    "prim::TupleConstruct": lambda node, arguments: [tuple(arguments)],
    "prim::TupleIndex": _tuple_index,
    "prim::TupleUnpack": lambda node, arguments: list(arguments[0]),
    "prim::ListUnpack": lambda node, arguments: list(arguments[0]),
    "prim::TupleSlice": lambda node, arguments: [arguments[0][node.i("beg") : node.i("end")]],
}
