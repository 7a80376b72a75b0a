"""What each kind of expression becomes."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from taeda import Tensor
from taeda.jit.check import operators
from taeda.jit.check.conditions import condition, is_identical, truth
from taeda.jit.check.control import branch, cast, refine
from taeda.jit.check.emitter import FALLS, Emitter, handles
from taeda.jit.check.iteration import collect, iterate
from taeda.jit.check.types import (
    INT,
    NONE,
    STR,
    TENSOR,
    dict_of,
    is_optional,
    is_static_tuple,
    unify,
    without_none,
)
from taeda.jit.check.values import Known, LocalFunction, RangeOf, Sugar, TupleOf
from taeda.jit.ir import Value
from taeda.jit.parse.errors import fail
from taeda.jit.source import SourceRange

BINARY: dict[type, str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.FloorDiv: "floordiv", ast.Mod: "remainder",
    ast.Pow: "pow", ast.MatMult: "matmul", ast.BitAnd: "__and__", ast.BitOr: "__or__", ast.BitXor: "__xor__",
    ast.LShift: "__lshift__", ast.RShift: "__rshift__",
}  # fmt: skip
_PYTHON: dict[type, Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_, ast.BitXor: operator.xor, ast.LShift: operator.lshift, ast.RShift: operator.rshift,
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
}  # fmt: skip
_COMPARE: dict[type, str] = {
    ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge",
}  # fmt: skip
_MAGIC: dict[type, str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv", ast.Mod: "mod",
    ast.Pow: "pow", ast.MatMult: "matmul", ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor",
    ast.LShift: "lshift", ast.RShift: "rshift", **_COMPARE,
}  # fmt: skip
_FOLDED = (bool, int, float, complex, str, tuple)


@handles(ast.Constant)
def _constant(emitter: Emitter, node: ast.Constant, hint: Any) -> Any:
    if node.value is Ellipsis or isinstance(node.value, bytes):
        if node.value is Ellipsis:
            return Known(...)
        fail(emitter.range(node), "programs have no bytes")
    return Known(node.value)


@handles(ast.Name)
def _name(emitter: Emitter, node: ast.Name, hint: Any) -> Any:
    found = emitter.frame.find(node.id)
    if found is None:
        why = emitter.frame.why_lost(node.id)
        if why is None:
            found = emitter.resolver.resolve(node.id, emitter.range(node))
        if found is None:
            fail(emitter.range(node), why or f"the name '{node.id}' is not known here")
    return found


@handles(ast.Attribute)
def _attribute(emitter: Emitter, node: ast.Attribute, hint: Any) -> Any:
    if isinstance(node.value, ast.Name):
        better = emitter.frame.find(f"{node.value.id}.{node.attr}")
        if better is not None:
            return better
    return emitter.attribute(emitter.expression(node.value), node.attr, emitter.range(node))


@handles(ast.NamedExpr)
def _named(emitter: Emitter, node: ast.NamedExpr, hint: Any) -> Any:
    from taeda.jit.check.statements import bind_name

    what = emitter.expression(node.value)
    bind_name(emitter, node.target.id, what, emitter.range(node))
    return emitter.frame.find(node.target.id)


@handles(ast.Lambda)
def _lambda(emitter: Emitter, node: ast.Lambda, hint: Any) -> Any:
    return LocalFunction(node, emitter.frame, emitter)


# --- Operators
def _folds(*operands: Any) -> bool:
    return all(isinstance(o, Known) and isinstance(o.obj, _FOLDED) for o in operands)


def _fold(work: Callable[..., Any], *operands: Known) -> Any:
    """The result where everything is known; None where the program must find out, or fail, by itself."""
    try:
        found = work(*(o.obj for o in operands))
    except Exception:
        return None
    if isinstance(found, int) and not -(2**63) <= found < 2**63:
        return None
    if isinstance(found, (str, tuple)) and len(found) > 1000:
        return None
    return Known(found) if isinstance(found, _FOLDED) else None


def _is(what: Any, type: Any) -> bool:
    return isinstance(what, Value) and what.static_type is type


def _is_number(what: Any) -> bool:
    if isinstance(what, Known):
        return isinstance(what.obj, (bool, int, float, complex))
    return isinstance(what, Value) and what.static_type.kind() in (
        "IntType", "FloatType", "ComplexType", "NumberType", "BoolType",
    )  # fmt: skip


def binary(emitter: Emitter, op: ast.operator, left: Any, right: Any, range: SourceRange | None) -> Any:
    """``left op right``."""
    kind = type(op)
    if kind is not ast.MatMult and _folds(left, right) and (found := _fold(_PYTHON[kind], left, right)) is not None:
        return found
    name = BINARY[kind]
    joined = _tuples(emitter, kind, left, right, range)
    if joined is not None:
        return joined
    a, b = emitter.value(left, range), emitter.value(right, range)
    magic = _magic(emitter, _MAGIC[kind], a, b, range)
    if magic is not None:
        return magic
    if _is_number(a) and b.static_type is TENSOR:
        return _number_first(emitter, name, a, b, range)
    if name == "floordiv" and a.static_type is TENSOR:
        name = "floor_divide"
    if name == "remainder" and a.static_type is STR:
        name = "percentFormat"
    if name == "pow" and a.static_type is INT and b.static_type is INT:
        return _integer_power(emitter, a, b, right, range)
    return emitter.op(f"aten::{name}", [a, b], None, range)


def _integer_power(emitter: Emitter, a: Value, b: Value, right: Any, range: SourceRange | None) -> Any:
    """TorchScript's power of ints is a float; with an exponent that is known not to be negative, it is Python's."""
    if isinstance(right, Known) and right.obj >= 0:
        for schema in operators.schemas_of("aten::pow"):
            if schema.overload_name == "int_to_int":
                return emitter.graph.emit("aten::pow", [a, b], [INT], range, "int_to_int").output()
    return emitter.op("aten::pow", [a, b], None, range)


def _number_first(emitter: Emitter, name: str, a: Value, b: Value, range: SourceRange | None) -> Any:
    """What ops do not take with the number first, with the same result."""
    if name in ("add", "mul"):
        return emitter.op(f"aten::{name}", [b, a], None, range)
    if name == "sub":
        return emitter.op("aten::rsub", [b, a], None, range)
    if name == "div":
        return emitter.op("aten::mul", [emitter.op("aten::reciprocal", [b], None, range), a], None, range)
    if name in ("__and__", "__or__", "__xor__"):
        return emitter.op(f"aten::{name}", [b, a], None, range)
    if name == "floordiv":
        whole = emitter.op("aten::mul", [emitter.op("aten::reciprocal", [b], None, range), a], None, range)
        return emitter.op("aten::floor", [whole], None, range)
    return emitter.op(f"aten::{name}", [a, b], None, range)


def _tuples(emitter: Emitter, kind: type, left: Any, right: Any, range: SourceRange | None) -> Any:
    """``+`` of tuples and ``*`` of a tuple with a known number."""
    parts = [_tuple_items(emitter, side, range) for side in (left, right)]
    if kind is ast.Add and parts[0] is not None and parts[1] is not None:
        return TupleOf((*parts[0], *parts[1]))
    if kind is ast.Mult:
        for items, count in ((parts[0], right), (parts[1], left)):
            if items is not None and isinstance(count, Known) and isinstance(count.obj, int):
                return TupleOf(tuple(items) * count.obj)
    return None


def _tuple_items(emitter: Emitter, what: Any, range: SourceRange | None) -> list[Any] | None:
    if isinstance(what, TupleOf) and not what.is_list:
        return list(what.items)
    if isinstance(what, Known) and isinstance(what.obj, tuple):
        return [Known(item) for item in what.obj]
    if isinstance(what, Value) and is_static_tuple(what.static_type):
        return list(operators.unpack_tuple(emitter.graph, what, range))
    return None


_REFLECTED = {"eq": "eq", "ne": "ne", "lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}


def _magic(emitter: Emitter, name: str, a: Value, b: Value, range: SourceRange | None) -> Any:
    from taeda.jit.check.classes import call_magic

    if a.static_type.kind() == "ClassType":
        done = call_magic(emitter, a, f"__{name}__", [b], range)
        if done is None and name == "ne":
            equal = call_magic(emitter, a, "__eq__", [b], range)
            done = None if equal is None else emitter.op("aten::__not__", [equal], None, range)
        if done is not None:
            return done
    if b.static_type.kind() == "ClassType":
        reflected = f"__{_REFLECTED[name]}__" if name in _REFLECTED else f"__r{name}__"
        return call_magic(emitter, b, reflected, [a], range)
    return None


@handles(ast.BinOp)
def _binary(emitter: Emitter, node: ast.BinOp, hint: Any) -> Any:
    left = emitter.expression(node.left, hint if isinstance(node.op, (ast.Add, ast.Mult)) else None)
    right = emitter.expression(node.right, hint if isinstance(node.op, ast.Add) else None)
    if isinstance(node.op, ast.BitOr) and isinstance(left, Known) and isinstance(left.obj, type):
        return Known(left.obj | right.obj)
    return binary(emitter, node.op, left, right, emitter.range(node))


@handles(ast.UnaryOp)
def _unary(emitter: Emitter, node: ast.UnaryOp, hint: Any) -> Any:
    place = emitter.range(node)
    if isinstance(node.op, ast.Not):
        test = condition(emitter, node)
        return Known(test.answer) if test.answer is not None else test.value
    what = emitter.expression(node.operand)
    work: Any = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert}[type(node.op)]
    if _folds(what) and (found := _fold(work, what)) is not None:
        return found
    value = emitter.value(what, place)
    if value.static_type.kind() == "ClassType":
        from taeda.jit.check.classes import call_magic

        name = {ast.USub: "__neg__", ast.UAdd: "__pos__", ast.Invert: "__invert__"}[type(node.op)]
        done = call_magic(emitter, value, name, [], place)
        if done is not None:
            return done
    if isinstance(node.op, ast.UAdd):
        return value
    return emitter.op("aten::neg" if isinstance(node.op, ast.USub) else "aten::bitwise_not", [value], None, place)


@handles(ast.BoolOp)
def _bool(emitter: Emitter, node: ast.BoolOp, hint: Any) -> Any:
    """``a and b`` of what is no bool gives one of the two, as in Python."""
    return _chosen(emitter, node.values, isinstance(node.op, ast.And), emitter.range(node), hint)


def _chosen(emitter: Emitter, nodes: list[ast.expr], is_and: bool, range: SourceRange, hint: Any) -> Any:
    if len(nodes) == 1:
        test = condition(emitter, nodes[0]) if _is_test(nodes[0]) else None
        if test is None:
            return emitter.expression(nodes[0], hint)
        return Known(test.answer) if test.answer is not None else test.value
    what: Any = None
    if _is_test(nodes[0]):
        test = condition(emitter, nodes[0])
        what = Known(test.answer) if test.answer is not None else test.value
    else:
        what = emitter.expression(nodes[0], hint)
        test = truth(emitter, what, emitter.range(nodes[0]))
    if test.answer is not None:
        if test.answer != is_and:
            return what
        refine(emitter, test.if_true if is_and else test.if_false, range)
        return _chosen(emitter, nodes[1:], is_and, range, hint)
    kept = what
    rest = lambda: _chosen(emitter, nodes[1:], is_and, range, hint)
    return either(emitter, test, rest if is_and else lambda: kept, (lambda: kept) if is_and else rest, range, hint,
                  "$chosen")  # fmt: skip


def _is_test(node: ast.expr) -> bool:
    return isinstance(node, (ast.BoolOp, ast.Compare, ast.Call)) or (
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    )


def either(emitter: Emitter, test: Any, then: Callable[[], Any], otherwise: Callable[[], Any],
           range: SourceRange | None, hint: Any = None, name: str = "$either") -> Any:  # fmt: skip
    """One of two, by a condition; as ``$chosen`` the bool of each, where one is a bool and the other something else."""

    def keep(work: Callable[[], Any]) -> Callable[[], int]:
        def run() -> int:
            emitter.frame.names[name] = work()
            return FALLS

        return run

    if hint is not None:
        emitter.frame.declared[name] = hint
    branch(emitter, test, keep(then), keep(otherwise), None, range)
    emitter.frame.declared.pop(name, None)
    found = emitter.frame.names.pop(name, None)
    why = emitter.frame.lost.pop(name, None)
    if found is None:
        fail(range, (why or "").replace(f"'{name}'", "the expression") or "the two sides have no type in common")
    if isinstance(found, Value):
        found.setDebugName("")
    return found


@handles(ast.IfExp)
def _conditional(emitter: Emitter, node: ast.IfExp, hint: Any) -> Any:
    test = condition(emitter, node.test)
    return either(emitter, test, lambda: emitter.expression(node.body, hint),
                  lambda: emitter.expression(node.orelse, hint), emitter.range(node), hint)  # fmt: skip


@handles(ast.Compare)
def _compare(emitter: Emitter, node: ast.Compare, hint: Any) -> Any:
    if len(node.ops) == 1 and isinstance(node.ops[0], (ast.Is, ast.IsNot)):
        test = condition(emitter, node)
        return Known(test.answer) if test.answer is not None else test.value
    left = emitter.expression(node.left)
    return _chain(emitter, node, left, 0)


def _chain(emitter: Emitter, node: ast.Compare, left: Any, i: int) -> Any:
    right = emitter.expression(node.comparators[i])
    place = emitter.range(node)
    what = compare(emitter, node.ops[i], left, right, place)
    if i + 1 == len(node.ops):
        return what
    kept = what
    rest = lambda: _chain(emitter, node, right, i + 1)
    return either(emitter, truth(emitter, what, place), rest, lambda: kept, place)


def compare(emitter: Emitter, op: ast.cmpop, left: Any, right: Any, range: SourceRange | None) -> Any:
    """``left op right`` of a comparison."""
    kind = type(op)
    if kind in (ast.In, ast.NotIn):
        return _contains(emitter, kind, left, right, range)
    if kind in (ast.Is, ast.IsNot):
        if isinstance(left, Known) and isinstance(right, Known):
            return Known(is_identical(left.obj, right.obj) == (kind is ast.Is))
        return emitter.op("aten::__is__" if kind is ast.Is else "aten::__isnot__", [left, right], None, range)
    if (
        isinstance(left, Known)
        and isinstance(right, Known)
        and not any(isinstance(s.obj, (Tensor, list, dict)) for s in (left, right))
    ):
        try:
            return Known(bool(_PYTHON[kind](left.obj, right.obj)))
        except TypeError as error:
            fail(range, str(error))
    found = _tuple_compare(emitter, op, left, right, range)
    if found is not None:
        return found
    a, b = emitter.value(left, range), emitter.value(right, range)
    magic = _magic(emitter, _COMPARE[kind], a, b, range)
    if magic is not None:
        return magic
    name = _COMPARE[kind]
    if _is_number(a) and b.static_type is TENSOR:
        return emitter.op(f"aten::{_REFLECTED[name]}", [b, a], None, range)
    if name in ("eq", "ne") and NONE in (a.static_type, b.static_type):
        return emitter.op("aten::__is__" if name == "eq" else "aten::__isnot__", [a, b], None, range)
    if name in ("eq", "ne") and is_optional(a.static_type) | is_optional(b.static_type):
        return _optional_equal(emitter, op, a, b, range)
    return emitter.op(f"aten::{name}", [a, b], None, range)


def _optional_equal(emitter: Emitter, op: ast.cmpop, a: Value, b: Value, range: SourceRange | None) -> Any:
    """Of what may be None: equal if both are, or neither is and they are equal."""

    def sure(value: Value) -> Value:
        if not is_optional(value.static_type):
            return value
        inner = without_none(value.static_type)
        return emitter.graph.emit("prim::unchecked_unwrap_optional", [value], [inner], range).output()

    def absent(value: Value) -> Any:
        if not is_optional(value.static_type):
            return Known(False)
        return emitter.op("aten::__is__", [value, Known(None)], None, range)

    def both() -> Any:
        found = compare(emitter, op, sure(a), sure(b), range)
        return emitter.op("aten::Bool", [found], None, range) if _is(found, TENSOR) else found

    def rest() -> Any:
        neither = truth(emitter, absent(b), range)
        return either(emitter, neither, lambda: Known(unequal), both, range)

    unequal = isinstance(op, ast.NotEq)
    first = truth(emitter, absent(a), range)
    name = "aten::__isnot__" if unequal else "aten::__is__"
    return either(emitter, first, lambda: emitter.op(name, [b, Known(None)], None, range), rest, range)


def _tuple_compare(emitter: Emitter, op: ast.cmpop, left: Any, right: Any, range: SourceRange | None) -> Any:
    if not isinstance(op, (ast.Eq, ast.NotEq)):
        return None
    parts = [_tuple_items(emitter, side, range) for side in (left, right)]
    if parts[0] is None or parts[1] is None:
        return None
    equal: Any = Known(len(parts[0]) == len(parts[1]))
    if equal.obj:
        for a, b in zip(*parts):
            one = compare(emitter, ast.Eq(), a, b, range)
            test = truth(emitter, equal, range)
            equal = either(emitter, test, _giving(one), lambda: Known(False), range)
    if isinstance(op, ast.Eq):
        return equal
    return Known(not equal.obj) if isinstance(equal, Known) else emitter.op("aten::__not__", [equal], None, range)


def _giving(what: Any) -> Callable[[], Any]:
    return lambda: what


def _contains(emitter: Emitter, kind: type, left: Any, right: Any, range: SourceRange | None) -> Any:
    if isinstance(left, Known) and isinstance(right, Known) and not isinstance(left.obj, Tensor):
        try:
            return Known(_PYTHON[kind](left.obj, right.obj))
        except TypeError as error:
            fail(range, str(error))
    inside_of = _contained(emitter, left, right, range)
    if kind is ast.In:
        return inside_of
    if isinstance(inside_of, Known):
        return Known(not inside_of.obj)
    return emitter.op("aten::__not__", [inside_of], None, range)


def _contained(emitter: Emitter, left: Any, right: Any, range: SourceRange | None) -> Any:
    items = _tuple_items(emitter, right, range)
    if items is not None:
        found: Any = Known(False)
        for item in items:
            test = truth(emitter, found, range)
            if test.answer:
                break
            again = lambda item=item: compare(emitter, ast.Eq(), left, item, range)
            found = either(emitter, test, lambda: Known(True), again, range)
        return found
    if isinstance(right, RangeOf):
        right = emitter.value(right, range)
    if isinstance(right, Value) and right.static_type.kind() == "ClassType":
        from taeda.jit.check.classes import call_magic
        from taeda.jit.check.modules import children_of, own_method

        own = own_method(right, "__contains__")
        if own is not None:
            return emitter.call(own, [left], {}, range)
        children = children_of(emitter, right)
        if children is not None and isinstance(left, Known):
            return Known(left.obj in dict(children))
        done = call_magic(emitter, right, "__contains__", [left], range)
        if done is not None:
            return done
    return emitter.op("aten::__contains__", [right, left], None, range)


# --- Collections
def _starred(emitter: Emitter, nodes: list[ast.expr], hints: list[Any] | None = None) -> list[Any]:
    from taeda.jit.check.statements import items_of

    items: list[Any] = []
    for i, node in enumerate(nodes):
        if isinstance(node, ast.Starred):
            items.extend(items_of(emitter, emitter.expression(node.value), None, emitter.range(node)))
        else:
            items.append(emitter.expression(node, hints[i] if hints and i < len(hints) else None))
    return items


@handles(ast.Tuple)
def _tuple(emitter: Emitter, node: ast.Tuple, hint: Any) -> Any:
    hints = hint.containedTypes() if hint is not None and hint.kind() == "TupleType" else None
    items = _starred(emitter, node.elts, hints)
    if items and all(isinstance(item, Known) and (item.obj is None or isinstance(item.obj, _FOLDED)) for item in items):
        return Known(tuple(item.obj for item in items))
    return TupleOf(tuple(items))


@handles(ast.List)
def _list(emitter: Emitter, node: ast.List, hint: Any) -> Any:
    wanted = _containers(hint, "ListType")
    hint = wanted[0] if wanted else hint
    element = wanted[0].containedTypes()[0] if len(wanted) == 1 else None
    if any(isinstance(e, ast.Starred) for e in node.elts):
        return _joined_list(emitter, node, hint)
    items = _starred(emitter, node.elts, [element] * len(node.elts))
    if any(isinstance(i, Sugar) and not isinstance(i, (TupleOf, RangeOf)) and not _plain(i) for i in items):
        return TupleOf(tuple(items), None, True)
    place = emitter.range(node)
    values = [emitter.value(i, place, element) for i in items]
    return emitter.list_value(values, place, _holding(wanted, values) or hint)


def _containers(hint: Any, kind: str) -> list[Any]:
    """The types of the kind that a hint names: itself, or members of a union."""
    if hint is None:
        return []
    members = hint.containedTypes() if hint.kind() in ("OptionalType", "UnionType") else [hint]
    return [type for type in members if type.kind() == kind]


def _holding(wanted: list[Any], *columns: list[Value]) -> Any:
    """The first of the containers that can hold the values, a column for each of its types; else the first."""
    for type in wanted:
        if all(v.static_type.isSubtypeOf(held) for held, c in zip(type.containedTypes(), columns) for v in c):
            return type
    return wanted[0] if wanted else None


def _joined_list(emitter: Emitter, node: ast.List, hint: Any) -> Any:
    """``[*a, b]``: lists one behind the other, where a starred one is a list of unknown length."""
    place = emitter.range(node)
    whole: Any = None
    for part in node.elts:
        piece: Any = None
        if isinstance(part, ast.Starred):
            piece = emitter.value(_as_listed(emitter.expression(part.value)), place, hint)
        else:
            piece = emitter.list_value([emitter.expression_value(part)], place, hint)
        copied = emitter.op_value("aten::list", [piece], place) if piece.static_type.kind() == "ListType" else piece
        listed = emitter.convert(copied, hint, place, "the list") if hint is not None else copied
        whole = listed if whole is None else emitter.op("aten::add", [whole, listed], None, place)
    return whole


def _as_listed(what: Any) -> Any:
    if isinstance(what, TupleOf):
        return TupleOf(what.items, None, True)
    return Known(list(what.obj)) if isinstance(what, Known) else what


def _plain(what: Any) -> bool:
    from taeda.jit.check.control import _is_plain

    return isinstance(what, Known) and (_is_plain(what.obj) or isinstance(what.obj, (list, dict)))


@handles(ast.Dict)
def _dict(emitter: Emitter, node: ast.Dict, hint: Any) -> Any:
    place = emitter.range(node)
    wanted = _containers(hint, "DictType")
    key, value = wanted[0].containedTypes() if len(wanted) == 1 else (None, None)
    parts: list[Value] = []
    spread = []
    for k, v in zip(node.keys, node.values):
        if k is None:
            spread.append(emitter.expression_value(v))
            continue
        parts.append(emitter.expression_value(k, key))
        parts.append(emitter.expression_value(v, value))
    hint = _holding(wanted, parts[0::2], parts[1::2])
    if hint is None:
        hint = dict_of(_common(parts[0::2], STR), _common(parts[1::2], TENSOR))
        if not parts and spread:
            hint = spread[0].static_type
    key, value = hint.containedTypes()
    parts = [emitter.convert(p, value if i % 2 else key, place, "an item of the dict") for i, p in enumerate(parts)]
    made = emitter.graph.emit("prim::DictConstruct", parts, [hint], place).output()
    for other in spread:
        emitter.op("aten::update", [made, other], None, place)
    return made


def _common(values: list[Value], default: Any) -> Any:
    found = None
    for v in values:
        joined = v.static_type if found is None else unify(found, v.static_type)
        if joined is None:
            from taeda.jit.check.types import union

            return union(list(dict.fromkeys(x.static_type for x in values)))
        found = joined
    return default if found is None else found


# --- Comprehensions
def comprehend(emitter: Emitter, node: Any, element: Any, make: Callable[[Emitter], Any]) -> Any:
    """``[make() for target in items if test ...]``: a list, or a tuple where the items are known one by one."""
    return _comprehend(emitter, node, list(node.generators), element, make)


def _comprehend(
    emitter: Emitter, node: Any, generators: list[Any], element: Any, make: Callable[[Emitter], Any]
) -> Any:
    from taeda.jit.check.statements import assign

    place = emitter.range(node)
    generator = generators[0]
    what = emitter.expression(generator.iter)
    turn = iterate(emitter, what, place)
    plain = len(generators) == 1 and not generator.ifs

    def once(emitter: Emitter, item: Any) -> Any:
        outer = emitter.frame
        from taeda.jit.check.environment import Frame

        emitter.frame = Frame(outer.block, outer)
        try:
            assign(emitter, generator.target, item, place)
            return make(emitter)
        finally:
            emitter.frame = outer

    if plain and turn.items is not None:
        return TupleOf(tuple(once(emitter, item(emitter)) for item in turn.items), None, True)
    if plain:
        return collect(emitter, what, place, lambda e, item: e.value(once(e, item), place, element), element)
    return _accumulate(emitter, node, generators, element, make)


def _accumulate(
    emitter: Emitter, node: Any, generators: list[Any], element: Any, make: Callable[[Emitter], Any]
) -> Any:
    """A comprehension with conditions or several loops: a list that statements append to."""
    place = emitter.range(node)
    out = operators.make_list(emitter.graph, [], TENSOR if element is None else element, place)
    fresh = [element is None]
    from taeda.jit.check.environment import Frame
    from taeda.jit.check.types import list_of

    class _Append(ast.stmt):
        pass

    def append(e: Emitter, statement: Any, rest: Any) -> Any:
        value = e.value(make(e), place)
        if fresh[0]:
            out.setType(list_of(value.static_type))
            fresh[0] = False
        e.op("aten::append", [out, value], None, place)
        return FALLS, False

    from taeda.jit.check.emitter import STATEMENTS

    STATEMENTS[_Append] = append
    body: ast.stmt = _Append()
    for generator in reversed(generators):
        for test in reversed(generator.ifs):
            body = ast.copy_location(ast.If(test, [body], []), node)
        body = ast.copy_location(ast.For(generator.target, generator.iter, [body], []), node)
    outer = emitter.frame
    emitter.frame = Frame(outer.block, outer)
    try:
        emitter.block([body])
    finally:
        emitter.frame = outer
        del STATEMENTS[_Append]
    return out


@handles(ast.ListComp, ast.GeneratorExp)
def _comprehension(emitter: Emitter, node: ast.ListComp, hint: Any) -> Any:
    element = hint.containedTypes()[0] if hint is not None and hint.kind() == "ListType" else None
    return comprehend(emitter, node, element, lambda e: e.expression(node.elt, element))


@handles(ast.DictComp)
def _dict_comprehension(emitter: Emitter, node: ast.DictComp, hint: Any) -> Any:
    place = emitter.range(node)
    types = hint.containedTypes() if hint is not None and hint.kind() == "DictType" else (None, None)

    def item(e: Emitter, part: ast.expr, type: Any) -> Any:
        found = e.expression(part, type)
        if type is None:
            return found
        value = e.convert(found, type, place, "an item of the dict", widen=True)
        return value if value.static_type is type else cast(e, value, type, place)

    pair = lambda e: TupleOf((item(e, node.key, types[0]), item(e, node.value, types[1])))
    if len(node.generators) > 1 or node.generators[0].ifs:
        pairs = _accumulate(emitter, node, list(node.generators), None, pair)
    else:
        pairs = emitter.value(comprehend(emitter, node, None, pair), place)
    nothing = pairs.static_type.kind() == "ListType" and pairs.static_type.containedTypes()[0].kind() != "TupleType"
    if hint is not None and hint.kind() == "DictType" and nothing:
        return emitter.graph.emit("prim::DictConstruct", [], [hint], place).output()
    return emitter.op("aten::dict", [pairs], None, place)


# --- Text
@handles(ast.JoinedStr)
def _formatted(emitter: Emitter, node: ast.JoinedStr, hint: Any) -> Any:
    """An f-string: a format with its values."""
    text, values = "", []
    place = emitter.range(node)
    for part in node.values:
        if isinstance(part, ast.Constant):
            text += str(part.value).replace("{", "{{").replace("}", "}}")
            continue
        assert isinstance(part, ast.FormattedValue)
        spec = ""
        if part.format_spec is not None:
            found = _formatted(emitter, part.format_spec, None)  # type: ignore[arg-type]
            if not isinstance(found, Known):
                fail(emitter.range(part), "how a value is formatted must be known while the program is compiled")
            spec = f":{found.obj}"
        what = emitter.expression(part.value)
        conversion = {-1: "", 115: "!s", 114: "!r", 97: "!a"}[part.conversion]
        if isinstance(what, Known) and not isinstance(what.obj, Tensor):
            text += ("{" + conversion + spec + "}").format(what.obj).replace("{", "{{").replace("}", "}}")
            continue
        if isinstance(what, TupleOf) and what.named is None and all(_folds(i) for i in what.items):
            what = Known(tuple(i.obj for i in what.items))
            text += str(what.obj)
            continue
        value = emitter.value(what, place)
        if conversion == "!r":
            value = emitter.op_value("aten::repr", [value], place)
        text += "{" + spec + "}"
        values.append(value)
    if not values:
        return Known(text.replace("{{", "{").replace("}}", "}"))
    return emitter.op("aten::format", [Known(text), *values], None, place)


@handles(ast.FormattedValue)
def _format_one(emitter: Emitter, node: ast.FormattedValue, hint: Any) -> Any:
    return _formatted(emitter, ast.copy_location(ast.JoinedStr([node]), node), hint)
