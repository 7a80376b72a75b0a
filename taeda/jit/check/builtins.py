"""Python's own functions and the library's marks, as programs have them."""

from __future__ import annotations

import builtins
import cmath
import copy
import functools
import math
import typing
import warnings
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor
from taeda._main import script_marks
from taeda.jit.check.conditions import truth
from taeda.jit.check.emitter import Emitter
from taeda.jit.check.iteration import collect, iterate
from taeda.jit.check.types import FLOAT, INT, STR, TENSOR, list_of
from taeda.jit.check.values import (
    EnumerateOf,
    Known,
    RangeOf,
    ReversedOf,
    SliceOf,
    Sugar,
    SuperOf,
    TupleOf,
    ZipOf,
)
from taeda.jit.ir import Value
from taeda.jit.parse.errors import fail
from taeda.jit.source import SourceRange
from taeda.nn._functional import sizes

Handler = Callable[[Emitter, list[Any], dict[str, Any], "SourceRange | None"], Any]
SPECIAL: dict[int, Handler] = {}
_KEPT: list[Any] = []  # objects whose identity is a key


def special(*objects: Any) -> Callable[[Handler], Handler]:
    """Enters a function as what calls of these objects do."""

    def enter(handler: Handler) -> Handler:
        for obj in objects:
            SPECIAL[id(obj)] = handler
            _KEPT.append(obj)
        return handler

    return enter


def is_isinstance(what: Any) -> bool:
    """Whether it is ``isinstance``, Python's or the library's."""
    return isinstance(what, Known) and (what.obj is isinstance or what.obj is script_marks.container_isinstance)


