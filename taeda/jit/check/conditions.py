"""Conditions: what ``if``, ``while``, ``assert``, ``and``, ``or``, ``not`` ask, and what the answer tells of types."""

from __future__ import annotations

import ast
import inspect
from typing import Any

from taeda._main import script_marks
from taeda.jit.check import operators
from taeda.jit.check.control import inside, refine
from taeda.jit.check.emitter import Emitter
from taeda.jit.check.types import (
    BOOL,
    NONE,
    can_be_none,
    members,
    union,
    without_none,
)
from taeda.jit.check.values import Condition, Known, Sugar, TupleOf
from taeda.jit.ir import Value
from taeda.jit.parse.errors import fail
from taeda.jit.source import SourceRange


def condition(emitter: Emitter, node: ast.expr) -> Condition:
    """Compiles a condition."""
    place = emitter.range(node)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inner = condition(emitter, node.operand)
        if inner.answer is not None:
            return inner.negated(None)
        return inner.negated(emitter.op_value("aten::__not__", [inner.value], place))
    if isinstance(node, ast.BoolOp):
        return _combined(emitter, node.values, isinstance(node.op, ast.And), place)
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], (ast.Is, ast.IsNot)):
        return _identity(emitter, node, place)
    if isinstance(node, ast.Call):
        asked = _isinstance_call(emitter, node)
        if asked is not None:
            return asked
    return truth(emitter, emitter.expression(node), place)


def truth(emitter: Emitter, what: Any, range: SourceRange | None) -> Condition:
    """Whether a value counts as true."""
    if isinstance(what, Known):
        try:
            return Condition(None, bool(what.obj))
        except RuntimeError as error:
            fail(range, str(error))
    if isinstance(what, TupleOf):
        return Condition(None, bool(what.items))
    if isinstance(what, Sugar):
        fail(range, f"{what.what()} is no condition")
    value = what
    kind = value.static_type.kind()
    if kind == "BoolType":
        node = value.node()
        if node.kind() == "prim::Constant":
            return Condition(None, bool(node.constant()))
        return Condition(value)
    if value.static_type is NONE:
        return Condition(None, False)
    if kind in ("ListType", "DictType"):
        length = emitter.op("aten::len", [value], None, range)
        return Condition(emitter.op_value("aten::gt", [length, Known(0)], range))
    if kind == "TupleType":
        return Condition(None, bool(value.static_type.containedTypes()))
    if kind == "ClassType":
        from taeda.jit.check.classes import call_magic

        for name in ("__bool__", "__len__"):
            done = call_magic(emitter, value, name, [], range)
            if done is not None:
                found = done if name == "__bool__" else emitter.op("aten::gt", [done, Known(0)])
                if emitter.value(found, range).static_type is not BOOL:
                    fail(range, f"what {name} gives is no condition")
                return truth(emitter, found, range)
        return Condition(None, True)
    if kind == "OptionalType":
        inner = without_none(value.static_type)
        if inner.kind() in ("ClassType", "FutureType", "EnumType", "DeviceObjType", "TupleType"):
            return Condition(emitter.op_value("aten::__isnot__", [value, Known(None)], range))
        fail(range, f"a {value.static_type} is no condition: ask 'is not None' for what it may be beside None")
    found = operators.find("aten::Bool", [value], {})
    if not isinstance(found, operators.Match):
        fail(range, f"a {value.static_type} is no condition; a bool, a number, a text, a collection or a tensor of one"
                    " element is")  # fmt: skip
    return Condition(operators.apply(emitter.graph, found, range, emitter.constant).output())


def _combined(emitter: Emitter, nodes: list[ast.expr], is_and: bool, range: SourceRange) -> Condition:
    first = condition(emitter, nodes[0])
    if len(nodes) == 1:
        return first
    if first.answer is not None:
        if first.answer != is_and:
            return first
        refine(emitter, first.if_true if is_and else first.if_false, range)
        rest = _combined(emitter, nodes[1:], is_and, range)
        return _joined(first, rest, is_and)
    assert first.value is not None
    node = emitter.graph.emit("prim::If", [first.value], [BOOL], range)
    second: list[Condition] = []

    def evaluate() -> Value:
        refine(emitter, first.if_true if is_and else first.if_false, range)
        second.append(_combined(emitter, nodes[1:], is_and, range))
        found = second[0]
        return emitter.constant(found.answer) if found.answer is not None else found.value  # type: ignore[return-value]

    for i in (0, 1):
        block = node.addBlock()
        skipped = (i == 1) == is_and
        _, value = inside(emitter, block, (lambda: emitter.constant(not is_and)) if skipped else evaluate)
        block.registerOutput(value)
    found = _joined(first, second[0], is_and)
    if second[0].answer is not None and second[0].answer != is_and:
        return Condition(None, not is_and, found.if_true, found.if_false)
    return Condition(node.output(), None, found.if_true, found.if_false)


def _joined(a: Condition, b: Condition, is_and: bool) -> Condition:
    """What both tell: of ``and`` when it is true, of ``or`` when it is false; else what either tells alike."""
    both = {**(a.if_true if is_and else a.if_false), **(b.if_true if is_and else b.if_false)}
    left, right = (a.if_false, b.if_false) if is_and else (a.if_true, b.if_true)
    either = {}
    for key in left.keys() & right.keys():
        either[key] = union([left[key], right[key]]) if left[key] is not right[key] else left[key]
    if a.answer is not None:
        either = right
    return Condition(b.value, b.answer, both if is_and else either, either if is_and else both)


