"""Expressions in the source of archives."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import Any, NoReturn

import taeda
from taeda import _C
from taeda._schema.function_schema import FunctionSchema
from taeda._schema.types import DictType, ListType, TupleType, Type
from taeda.jit._ir_types import FunctionType
from taeda.jit.check import operators
from taeda.jit.check.classes import serves
from taeda.jit.check.types import ANY, BOOL, NONE, STR, TENSOR, unify
from taeda.jit.files.importer import Importer, Unreachable
from taeda.jit.files.older import as_meant, is_other
from taeda.jit.ir import Value
from taeda.jit.parse.errors import CompileError

_NUMBERS = {"inf": math.inf, "nan": math.nan, "infj": complex(0, math.inf), "nanj": complex(0, math.nan)}
_CONVERSIONS = {"int": "aten::Int", "float": "aten::Float", "bool": "aten::Bool", "complex": "aten::Complex",
                "str": "aten::str"}  # fmt: skip


def read(importer: Importer, tree: ast.expr) -> Any:
    """What an expression is: a value, several (a list), or a type, function or member of the program."""
    reader = _EXPRESSIONS.get(tree.__class__)
    if reader is None:
        importer.fail(tree, f"archives hold no '{tree.__class__.__name__}' in expressions")
    return reader(importer, tree)  # type: ignore[misc]


def _name(importer: Importer, tree: ast.Name) -> Any:
    found = importer.names.get(tree.id)
    if found is not None:
        return found
    if tree.id in _NUMBERS:
        return importer.constant(_NUMBERS[tree.id])
    return importer.fail(tree, f"the name '{tree.id}' is not set")


def _constant(importer: Importer, tree: ast.Constant) -> Value:
    if tree.value is not None and not isinstance(tree.value, (bool, int, float, complex, str)):
        importer.fail(tree, f"a {tree.value.__class__.__name__} is no constant of programs")
    if isinstance(tree.value, int) and not -(1 << 63) <= tree.value < 1 << 63:
        importer.fail(tree, f"{tree.value} does not fit in 64 bits")
    return importer.constant(tree.value)


def _number(tree: ast.expr) -> Any:
    """The number that a sign or a sum of a real and an imaginary part spells; None if it is none."""
    if isinstance(tree, ast.Constant) and isinstance(tree.value, (int, float, complex)):
        return None if isinstance(tree.value, bool) else tree.value
    if isinstance(tree, ast.Name):
        return _NUMBERS.get(tree.id)
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
        value = _number(tree.operand)
        return None if value is None else -value
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, (ast.Add, ast.Sub)):
        left, right = _number(tree.left), _number(tree.right)
        if isinstance(left, float) and isinstance(right, complex):
            return complex(left, right.imag if isinstance(tree.op, ast.Add) else -right.imag)
    return None


def _arithmetic(importer: Importer, tree: ast.expr) -> Value:
    value = _number(tree)
    return importer.fail(tree, "this is no number") if value is None else importer.constant(value)


def _path(tree: ast.expr) -> str:
    """``a.b.c`` as text; empty for anything else."""
    parts = []
    while isinstance(tree, ast.Attribute):
        parts.append(tree.attr)
        tree = tree.value
    return ".".join([tree.id, *reversed(parts)]) if isinstance(tree, ast.Name) else ""


def _attribute(importer: Importer, tree: ast.Attribute) -> Any:
    path = _path(tree)
    first, _, rest = path.partition(".")
    if first and first not in importer.names:
        if first == "CONSTANTS":
            importer(tree)
            return importer.constant(*_typed_constant(importer.program.constant(rest)))
        if first == "__torch__":
            return _program_value(importer, importer.program.named(path))
    owner = importer.value(tree.value)
    return _get(importer, tree, owner, tree.attr)


def _typed_constant(value: Any) -> tuple[Any, Any]:
    return (value, _C._type_of(value)) if isinstance(value, (list, dict, tuple)) else (value, None)


def _program_value(importer: Importer, found: Any) -> Any:
    """A function or member of an enumeration as a value; a type as it is."""
    if isinstance(found, Type):
        return found
    if hasattr(found, "graph") or hasattr(found, "qualified_name"):
        key = ("function", found.qualified_name)
        if key not in importer._constants:
            type: Any = FunctionType(found)
            importer._constants[key] = importer.graph.emit(
                "prim::Constant",
                [],
                [type],
                importer.here,
                name=("s", found.name),  # type: ignore[list-item]
            ).output()
            importer._constants[key].node().moveAfter(importer.graph.param_node())
        return importer._constants[key]
    return importer.constant(*found) if isinstance(found, tuple) else importer.constant(found)


def _get(importer: Importer, tree: ast.AST, owner: Value, name: str) -> Value:
    if owner.static_type.kind() == "TupleType" and name in owner.static_type._fields:
        return _tuple_item(importer, owner, owner.static_type._fields.index(name))
    if owner.static_type.kind() == "EnumType" and name in ("name", "value"):
        return operators.enum_field(importer.graph, owner, name, importer.here)
    type = importer.attribute_type(owner, name, tree)
    importer(tree)
    return importer.graph.emit("prim::GetAttr", [owner], [type], importer.here, name=("s", name)).output()


def _tuple_item(importer: Importer, owner: Value, place: int) -> Value:
    type = owner.static_type.containedTypes()[place]
    return importer.graph.emit("prim::TupleIndex", [owner, importer.constant(place)], [type], importer.here).output()


def _subscript(importer: Importer, tree: ast.Subscript) -> Value:
    owner = importer.value(tree.value)
    types = owner.static_type.containedTypes()
    if isinstance(tree.slice, ast.Slice):
        start, stop = (_number(part) if part is not None else None for part in (tree.slice.lower, tree.slice.upper))
        if owner.static_type.kind() != "TupleType":
            return importer.fail(tree, f"a {owner.static_type} is not sliced so in archives")
        importer(tree)
        begin, end, _ = slice(start, stop).indices(len(types))
        return importer.graph.emit("prim::TupleSlice", [owner], [TupleType(types[begin:end])], importer.here,
                                   beg=("i", begin), end=("i", end)).output()  # fmt: skip
    if owner.static_type.kind() == "TupleType":
        place = _number(tree.slice)
        if not isinstance(place, int) or not -len(types) <= place < len(types):
            return importer.fail(tree, f"a tuple of {len(types)} has no such item")
        importer(tree)
        return _tuple_item(importer, owner, place % len(types))
    if owner.static_type.kind() == "ClassType" and _C._is_module_class(owner.static_type):
        return _container_item(importer, tree, owner)
    return _one(importer, call(importer, tree, "aten::__getitem__", [owner, importer.value(tree.slice)], {}), tree)


def _container_item(importer: Importer, tree: ast.Subscript, owner: Value) -> Value:
    """A module of a container, by an index that is known only when the program runs."""
    index = importer.value(tree.slice)
    kind, overload = "prim::ModuleContainerIndex", "dict" if index.static_type is STR else "list"
    importer(tree)
    return importer.graph.emit(kind, [owner, index], [ANY], importer.here, overload).output()


def _tuple(importer: Importer, tree: ast.Tuple) -> Value:
    items = [importer.value(each) for each in tree.elts]
    type = TupleType([value.static_type for value in items])
    return importer.graph.emit("prim::TupleConstruct", items, [type], importer.here).output()


def _list(importer: Importer, tree: ast.List, wanted: Any = None) -> Value:
    items = [importer.value(each) for each in tree.elts]
    element = wanted.containedTypes()[0] if wanted is not None else items[0].static_type if items else TENSOR
    for value in items:
        if wanted is None:
            element = unify(element, value.static_type)
        if element is None or not value.static_type.isSubtypeOf(element):
            importer.fail(tree, f"a list of {element} holds a {value.static_type}")
    return importer.graph.emit("prim::ListConstruct", items, [ListType(element)], importer.here).output()


def _dict(importer: Importer, tree: ast.Dict, wanted: Any = None) -> Value:
    pairs = [
        (importer.value(k), importer.value(v)) for k, v in zip(tree.keys, tree.values, strict=True) if k is not None
    ]
    if wanted is None:
        if not pairs:
            importer.fail(tree, "an empty dict needs its type: annotate(Dict[str, Tensor], {})")
        wanted = DictType(*(type for type in _joined(importer, tree, pairs)))
    key, value = wanted.containedTypes()
    for k, v in pairs:
        if not k.static_type.isSubtypeOf(key) or not v.static_type.isSubtypeOf(value):
            importer.fail(tree, f"a {wanted} holds {k.static_type}: {v.static_type}")
    flat = [part for pair in pairs for part in pair]
    return importer.graph.emit("prim::DictConstruct", flat, [wanted], importer.here).output()


def _joined(importer: Importer, tree: ast.Dict, pairs: list[tuple[Value, Value]]) -> list[Any]:
    joined = [value.static_type for value in pairs[0]]
    for pair in pairs[1:]:
        joined = [unify(a, b.static_type) for a, b in zip(joined, pair, strict=True)]
        if None in joined:
            importer.fail(tree, "the items of a dict have types that do not go together")
    return joined


# --- Calls
def call(importer: Importer, tree: ast.AST, kind: str, args: list[Value], kwargs: dict[str, Value]) -> Any:
    """A call of an op or of one of the language's own functions: its value, or a list of several or none."""
    importer(tree)
    if is_other(kind, importer.program.version):
        meant = as_meant(importer, kind, args, kwargs)
        if not isinstance(meant, tuple):
            return meant
        args, kwargs = meant
    key = (kind, tuple([id(v.static_type) for v in args]), tuple([(k, id(v.static_type)) for k, v in kwargs.items()]))
    plan = _plans.get(key)
    if plan is None and not operators.exists(kind):
        _absent(importer, kind)
    if plan is None:
        plan = _planned(importer, tree, kind, args, kwargs, key)
    if plan is NotImplemented:  # what it becomes depends on more than types
        node = _resolved(importer, tree, kind, args, kwargs)
    else:
        schema, places, returns = plan
        given = [*args, *kwargs.values()]
        inputs = [given[place] if place.__class__ is int else _default(importer, place) for place in places]
        node = importer.graph.emit(schema.name, inputs, returns, importer.here, schema.overload_name)
    outputs = node._outputs
    return outputs[0] if len(outputs) == 1 else list(outputs)


