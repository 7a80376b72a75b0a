"""What each kind of statement becomes."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Sequence
from typing import Any

from taeda.jit.check import operators
from taeda.jit.check.annotations import type_of_annotation, type_of_comment
from taeda.jit.check.conditions import condition
from taeda.jit.check.control import assigned_in, branch, in_library, loop
from taeda.jit.check.emitter import BREAKS, CONTINUES, FALLS, RETURNS, Emitter, handles
from taeda.jit.check.iteration import Iteration, iterate
from taeda.jit.check.types import ANY, NONE, STR, TENSOR, is_static_tuple
from taeda.jit.check.values import Known, LocalFunction, Sugar, TupleOf
from taeda.jit.ir import Value
from taeda.jit.parse.errors import fail
from taeda.jit.source import SourceRange

Ended = tuple[int, bool]
ON: Ended = (FALLS, False)


# --- Names
def bind_name(emitter: Emitter, name: str, what: Any, range: SourceRange | None) -> None:
    """``name = what``. In inner blocks a name that was declared keeps its type."""
    declared = emitter.frame.declared_type(name)
    if declared is not None and not isinstance(what, LocalFunction):
        value = emitter.value(what, range, declared)
        fits = operators.conversion(value, declared, operators.WIDENING) is not None
        if not fits and name in emitter.frame.declared:
            del emitter.frame.declared[name]
            return bind_name(emitter, name, what, range)
        if not fits:
            fail(range, f"'{name}' was declared as a {declared} and cannot become a {value.static_type}")
        what = emitter.convert(value, declared, range, f"'{name}'", widen=True) if not value.static_type.isSubtypeOf(
            declared
        ) else value  # fmt: skip
    if isinstance(what, Value) and what.node().kind() not in ("prim::Constant", "prim::Param"):
        what.setDebugName(name)
    emitter.frame.set(name, what)


def assign(emitter: Emitter, target: ast.expr, what: Any, range: SourceRange | None) -> None:
    """``target = what`` for a name, an attribute, an item, or several of them."""
    if isinstance(target, ast.Name):
        bind_name(emitter, target.id, what, range)
    elif isinstance(target, (ast.Tuple, ast.List)):
        _assign_several(emitter, target, what, range)
    elif isinstance(target, ast.Attribute):
        owner = emitter.expression_value(target.value)
        set_attribute(emitter, owner, target.attr, what, emitter.range(target), _path(target))
    elif isinstance(target, ast.Subscript):
        from taeda.jit.check.subscripts import set_item

        set_item(emitter, emitter.expression_value(target.value), target.slice, what, emitter.range(target))
    elif isinstance(target, ast.Starred):
        fail(emitter.range(target), "a starred name stands among others: a, *b = items")
    else:
        fail(emitter.range(target), "this is nothing that can be assigned to")


def _path(node: ast.Attribute) -> str | None:
    if isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return None


def set_attribute(emitter: Emitter, owner: Value, name: str, what: Any, range: SourceRange | None,
                  path: str | None = None) -> None:  # fmt: skip
    """``owner.name = what``."""
    from taeda.jit.check.classes import assign_attribute

    assign_attribute(emitter, owner, name, what, range)
    if path is not None:
        emitter.frame.forget(path)


def items_of(emitter: Emitter, what: Any, count: int | None, range: SourceRange | None) -> list[Any]:
    """The items of a tuple, or of a list or tensor that is unpacked into ``count`` names."""
    if isinstance(what, TupleOf):
        return list(what.items)
    if isinstance(what, Known) and isinstance(what.obj, (tuple, list)):
        return [Known(item) for item in what.obj]
    if isinstance(what, Value):
        if is_static_tuple(what.static_type):
            return list(operators.unpack_tuple(emitter.graph, what, range))
        kind = what.static_type.kind()
        if kind == "ListType" and count is not None:
            element = what.static_type.containedTypes()[0]
            return list(emitter.graph.emit("prim::ListUnpack", [what], [element] * count, range).outputs())
        if what.static_type is TENSOR and count is not None:
            rows = emitter.op_value("aten::unbind", [what, Known(0)], range)
            return list(emitter.graph.emit("prim::ListUnpack", [rows], [TENSOR] * count, range).outputs())
    if isinstance(what, Sugar):
        turn = iterate(emitter, what, range)
        if turn.items is not None:
            return [item(emitter) for item in turn.items]
    shown = what.static_type if isinstance(what, Value) else what.what()
    fail(range, f"a {shown} cannot be unpacked into several names")


def _assign_several(emitter: Emitter, target: ast.Tuple | ast.List, what: Any, range: SourceRange | None) -> None:
    names = target.elts
    starred = [i for i, t in enumerate(names) if isinstance(t, ast.Starred)]
    if len(starred) > 1:
        fail(emitter.range(names[starred[1]]), "there can be one starred name only")
    if starred and len(names) == 1:
        fail(emitter.range(names[0]), "a starred name stands among others: a, *b = items")
    if isinstance(what, Value) and what.static_type.kind() == "ListType" and _unpack_list(emitter, names, what, range):
        return
    items = items_of(emitter, what, None if starred else len(names), range)
    if not starred:
        if len(items) != len(names):
            fail(range, f"{len(items)} values cannot be unpacked into {len(names)} names")
        for name, item in zip(names, items):
            assign(emitter, name, item, range)
        return
    at, behind = starred[0], len(names) - starred[0] - 1
    if len(items) < len(names) - 1:
        fail(range, f"{len(items)} values are too few for {len(names) - 1} names beside the starred one")
    middle = items[at : len(items) - behind]
    for name, item in zip(names[:at], items):
        assign(emitter, name, item, range)
    assign(emitter, names[at].value, TupleOf(tuple(middle)), range)  # type: ignore[attr-defined]
    for name, item in zip(names[at + 1 :], items[len(items) - behind :]):
        assign(emitter, name, item, range)


def _unpack_list(emitter: Emitter, names: list[ast.expr], what: Value, range: SourceRange | None) -> bool:
    """``first, *others = items``: by place, since how many there are is not known. False if no name is starred."""
    starred = next((i for i, t in enumerate(names) if isinstance(t, ast.Starred)), None)
    if starred is None:
        return False
    behind = len(names) - starred - 1
    rest = [Known(starred), Known(-behind if behind else None)]
    for i, name in enumerate(names):
        if isinstance(name, ast.Starred):
            assign(emitter, name.value, emitter.op("aten::slice", [what, *rest], None, range), range)
        else:
            place = i if i < starred else i - len(names)
            assign(emitter, name, emitter.op("aten::__getitem__", [what, Known(place)], None, range), range)
    return True


@handles(ast.Assign)
def _assign(emitter: Emitter, node: ast.Assign, rest: Sequence[ast.stmt]) -> Ended:
    hint = type_of_comment(emitter, node.type_comment, emitter.range(node)) if node.type_comment else None
    target = node.targets[0]
    if hint is None and isinstance(target, ast.Name):
        hint = emitter.frame.declared_type(target.id)
    if hint is None and isinstance(target, ast.Attribute):
        hint = _attribute_type(emitter, target)
    what = emitter.expression(node.value, hint)
    if hint is not None and node.type_comment and isinstance(target, ast.Name):
        emitter.frame.declared[target.id] = hint
    if isinstance(what, TupleOf) and what.is_list and isinstance(target, ast.Name):
        what = emitter.value(what, emitter.range(node.value), hint)  # a list is one object, however often it is named
    for each in node.targets:
        assign(emitter, each, what, emitter.range(node.value if len(node.targets) == 1 else each))
    return ON


def _attribute_type(emitter: Emitter, target: ast.Attribute) -> Any:
    from taeda.jit.check.classes import attribute_type

    if not isinstance(target.value, ast.Name):
        return None
    owner = emitter.frame.find(target.value.id)
    return attribute_type(owner, target.attr) if isinstance(owner, Value) else None


@handles(ast.AnnAssign)
def _declare(emitter: Emitter, node: ast.AnnAssign, rest: Sequence[ast.stmt]) -> Ended:
    type = type_of_annotation(emitter, node.annotation)
    place = emitter.range(node)
    if type is ANY and in_library(emitter):
        type = None  # it says nothing
    if isinstance(node.target, ast.Name) and type is not None:
        emitter.frame.declared[node.target.id] = type
        emitter.frame.lost[node.target.id] = f"'{node.target.id}' was declared but has no value yet"
    if node.value is None:
        return ON
    what = emitter.expression(node.value, type)
    if type is not None:
        value = emitter.value(what, emitter.range(node.value), type)
        exact = value.static_type.isSubtypeOf(type) and type is not ANY and type.kind() not in (
            "OptionalType", "UnionType"
        )  # fmt: skip
        what = value if exact else emitter.convert(value, type, place, "the value", widen=True)
        if isinstance(node.target, ast.Attribute):
            from taeda.jit.check.classes import declare_attribute

            owner = emitter.expression_value(node.target.value)
            declare_attribute(emitter, owner, node.target.attr, type, place)
        elif what.static_type is not type and type.kind() in ("ListType", "DictType", "AnyType"):
            what = value
    assign(emitter, node.target, what, place)
    return ON


_INPLACE = {"add": "add_", "sub": "sub_", "mul": "mul_", "div": "div_", "remainder": "remainder_", "pow": "pow_",
            "__and__": "__iand__", "__or__": "__ior__", "__xor__": "__ixor__", "floordiv": "floor_divide_",
            "__lshift__": "__ilshift__", "__rshift__": "__irshift__"}  # fmt: skip


@handles(ast.AugAssign)
def _augmented(emitter: Emitter, node: ast.AugAssign, rest: Sequence[ast.stmt]) -> Ended:
    from taeda.jit.check.expressions import BINARY, binary
    from taeda.jit.check.subscripts import get_item, set_item

    place = emitter.range(node)
    name = BINARY[type(node.op)]

    def updated(old: Any) -> Any:
        new = emitter.expression(node.value)
        kind = old.static_type.kind() if isinstance(old, Value) else ""
        inplace = f"aten::{_INPLACE.get(name, '')}"
        if (kind == "TensorType" or (kind == "ListType" and name in ("add", "mul"))) and operators.exists(inplace):
            changed = emitter.op(inplace, [old, new], None, place)
            return changed if isinstance(changed, Value) else old
        if kind == "ClassType":
            from taeda.jit.check.classes import call_magic

            done = call_magic(emitter, old, f"__i{_MAGIC[name]}__", [new], place)
            if done is not None:
                return done
        return binary(emitter, node.op, old, new, place)

    target = node.target
    if isinstance(target, ast.Name):
        bind_name(emitter, target.id, updated(emitter.expression(_read(target))), place)
    elif isinstance(target, ast.Attribute):
        owner = emitter.expression_value(target.value)
        new = updated(emitter.attribute(owner, target.attr, place))
        set_attribute(emitter, owner, target.attr, new, place, _path(target))
    else:
        assert isinstance(target, ast.Subscript)
        owner = emitter.expression_value(target.value)
        old = get_item(emitter, owner, target.slice, emitter.range(target))
        new = updated(old)
        if not (isinstance(old, Value) and old.static_type is TENSOR and owner.static_type is TENSOR and new is old):
            set_item(emitter, owner, target.slice, new, emitter.range(target))
    return ON


_MAGIC = {"add": "add", "sub": "sub", "mul": "mul", "div": "truediv", "remainder": "mod", "pow": "pow",
          "floordiv": "floordiv", "__and__": "and", "__or__": "or", "__xor__": "xor", "__lshift__": "lshift",
          "__rshift__": "rshift", "matmul": "matmul"}  # fmt: skip


def _read(target: ast.Name) -> ast.Name:
    return ast.copy_location(ast.Name(target.id, ast.Load()), target)


@handles(ast.Delete)
def _delete(emitter: Emitter, node: ast.Delete, rest: Sequence[ast.stmt]) -> Ended:
    for target in node.targets:
        if isinstance(target, ast.Name):
            emitter.expression(_read(target))  # it must be there
            emitter.frame.names.pop(target.id, None)
            emitter.frame.lost[target.id] = f"'{target.id}' was deleted"
        elif isinstance(target, ast.Subscript):
            owner = emitter.expression_value(target.value)
            if owner.static_type.kind() == "ClassType":
                from taeda.jit.check.classes import call_magic

                place = emitter.range(target)
                if call_magic(emitter, owner, "__delitem__", [emitter.expression(target.slice)], place) is None:
                    fail(place, f"a {owner.static_type} has no __delitem__")
            else:
                emitter.op("aten::Delete", [owner, emitter.expression(target.slice)], None, emitter.range(target))
        else:
            fail(emitter.range(target), "only names and items can be deleted")
    return ON


# --- Plain statements
@handles(ast.Expr)
def _expression(emitter: Emitter, node: ast.Expr, rest: Sequence[ast.stmt]) -> Ended:
    if not isinstance(node.value, ast.Constant):
        emitter.expression(node.value)
    return ON


@handles(ast.ImportFrom)
def _import(emitter: Emitter, node: ast.ImportFrom, rest: Sequence[ast.stmt]) -> Ended:
    """The library's own functions load what they use late; programs do not import."""
    if not in_library(emitter) or node.module is None:
        from taeda.jit.parse.errors import not_supported

        not_supported(emitter.range(node), "import cannot be part of a program")
    module = importlib.import_module(node.module)
    for name in node.names:
        emitter.frame.set(name.asname or name.name, Known(getattr(module, name.name)))
    return ON


