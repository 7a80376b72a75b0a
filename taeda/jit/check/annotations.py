"""Types that programs write: annotations, type comments, and what ``isinstance`` asks."""

from __future__ import annotations

import ast
import enum
import inspect
import numbers
import re
import types
import typing
import warnings
from typing import Any

import taeda
from taeda import _C, nn
from taeda._main import script_marks
from taeda._schema.types import AwaitType, RRefType, UnionType
from taeda.jit._awaits import _Await
from taeda.jit.check.emitter import Emitter
from taeda.jit.check.environment import is_ours
from taeda.jit.check.types import (
    ANY,
    BOOL,
    COMPLEX,
    DEVICE,
    FLOAT,
    GENERATOR,
    INT,
    NONE,
    NUMBER,
    STR,
    STREAM,
    TENSOR,
    dict_of,
    future_of,
    list_of,
    optional,
    tuple_of,
)
from taeda.jit.check.values import Known, Namespace
from taeda.jit.ir import Value
from taeda.jit.parse.errors import CompileError, UnknownType, fail
from taeda.jit.source import SourceRange

_PLAIN: dict[Any, Any] = {
    None: NONE, type(None): NONE, taeda.Tensor: TENSOR, nn.Parameter: TENSOR, int: INT, float: FLOAT, bool: BOOL,
    complex: COMPLEX, str: STR, taeda.device: DEVICE, taeda.dtype: INT, taeda.layout: INT, taeda.memory_format: INT,
    typing.Any: ANY, object: ANY, numbers.Number: NUMBER, taeda.Size: list_of(INT), taeda.Generator: GENERATOR,
    typing.NoReturn: NONE,
}  # fmt: skip
_LISTS = (list, typing.List, script_marks._Broadcasting)  # noqa: UP006
_DICTS = (dict, typing.Dict)  # noqa: UP006
_TUPLES = (tuple, typing.Tuple)  # noqa: UP006

_DEFERRED = {taeda.futures.Future: "FutureType", _Await: "AwaitType"}


def _is_type(obj: Any) -> bool:
    return hasattr(obj, "isSubtypeOf")


def type_of_object(obj: Any, range: SourceRange | None = None) -> Any:
    """The type that an annotation, an object of Python's, stands for.

    Raises:
        CompileError: programs have no such type.
    """
    if _is_type(obj):
        return obj
    if isinstance(obj, typing.Hashable) and obj in _PLAIN:
        return _PLAIN[obj]
    if isinstance(obj, (str, typing.ForwardRef)):
        fail(range, f"the type {obj!r} is written as a text, whose names are not known here")
    origin, args = typing.get_origin(obj), typing.get_args(obj)
    if origin is not None:
        found = _generic(origin, args, lambda arg: type_of_object(arg, range), range)
        if found is not None:
            return found
    if obj in _TUPLES + _LISTS + _DICTS:
        fail(range, f"{getattr(obj, '__name__', obj)} does not say of what; write e.g. List[int]")
    if inspect.isclass(obj):
        return type_of_class(obj, range)
    raise UnknownType(f"{obj} is no type that programs have", range)


def type_of_class(cls: Any, range: SourceRange | None) -> Any:
    """The type of objects of a class: a named tuple, an enumeration, an interface, or a class that is compiled."""
    if issubclass(cls, enum.Enum):
        try:
            return _C._enum_type(cls)
        except TypeError as error:
            fail(range, str(error))
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return named_tuple_type(cls, range)
    if issubclass(cls, taeda.Tensor):
        return TENSOR
    if type(cls) is type(taeda.FloatTensor):
        warnings.warn(f"a program takes {cls.__name__} for a Tensor of any dtype", stacklevel=2)
        return TENSOR
    if issubclass(cls, taeda.futures.Future):
        fail(range, "Future does not say of what; write e.g. Future[int]")
    if cls.__name__ == "Stream" and is_ours(cls):
        return STREAM
    from taeda.jit.check.classes import class_of, interface_of

    interface = interface_of(cls)
    if interface is not None:
        return interface
    if issubclass(cls, nn.Module):
        raise UnknownType(
            f"{cls.__name__} is a class of modules, of which each object has a type of its own; to pass modules around,"
            " declare an interface with taeda.jit.interface", range,
        )  # fmt: skip
    return class_of(cls, range).type