_plans: dict[Any, Any] = {}  # what calls with arguments of these types are


def _planned(
    importer: Importer, tree: ast.AST, kind: str, args: list[Value], kwargs: dict[str, Value], key: Any
) -> Any:
    found = operators.find(kind, args, kwargs)
    if isinstance(found, list):
        return _refuse(importer, tree, kind, args, kwargs)
    if any(_depends(v) for v in (*args, *kwargs.values())) or not all(
        c is operators._as_is for _, c in found.arguments
    ):
        return NotImplemented
    given = [*args, *kwargs.values()]
    places: list[Any] = []
    for value, _ in found.arguments:
        if isinstance(value, Value):
            places.append(next(i for i, v in enumerate(given) if v is value and i not in places))
        elif isinstance(value, operators._Default):
            places.append(operators._plain_default(value))
        else:
            return NotImplemented
    plan = _plans[key] = (found.schema, places, found.returns)
    return plan


def _depends(value: Value) -> bool:
    node = value.node()
    return node.kind() in ("prim::ListConstruct", "prim::DictConstruct") and not node._inputs


def _default(importer: Importer, default: Any) -> Value:
    value, type = default
    if isinstance(value, list):
        items = [importer.constant(item) for item in value]
        return importer.graph.emit("prim::ListConstruct", items, [type]).output()
    return importer.constant(value, type)