@handles(ast.Pass)
def _pass(emitter: Emitter, node: ast.Pass, rest: Sequence[ast.stmt]) -> Ended:
    return ON


@handles(ast.FunctionDef)
def _define(emitter: Emitter, node: ast.FunctionDef, rest: Sequence[ast.stmt]) -> Ended:
    emitter.frame.set(node.name, LocalFunction(node, emitter.frame, emitter))
    return ON


@handles(ast.Return)
def _return(emitter: Emitter, node: ast.Return, rest: Sequence[ast.stmt]) -> Ended:
    place = emitter.range(node)
    what: Any = Known(None) if node.value is None else emitter.expression(node.value, emitter.returns)
    if emitter.returns is not None and emitter.returns is not NONE:
        if not (emitter.caller is not None and isinstance(what, Sugar)):
            value = emitter.value(what, place, emitter.returns)
            if not (value.static_type.isSubtypeOf(emitter.returns)):
                value = emitter.convert(value, emitter.returns, place, "what is returned", widen=True)
            what = value
    elif emitter.returns is NONE and not (isinstance(what, Known) and what.obj is None):
        value = emitter.value(what, place)
        if value.static_type is not NONE:
            fail(place, f"what is returned must be None; got a {value.static_type}")
        what = Known(None)
    emitter.frame.names["$value"] = what
    for flag in ("$exit", "$break", "$return"):
        emitter.frame.names[flag] = Known(True)
    return RETURNS, False