def named_tuple_type(cls: Any, range: SourceRange | None) -> Any:
    """The type of a class of named tuples. A field without annotation is a tensor."""
    hints: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        hints |= vars(base).get("__annotations__", {})
    found = []
    for name in cls._fields:
        hint = hints.get(name, taeda.Tensor)
        while isinstance(hint, (str, typing.ForwardRef)):
            text = hint if isinstance(hint, str) else hint.__forward_arg__
            hint = _evaluate_text(text, cls, range)
        found.append(type_of_object(hint, range))
    return _C._named_tuple_type(_C._program_name(cls), list(cls._fields), found, cls)


def _evaluate_text(text: str, cls: Any, range: SourceRange | None) -> Any:
    import sys

    scope = vars(sys.modules.get(cls.__module__, typing))
    try:
        return eval(text, {"Tensor": taeda.Tensor, **scope}, vars(typing))
    except Exception as error:
        raise UnknownType(f"the type {text!r} of {cls.__name__} is not known: {error}", range) from None


def _generic(origin: Any, args: tuple[Any, ...], inner: Any, range: SourceRange | None) -> Any:
    """The type of ``origin[args]``; None if it is no form that programs have."""
    wanted = 1 if origin in _LISTS or origin is typing.Optional else 2 if origin in _DICTS else 0
    if len(args) < wanted or (origin is typing.Union and not args):
        fail(range, f"{getattr(origin, '__name__', origin)} does not say of what; write e.g. List[int]")
    if origin in _LISTS:
        return list_of(inner(args[0]))
    if origin in _DICTS:
        return dict_of(_key_type(inner(args[0]), range), inner(args[1]))
    if origin in _TUPLES:
        if len(args) == 2 and args[1] is ...:
            fail(range, "a tuple in a program has a fixed length; List[...] has not")
        return tuple_of([] if args in (((),), ()) else [inner(a) for a in args])
    if origin in (typing.Union, types.UnionType):
        return UnionType([inner(a) for a in args])
    if origin is typing.Optional:
        return optional(inner(args[0]))
    if origin in (typing.Final, typing.ClassVar, typing.Annotated):
        return inner(args[0])
    name = getattr(origin, "__name__", "")
    if name == "Future":
        return future_of(inner(args[0]))
    if name in ("Await", "_Await"):
        return AwaitType(inner(args[0]))
    if name == "RRef":
        return RRefType(inner(args[0]))
    return None


def _key_type(type: Any, range: SourceRange | None) -> Any:
    if type in (INT, FLOAT, BOOL, COMPLEX, STR, TENSOR, DEVICE) or type.kind() in ("VarType", "EnumType"):
        return type
    fail(range, f"a {type} cannot be a key of a dict; int, float, bool, complex, str, Tensor and device can")


# --- As written
def type_of_annotation(emitter: Emitter, node: ast.expr, fallback: Any = None) -> Any:
    """The type that an annotation's tree stands for; None for one that says nothing (Final).

    Args:
        fallback: the object that Python has for it, which is asked where a name is not known.
    """
    try:
        return _type(emitter, node)
    except CompileError:
        if fallback is None:
            raise
        return type_of_object(fallback, emitter.range(node))


def repeats_of(node: ast.expr | None) -> int:
    """How often one number that is given stands in the list that an annotation says: N of ``BroadcastingListN[int]``
    and of ``_size_N_t``, as they are written; 0 for other annotations."""
    if isinstance(node, ast.Subscript):
        if _last_name(node.value) == "Optional":
            return repeats_of(node.slice)
        node = node.value
    found = re.fullmatch(r"BroadcastingList(\d)|_size_(\d)_t", _last_name(node))
    return int(found[1] or found[2]) if found else 0


