"""The emitter: walks a function's tree and puts nodes into a graph. What it does for each kind of statement and
expression stands in the files beside this one, which enter themselves in `STATEMENTS` and `EXPRESSIONS`.
"""

from __future__ import annotations

import ast
import enum
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import taeda
from taeda import _C, Tensor
from taeda.jit.check import operators
from taeda.jit.check.environment import Frame, Resolver
from taeda.jit.check.types import (
    FLOAT,
    INT,
    NONE,
    TENSOR,
    list_of,
    tuple_of,
    unify,
)
from taeda.jit.check.values import Known, TupleOf
from taeda.jit.ir import Graph, Value, make_constant
from taeda.jit.parse.definition import Definition
from taeda.jit.parse.errors import CompileError, fail
from taeda.jit.source import SourceRange

if TYPE_CHECKING:
    from taeda.jit.check.function import Function

EXPRESSIONS: dict[type, Callable[..., Any]] = {}
STATEMENTS: dict[type, Callable[..., Any]] = {}
ATTRIBUTES: list[Callable[..., Any]] = []  # (emitter, owner, name, range) -> what it is, or None
CALLS: list[Callable[..., Any]] = []  # (emitter, callee, args, kwargs, range) -> the result, or None
F = TypeVar("F", bound=Callable[..., Any])

# How a block of statements can end: by its end, or by one of these statements. None of them: it always raises.
FALLS, RETURNS, BREAKS, CONTINUES = 1, 2, 4, 8


def handles(*kinds: type) -> Callable[[F], F]:
    """Enters a function as the one for these kinds of the tree."""

    def enter(function: F) -> F:
        for kind in kinds:
            (STATEMENTS if issubclass(kind, ast.stmt) else EXPRESSIONS)[kind] = function
        return function

    return enter