@handles(ast.Break)
def _break(emitter: Emitter, node: ast.Break, rest: Sequence[ast.stmt]) -> Ended:
    if not emitter.loops:
        fail(emitter.range(node), "break stands in a loop")
    emitter.frame.names["$exit"] = emitter.frame.names["$break"] = Known(True)
    return BREAKS, False


@handles(ast.Continue)
def _continue(emitter: Emitter, node: ast.Continue, rest: Sequence[ast.stmt]) -> Ended:
    if not emitter.loops:
        fail(emitter.range(node), "continue stands in a loop")
    emitter.frame.names["$exit"] = Known(True)
    return CONTINUES, False


# --- Errors
def raise_exception(emitter: Emitter, message: Any, cls: Any, range: SourceRange | None) -> int:
    """Ends the block with an exception of a class, which goes by its full name."""
    text = emitter.value(message, range)
    if text.static_type is not STR:
        text = emitter.op_value("aten::str", [text], range)
    name = emitter.none() if cls is None else emitter.constant(f"{cls.__module__}.{cls.__qualname__}")
    emitter.graph.emit("prim::RaiseException", [text, name], [], range)
    return 0


@handles(ast.Raise)
def _raise(emitter: Emitter, node: ast.Raise, rest: Sequence[ast.stmt]) -> Ended:
    place = emitter.range(node)
    if node.exc is None:
        fail(place, "raise needs an exception: there is no try in a program whose exception it could raise again")
    if isinstance(node.exc, ast.Call):
        callee = emitter.expression(node.exc.func)
        cls = callee.obj if isinstance(callee, Known) else None
        if inspect.isclass(cls) and issubclass(cls, BaseException):
            args = [emitter.expression(a) for a in node.exc.args]
            return raise_exception(emitter, _message(emitter, args, place), cls, place), False
    what = emitter.expression(node.exc)
    if isinstance(what, Known) and inspect.isclass(what.obj) and issubclass(what.obj, BaseException):
        return raise_exception(emitter, Known(""), what.obj, place), False
    fail(place, "what is raised must be an exception: raise ValueError('...')")


