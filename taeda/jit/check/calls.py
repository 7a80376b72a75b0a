"""Calls: what is called, and with what."""

from __future__ import annotations

import ast
import cmath
import enum
import inspect
import math
import types
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda._main import script_marks
from taeda._schema.types import AwaitType
from taeda.jit import _awaits
from taeda.jit.check import operators
from taeda.jit.check.builtins import SPECIAL
from taeda.jit.check.classes import ClassInfo, class_of, construct, info_of
from taeda.jit.check.contexts import construct_stand_in, stand_in
from taeda.jit.check.emitter import CALLS, Emitter, handles
from taeda.jit.check.environment import is_ours
from taeda.jit.check.function import (
    Function,
    KeywordsOf,
    by_conversions,
    call_function,
    function_of,
    inline,
    inline_local,
    inline_python,
    type_of_default,
)
from taeda.jit.check.inferred import fitting
from taeda.jit.check.modules import call_module, is_left_out
from taeda.jit.check.tensors import legacy_tensor
from taeda.jit.check.types import NONE, STR, future_of
from taeda.jit.check.values import (
    BoundMethod,
    BoundOp,
    BoundPython,
    Kind,
    Known,
    LocalFunction,
    TupleOf,
)
from taeda.jit.ir import Graph, Value
from taeda.jit.parse.definition import definition_of
from taeda.jit.parse.errors import CompileError, fail
from taeda.jit.source import SourceRange


@handles(ast.Call)
def _call(emitter: Emitter, node: ast.Call, hint: Any) -> Any:
    place = emitter.range(node)
    if isinstance(node.func, ast.IfExp):
        return _call_either(emitter, node, node.func, hint)
    callee = emitter.expression(node.func)
    if isinstance(callee, Known):
        written = _WRITTEN.get(id(callee.obj)) if not isinstance(callee.obj, (int, str)) else None
        if written is not None:
            return written(emitter, node, hint)
    if isinstance(callee, BoundOp) and callee.name == "__getitem__" and len(node.args) == 1 and not node.keywords:
        from taeda.jit.check.subscripts import get_item

        return get_item(emitter, callee.value, node.args[0], place)
    args, kwargs = arguments(emitter, node)
    if isinstance(callee, BoundOp) and callee.name == "tolist":
        if hint is None:
            fail(place, "what tolist gives must be said: x: List[List[int]] = t.tolist()")
        return operators.to_list(emitter.graph, callee.value, hint, place)
    if isinstance(callee, Known) and callee.obj in (list, dict) and not args and not kwargs and hint is not None:
        kind = "prim::ListConstruct" if callee.obj is list else "prim::DictConstruct"
        if hint.kind() in ("ListType", "DictType"):
            return emitter.graph.emit(kind, [], [hint], place).output()
    return emitter.call(callee, args, kwargs, place)


def _call_either(emitter: Emitter, node: ast.Call, func: ast.IfExp, hint: Any) -> Any:
    """``(f if condition else g)(x)``: one of two calls."""
    from taeda.jit.check.conditions import condition
    from taeda.jit.check.expressions import either

    def called(function: ast.expr) -> Any:
        return lambda: _call(emitter, ast.copy_location(ast.Call(function, node.args, node.keywords), node), hint)

    test = condition(emitter, func.test)
    return either(emitter, test, called(func.body), called(func.orelse), emitter.range(node), hint)


def arguments(emitter: Emitter, node: ast.Call) -> tuple[list[Any], dict[str, Any]]:
    """What a call gives: positional arguments and those by name, stars unpacked."""
    from taeda.jit.check.statements import items_of

    args: list[Any] = []
    for arg in node.args:
        if isinstance(arg, ast.Starred):
            args.extend(items_of(emitter, emitter.expression(arg.value), None, emitter.range(arg)))
        else:
            args.append(emitter.expression(arg))
    kwargs: dict[str, Any] = {}
    for keyword in node.keywords:
        what = emitter.expression(keyword.value)
        if keyword.arg is not None:
            kwargs[keyword.arg] = what
        elif isinstance(what, KeywordsOf):
            kwargs.update(what.table)
        elif isinstance(what, Known) and isinstance(what.obj, dict):
            kwargs.update({k: Known(v) for k, v in what.obj.items()})
        elif isinstance(what, Value) and what.node().kind() == "prim::DictConstruct" and not what.hasUses():
            parts = list(what.node().inputs())
            kwargs.update(zip([key.toIValue() for key in parts[::2]], parts[1::2]))
        else:
            fail(emitter.range(keyword), "** takes a dict that is known while the program is compiled")
    return args, kwargs


