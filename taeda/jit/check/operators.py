"""Which overload of an op or of one of the language's own functions a call means, and the node that calls it.

All overloads of a name stand in one list: the op table's, then the language's own (``csrc/jit/primitives``). They are
tried first as the values are, then with TorchScript's conversions (a tensor for a number, a text for a device), then
with those that lose nothing (an int for a float).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from taeda import _C
from taeda._schema.function_schema import Argument, FunctionSchema
from taeda.jit.check.types import (
    ANY,
    ANY_CLASS,
    ANY_ENUM,
    ANY_LIST,
    ANY_TUPLE,
    BOOL,
    COMPLEX,
    DEVICE,
    FLOAT,
    INT,
    NONE,
    NUMBER,
    STR,
    TENSOR,
    is_static_tuple,
    list_of,
    optional,
    unify,
)
from taeda.jit.ir import Graph, Node, Value
from taeda.jit.parse.errors import fail
from taeda.jit.source import SourceRange

EXACT, CONVERTING, WIDENING = range(3)
Convert = Callable[[Graph, Value, "SourceRange | None"], Value]


@functools.cache
def _primitives() -> dict[str, list[FunctionSchema]]:
    table: dict[str, list[str]] = {}
    for text in _C._jit.primitive_schemas():
        name = text[: text.index("(")]
        table.setdefault(name.partition(".")[0], []).append(text)
    return table  # type: ignore[return-value]  # schemas are made when a name is asked for


def schemas_of(kind: str) -> tuple[FunctionSchema, ...]:
    """All overloads of ``namespace::name``; none if there is no such function."""
    return _fixed_schemas(kind) if _is_fixed(kind) else _schemas_now(kind)


def _is_fixed(kind: str) -> bool:
    """Whether a function is always there as it is; other libraries come and go."""
    return kind.startswith(("aten::", "prim::"))


def _schemas_now(kind: str) -> tuple[FunctionSchema, ...]:
    ops = [_C._find_op(kind, overload)._schema for overload in _C._overloads_of(kind)]
    own = [FunctionSchema(text) for text in _primitives().get(kind, [])]  # type: ignore[arg-type]
    known = {schema.overload_name for schema in ops}
    return (*ops, *(schema for schema in own if schema.overload_name not in known))


_fixed_schemas = functools.cache(_schemas_now)


def exists(kind: str) -> bool:
    """Whether there is a function of this name."""
    return bool(schemas_of(kind))


# --- Types of generic functions: t stands for one type
def bind(formal: Any, actual: Any, variables: dict[str, Any]) -> bool:
    """Whether a value of type ``actual`` is one of ``formal``, whose variables are bound so that it is."""
    kind = formal.kind()
    if kind == "VarType":
        bound = variables.get(formal._name)
        joined = actual if bound is None else unify(bound, actual)
        if joined is None:
            return False
        variables[formal._name] = joined
        return True
    inner = formal.containedTypes()
    if not inner or not _has_variables(formal):
        return actual.isSubtypeOf(formal)
    if kind == "OptionalType":
        if actual is NONE:
            return True
        given = actual.containedTypes()[0] if actual.kind() == "OptionalType" else actual
        return bind(inner[0], given, variables)
    others = actual.containedTypes()
    if actual.kind() != kind or len(others) != len(inner):
        return False
    return all(bind(f, a, variables) for f, a in zip(inner, others))


@functools.lru_cache(4096)
def _has_variables(type: Any) -> bool:
    return type.kind() == "VarType" or any(map(_has_variables, type.containedTypes()))


def put(formal: Any, variables: dict[str, Any]) -> Any:
    """The type with what its variables are bound to."""
    if not variables or not _has_variables(formal):
        return formal
    if formal.kind() == "VarType":
        return variables.get(formal._name, formal)
    inner = [put(t, variables) for t in formal.containedTypes()]
    return _C._make_type(formal.kind(), inner)


# --- Conversions
_FROM_TENSOR = {FLOAT: "FloatImplicit", INT: "IntImplicit", COMPLEX: "ComplexImplicit", NUMBER: "ScalarImplicit"}
_FROM_NUMBER = {FLOAT: "Float", INT: "Int", COMPLEX: "Complex"}


def _through(kind: str, type: Any) -> Convert:
    def convert(graph: Graph, value: Value, range: SourceRange | None) -> Value:
        return graph.emit(kind, [value], [type], range, _overload_for(kind, value)).output()

    return convert


@functools.cache
def _schema_taking(kind: str, type: Any) -> FunctionSchema | None:
    for schema in schemas_of(kind):
        if len([a for a in schema.arguments if not a.has_default_value()]) == 1 and bind(
            schema.arguments[0].type, type, {}
        ):
            return schema
    return None


def _overload_for(kind: str, value: Value) -> str | None:
    found = _schema_taking(kind, value.static_type)
    return None if found is None else found.overload_name


def _is_empty_literal(value: Value) -> bool:
    node = value.node()
    plain = not value.hasUses()  # so that nothing has been put into it
    return node.kind() in ("prim::ListConstruct", "prim::DictConstruct") and not node.inputsSize() and plain


def _retyped(type: Any) -> Convert:
    def convert(graph: Graph, value: Value, range: SourceRange | None) -> Value:
        return value.setType(type)

    return convert


def _as_is(graph: Graph, value: Value, range: SourceRange | None) -> Value:
    return value


def _tuple_as_list(element: Any, converts: list[Convert]) -> Convert:
    def convert(graph: Graph, value: Value, range: SourceRange | None) -> Value:
        items = unpack_tuple(graph, value, range)
        return make_list(graph, [c(graph, v, range) for c, v in zip(converts, items)], element, range)

    return convert


def unpack_tuple(graph: Graph, value: Value, range: SourceRange | None) -> list[Value]:
    """The items of a tuple as values."""
    node = value.node()
    if node.kind() == "prim::TupleConstruct":
        return list(node.inputs())
    return list(graph.emit("prim::TupleUnpack", [value], value.static_type.containedTypes(), range).outputs())


def make_list(graph: Graph, items: Sequence[Value], element: Any, range: SourceRange | None) -> Value:
    """A new list of values."""
    return graph.emit("prim::ListConstruct", items, [list_of(element)], range).output()


@functools.lru_cache(16384)
def _typed_conversion(actual: Any, formal: Any, level: int) -> Convert | None:
    """How a value of a type becomes one of a formal type without variables; None if it does not."""
    if actual.isSubtypeOf(formal):
        return _as_is
    if formal.kind() == "OptionalType":
        return _typed_conversion(actual, formal.containedTypes()[0], level)
    if formal.kind() == "InterfaceType" and actual.kind() == "ClassType":
        from taeda.jit.check.classes import serves

        return _as_is if serves(actual, formal) else None
    if formal.kind() == "ListType" and is_static_tuple(actual):
        element = formal.containedTypes()[0]
        found = [_typed_conversion(t, element, level) for t in actual.containedTypes()]
        return None if None in found else _tuple_as_list(element, found)  # type: ignore[arg-type]
    if (formal is ANY_LIST and actual.kind() == "ListType") or (formal is ANY_TUPLE and is_static_tuple(actual)):
        return _as_is
    if (formal is ANY_ENUM and actual.kind() == "EnumType") or (formal is ANY_CLASS and actual.kind() == "ClassType"):
        return _as_is
    if level >= CONVERTING:
        if actual is TENSOR and formal in _FROM_TENSOR:
            return _through(f"aten::{_FROM_TENSOR[formal]}", formal)
        if actual in (NUMBER, BOOL) and formal in _FROM_NUMBER:
            return _through(f"aten::{_FROM_NUMBER[formal]}", formal)
        if actual is BOOL and formal is NUMBER:
            return _through("aten::Int", INT)
        if actual is STR and formal is DEVICE:
            return _through("aten::device", DEVICE)
    if level >= WIDENING and (actual, formal) in ((INT, FLOAT), (INT, COMPLEX), (FLOAT, COMPLEX)):
        return _through(f"aten::{_FROM_NUMBER[formal]}", formal)
    return None


def conversion(value: Value, formal: Any, level: int) -> Convert | None:
    """How a value becomes one of a formal type without variables; None if it does not."""
    found = _typed_conversion(value.static_type, formal, level)
    if found is None and _is_empty_literal(value):
        wanted = formal.containedTypes()[0] if formal.kind() == "OptionalType" else formal
        if wanted.kind() == value.static_type.kind() and not value.hasUses():
            return _retyped(wanted)
    if found is None and level >= WIDENING and formal.kind() == "ListType":
        return _list_of_literals(value, formal, level)
    return found


def _list_of_literals(value: Value, formal: Any, level: int) -> Convert | None:
    node = value.node()
    if node.kind() != "prim::ListConstruct" or value.hasUses():  # something may have been put into it
        return None
    element = formal.containedTypes()[0]
    found = [conversion(item, element, level) for item in node.inputs()]
    if None in found:
        return None

    def convert(graph: Graph, value: Value, range: SourceRange | None) -> Value:
        items = [c(graph, v, range) for c, v in zip(found, node.inputs())]  # type: ignore[misc]
        return make_list(graph, items, element, range)

    return convert


# --- Matching a call with a schema
class Match(NamedTuple):
    """A call that fits: the schema, what each argument is and becomes, the results' types."""

    schema: FunctionSchema
    arguments: list[tuple[Any, Convert]]  # (value, or the default wrapped in _Default; conversion)
    returns: list[Any]