def _last_name(node: ast.expr | None) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _type(emitter: Emitter, node: ast.expr) -> Any:
    place = emitter.range(node)
    if not isinstance(node, ast.Subscript) and repeats_of(node):
        return list_of(INT)
    if isinstance(node, ast.Constant):
        if node.value is None:
            return NONE
        if isinstance(node.value, str):
            try:
                inner = ast.parse(node.value, mode="eval").body
            except SyntaxError:
                fail(place, f"{node.value!r} is no type")
            for part in ast.walk(inner):
                ast.copy_location(part, node)
            return _type(emitter, inner)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return UnionType([_type(emitter, node.left), _type(emitter, node.right)])
    if isinstance(node, ast.Subscript):
        base = evaluate(emitter, node.value)
        args = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if base in (typing.Final, typing.ClassVar, typing.Annotated):
            return _type(emitter, args[0])
        if base in _TUPLES and len(args) == 2 and isinstance(args[1], ast.Constant) and args[1].value is ...:
            fail(place, "a tuple in a program has a fixed length; List[...] has not")
        if base in _TUPLES and len(args) == 1 and isinstance(args[0], ast.Tuple) and not args[0].elts:
            return tuple_of([])
        found = _generic(base, tuple(args), lambda a: _type(emitter, a), place)
        if found is None and inspect.isclass(base) and issubclass(base, script_marks._Broadcasting):
            return list_of(_type(emitter, args[0]))
        if found is not None:
            return found
        return type_of_object(evaluate(emitter, node), place)
    obj = evaluate(emitter, node)
    if obj is typing.Final:
        return None
    own = _own_class(emitter, obj)
    return own if own is not None else type_of_object(obj, place)


def _own_class(emitter: Emitter, obj: Any) -> Any:
    """In methods that a class has from its base, the base's name is its own type."""
    own = emitter.function.self_type if emitter.function is not None else None
    if own is None or own.kind() != "ClassType" or not inspect.isclass(obj) or issubclass(obj, nn.Module):
        return None
    from taeda.jit.check.classes import class_named

    info = class_named(own._name)
    cls = info.python_class if info is not None else None
    return own if cls is not None and obj is not object and issubclass(cls, obj) else None


def evaluate(emitter: Emitter, node: ast.expr) -> Any:
    """The Python object that the tree of an annotation stands for."""
    place = emitter.range(node)
    if isinstance(node, ast.Name):
        found = emitter.resolver.resolve(node.id, place)
        if found is None:
            local = emitter.frame.find(node.id)
            found = local if isinstance(local, Known) else None
        if not isinstance(found, Known):
            fail(place, f"the type '{node.id}' is not known here")
        return found.obj
    if isinstance(node, ast.Attribute):
        owner = evaluate(emitter, node.value)
        if isinstance(owner, Namespace):
            found = owner.find(node.attr, place)
            return found.obj if isinstance(found, Known) else found
        if not hasattr(owner, node.attr):
            fail(place, f"{getattr(owner, '__name__', owner)} has no type '{node.attr}'")
        return getattr(owner, node.attr)
    if isinstance(node, ast.Subscript):
        args = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        given = tuple(evaluate(emitter, a) for a in args)
        try:
            return evaluate(emitter, node.value)[given if len(given) > 1 else given[0]]
        except TypeError as error:
            raise UnknownType(f"{ast.unparse(node)} is no type: {error}", place) from None
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.List):
        return [evaluate(emitter, e) for e in node.elts]
    what = emitter.expression(node)
    if not isinstance(what, Known):
        fail(place, "this is no type")
    return what.obj


def type_of_comment(emitter: Emitter, text: str, range: SourceRange) -> Any:
    """The type that ``# type: ...`` says; None for ``# type: ignore``."""
    if text.startswith("ignore"):
        return None
    try:
        return _type(emitter, _placed(ast.parse(text, mode="eval").body))
    except SyntaxError:
        fail(range, f"the type comment {text!r} is no type")