def _message(emitter: Emitter, args: list[Any], range: SourceRange | None) -> Any:
    if not args:
        return Known("")
    if len(args) == 1:
        return args[0]
    return TupleOf(tuple(args))


@handles(ast.Assert)
def _assert(emitter: Emitter, node: ast.Assert, rest: Sequence[ast.stmt]) -> Ended:
    place = emitter.range(node)
    test = condition(emitter, node.test)

    def fails() -> int:
        message: Any = Known("")
        if node.msg is not None:
            message = emitter.expression_value(node.msg)
            if message.static_type is not STR:
                message = emitter.op("aten::str", [message], None, place)
        return raise_exception(emitter, message, AssertionError, place)

    if test.answer is None or not test.answer:
        status, _ = branch(emitter, test, lambda: FALLS, fails, None, place)
        return status, False
    from taeda.jit.check.control import refine

    refine(emitter, test.if_true, place)
    return ON


# --- Branches, loops, with
@handles(ast.If)
def _if(emitter: Emitter, node: ast.If, rest: Sequence[ast.stmt]) -> Ended:
    test = condition(emitter, node.test)
    follows = (lambda: emitter.block(rest)) if rest else None
    return branch(emitter, test, lambda: emitter.block(node.body), lambda: emitter.block(node.orelse), follows,
                  emitter.range(node))  # fmt: skip