def _resolved(importer: Importer, tree: ast.AST, kind: str, args: list[Value], kwargs: dict[str, Value]) -> Any:
    try:
        return operators.call(importer.graph, kind, args, kwargs, importer.here, importer.constant)
    except CompileError:
        return _refuse(importer, tree, kind, args, kwargs)


def _absent(importer: Importer, kind: str) -> NoReturn:
    """A call of an op that there is not: the program raises if it gets there, and what follows is not read."""
    message = f"{kind}: there is no such op here; the archive was made with another library or an extension"
    texts = [importer.constant(message), importer.constant("builtins.NotImplementedError")]
    importer.graph.emit("prim::RaiseException", texts, [], importer.here)
    raise Unreachable


def _refuse(importer: Importer, tree: ast.AST, kind: str, args: list[Value], kwargs: dict[str, Value]) -> Any:
    given = ", ".join([str(v.static_type) for v in args] + [f"{k}={v.static_type}" for k, v in kwargs.items()])
    return importer.fail(tree, f"no form of {kind} takes ({given})")


def _call(importer: Importer, tree: ast.Call) -> Any:
    function = tree.func
    if isinstance(function, ast.Name) and function.id not in importer.names:
        special = _FUNCTIONS.get(function.id)
        if special is None:
            return importer.fail(tree, f"there is no function '{function.id}'")
        importer(tree)
        return special(importer, tree)
    if isinstance(function, ast.Attribute):
        path = _path(function)
        first = path.partition(".")[0]
        if first and first not in importer.names:
            return _call_path(importer, tree, path)
        return _call_method(importer, tree, function)
    callee = read(importer, function)
    return _call_value(importer, tree, callee)