# --- Calls that look at what is written
def _isinstance(emitter: Emitter, node: ast.Call, hint: Any) -> Any:
    from taeda.jit.check.conditions import condition

    test = condition(emitter, node)
    return Known(test.answer) if test.answer is not None else test.value


def _annotate(emitter: Emitter, node: ast.Call, hint: Any) -> Any:
    from taeda.jit.check.annotations import type_of_annotation

    type = type_of_annotation(emitter, node.args[0])
    value = emitter.expression_value(node.args[1], type)
    if value.static_type is NONE and type.kind() == "OptionalType":
        return emitter.graph.emit("prim::unchecked_cast", [value], [type], emitter.range(node)).output()
    if value.static_type.isSubtypeOf(type) and type.kind() not in ("OptionalType", "UnionType", "AnyType"):
        return value
    return emitter.convert(value, type, emitter.range(node), "the annotated value", widen=True)


_WRITTEN = {
    id(isinstance): _isinstance, id(script_marks.container_isinstance): _isinstance,
    id(script_marks.annotate): _annotate, id(taeda.jit.annotate): _annotate,
}  # fmt: skip


# --- Calls by what is called
def _bound(emitter: Emitter, callee: Any, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
    if isinstance(callee, BoundMethod):
        return callee.run(emitter, args, kwargs, range)
    if isinstance(callee, BoundOp):
        return _call_op(emitter, callee, args, kwargs, range)
    if isinstance(callee, Kind):
        return emitter.op(callee.kind, args, kwargs, range)
    if isinstance(callee, LocalFunction):
        return inline_local(emitter, callee, args, kwargs, range)
    if isinstance(callee, BoundPython):
        return _call_bound_python(emitter, callee, args, kwargs, range)
    return None


def _call_bound_python(emitter: Emitter, callee: BoundPython, args: list[Any], kwargs: dict[str, Any],
                       range: SourceRange | None) -> Any:  # fmt: skip
    function = callee.function
    if is_left_out(function) and isinstance(callee.value, Value):
        return call_left_out(emitter, function, args, kwargs, range, callee.value)
    if isinstance(function, (staticmethod, classmethod)):
        function = function.__func__
    if not inspect.isfunction(function):
        return emitter.call(Known(function), [callee.value, *args], kwargs, range)
    from taeda.jit.check.environment import ClosureResolver
    from taeda.jit.check.function import defaults_of

    info = info_of(callee.value)
    python = info.python_class if info is not None else None
    owner = next((c for c in python.__mro__ if vars(c).get(function.__name__) is function), None) if python else None
    # A class method may be compiled before its class has a name.
    cls = callee.value.obj if isinstance(callee.value, Known) and inspect.isclass(callee.value.obj) else python
    names = ClosureResolver(function, lambda name: cls if cls is not None and name == cls.__name__ else None)
    return inline(emitter, definition_of(function), names, defaults_of(function),
                  [callee.value, *args], kwargs, range, None, owner)  # fmt: skip


def _call_op(
    emitter: Emitter, callee: BoundOp, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None
) -> Any:
    owner, name = callee.value, callee.name
    type = owner.static_type
    if type.kind() == "TupleType":
        owner = emitter.convert(owner, emitter.list_value(operators.unpack_tuple(emitter.graph, owner, range), range)
                                .static_type, range, "the tuple")  # fmt: skip
    if type.kind() == "ListType" and args and name in ("append", "insert"):
        _settle_list(emitter, owner, args[-1], range)
        args[-1] = emitter.convert(args[-1], owner.static_type.containedTypes()[0], range, "the item", widen=True)
    if type.kind() == "ListType" and name == "extend" and not isinstance(args[0], Value):
        args[0] = emitter.value(args[0], range, type)
    if type is STR and name == "join" and not isinstance(args[0], Value):
        args[0] = emitter.value(args[0], range)
    kind = f"aten::{name}"
    place = _place_of_self(kind) if type.kind() == "TensorType" else 0
    return emitter.op(kind, [*args[:place], owner, *args[place:]], kwargs, range)


def _place_of_self(kind: str) -> int:
    """Where an op takes the tensor whose method it is: ``x.where(condition, y)`` takes it second."""
    for schema in operators.schemas_of(kind):
        for i, argument in enumerate(schema.arguments):
            if argument.name == "self":
                return i
    return 0


def _settle_list(emitter: Emitter, owner: Value, item: Any, range: SourceRange | None) -> None:
    """``x = []`` becomes a list of what is first appended to it."""
    node = owner.node()
    if node.kind() == "prim::ListConstruct" and not node.inputsSize() and not owner.hasUses():
        value = emitter.value(item, range)
        if not value.static_type.isSubtypeOf(owner.static_type.containedTypes()[0]):
            from taeda.jit.check.types import list_of

            owner.setType(list_of(value.static_type))


def _value(emitter: Emitter, callee: Any, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
    if not isinstance(callee, Value):
        return None
    info = info_of(callee)
    if info is not None and info.is_module:
        return call_module(emitter, callee, args, kwargs, range)
    if info is not None:
        function = info.function("__call__")
        if function is not None:
            from taeda.jit.check.classes import call_method

            return call_method(emitter, callee, function, "__call__", args, kwargs, range)
    if callee.static_type.kind() == "InterfaceType":
        return emitter.call(emitter.attribute(callee, "forward", range), args, kwargs, range)
    return None


def _known(emitter: Emitter, callee: Any, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
    if not isinstance(callee, Known):
        return None
    obj = callee.obj
    handler = SPECIAL.get(id(obj))
    if handler is not None:
        try:
            return handler(emitter, args, kwargs, range)
        except (IndexError, ValueError, TypeError) as error:  # Python's, of arguments that the function does not take
            fail(range, f"{getattr(obj, '__name__', obj)} does not take these arguments ({error})")
    if isinstance(obj, Kind):
        return emitter.op(obj.kind, args, kwargs, range)
    if isinstance(obj, Function):
        return call_function(emitter, obj, args, kwargs, range)
    held = getattr(obj, "_script_function", None)
    if isinstance(held, Function):
        return call_function(emitter, held, args, kwargs, range)
    if isinstance(obj, ClassInfo):
        return construct(emitter, obj, args, kwargs, range)
    if inspect.isclass(obj):
        return _call_class(emitter, obj, args, kwargs, range)
    if isinstance(obj, types.MethodType):
        return _call_bound_python(emitter, BoundPython(Known(obj.__self__), obj.__func__), args, kwargs, range)
    if inspect.isbuiltin(obj) and isinstance(obj.__self__, (dict, str, tuple, list)):
        if not all(isinstance(a, Known) for a in args):
            owner = emitter.value(Known(obj.__self__), range)
            return emitter.call(emitter.attribute(owner, obj.__name__, range), args, kwargs, range)
        return Known(_settled(obj(*(a.obj for a in args))))
    kind = kind_of(obj)
    if kind is not None:
        return call_native(emitter, kind, args, kwargs, range)
    if inspect.isfunction(obj):
        return _call_python(emitter, obj, args, kwargs, range)
    if isinstance(obj, nn.Module) or inspect.isfunction(vars(type(obj)).get("__call__")):
        return _call_object(emitter, obj, args, kwargs, range)
    return None


def _call_object(emitter: Emitter, obj: Any, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
    """A global that Python calls, as a module that is none of the program's: what it gives is a tensor."""
    if isinstance(obj, taeda.jit.ScriptModule):
        fail(range, f"the module {type(obj).__name__} is a global; make it an attribute of the module that calls it")
    if kwargs:
        fail(
            range,
            f"{type(obj).__name__} is an object of Python's, which programs call with arguments by position alone",
        )
    from taeda.jit.check.annotations import type_of_object

    inputs = [emitter.value(given, range) for given in args]
    said = getattr(type(obj).__call__, "__annotations__", {}).get("return", Tensor)
    result = operators.TENSOR if isinstance(obj, nn.Module) or isinstance(said, str) else type_of_object(said, range)
    kind = python_op(obj, [value.static_type for value in inputs], result)
    return emitter.graph.emit(kind, inputs, [result], range, "").output()


def _settled(found: Any) -> Any:
    return tuple(found) if type(found).__name__ in ("dict_items", "dict_keys", "dict_values") else found


def call_native(emitter: Emitter, kind: str, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
    """Calls an op as the native function of its name: factories take ``requires_grad`` beside what the schema says."""
    wants = kwargs.pop("requires_grad", None)
    if "requires_grad" in {a.name for s in operators.schemas_of(kind) for a in s.arguments} and wants is not None:
        kwargs["requires_grad"], wants = wants, None
    given = kwargs.pop("pin_memory", None)
    if given is not None and not (isinstance(given, Known) and not given.obj):
        kwargs["pin_memory"] = given
    found = emitter.op(kind, args, kwargs, range)
    if wants is None or (isinstance(wants, Known) and not wants.obj):
        return found
    return emitter.op("aten::requires_grad_", [found, wants], None, range)


def kind_of(obj: Any) -> str | None:
    """The kind of an op that a native function or op object is; None if it is none."""
    if isinstance(obj, taeda._C._OpBase):
        return obj._qualified_name
    packet = getattr(obj, "_qualified_op_name", None)
    if isinstance(packet, str):
        return packet
    if inspect.isbuiltin(obj) and not is_ours(obj):
        return None
    if inspect.isbuiltin(obj) or inspect.ismethoddescriptor(obj):
        name = f"aten::{obj.__name__}"
        return name if operators.exists(name) else None
    return None


def _call_class(emitter: Emitter, cls: Any, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
    twin = stand_in(cls)
    if twin is not None:
        return construct_stand_in(emitter, twin, args, kwargs, range)
    if issubclass(cls, enum.Enum):
        if len(args) == 1 and isinstance(args[0], Known):
            return Known(cls(args[0].obj))
        fail(range, f"which member of {cls.__name__} is meant must be known while the program is compiled")
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return _named_tuple(emitter, cls, args, kwargs, range)
    if issubclass(cls, nn.Module):
        fail(range, f"{cls.__name__} is a class of modules; make the module in __init__, and call it here")
    if type(cls) is type(taeda.FloatTensor):
        return legacy_tensor(emitter, cls, args, kwargs, range)
    if issubclass(cls, Tensor):
        fail(
            range,
            f"{cls.__name__}(...) is not part of programs; use taeda.tensor or another maker of tensors",
        )
    if issubclass(cls, BaseException):
        fail(range, f"{cls.__name__} is an exception, which a program can raise but not hold")
    from taeda.jit.check.classes import interface_of

    if interface_of(cls) is not None:
        fail(range, f"{cls.__name__} is an interface, which has no objects of its own")
    return construct(emitter, class_of(cls, range), args, kwargs, range)


def _named_tuple(emitter: Emitter, cls: Any, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
    from taeda.jit.check.annotations import named_tuple_type

    type = named_tuple_type(cls, range)
    items = []
    defaults = getattr(cls, "_field_defaults", {})
    for i, (name, wanted) in enumerate(zip(type._fields, type.containedTypes())):
        if i < len(args):
            what = args[i]
        elif name in kwargs:
            what = kwargs[name]
        elif name in defaults:
            what = Known(defaults[name])
        else:
            fail(range, f"{cls.__name__}: the field '{name}' is missing")
        items.append(emitter.convert(what, wanted, range, f"{cls.__name__}: the field '{name}'"))
    return emitter.graph.emit("prim::TupleConstruct", items, [type], range).output()


# --- Python functions
def _is_library(obj: Any) -> bool:
    return is_ours(obj) and not is_ours(obj, "testing")


def _call_python(emitter: Emitter, obj: Any, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
    if is_left_out(obj):
        return call_left_out(emitter, obj, args, kwargs, range)
    dispatched = getattr(obj, "_script_dispatch", None)
    if dispatched is not None:
        return _dispatch(emitter, dispatched, args, kwargs, range)
    plain = getattr(obj, "_script_original", None) or obj
    overloads = script_marks.overloads_of(plain)
    if overloads:
        return _overloaded(emitter, plain, overloads, args, kwargs, range)
    if _is_library(plain):
        found = _as_op(emitter, plain, args, kwargs, range)
        if found is not None:
            return found
        return inline_python(emitter, plain, args, kwargs, range)
    if takes_unsaid(plain):
        return inline_python(emitter, plain, args, kwargs, range)
    function = function_of(plain)
    function.parameters()
    if function.inferred or function.settled:
        function = fitting(emitter, function, args, kwargs, 0, lambda types: function_of(plain, types))
    return call_function(emitter, function, args, kwargs, range)


def takes_unsaid(obj: Any) -> bool:
    """Whether a function takes any number of arguments, or functions, so that it is compiled into its caller."""
    kinds = [p.kind for p in inspect.signature(obj, follow_wrapped=False).parameters.values()]
    if inspect.Parameter.VAR_POSITIONAL in kinds or inspect.Parameter.VAR_KEYWORD in kinds:
        return True
    try:
        function_of(obj).parameters()
    except CompileError:
        return any("Callable" in str(h) for h in getattr(obj, "__annotations__", {}).values())
    return False


_MORE_THAN_THE_OP = frozenset(["stft", "unique_consecutive"])


def _as_op(emitter: Emitter, obj: Any, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
    """A function of the main namespace that is written in Python, as the op of its name where that takes the values."""
    name = obj.__name__
    if is_ours(obj, "nn") or name in _MORE_THAN_THE_OP or not operators.exists(f"aten::{name}"):
        return None
    if not all(isinstance(a, (Value, Known, TupleOf)) for a in [*args, *kwargs.values()]):
        return None
    kind = f"aten::{obj.__name__}"
    try:
        inputs = [emitter.value(a, range) for a in args]
        named = {k: emitter.value(v, range) for k, v in kwargs.items()}
    except CompileError:
        return None
    found = operators.find(kind, inputs, named)
    if not isinstance(found, operators.Match):
        return None
    return emitter.results(operators.apply(emitter.graph, found, range, emitter.constant))


def _dispatch(emitter: Emitter, how: dict[str, Any], args: list[Any], kwargs: dict[str, Any],
              range: SourceRange | None) -> Any:  # fmt: skip
    """`boolean_dispatch`: one of two functions, by an argument that must be known."""
    index, name = how["arg_index"], how["arg_name"]
    what = args[index] if index < len(args) else kwargs.get(name, Known(how["default"]))
    if isinstance(what, Value) and what.node().kind() == "prim::Constant":
        what = Known(what.toIValue())
    if not isinstance(what, Known):
        fail(range, f"'{name}' chooses between two functions and must be known while the program is compiled")
    return emitter.call(Known(how["if_true"] if what.obj else how["if_false"]), args, kwargs, range)


def _overloaded(emitter: Emitter, obj: Any, overloads: list[Any], args: list[Any], kwargs: dict[str, Any],
                range: SourceRange | None) -> Any:  # fmt: skip
    why = []
    forms = [overload_function(obj, overload, i) for i, overload in enumerate(overloads)]
    for function in by_conversions(forms, args, kwargs):
        try:
            return call_function(emitter, function, args, kwargs, range)
        except CompileError as error:
            if error.range is not None and range is not None and error.range != range:
                raise
            why.append(error.message)
    fail(range, f"{obj.__name__}: none of the {len(overloads)} declared forms takes these arguments:\n    "
                + "\n    ".join(why))  # fmt: skip


def overload_function(obj: Any, overload: Any, number: int) -> Function:
    """The implementation with the signature of one overload."""
    from taeda.jit.check.environment import ClosureResolver
    from taeda.jit.check.function import _FUNCTIONS, defaults_of, program_name

    key = (obj, overload)
    if key not in _FUNCTIONS:
        reader = Function(definition_of(overload), ClosureResolver(overload), "overload", defaults_of(overload))
        types = {p.name: p.type for p in reader.parameters()}
        own = {k: v for k, v in defaults_of(obj).items() if _may_be(v, types.get(k))}
        defaults = {**own, **defaults_of(overload)}
        name = f"{program_name(obj)}__{number}"
        made = Function(definition_of(obj), ClosureResolver(obj), name, defaults, types=types)
        made.parameters()
        made._declared_result = reader.declared_result()
        _FUNCTIONS[key] = made
    return _FUNCTIONS[key]


def _may_be(default: Any, type: Any) -> bool:
    """Whether the implementation's default is one of the type that an overload says, which has none otherwise."""
    found = NONE if default is None else type_of_default(default)
    return type is None or found is None or found.isSubtypeOf(type)


def call_left_out(emitter: Emitter, obj: Any, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None,
                  owner: Value | None = None) -> Any:  # fmt: skip
    """A function that was marked as one that programs do not hold: an error when it is reached, or Python's call."""
    from taeda.jit.check.environment import ClosureResolver
    from taeda.jit.check.function import defaults_of, place_arguments

    function = Function(definition_of(obj), ClosureResolver(obj), f"__torch__.{obj.__name__}", defaults_of(obj),
                        None if owner is None else owner.static_type)  # fmt: skip
    if obj._script_modifier == "unused":  # it may take what programs have no types for
        from taeda.jit.check.statements import raise_exception

        result = function.said_result() or operators.TENSOR
        message = Known(f"{obj.__name__} was left out of this program (taeda.jit.unused)")
        raise_exception(emitter, message, RuntimeError, range)
        return emitter.graph.emit("prim::Uninitialized", [], [result], range).output()
    given = [owner, *args] if owner is not None else args
    if getattr(definition_of(obj).node, "args").vararg is not None and not kwargs:  # noqa: B009
        result = function.said_result() or operators.TENSOR
        values = [emitter.value(each, range) for each in given]
        kind = python_op(obj, [value.static_type for value in values], result)
        return emitter.graph.emit(kind, values, [result], range, "").output()
    result = function.declared_result()
    if result is None:
        result = operators.TENSOR
    parameters = function.parameters()
    placed = place_arguments(parameters, given, kwargs, obj.__name__, range)
    inputs = [emitter.convert(w, p.type, range, f"{obj.__name__}: '{p.name}'") for p, w in zip(parameters, placed)]
    kind = python_op(obj, [p.type for p in parameters], result)
    node = emitter.graph.emit(kind, inputs, [] if result is NONE else [result], range, "")
    return Known(None) if result is NONE else node.output()


_PYTHON_OPS: dict[Any, str] = {}
_LIBRARIES: list[Any] = []  # registrations last as long as these


def python_op(obj: Any, types: list[Any], result: Any) -> str:
    """The kind of an op that calls a Python function, which `taeda.jit.ignore` left to Python."""
    key = (obj, tuple(map(id, types)))
    if key not in _PYTHON_OPS:
        if not _LIBRARIES:
            from taeda.library import Library

            _LIBRARIES.append(Library("python", "FRAGMENT"))
        name = f"{getattr(obj, '__name__', 'python_value')}_{len(_PYTHON_OPS)}"
        shown = ", ".join(f"{_schema_type(type)} a{i}" for i, type in enumerate(types))
        returns = "()" if result is NONE else _schema_type(result)
        _LIBRARIES[0].define(f"{name}({shown}) -> {returns}")
        _LIBRARIES[0].impl(name, obj, "CompositeImplicitAutograd")
        _PYTHON_OPS[key] = f"python::{name}"
    return _PYTHON_OPS[key]


def _schema_type(type: Any) -> str:
    return "Any" if type.kind() in ("ClassType", "InterfaceType", "TupleType") else type.str()


# --- fork and wait, and calls that are made when somebody waits
def _fork(emitter: Emitter, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
    """The call as a graph of its own, which may run beside this one."""
    return _apart(emitter, "prim::fork", future_of, args, kwargs, range)


def _apart(emitter: Emitter, kind: str, type_of: Any, args: list[Any], kwargs: dict[str, Any],
           range: SourceRange | None) -> Any:  # fmt: skip
    """A call as a graph of its own; ``kind`` says when it runs."""
    callee, given = args[0], args[1:]
    graph = Graph()
    values: list[Value] = []

    def outside(value: Value) -> Value:
        values.append(value)
        return graph.addInput(type=value.static_type)

    inside = Emitter(graph, emitter.definition, emitter.resolver, emitter.function)
    inside.caller, inside.owner_class = emitter, emitter.owner_class
    inside.frame.parent = None
    moved = [_moved(a, outside) for a in given]
    named = {k: _moved(v, outside) for k, v in kwargs.items()}
    if isinstance(callee, Value):
        called: Any = outside(callee)
    elif isinstance(callee, BoundMethod):
        owner = _owner_of(callee, range)
        called = inside.attribute(outside(owner), callee.name, range)
    elif isinstance(callee, BoundOp):
        called = BoundOp(outside(callee.value), callee.name)
    elif isinstance(callee, BoundPython) and isinstance(callee.value, Value):
        called = BoundPython(outside(callee.value), callee.function)
    elif isinstance(callee, LocalFunction):
        called = LocalFunction(callee.node, _captured(callee, outside, graph), callee.home)
    else:
        called = callee
    result = inside.value(inside.call(called, moved, named, range), range)
    graph.registerOutput(result)
    node = emitter.graph.emit(kind, values, [type_of(result.static_type)], range)
    node.g_("Subgraph", graph)
    return node.output()


def _captured(local: LocalFunction, outside: Any, graph: Graph) -> Any:
    """The names that a local function uses, as inputs of the graph it is moved to."""
    from taeda.jit.check.environment import Frame

    frame = Frame(graph)
    for part in ast.walk(local.node):
        if isinstance(part, ast.Name) and part.id not in frame.names:
            found = local.frame.find(part.id)
            if found is not None:
                frame.names[part.id] = _moved(found, outside)
    return frame


def _owner_of(method: BoundMethod, range: SourceRange | None) -> Value:
    for cell in method.run.__closure__ or ():
        if isinstance(cell.cell_contents, Value):
            return cell.cell_contents
    fail(range, "this method cannot be called apart from the program")


def _moved(what: Any, outside: Any) -> Any:
    if isinstance(what, Value):
        return outside(what)
    if isinstance(what, TupleOf):
        return TupleOf(tuple(_moved(item, outside) for item in what.items), what.named, what.is_list)
    return what


def _as_kind(kind: str) -> Any:
    return lambda emitter, args, kwargs, range: emitter.op(kind, args, None, range)


def _repeated(count: int) -> Any:
    """What ``_pair`` and its like give: sizes as they are, one for all of them repeated."""

    def repeat(emitter: Emitter, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
        (given,) = args
        plain = given.obj if isinstance(given, Known) else None
        if isinstance(plain, (tuple, list)) or isinstance(given, TupleOf):
            return given
        if isinstance(given, Value) and given.static_type.kind() in ("TupleType", "ListType"):
            return given
        return TupleOf((given,) * count)

    return repeat


def _rect(r: float, phi: float) -> complex:
    return complex(r * math.cos(phi), r * math.sin(phi))


SPECIAL[id(cmath.rect)] = lambda emitter, args, kwargs, range: emitter.call(Known(_rect), args, kwargs, range)
for _count, _name in enumerate(("_single", "_pair", "_triple", "_quadruple"), 1):
    SPECIAL[id(getattr(nn.modules.utils, _name))] = _repeated(_count)
SPECIAL[id(taeda.jit.fork)] = _fork
SPECIAL[id(_awaits._awaitable)] = lambda emitter, args, kwargs, range: _apart(
    emitter, "prim::awaitable", AwaitType, args, kwargs, range
)
for _called, _kind in (
    (taeda.jit.wait, "aten::wait"), (_awaits._awaitable_wait, "prim::awaitable_wait"),
    (_awaits._awaitable_nowait, "prim::awaitable_nowait"),
):  # fmt: skip
    SPECIAL[id(_called)] = _as_kind(_kind)
CALLS.extend([_bound, _value, _known])