@handles(ast.While)
def _while(emitter: Emitter, node: ast.While, rest: Sequence[ast.stmt]) -> Ended:
    place = emitter.range(node)
    found = assigned_in([*node.body, ast.Expr(node.test)])
    status = loop(
        emitter, None, lambda: condition(emitter, node.test), lambda i: None, lambda: emitter.block(node.body), found,
        node.orelse, place,
    )  # fmt: skip
    if isinstance(node.test, ast.Constant) and node.test.value and not found.has_break:
        status &= ~FALLS  # only return and raise leave it
        if not status:
            return 0, False
    return status, False


@handles(ast.For)
def _for(emitter: Emitter, node: ast.For, rest: Sequence[ast.stmt]) -> Ended:
    place = emitter.range(node)
    turn = iterate(emitter, emitter.expression(node.iter), emitter.range(node.iter))
    if turn.items is not None:
        return _unrolled(emitter, node, turn, place), False
    assert turn.length is not None and turn.item is not None
    length, item = turn.length, turn.item
    found = assigned_in([*node.body, ast.Assign([node.target], ast.Constant(0))])
    return loop(
        emitter, length(emitter), None, lambda i: assign(emitter, node.target, item(emitter, i), place),
        lambda: emitter.block(node.body), found, node.orelse, place,
    ), False  # fmt: skip


def _unrolled(emitter: Emitter, node: ast.For, turn: Iteration, place: SourceRange) -> int:
    """A loop over things of which each has a type of its own: its body for each of them."""
    assert turn.items is not None
    items = turn.items
    emitter.loops += 1

    def once(i: int) -> int:
        if i == len(items):
            emitter.loops -= 1
            status = emitter.block(node.orelse)
            emitter.loops += 1
            return status
        assign(emitter, node.target, items[i](emitter), place)
        for flag in ("$exit", "$break"):
            emitter.frame.names[flag] = Known(False)
        status = emitter.block(node.body)
        leaves, continues = status & (BREAKS | RETURNS), status & (FALLS | CONTINUES)
        if not leaves:
            return once(i + 1) if continues else status
        if not continues:
            return status
        # What is skipped by break and return is all that follows, by continue the body's rest.
        flag = emitter.frame.find("$break")
        emitter.frame.names["$exit"] = flag
        return emitter.unless_exited(status & ~CONTINUES | FALLS, lambda: once(i + 1))

    status = once(0)
    emitter.loops -= 1
    if status & RETURNS:
        flag = emitter.frame.find("$return")
        emitter.frame.names["$exit"] = emitter.frame.names["$break"] = flag if flag is not None else Known(False)
    else:
        emitter.frame.names["$exit"] = emitter.frame.names["$break"] = Known(False)
    return (status & RETURNS) | (FALLS if status & (FALLS | BREAKS | CONTINUES) else 0)


@handles(ast.With)
def _with(emitter: Emitter, node: ast.With, rest: Sequence[ast.stmt]) -> Ended:
    from taeda.jit.check.contexts import enter, leave

    entered = []
    for item in node.items:
        place = emitter.range(item.context_expr)
        context = enter(emitter, emitter.expression(item.context_expr), place)
        entered.append((context, place))
        if item.optional_vars is not None:
            assign(emitter, item.optional_vars, context.given, place)
    status = emitter.block(node.body)
    if status:
        for context, place in reversed(entered):
            leave(emitter, context, place)
    return status, False