# --- Collections
@special(len)
def _len(emitter: Emitter, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
    (what,) = args
    if isinstance(what, Known) and hasattr(what.obj, "__len__") and not isinstance(what.obj, Tensor):
        return Known(len(what.obj))
    if isinstance(what, TupleOf):
        return Known(len(what.items))
    if isinstance(what, Sugar):
        turn = iterate(emitter, what, range)
        return Known(len(turn.items)) if turn.items is not None else turn.length(emitter)  # type: ignore[misc]
    kind = what.static_type.kind()
    if kind == "TupleType":
        return Known(len(what.static_type.containedTypes()))
    if kind == "ClassType":
        from taeda.jit.check.classes import call_magic
        from taeda.jit.check.modules import children_of, own_method

        own = own_method(what, "__len__")
        if own is not None:
            return emitter.call(own, [], {}, range)
        children = children_of(emitter, what)
        if children is not None:
            return Known(len(children))
        done = call_magic(emitter, what, "__len__", [], range)
        if done is not None:
            return done
    return emitter.op("aten::len", [what], None, range)


@special(builtins.range)
def _range(emitter: Emitter, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
    for what in args:
        value = what.obj if isinstance(what, Known) else what
        if isinstance(value, float) or (isinstance(value, Value) and value.static_type is FLOAT):
            fail(range, "range takes ints")
    ints = [a if isinstance(a, Known) else emitter.convert(a, INT, range, "range") for a in args]
    if len(ints) == 1:
        return RangeOf(Known(0), ints[0], Known(1))
    return RangeOf(ints[0], ints[1], ints[2] if len(ints) > 2 else Known(1))


@special(slice)
def _slice(emitter: Emitter, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
    if kwargs:
        fail(range, "slice takes its bounds by position")
    if len(args) == 1:
        return SliceOf(Known(None), args[0], Known(None))
    start, stop, step = [*args, Known(None)][:3]
    return SliceOf(start, stop, step)


@special(taeda.jit._unwrap_optional)
def _unwrap(emitter: Emitter, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
    (what,) = args
    value = emitter.value(what, range)
    if value.static_type.kind() != "OptionalType" and not (isinstance(what, Known) and what.obj is None):
        return what
    return emitter.op("aten::_unwrap_optional", [value], None, range)


@special(enumerate)
def _enumerate(emitter: Emitter, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
    return EnumerateOf(args[0], args[1] if len(args) > 1 else kwargs.get("start", Known(0)))


@special(zip)
def _zip(emitter: Emitter, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
    if not args:
        fail(range, "zip takes what to go through, one or several")
    return ZipOf(tuple(args))


@special(reversed)
def _reversed(emitter: Emitter, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
    return ReversedOf(args[0])


@special(list)
def _list(emitter: Emitter, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
    if not args:
        return emitter.list_value([], range)
    what = args[0]
    if isinstance(what, Known) and isinstance(what.obj, (list, tuple)):
        return emitter.value(Known(list(what.obj)), range)
    if isinstance(what, Value) and what.static_type.kind() in ("ListType", "StringType"):
        return emitter.op("aten::list", [what], None, range)
    return collect(emitter, what, range, lambda e, item: e.value(item, range), None)


@special(tuple)
def _tuple(emitter: Emitter, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
    if not args:
        return Known(())
    what = args[0]
    if isinstance(what, Known):
        return Known(tuple(what.obj))
    if isinstance(what, TupleOf):
        return TupleOf(what.items)
    if isinstance(what, Value):
        kind = what.static_type.kind()
        if kind == "TupleType":
            return what
        if kind == "ListType":  # of unknown length: it stays a list, which is what ops take for either
            if what.node().kind() == "prim::ListConstruct":
                return TupleOf(tuple(what.node().inputs()))
            return what
    turn = iterate(emitter, what, range)
    if turn.items is not None:
        return TupleOf(tuple(item(emitter) for item in turn.items))
    return emitter.value(what, range)


@special(dict, OrderedDict)
def _dict(emitter: Emitter, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
    from taeda.jit.check.types import dict_of, list_of

    if args:
        what = emitter.value(args[0], range)
        if what.static_type is list_of(TENSOR) and what.node().kind() == "prim::ListConstruct":  # dict([])
            return emitter.graph.emit("prim::DictConstruct", [], [dict_of(STR, TENSOR)], range).output()
        made = emitter.op_value("aten::dict", [what], range)
    else:
        values = [emitter.value(v, range) for v in kwargs.values()]
        type = values[0].static_type if values else TENSOR
        parts = [p for k, v in zip(kwargs, values) for p in (emitter.constant(k), v)]
        return emitter.graph.emit("prim::DictConstruct", parts, [dict_of(STR, type)], range).output()
    for name, value in kwargs.items():
        emitter.op("aten::_set_item", [made, Known(name), value], None, range)
    return made


@special(sorted)
def _sorted(emitter: Emitter, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
    if "key" in kwargs:
        fail(range, "sorted takes no key in a program")
    what = emitter.value(args[0], range)
    if what.static_type.kind() == "DictType":
        what = emitter.op_value("aten::keys", [what], range)
    return emitter.op("aten::sorted", [what, *kwargs.values()], None, range)


def _folded(emitter: Emitter, what: Any, range: SourceRange | None, stop_at: bool) -> Any:
    """``any`` and ``all``."""
    from taeda.jit.check.expressions import either

    if isinstance(what, Value) and what.static_type is TENSOR:
        return emitter.op("aten::all" if not stop_at else "aten::any", [what], None, range)
    turn = iterate(emitter, what, range)
    if turn.items is None:
        listed = emitter.value(what, range)
        return emitter.op("aten::any" if stop_at else "aten::all", [listed], None, range)
    found: Any = Known(not stop_at)
    for item in turn.items:
        test = truth(emitter, found, range)
        if test.answer == stop_at:
            return found
        further = lambda item=item: _as_bool(emitter, item(emitter), range)
        stays = lambda found=found: found
        found = either(emitter, test, stays if stop_at else further, further if stop_at else stays, range)
    return found


def _as_bool(emitter: Emitter, what: Any, range: SourceRange | None) -> Any:
    test = truth(emitter, what, range)
    return Known(test.answer) if test.answer is not None else test.value


@special(any)
def _any(emitter: Emitter, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
    return _folded(emitter, args[0], range, True)


@special(all)
def _all(emitter: Emitter, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
    return _folded(emitter, args[0], range, False)


@special(sum)
def _sum(emitter: Emitter, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
    import ast

    from taeda.jit.check.expressions import binary

    turn = iterate(emitter, args[0], range)
    start = args[1] if len(args) > 1 else kwargs.get("start", Known(0))
    if turn.items is None:
        listed = emitter.value(args[0], range)
        element = listed.static_type.containedTypes()[0] if listed.static_type.kind() == "ListType" else None
        if element is TENSOR:
            return emitter.op("aten::sum", [emitter.op("aten::stack", [listed], None, range), Known([0])], None, range)
        total = emitter.op("aten::sum", [listed], None, range)
        known = isinstance(start, Known) and start.obj == 0
        return total if known else binary(emitter, ast.Add(), start, total, range)
    total = start
    for item in turn.items:
        value = item(emitter)
        skip = isinstance(total, Known) and total.obj == 0
        total = value if skip else binary(emitter, ast.Add(), total, value, range)
    return total


def _extreme(name: str) -> Handler:
    def handler(emitter: Emitter, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
        if all(isinstance(a, Known) for a in args) and not kwargs:
            try:
                return Known(getattr(builtins, name)(*(a.obj for a in args)))
            except (TypeError, ValueError):
                pass
        if len(args) == 1:
            what = args[0]
            if isinstance(what, TupleOf) or (isinstance(what, Value) and what.static_type.kind() == "TupleType"):
                from taeda.jit.check.statements import items_of

                return handler(emitter, items_of(emitter, what, None, range), {}, range)
            return emitter.op(f"prim::{name}", [what], None, range)
        found = args[0]
        for other in args[1:]:
            a, b = emitter.value(found, range), emitter.value(other, range)
            if a.static_type is TENSOR and b.static_type is TENSOR:
                found = emitter.op(f"aten::{'maximum' if name == 'max' else 'minimum'}", [a, b], None, range)
            else:
                found = emitter.op(f"prim::{name}", [a, b], None, range)
        return found

    return handler


special(max)(_extreme("max"))
special(min)(_extreme("min"))


@special(map)
def _map(emitter: Emitter, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
    function, items = args[0], args[1] if len(args) == 2 else ZipOf(tuple(args[1:]))

    def each(e: Emitter, item: Any) -> Any:
        given = list(item.items) if len(args) > 2 else [item]
        return e.call(function, given, {}, range)

    turn = iterate(emitter, items, range)
    if turn.items is not None:
        return TupleOf(tuple(each(emitter, item(emitter)) for item in turn.items))
    return collect(emitter, items, range, lambda e, item: e.value(each(e, item), range), None)


# --- Numbers and text
def _is_plain(what: Any) -> bool:
    return isinstance(what, Known) and isinstance(what.obj, (bool, int, float, complex, str))


def _number(kind: str, python: Any) -> Handler:
    def handler(emitter: Emitter, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
        if not args:
            return Known(python())
        if all(map(_is_plain, args)):
            try:
                return Known(python(*(a.obj for a in args)))
            except (TypeError, ValueError, OverflowError):
                pass
        if python is bool:
            return _as_bool(emitter, args[0], range)
        value = emitter.value(args[0], range)
        if value.static_type is {int: INT, float: FLOAT}.get(python) and len(args) == 1:
            return value
        if value.static_type.kind() == "ClassType":
            from taeda.jit.check.classes import call_magic

            done = call_magic(emitter, value, f"__{python.__name__}__", [], range)
            if done is not None:
                return done
        return emitter.op(f"aten::{kind}", [value, *args[1:]], None, range)

    return handler


_cls: Any
for _kind, _cls in (("Int", int), ("Float", float), ("Complex", complex), ("Bool", bool)):
    special(_cls)(_number(_kind, _cls))


@special(str)
def _str(emitter: Emitter, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
    if not args:
        return Known("")
    what = args[0]
    if isinstance(what, Known) and isinstance(what.obj, (bool, int, str, type(None))):
        return Known(str(what.obj))
    value = emitter.value(what, range)
    if value.static_type is STR:
        return value
    from taeda.jit.check.classes import call_magic

    done = call_magic(emitter, value, "__str__", [], range)
    return done if done is not None else emitter.op("aten::str", [value], None, range)


def _plain_op(kind: str, python: Any) -> Handler:
    def handler(emitter: Emitter, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
        if (
            all(isinstance(a, Known) and isinstance(a.obj, (bool, int, float, complex, str)) for a in args)
            and not kwargs
        ):
            try:
                return Known(python(*(a.obj for a in args)))
            except Exception:
                pass
        return emitter.op(kind, args, kwargs, range)

    return handler


_python: Any
for _python, _kind in (
    (repr, "aten::repr"), (ord, "aten::ord"), (chr, "aten::chr"), (hex, "aten::hex"), (oct, "aten::oct"),
    (bin, "aten::bin"), (divmod, "aten::divmod"), (hash, "aten::hash"), (id, "prim::id"),
):  # fmt: skip
    special(_python)(_plain_op(_kind, _python))
for _module in (math, cmath):
    for _name, _function in vars(_module).items():
        if callable(_function) and not _name.startswith("_") and id(_function) not in SPECIAL:
            _kind = {"remainder": "mathremainder", "phase": "angle"}.get(_name, _name)
            special(_function)(_plain_op(f"aten::{_kind}", _function))


@special(round)
def _round(emitter: Emitter, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
    if all(map(_is_plain, args)):
        return Known(round(*(a.obj for a in args)))
    rounded = emitter.op("aten::round", args, None, range)
    whole = len(args) == 1 and isinstance(rounded, Value) and rounded.static_type is FLOAT
    return emitter.op("aten::Int", [rounded], None, range) if whole else rounded


@special(math.hypot)
def _hypot(emitter: Emitter, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
    if all(map(_is_plain, args)):
        return Known(math.hypot(*(a.obj for a in args)))
    squares = [emitter.op("aten::mul", [a, a], None, range) for a in args]
    total = squares[0]
    for square in squares[1:]:
        total = emitter.op("aten::add", [total, square], None, range)
    return emitter.op("aten::sqrt", [total], None, range)


@special(math.prod)
def _prod(emitter: Emitter, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
    (what,) = args
    if isinstance(what, Known):
        return Known(math.prod(what.obj))
    listed = emitter.op("aten::tensor", [emitter.value(what, range)], None, range)
    kind = "aten::Int" if emitter.value(what, range).static_type is list_of(INT) else "aten::Float"
    return emitter.op(kind, [emitter.op("aten::prod", [listed], None, range)], None, range)


@special(abs)
def _abs(emitter: Emitter, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
    if isinstance(args[0], Known) and isinstance(args[0].obj, (bool, int, float, complex)):
        return Known(abs(args[0].obj))
    return emitter.op("prim::abs", args, None, range)


@special(pow)
def _pow(emitter: Emitter, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
    import ast

    from taeda.jit.check.expressions import binary

    return binary(emitter, ast.Pow(), args[0], args[1], range)


@special(print)
def _print(emitter: Emitter, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
    if kwargs:
        fail(range, f"print takes no '{next(iter(kwargs))}' in a program")
    emitter.graph.emit("prim::Print", [emitter.value(a, range) for a in args], [], range)
    return Known(None)


@special(warnings.warn)
def _warn(emitter: Emitter, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
    message = emitter.value(args[0], range)
    level = kwargs.get("stacklevel", Known(2))
    emitter.op("aten::warn", [message, level], None, range)
    return Known(None)


def _repeated(count: int) -> Handler:
    def handler(emitter: Emitter, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
        (what,) = args
        if isinstance(what, Known):
            return Known(tuple(what.obj) if isinstance(what.obj, (tuple, list)) else (what.obj,) * count)
        if isinstance(what, Value) and what.static_type.kind() not in ("TupleType", "ListType"):
            return TupleOf((what,) * count)
        return what

    return handler


for _count, _function in enumerate((sizes.single, sizes.pair, sizes.triple), 1):
    special(_function)(_repeated(_count))


# --- Questions
@special(isinstance, script_marks.container_isinstance)
def _isinstance(emitter: Emitter, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
    fail(range, "isinstance takes a value and a type that is written out")


@special(hasattr)
def _hasattr(emitter: Emitter, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
    owner, name = args
    if not isinstance(name, Known):
        fail(range, "hasattr takes a name that is written out")
    return Known(_has(emitter, owner, name.obj, range))


def _has(emitter: Emitter, owner: Any, name: str, range: SourceRange | None) -> bool:
    from taeda.jit.check.classes import compile_init, info_of
    from taeda.jit.check.modules import ModuleInfo

    if isinstance(owner, Known):
        return hasattr(owner.obj, name)
    info = info_of(owner)
    if isinstance(info, ModuleInfo):
        return hasattr(info.example, name)
    if info is not None:
        compile_init(info, range)
        return name in info.attributes() or name in info.methods or name in info.properties or name in info.constants
    from taeda.jit.parse.errors import CompileError

    try:
        emitter.attribute(owner, name, range)
    except CompileError:
        return False
    return True


@special(getattr)
def _getattr(emitter: Emitter, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
    if not isinstance(args[1], Known):
        fail(range, "getattr takes a name that is known while the program is compiled")
    if len(args) > 2 and not _has(emitter, args[0], args[1].obj, range):
        return args[2]
    return emitter.attribute(args[0], args[1].obj, range)


@special(setattr)
def _setattr(emitter: Emitter, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
    from taeda.jit.check.classes import assign_attribute

    if not isinstance(args[1], Known):
        fail(range, "setattr takes a name that is known while the program is compiled")
    assign_attribute(emitter, emitter.value(args[0], range), args[1].obj, args[2], range)
    return Known(None)


@special(callable)
def _callable(emitter: Emitter, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
    if isinstance(args[0], Known):
        return Known(callable(args[0].obj))
    return Known(not isinstance(args[0], Value) or args[0].static_type.kind() == "ClassType")


@special(type)
def _type(emitter: Emitter, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
    from taeda.jit.check.classes import info_of

    what = args[0]
    if isinstance(what, Known):
        return Known(type(what.obj))
    if isinstance(what, Sugar):
        return Known(tuple)
    info = info_of(what)
    if info is not None and info.python_class is not None:
        return Known(info.python_class)
    known = {"TensorType": Tensor, "IntType": int, "FloatType": float, "BoolType": bool, "StringType": str,
             "ListType": list, "DictType": dict, "ComplexType": complex, "TupleType": tuple}  # fmt: skip
    cls = known.get(what.static_type.kind())
    if cls is None:
        fail(range, f"the class of a {what.static_type} is not known while the program is compiled")
    return Known(cls)


@special(super)
def _super(emitter: Emitter, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
    above: Emitter | None = emitter
    while above is not None and above.owner_class is None:
        above = above.caller
    if above is None or above.owner_class is None:
        fail(range, "super() stands in a method")
    first = above.definition.node.args.args[0].arg
    value = above.frame.find(first)
    return SuperOf(emitter.value(value, range), above.owner_class)


# --- Marks and the library's functions about programs
@special(script_marks.is_scripting, taeda.jit.is_scripting)
def _is_scripting(emitter: Emitter, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
    return Known(True)


def _always(answer: Any) -> Handler:
    return lambda emitter, args, kwargs, range: Known(answer)


special(taeda.jit.is_tracing, taeda._C._get_tracing_state)(_always(False))
special(taeda.compiler.is_compiling, taeda.compiler.is_dynamo_compiling, taeda.compiler.is_exporting)(_always(False))
special(taeda.overrides.has_torch_function, taeda.overrides.is_tensor_like)(_always(False))


@special(taeda.is_tensor)
def _is_tensor(emitter: Emitter, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
    return Known(isinstance(args[0], Value) and args[0].static_type is TENSOR)


@special(script_marks.annotate, taeda.jit.annotate)
def _annotate(emitter: Emitter, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
    fail(range, "annotate takes a type that is written out, and a value")


@special(typing.cast)
def _cast(emitter: Emitter, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
    return args[1]


@special(copy.copy, copy.deepcopy)
def _copy(emitter: Emitter, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
    return emitter.op("aten::copy", args, None, range)


@special(functools.partial)
def _partial(emitter: Emitter, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
    fail(range, "functools.partial cannot be part of a program; write a function that gives the arguments")


@special(taeda._assert)
def _torch_assert(emitter: Emitter, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
    from taeda.jit.check.control import branch
    from taeda.jit.check.emitter import FALLS
    from taeda.jit.check.statements import raise_exception

    test = truth(emitter, args[0], range)
    branch(emitter, test, lambda: FALLS, lambda: raise_exception(emitter, args[1], AssertionError, range), None, range)
    return Known(None)


_BY_KIND = {
    taeda.is_grad_enabled: "aten::is_grad_enabled", taeda.manual_seed: "aten::manual_seed",
    taeda.get_default_dtype: "aten::get_default_dtype", taeda.device: "aten::device", taeda.is_floating_point:
    "aten::is_floating_point", taeda.numel: "aten::numel", taeda.tensor: "aten::tensor",
    taeda.as_tensor: "aten::as_tensor",
    taeda.promote_types: "aten::promote_types", taeda.result_type: "aten::result_type",
    taeda.Generator: "aten::Generator",
}  # fmt: skip


def _plain_call(kind: str) -> Handler:
    return lambda emitter, args, kwargs, range: emitter.op(kind, args, kwargs, range)


for _function, _kind in _BY_KIND.items():
    special(_function)(_plain_call(_kind))


@special(taeda.is_autocast_enabled)
def _autocast(emitter: Emitter, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
    from taeda.jit.check.expressions import either

    if not args:
        return emitter.op("aten::is_autocast_enabled", [], None, range)
    cpu = lambda: emitter.op("aten::is_autocast_cpu_enabled", [], None, range)
    other = lambda: emitter.op("aten::is_autocast_enabled", [], None, range)
    if isinstance(args[0], Known):
        return cpu() if args[0].obj == "cpu" else other()
    return either(emitter, truth(emitter, emitter.op("aten::eq", [args[0], Known("cpu")], None, range), range),
                  cpu, other, range)  # fmt: skip


@special(taeda.Size)
def _size(emitter: Emitter, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
    return emitter.convert(args[0], list_of(INT), range, "Size")


@special(taeda.device)
def _device(emitter: Emitter, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
    if all(isinstance(a, Known) for a in (*args, *kwargs.values())):
        return Known(taeda.device(*(a.obj for a in args), **{name: a.obj for name, a in kwargs.items()}))
    if isinstance(args[0], Value) and args[0].static_type.kind() == "DeviceObjType":
        return args[0]
    return emitter.op("aten::device", args, kwargs, range)