class _Default(NamedTuple):
    value: Any
    type: Any


class _Several(NamedTuple):
    """Arguments that are together one list."""

    values: list[Value]
    element: Any
    converts: list[Convert]


def match(schema: FunctionSchema, args: Sequence[Value], kwargs: dict[str, Value], level: int) -> Match | str:
    """The call fitted to the schema, or why it does not fit."""
    variables: dict[str, Any] = {}
    arguments: list[tuple[Any, Convert]] = []
    used, position = set(), 0
    formals = schema.arguments
    if "input" in kwargs and formals and formals[0].name == "self" and not any(f.name == "input" for f in formals):
        kwargs = {"self" if name == "input" else name: value for name, value in kwargs.items()}  # as functions call it
    for i, formal in enumerate(formals):
        given: Any
        if formal.name in kwargs and (formal.kwarg_only or position >= len(args)):
            given = kwargs[formal.name]
            used.add(formal.name)
        elif not formal.kwarg_only and position < len(args):
            if formal.name in kwargs:
                return f"'{formal.name}' is given twice"
            if _takes_rest(schema, i, args, position) and (many := _several(formal, args[position:], level)):
                arguments.append((many, _as_is))
                position = len(args)
                continue
            given = args[position]
            position += 1
        elif formal.has_default_value():
            arguments.append((_Default(formal.default_value, formal.type), _as_is))
            continue
        else:
            return f"the argument '{formal.name}' is missing"
        found = _fit(formal, given, variables, level)
        if isinstance(found, str):
            return found
        arguments.append((given, found))
    if schema.is_vararg:
        arguments.extend((value, _as_is) for value in args[position:])
        position = len(args)
    if position < len(args):
        return f"it takes {position} positional arguments and was given {len(args)}"
    if unknown := [name for name in kwargs if name not in used]:
        return f"there is no argument '{unknown[0]}'"
    if schema.name == "aten::div" and {given.static_type for given, _ in arguments if isinstance(given, Value)} == {
        INT,
        FLOAT,
    }:
        return Match(schema, arguments, [FLOAT])  # its schema says a number of any kind
    return Match(schema, arguments, [put(result.type, variables) for result in schema.returns])