def repeats_of_comment(text: str | None) -> list[int]:
    """As `repeats_of`, for each type of a signature's comment."""
    if text is None or not re.search("BroadcastingList|_size_", text):
        return []
    tree = ast.parse(text if "->" in text else f"{text} -> None", mode="func_type")
    return [repeats_of(argument) for argument in tree.argtypes]  # type: ignore[attr-defined]


def signature_of_comment(emitter: Emitter, text: str, range: SourceRange) -> tuple[list[Any] | None, Any] | None:
    """The types of arguments and result that ``# type: (int) -> Tensor`` says, without arguments for ``(...)``; None
    for ``# type: ignore``."""
    if text.startswith("ignore"):
        return None
    said = "->" in text
    try:
        tree = ast.parse(text if said else f"{text} -> None", mode="func_type")
    except SyntaxError:
        fail(range, f"the type comment {text!r} is no signature as (int, Tensor) -> Tensor")
    assert isinstance(tree, ast.FunctionType)
    result = _type(emitter, _placed(tree.returns)) if said else None
    if len(tree.argtypes) == 1 and isinstance(tree.argtypes[0], ast.Constant) and tree.argtypes[0].value is ...:
        return None, result
    return [_type(emitter, _placed(a)) for a in tree.argtypes], result


def _placed(node: ast.expr) -> ast.expr:
    for part in ast.walk(node):
        for field in ("lineno", "end_lineno"):
            setattr(part, field, 1)
        for field in ("col_offset", "end_col_offset"):
            setattr(part, field, 0)
    return node


# --- isinstance
def classes_asked(emitter: Emitter, node: ast.expr) -> list[Any]:
    """What ``isinstance`` is asked for: types, and Python's own classes where they say more than a type."""
    if isinstance(node, ast.Tuple):
        return [c for part in node.elts for c in classes_asked(emitter, part)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return classes_asked(emitter, node.left) + classes_asked(emitter, node.right)
    if isinstance(node, ast.Subscript):
        return [_type(emitter, node)]
    if isinstance(node, ast.Attribute) and node.attr == "__class__":
        owner = emitter.expression(node.value)
        if isinstance(owner, Value):
            return [owner.static_type]
    what = evaluate(emitter, node)
    if isinstance(what, tuple):
        return [_class_asked(c, emitter.range(node)) for c in what]
    return [_class_asked(what, emitter.range(node))]


def refuse_bare(emitter: Emitter, node: ast.expr) -> None:
    """``taeda.jit.isinstance`` looks into containers: it is told of what they are."""
    if isinstance(node, (ast.Name, ast.Attribute)):
        asked = evaluate(emitter, node)
        if any(asked is bare for bare in (*_LISTS, *_TUPLES, *_DICTS, typing.Optional)):
            name = getattr(asked, "__name__", None) or str(asked)
            fail(emitter.range(node), f"{name} does not say of what; write e.g. List[int]")


def _class_asked(cls: Any, range: SourceRange) -> Any:
    if cls in _LISTS:
        return list
    if cls in _TUPLES:
        return tuple
    if cls in _DICTS:
        return dict
    if inspect.isclass(cls) and issubclass(cls, nn.Module):
        return cls
    if cls is taeda.Size:
        return list
    if inspect.isclass(cls) and cls in _DEFERRED:
        return cls
    try:
        return type_of_object(cls, range)
    except CompileError:
        return cls


def fits_class(type: Any, cls: Any) -> bool:
    """Whether every value of the type is one of the class asked for."""
    kind = type.kind()
    if cls is list:
        return kind == "ListType"
    if cls is tuple:
        return kind == "TupleType"
    if cls is dict:
        return kind == "DictType"
    if inspect.isclass(cls) and cls in _DEFERRED:
        return kind == _DEFERRED[cls]
    if _is_type(cls):
        return type is cls or (type.isSubtypeOf(cls) and cls is not ANY) or cls is ANY
    if kind == "ClassType" and inspect.isclass(cls):
        from taeda.jit.check.classes import class_named

        info = class_named(type._name)
        return info is not None and info.python_class is not None and issubclass(info.python_class, cls)
    return False