def _arguments(importer: Importer, tree: ast.Call) -> tuple[list[Value], dict[str, Value]]:
    named = {each.arg: importer.value(each.value) for each in tree.keywords if each.arg is not None}
    return [importer.value(each) for each in tree.args], named


def _call_path(importer: Importer, tree: ast.Call, path: str) -> Any:
    parts = path.split(".")
    if parts[0] == "torch" and len(parts) == 2:
        if path == "torch.device" and len(tree.args) == 1 and isinstance(tree.args[0], ast.Constant):
            return importer.constant(_device(importer, tree, tree.args[0].value))
        if path == "torch.Size" and len(tree.args) == 1:
            return importer.value(tree.args[0])
        return call(importer, tree, f"aten::{parts[1]}", *_arguments(importer, tree))
    if parts[:2] == ["torch", "autograd"] and len(parts) == 3:
        return call(importer, tree, f"aten::{parts[2]}", *_arguments(importer, tree))
    if parts[0] == "ops" and len(parts) == 3:
        return _call_op(importer, tree, f"{parts[1]}::{parts[2]}")
    if parts[0] == "__torch__" and parts[-1] == "__new__":
        type = importer.program.named(path.removesuffix(".__new__"))
        importer(tree)
        return importer.graph.emit("prim::CreateObject", [], [type], importer.here).output()
    if parts[0] == "__torch__":
        found = importer.program.named(path)
        return _call_value(importer, tree, found if isinstance(found, Type) else _program_value(importer, found))
    return importer.fail(tree, f"there is no function '{path}'")


def _device(importer: Importer, tree: ast.AST, name: Any) -> Any:
    try:
        return taeda.device(name)
    except (RuntimeError, TypeError, ValueError) as error:
        return importer.fail(tree, f"{name!r} is no device ({error})")


def _call_op(importer: Importer, tree: ast.Call, kind: str) -> Any:
    args, named = _arguments(importer, tree)
    if kind == "prim::RaiseException":
        cls = args[1] if len(args) > 1 else importer.constant(None)
        importer(tree)
        return list(importer.graph.emit(kind, [args[0], cls], [], importer.here).outputs())
    return call(importer, tree, kind, args, named)


def _call_value(importer: Importer, tree: ast.Call, callee: Any) -> Any:
    args, named = _arguments(importer, tree)
    importer(tree)
    if isinstance(callee, Type) and callee.kind() == "TupleType":
        return importer.graph.emit("prim::TupleConstruct", args, [callee], importer.here).output()
    function = getattr(getattr(callee, "static_type", None), "function", None)
    if function is None:
        return importer.fail(tree, "this cannot be called")
    inputs = _fitted(importer, tree, function.schema, args, named)
    return importer.graph.emit(
        "prim::CallFunction", [callee, *inputs], _results(function.schema), importer.here
    ).output()


def _call_method(importer: Importer, tree: ast.Call, function: ast.Attribute) -> Any:
    owner = importer.value(function.value)
    schema = method_schema(owner.static_type, function.attr)
    if schema is None:
        return importer.fail(tree, f"{owner.static_type} has no method '{function.attr}'")
    args, named = _arguments(importer, tree)
    importer(tree)
    inputs = _fitted(importer, tree, schema, [owner, *args], named)
    return importer.graph.emit("prim::CallMethod", inputs, _results(schema), importer.here,
                               name=("s", function.attr)).output()  # fmt: skip


def _results(schema: FunctionSchema) -> list[Any]:
    return [schema.returns[0].type if schema.returns else NONE]


def _fitted(
    importer: Importer, tree: ast.AST, schema: FunctionSchema, args: list[Value], named: dict[str, Value]
) -> Any:
    """The values for a schema's arguments, with defaults where none are given."""
    inputs = []
    for i, argument in enumerate(schema.arguments):
        value = args[i] if i < len(args) else named.get(argument.name)
        if value is None:
            if not argument.has_default_value():
                importer.fail(tree, f"the argument '{argument.name}' of {schema.name} is missing")
            value = _default(
                importer, operators._plain_default(operators._Default(argument.default_value, argument.type))
            )
        if not value.static_type.isSubtypeOf(argument.type) and i:
            importer.fail(tree, f"the argument '{argument.name}' is a {argument.type}, not a {value.static_type}")
        inputs.append(value)
    if len(args) > len(inputs):
        importer.fail(tree, f"{schema.name} takes {len(inputs)} arguments, not {len(args)}")
    return inputs