def _takes_rest(schema: FunctionSchema, i: int, args: Sequence[Value], position: int) -> bool:
    """Whether the rest of the positional arguments may be the items of this list: ``x.view(2, 3)``."""
    formal = schema.arguments[i]
    is_last = i + 1 == len(schema.arguments) or schema.arguments[i + 1].kwarg_only
    kind = formal.type.kind()
    inner = formal.type.containedTypes()[0] if kind == "ListType" else None
    if inner is None or not is_last or inner is ANY or inner.kind() == "VarType":
        return False
    first = args[position].static_type
    return not (first.kind() == "ListType" or is_static_tuple(first)) and (
        formal.N is None or len(args) - position > 1 or formal.N == 1
    )


def _several(formal: Argument, values: Sequence[Value], level: int) -> _Several | None:
    element = formal.type.containedTypes()[0]
    found = [conversion(v, element, level) for v in values]
    if None in found:
        return None
    return _Several(list(values), element, found)  # type: ignore[arg-type]


def _fit(formal: Argument, value: Value, variables: dict[str, Any], level: int) -> Convert | str:
    wanted, actual = formal.type, value.static_type
    if _has_variables(wanted):
        if bind(wanted, actual, variables):
            return _as_is
        if wanted.kind() == "ListType" and is_static_tuple(actual):
            element = None
            for type in actual.containedTypes():
                element = type if element is None else unify(element, type)
                if element is None:
                    break
            if element is not None and bind(wanted, list_of(element), variables):
                return _tuple_as_list(element, [_as_is] * len(actual.containedTypes()))
        if _is_empty_literal(value):
            bound = put(wanted, variables)
            if not _has_variables(bound) and bound.kind() == actual.kind():
                return _retyped(bound)
    else:
        found = conversion(value, wanted, level)
        if found is not None:
            return found
        if formal.N is not None and (item := _broadcast(wanted)) is not None:
            single = conversion(value, item, level)
            if single is not None:
                return _repeated(single, item, formal.N)
    return f"'{formal.name}' wants {put(wanted, variables)}; got {actual}"