class Emitter:
    """Compiles one function into a graph.

    Args:
        graph: the graph that nodes go into, at its insertion point.
        definition: the function's tree and source.
        resolver: what names mean outside of the function.
        function: the function that is compiled, for its result's type and its name.
    """

    def __init__(self, graph: Graph, definition: Definition, resolver: Resolver, function: Function | None) -> None:
        self.graph, self.definition, self.resolver, self.function = graph, definition, resolver, function
        self.frame = Frame(graph)
        self.returns: Any = None  # the declared type of the result
        self.loops = 0
        self.owner_class: type | None = None  # whose method it is, for super()
        self.self_value: Value | None = None
        self.caller: Emitter | None = None  # who compiles this function into its own graph

    # --- Places
    def range(self, node: ast.AST) -> SourceRange:
        """The place of a part of the tree."""
        return self.definition.range(node)

    # --- Values
    def constant(self, value: Any, type: Any = None) -> Value:
        """A constant; equal ones are one node, at the graph's beginning."""
        return constant_of(self.graph, value, type)

    def none(self) -> Value:
        """The constant None."""
        return self.constant(None)

    def value(self, what: Any, range: SourceRange | None = None, hint: Any = None) -> Value:
        """What is known, as a value of the graph.

        Raises:
            CompileError: it is nothing that a program can compute with.
        """
        if isinstance(what, Value):
            return what
        if isinstance(what, Known):
            return self.known_value(what.obj, range, hint)
        if isinstance(what, TupleOf):
            inner = hint.containedTypes() if hint is not None and hint.kind() in ("TupleType", "ListType") else []
            if len(inner) == 1 and hint.kind() == "ListType":
                inner = inner * len(what.items)
            hints = inner if len(inner) == len(what.items) else [None] * len(what.items)
            items = [self.value(item, range, h) for item, h in zip(what.items, hints)]
            if what.is_list:
                return self.list_value(items, range, hint)
            type = what.named or tuple_of([v.static_type for v in items])
            return self.graph.emit("prim::TupleConstruct", items, [type], range).output()
        converted = self.iterable_as_list(what, range)
        if converted is not None:
            return converted
        fail(
            range,
            f"{what.what()} is known only while the program is compiled; it is no value that can be computed with",
        )

    iterable_as_list: Callable[..., Any] = lambda self, what, range: None

    def list_value(self, items: Sequence[Value], range: SourceRange | None, hint: Any = None) -> Value:
        """A new list. Its element's type is the hint's, or what covers all items; of tensors if there are none."""
        if hint is not None and hint.kind() == "OptionalType":
            hint = hint.containedTypes()[0]
        element = hint.containedTypes()[0] if hint is not None and hint.kind() == "ListType" else None
        if element is None:
            element = TENSOR if not items else items[0].static_type
            for item in items[1:]:
                joined = unify(element, item.static_type)
                if joined is None:
                    from taeda.jit.check.types import union

                    joined = union(list(dict.fromkeys(v.static_type for v in items)))
                element = joined
        else:
            items = [self.convert(v, element, range, f"an item of the list ({element})") for v in items]
        return self.graph.emit("prim::ListConstruct", list(items), [list_of(element)], range).output()

    def known_value(self, obj: Any, range: SourceRange | None, hint: Any = None) -> Value:
        """A Python object as a value of the graph.

        Raises:
            CompileError: programs do not know such objects.
        """
        if obj is None or isinstance(obj, (bool, str, taeda.device, enum.Enum)):
            return self.constant(obj)
        if isinstance(obj, int) and hint is not FLOAT:
            if not -(2**63) <= obj < 2**63:
                fail(range, f"{obj} does not fit in the 64 bits that a program's int has")
            return self.constant(obj)
        if isinstance(obj, (int, float, complex)):
            return self.constant(obj, hint if hint is FLOAT else None)
        if isinstance(obj, (taeda.dtype, taeda.layout, taeda.memory_format)):
            return self.constant(obj)
        if isinstance(obj, (tuple, list)):
            named = _C._type_of(obj) if hasattr(obj, "_fields") else None
            items = tuple(map(Known, obj))
            return self.value(TupleOf(items, named, isinstance(obj, list)), range, hint)
        if isinstance(obj, dict):
            return self.known_dict(obj, range, hint)
        if isinstance(obj, Tensor):
            return self.constant(obj)
        if isinstance(obj, type) and obj in _DTYPES_OF:
            return self.constant(_DTYPES_OF[obj])
        what = Known(obj).what()
        fail(range, f"{what} is no value of a program; pass it as an argument, or make it an attribute of the module")

    def known_dict(self, obj: dict[Any, Any], range: SourceRange | None, hint: Any) -> Value:
        """A dict of constants as a new dict."""
        parts = [self.known_value(part, range) for pair in obj.items() for part in pair]
        type = hint if hint is not None and hint.kind() == "DictType" else _C._type_of(obj)
        return self.graph.emit("prim::DictConstruct", parts, [type], range).output()

    def convert(self, what: Any, type: Any, range: SourceRange | None, wanted_for: str, widen: bool = False) -> Value:
        """The value as one of the type, by the conversions that calls have.

        Raises:
            CompileError: it is none and cannot become one.
        """
        value = self.value(what, range, type)
        level = operators.WIDENING if widen else operators.CONVERTING
        found = operators.conversion(value, type, level)
        if found is None:
            fail(range, f"{wanted_for} must be a {type}; got a {value.static_type}{_hint(value.static_type, type)}")
        return found(self.graph, value, range)

    # --- The tree
    def expression(self, node: ast.expr, hint: Any = None) -> Any:
        """What an expression stands for: a value or something known."""
        handler = EXPRESSIONS.get(type(node))
        if handler is None:
            from taeda.jit.parse.errors import not_supported

            not_supported(self.range(node), f"{_spoken(node)} cannot be part of a program")
        return handler(self, node, hint)

    def expression_value(self, node: ast.expr, hint: Any = None) -> Value:
        """An expression's value in the graph."""
        return self.value(self.expression(node, hint), self.range(node), hint)

    def block(self, statements: Sequence[ast.stmt]) -> int:
        """Compiles statements into the present block; how they can end."""
        for i, statement in enumerate(statements):
            handler = STATEMENTS.get(type(statement))
            if handler is None:
                from taeda.jit.parse.errors import not_supported

                not_supported(self.range(statement), f"{_spoken(statement)} cannot be part of a program")
            rest = statements[i + 1 :]
            status, took_rest = handler(self, statement, rest)
            if took_rest or not status & FALLS or not rest:
                return status
            if status != FALLS:
                return self.unless_exited(status, lambda rest=rest: self.block(rest))
        return FALLS

    unless_exited: Callable[..., int]

    def attribute(self, owner: Any, name: str, range: SourceRange | None) -> Any:
        """What ``owner.name`` stands for.

        Raises:
            CompileError: there is no such attribute.
        """
        for find in ATTRIBUTES:
            found = find(self, owner, name, range)
            if found is not None:
                return found
        what = owner.static_type if isinstance(owner, Value) else owner.what()
        fail(range, f"{what} has no attribute or method '{name}' that a program can use")

    def call(self, callee: Any, args: Sequence[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
        """The result of a call.

        Raises:
            CompileError: it cannot be called so.
        """
        for attempt in CALLS:
            found = attempt(self, callee, list(args), kwargs, range)
            if found is not None:
                return found
        what = f"a {callee.static_type}" if isinstance(callee, Value) else callee.what()
        fail(range, f"{what} cannot be called in a program")

    # --- Ops
    def op(self, kind: str, args: Sequence[Any], kwargs: dict[str, Any] | None = None,
           range: SourceRange | None = None) -> Any:  # fmt: skip
        """Calls a function of the language or an op; its result, several as a tuple."""
        inputs = [self.value(a, range) for a in args]
        named = {k: self.value(v, range) for k, v in (kwargs or {}).items()}
        node = operators.call(self.graph, kind, inputs, named, range, self.constant)
        return self.results(node)

    def op_value(self, kind: str, args: Sequence[Any], range: SourceRange | None = None) -> Value:
        """As `op`, with one result."""
        return self.value(self.op(kind, args, None, range), range)

    def results(self, node: Any) -> Any:
        """What a call of an op gives: nothing as None, several results as a tuple, with names if the op names them."""
        outputs = list(node.outputs())
        if not outputs:
            return Known(None)
        if len(outputs) == 1:
            return outputs[0]
        schema = node.op_schema()
        names = [r.name for r in schema.returns] if schema is not None else []
        named = None
        if names and all(names):
            named = _C._named_tuple_type(f"__torch__.{node.kind().partition('::')[2]}", names,
                                         [v.static_type for v in outputs])  # fmt: skip
        return TupleOf(tuple(outputs), named)


_DTYPES_OF = {float: taeda.float64, int: taeda.int64, bool: taeda.bool, complex: taeda.complex128}


def _key_of(value: Any, type: Any) -> Any:
    return (value.__class__, repr(value), id(type))


def constant_of(graph: Graph, value: Any, type: Any = None) -> Value:
    """A constant of the graph. Equal ones are one node, at the graph's beginning; tensors and lists are not shared."""
    pool: dict[Any, Any] = graph.__dict__.setdefault("_constants", {})
    shared = value is None or isinstance(value, (bool, int, float, complex, str, taeda.dtype, taeda.device, enum.Enum))
    key = _key_of(value, type)
    if shared and key in pool:
        return pool[key]
    if isinstance(value, list):
        element = type.containedTypes()[0] if type is not None else (_C._type_of(value[0]) if value else INT)
        return graph.emit("prim::ListConstruct", [constant_of(graph, v) for v in value], [list_of(element)]).output()
    node = make_constant(graph, value, type)
    last = pool.get("last")
    node.insertAfter(last if last is not None and last._block is graph else graph.param_node())
    pool["last"] = node
    if shared:
        pool[key] = node.output()
    return node.output()


def _spoken(node: ast.AST) -> str:
    words = {
        "Try": "try", "TryStar": "try", "AsyncFor": "async for", "AsyncWith": "async with", "Await": "await",
        "Yield": "yield", "YieldFrom": "yield from", "ClassDef": "a class definition", "Import": "import",
        "ImportFrom": "import", "Global": "global", "Nonlocal": "nonlocal", "Match": "match", "Set": "a set",
        "SetComp": "a set comprehension",
    }  # fmt: skip
    return words.get(type(node).__name__, f"'{type(node).__name__}'")


def _hint(actual: Any, wanted: Any) -> str:
    from taeda.jit.check.types import is_optional, without_none

    if is_optional(actual) and without_none(actual).isSubtypeOf(wanted):
        return "; it may be None here: ask 'if x is not None' or 'assert x is not None' first"
    if actual is NONE:
        return f"; a name that is None or a {wanted} is declared so: x: Optional[{wanted}] = None"
    return ""


__all__ = ["CompileError", "Emitter", "handles"]