def method_schema(type: Any, name: str) -> FunctionSchema | None:
    """The schema of a method of a class or interface; None if there is none of that name."""
    if type.kind() == "InterfaceType":
        schemas = [FunctionSchema(text) for text in _C._interface_methods(type)]
        return next((schema for schema in schemas if schema.name == name), None)
    if type.kind() != "ClassType":
        return None
    from taeda.jit.files.objects import method_of

    method = method_of(type, name)
    return None if method is None else method.schema


# --- What is called by a plain name
def _annotate(importer: Importer, tree: ast.Call) -> Value:
    type = importer.program.type_of(tree.args[0])
    given = tree.args[1]
    if isinstance(given, ast.List) and type.kind() == "ListType":
        return _list(importer, given, type)
    if isinstance(given, ast.Dict) and type.kind() == "DictType":
        return _dict(importer, given, type)
    if isinstance(given, ast.Call) and isinstance(given.func, ast.Attribute) and given.func.attr == "tolist":
        importer(tree)
        return operators.to_list(importer.graph, importer.value(given.func.value), type, importer.here)
    value = importer.value(given)
    if value.static_type is type:
        return value
    implicit = {"int": "Int", "float": "Float", "complex": "Complex", "Scalar": "Scalar"}.get(type.str())
    if value.static_type is TENSOR and implicit:
        return _one(importer, call(importer, tree, f"aten::{implicit}Implicit", [value], {}), tree)
    if value.node().mustBeNone():
        return importer.constant(None, type)
    if not value.static_type.isSubtypeOf(type):
        return importer.fail(tree, f"a {value.static_type} is no {type}")
    return importer.graph.emit("prim::unchecked_cast", [value], [type], importer.here).output()


def _one(importer: Importer, found: Any, tree: ast.AST) -> Value:
    return found if isinstance(found, Value) else importer.fail(tree, "this gives no single value")


def _unchecked_cast(importer: Importer, tree: ast.Call) -> Value:
    type = importer.program.type_of(tree.args[0])
    value = importer.value(tree.args[1])
    if type.kind() == "InterfaceType" and value.static_type.kind() == "ClassType":
        serves(value.static_type, type)  # its methods are called by name
    return importer.graph.emit("prim::unchecked_cast", [value], [type], importer.here).output()


def _uninitialized(importer: Importer, tree: ast.Call) -> Value:
    type = importer.program.type_of(tree.args[0])
    return importer.graph.emit("prim::Uninitialized", [], [type], importer.here).output()


def _isinstance(importer: Importer, tree: ast.Call) -> Value:
    given, kinds = tree.args
    types = [importer.program.type_of(each) for each in (kinds.elts if isinstance(kinds, ast.Tuple) else [kinds])]
    node = importer.graph.emit("prim::isinstance", [importer.value(given)], [BOOL], importer.here)
    return node.tys_("types", types).output()


def _getattr(importer: Importer, tree: ast.Call) -> Value:
    name = tree.args[1]
    if not isinstance(name, ast.Constant) or not isinstance(name.value, str):
        return importer.fail(tree, "an attribute's name is a text")
    return _get(importer, tree, importer.value(tree.args[0]), name.value)


def _print(importer: Importer, tree: ast.Call) -> Any:
    args, _ = _arguments(importer, tree)
    return list(importer.graph.emit("prim::Print", args, [], importer.here).outputs())


def _apart(kind: str, type_name: str) -> Callable[[Importer, ast.Call], Value]:
    def read(importer: Importer, tree: ast.Call) -> Value:
        name = tree.args[0]
        return importer.apart(kind, type_name, name.id if isinstance(name, ast.Name) else "", tree)

    return read


def _conversion(kind: str) -> Callable[[Importer, ast.Call], Any]:
    return lambda importer, tree: call(importer, tree, kind, *_arguments(importer, tree))


_FUNCTIONS: dict[str, Callable[[Importer, ast.Call], Any]] = {
    "annotate": _annotate,
    "unchecked_cast": _unchecked_cast,
    "uninitialized": _uninitialized,
    "isinstance": _isinstance,
    "getattr": _getattr,
    "print": _print,
    "fork": _apart("prim::fork", "FutureType"),
    "awaitable": _apart("prim::awaitable", "AwaitType"),
    "sorted": _conversion("aten::sorted"),
    **{name: _conversion(kind) for name, kind in _CONVERSIONS.items()},
}
_EXPRESSIONS: dict[type, Callable[[Importer, Any], Any]] = {
    ast.Name: _name,
    ast.Constant: _constant,
    ast.UnaryOp: _arithmetic,
    ast.BinOp: _arithmetic,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.Tuple: _tuple,
    ast.List: _list,
    ast.Dict: _dict,
    ast.Call: _call,
}