def _broadcast(type: Any) -> Any:
    if type.kind() == "OptionalType":
        type = type.containedTypes()[0]
    item = type.containedTypes()[0] if type.kind() == "ListType" else None
    return item if item in (INT, FLOAT) else None


def _repeated(single: Convert, element: Any, count: int) -> Convert:
    def convert(graph: Graph, value: Value, range: SourceRange | None) -> Value:
        item = single(graph, value, range)
        return make_list(graph, [item] * count, element, range)

    return convert


# --- Calls
def find(kind: str, args: Sequence[Value], kwargs: dict[str, Value], exact: bool = False) -> Match | list[str]:
    """The overload that takes the values, or for each why it does not."""
    is_kept = _is_fixed(kind) and not exact and not any(map(_is_literal, (*args, *kwargs.values())))
    key = _call_key(kind, args, kwargs) if is_kept else None
    if key in _CHOSEN:
        schema, level = _CHOSEN[key]
        again = match(schema, args, kwargs, level)
        if isinstance(again, Match):
            return again
    found = _search(kind, args, kwargs, exact)
    if isinstance(found, list):
        return found
    if key is not None:
        _CHOSEN[key] = (found[0].schema, found[1])
    return found[0]


_CHOSEN: dict[Any, tuple[FunctionSchema, int]] = {}  # by the types of a call's values: the overload, how far it bends


def _is_literal(value: Value) -> bool:
    """Whether more than its type decides which overload takes the value."""
    return value.node().kind() in ("prim::ListConstruct", "prim::DictConstruct")


def _call_key(kind: str, args: Sequence[Value], kwargs: dict[str, Value]) -> Any:
    named = tuple([(name, id(value.static_type)) for name, value in kwargs.items()])
    return (kind, tuple([id(value.static_type) for value in args]), named)


def _search(kind: str, args: Sequence[Value], kwargs: dict[str, Value], exact: bool) -> tuple[Match, int] | list[str]:
    why: list[str] = []
    schemas = schemas_of(kind)
    for level in (EXACT,) if exact else (EXACT, CONVERTING, WIDENING):
        why = []
        fitting: list[Match] = []
        for schema in schemas:
            found = match(schema, args, kwargs, level)
            if isinstance(found, Match):
                if level == EXACT:
                    return found, level
                fitting.append(found)
            why.append(f"{schema}: {found}")
        if fitting:  # a truth is not made a number because another argument is converted
            return min(fitting, key=_conversions), level
    return why


def _conversions(found: Match) -> int:
    """How many arguments are not taken as they are."""
    return sum(isinstance(given, Value) and convert is not _as_is for given, convert in found.arguments)


def apply(graph: Graph, found: Match, range: SourceRange | None, constant: Callable[..., Value] | None = None) -> Node:
    """The node of a call that fits, at the insertion point."""
    constant = constant or graph.insertConstant
    inputs = []
    for given, convert in found.arguments:
        if isinstance(given, _Default):
            inputs.append(constant(*_plain_default(given)))
        elif isinstance(given, _Several):
            items = [c(graph, v, range) for c, v in zip(given.converts, given.values)]
            inputs.append(make_list(graph, items, given.element, range))
        else:
            inputs.append(convert(graph, given, range))
    schema = found.schema
    node = graph.emit(schema.name, inputs, found.returns, range, schema.overload_name)
    return node