def path_of(node: ast.expr) -> str | None:
    """The name of what a condition can tell of: ``x`` or ``self.x``."""
    if isinstance(node, ast.NamedExpr):
        return node.target.id
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return None


def _identity(emitter: Emitter, node: ast.Compare, range: SourceRange) -> Condition:
    negative = isinstance(node.ops[0], ast.IsNot)
    left, right = emitter.expression(node.left), emitter.expression(node.comparators[0])
    side: Any = None
    if _is_none(right):
        side, what = node.left, left
    elif _is_none(left):
        side, what = node.comparators[0], right
    if side is None:
        return _same(emitter, left, right, negative, range)
    if isinstance(what, Sugar):
        return Condition(None, _is_none(what) != negative)
    type = what.static_type
    if type is NONE or not can_be_none(type):
        return Condition(None, (type is NONE) != negative)
    value = emitter.op_value("aten::__isnot__" if negative else "aten::__is__", [what, Known(None)], range)
    path = path_of(side)
    known, unknown = ({}, {}) if path is None else ({path: NONE}, {path: without_none(type)})
    if type.kind() == "AnyType":
        known = unknown = {}
    if path is not None and "." in path and unknown:
        emitter.frame.refined.setdefault(path, what)
    return Condition(value, None, *((unknown, known) if negative else (known, unknown)))


def _is_none(what: Any) -> bool:
    if isinstance(what, Value):
        return what.static_type is NONE
    return isinstance(what, Known) and what.obj is None


def is_identical(a: Any, b: Any) -> bool:
    """Whether known things are one: equal constants are, as Python's compiler has each once."""
    return a is b or (type(a) is type(b) and isinstance(a, (bool, int, float, complex, str)) and a == b)


def _same(emitter: Emitter, left: Any, right: Any, negative: bool, range: SourceRange) -> Condition:
    if isinstance(left, Known) and isinstance(right, Known):
        return Condition(None, is_identical(left.obj, right.obj) != negative)
    a, b = emitter.value(left, range), emitter.value(right, range)
    if {a.static_type, b.static_type} <= {BOOL} or a.static_type.kind() == "EnumType":
        return Condition(emitter.op_value("aten::ne" if negative else "aten::eq", [a, b], range))
    return Condition(emitter.op_value("aten::__isnot__" if negative else "aten::__is__", [a, b], range))


def _isinstance_call(emitter: Emitter, node: ast.Call) -> Condition | None:
    from taeda.jit.check.annotations import refuse_bare
    from taeda.jit.check.builtins import is_isinstance

    if len(node.args) != 2 or node.keywords:
        return None
    if not isinstance(node.func, (ast.Name, ast.Attribute)):
        return None
    callee = emitter.expression(node.func)
    if not is_isinstance(callee):
        return None
    if callee.obj is script_marks.container_isinstance:
        for asked in node.args[1].elts if isinstance(node.args[1], ast.Tuple) else [node.args[1]]:
            refuse_bare(emitter, asked)
    what = emitter.expression(node.args[0])
    return is_instance(emitter, what, node.args[1], path_of(node.args[0]), emitter.range(node))


def is_instance(emitter: Emitter, what: Any, asked: ast.expr, path: str | None, range: SourceRange) -> Condition:
    """``isinstance(what, asked)``."""
    from taeda.jit.check.annotations import classes_asked, fits_class

    classes = classes_asked(emitter, asked)
    if isinstance(what, Known):
        plain = tuple(c for c in classes if inspect.isclass(c))
        return Condition(None, isinstance(what.obj, plain) or _known_fits(what.obj, classes))
    if isinstance(what, TupleOf):
        return Condition(None, any(c in ((list,) if what.is_list else (tuple,)) for c in classes))
    if isinstance(what, Sugar):
        return Condition(None, False)
    type = what.static_type
    kinds = members(type)
    yes = [t for t in kinds if any(fits_class(t, c) for c in classes)]
    if len(yes) == len(kinds) and type.kind() != "AnyType":
        return Condition(None, True)
    types = [c for c in classes if hasattr(c, "isSubtypeOf")]
    if type.kind() != "AnyType" and not yes:
        return Condition(None, False)
    if type.kind() == "AnyType":
        yes, no = types, []
    else:
        no = [t for t in kinds if t not in yes]
    from taeda.jit.check.types import ANY_LIST, ANY_TUPLE

    if not yes:
        yes = [ANY_LIST if c is list else ANY_TUPLE for c in classes if c in (list, tuple)]
    node = emitter.graph.emit("prim::isinstance", [what], [BOOL], range)
    node.tys_("types", yes)
    if path is None or any(t in (ANY_LIST, ANY_TUPLE) for t in yes):
        return Condition(node.output())
    if "." in path:
        emitter.frame.refined.setdefault(path, what)
    return Condition(node.output(), None, {path: union(yes)}, {path: union(no)} if no else {})


def _known_fits(obj: Any, classes: list[Any]) -> bool:
    from taeda import _C
    from taeda.jit.check.annotations import fits_class

    if not isinstance(obj, (bool, int, float, complex, str, list, tuple, dict, type(None))):
        return False
    kind = _C._type_of(obj)
    return any(fits_class(kind, c) for c in classes)


__all__ = ["condition", "is_instance", "truth"]