def _plain_default(default: _Default) -> tuple[Any, Any]:
    """The default and its type as programs have it: dtypes are ints, None has a type of its own."""
    value, type = default
    if value is None:
        return None, None
    if type.kind() == "OptionalType":
        type = type.containedTypes()[0]
    if type is FLOAT and isinstance(value, int):
        return float(value), FLOAT
    if type.kind() == "ListType":
        item = type.containedTypes()[0]
        items = list(value) if isinstance(value, (list, tuple)) else [value]
        return ([float(v) for v in items] if item is FLOAT else items), type
    if isinstance(value, str) and type is DEVICE:
        return _C.device(value), None
    return value, None


def call(
    graph: Graph, kind: str, args: Sequence[Value], kwargs: dict[str, Value] | None = None,
    range: SourceRange | None = None, constant: Callable[..., Value] | None = None,
) -> Node:  # fmt: skip
    """The node that calls ``namespace::name`` with these values, at the insertion point.

    Raises:
        CompileError: no overload takes them; lists what each wants.
    """
    found = find(kind, args, kwargs or {})
    if isinstance(found, Match):
        return apply(graph, found, range, constant)
    name = kind.partition("::")[2]
    given = ", ".join([str(v.static_type) for v in args] + [f"{k}={v.static_type}" for k, v in (kwargs or {}).items()])
    if not found:
        fail(range, f"there is no function {kind}")
    shown = "\n".join(f"    {line}" for line in found[:8])
    more = f"\n    and {len(found) - 8} more" if len(found) > 8 else ""
    fail(range, f"{name}({given}): no form of {kind} takes these arguments:\n{shown}{more}")


def emit_op(graph: Graph, kind: str, args: Sequence[Value], kwargs: dict[str, Value] | None = None) -> Value:
    """As `call`, for an op with one result."""
    node = call(graph, kind, args, kwargs)
    if not node.outputsSize():
        return graph.insertConstant(None)
    return node.output()


def schema_of_node(node: Node) -> FunctionSchema | None:
    """The schema of the op that a node calls; None for a construct of the language.

    Raises:
        RuntimeError: no overload takes the types of its inputs.
    """
    schemas = schemas_of(node.kind())
    if not schemas:
        return None
    if node.overload is not None:
        for schema in schemas:
            if schema.overload_name == node.overload:
                return schema
    inputs = list(node.inputs())
    for level in (EXACT, CONVERTING, WIDENING):
        for schema in schemas:
            if _takes_all(schema, inputs, node, level):
                node.overload = schema.overload_name
                return schema
    types = ", ".join(str(v.static_type) for v in inputs)
    raise RuntimeError(f"{node.kind()}: no overload takes ({types}): {str(node).rstrip()}")


def _takes_all(schema: FunctionSchema, inputs: list[Value], node: Node, level: int) -> bool:
    """A node gives every argument in its place, also those that are keyword-only."""
    if schema.is_vararg:
        return len(inputs) >= len(schema.arguments)
    if len(inputs) != len(schema.arguments) or (not schema.is_varret and len(schema.returns) != node.outputsSize()):
        return False
    variables: dict[str, Any] = {}
    return all(not isinstance(_fit(a, v, variables, level), str) for a, v in zip(schema.arguments, inputs))


# --- Of values whose types say more than a schema does
def enum_field(graph: Graph, member: Value, name: str, range: SourceRange | None) -> Value:
    """The name or value of a member of an enumeration."""
    if name == "name":
        return graph.emit("prim::EnumName", [member], [STR], range).output()
    type = member.static_type.containedTypes()[0]
    return graph.emit("prim::EnumValue", [member], [type], range, type.str()).output()


def to_list(graph: Graph, tensor: Value, wanted: Any, range: SourceRange | None) -> Value:
    """A tensor's elements as lists of the type that is ``wanted``."""
    depth, type = 0, wanted
    while type.kind() == "ListType":
        depth, type = depth + 1, type.containedTypes()[0]
    numbers = {"IntType": 0, "FloatType": 1, "BoolType": 2, "ComplexType": 3}
    if type.kind() not in numbers:
        fail(range, f"tolist gives lists of int, float, bool or complex; not {wanted}")
    inputs = [tensor, graph.insertConstant(depth), graph.insertConstant(numbers[type.kind()])]
    return graph.emit("prim::tolist", inputs, [wanted], range).output()


__all__ = [
    "ANY", "apply", "bind", "call", "emit_op", "enum_field", "exists", "find", "make_list", "match", "optional", "put",
    "to_list",
]  # fmt: skip
