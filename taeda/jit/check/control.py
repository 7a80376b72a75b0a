"""Branches and loops: blocks of the graph, the names that come out of them, and early exits.

``return``, ``break`` and ``continue`` set hidden names, which come out of blocks as other names do: ``$exit``, the
rest of the block is skipped; ``$break``, the loop ends; ``$return`` and ``$value``, the function does. What follows a
branch that may exit stands in the other branch or, where both may, in a branch of its own.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Sequence
from typing import Any

from taeda.jit.check.emitter import BREAKS, CONTINUES, FALLS, RETURNS, Emitter
from taeda.jit.check.environment import Frame
from taeda.jit.check.operators import WIDENING, conversion
from taeda.jit.check.types import BOOL, INT, optional, unify, without_none
from taeda.jit.check.values import Condition, Known, Sugar, TupleOf
from taeda.jit.ir import Block, Value
from taeda.jit.parse.errors import CompileError, fail
from taeda.jit.source import SourceRange

HIDDEN = ("$exit", "$break", "$return", "$value")
FOREVER = 2**63 - 1


class _Widen(Exception):
    """A name carried by a loop needs a wider type than it had before."""

    def __init__(self, name: str, type: Any) -> None:
        super().__init__(name)
        self.name, self.type = name, type


# --- Branches
def inside(emitter: Emitter, block: Block, work: Callable[[], Any]) -> tuple[Frame, Any]:
    """Does the work with a new frame, at the end of the block; the frame and what the work gave."""
    outer, emitter.frame = emitter.frame, Frame(block, emitter.frame)
    try:
        with emitter.graph.insert_point_guard(block):
            given = work()
        return emitter.frame, given
    finally:
        emitter.frame = outer


def refine(emitter: Emitter, refinements: dict[str, Any], range: SourceRange | None) -> None:
    """Gives names the better types that a condition has told."""
    for key, type in refinements.items():
        value = emitter.frame.find(key)
        if value is None and "." in key:
            value = emitter.frame.refined.get(key)
        if isinstance(value, Value) and value.static_type is not type and type.isSubtypeOf(value.static_type):
            emitter.frame.refined[key] = cast(emitter, value, type, range)


def cast(emitter: Emitter, value: Value, type: Any, range: SourceRange | None) -> Value:
    """The value, of which it is known that it is of the type."""
    if type.kind() == "NoneType":
        return emitter.none()
    out = emitter.graph.emit("prim::unchecked_cast", [value], [type], range).output()
    name = value.debugName()
    if not name.isdigit():
        out.setDebugName(name.rpartition(".")[0] or name)
    return out


def branch(
    emitter: Emitter, condition: Condition, then: Callable[[], int], otherwise: Callable[[], int],
    rest: Callable[[], int] | None, range: SourceRange | None,
) -> tuple[int, bool]:  # fmt: skip
    """An ``if``: how it can end, and whether ``rest``, what follows it, has been put into one of its branches."""
    if condition.answer is not None:
        refine(emitter, condition.if_true if condition.answer else condition.if_false, range)
        return (then if condition.answer else otherwise)(), False
    assert condition.value is not None
    node = emitter.graph.emit("prim::If", [condition.value], [], range)
    ways = []
    for work, refinements in ((then, condition.if_true), (otherwise, condition.if_false)):

        def body(work: Callable[[], int] = work, refinements: dict[str, Any] = refinements) -> int:
            refine(emitter, refinements, range)
            return work()

        ways.append(inside(emitter, node.addBlock(), body))
    (first, a), (second, b) = ways
    took = False
    if rest is not None and bool(a & FALLS) != bool(b & FALLS) and (a | b) & ~FALLS:
        # One branch exits: what follows belongs to the other.
        frame, status = (first, a) if a & FALLS else (second, b)
        if status == FALLS:
            outer, emitter.frame = emitter.frame, frame
            with emitter.graph.insert_point_guard(frame.block):
                status = rest()
            emitter.frame = outer
            a, b, took = (status, b, True) if a & FALLS else (a, status, True)
    merge(emitter, node, (first, a), (second, b), range)
    if not took and not (a & FALLS and b & FALLS):
        frame, told = (first, condition.if_true) if a & FALLS else (second, condition.if_false)
        refinements = {key: type for key, type in told.items() if key in frame.refined}  # not set since
        if not (a if not a & FALLS else b) & ~FALLS:
            refine(emitter, refinements, range)
        else:  # only where nothing has exited is it known
            refine(emitter, {name: type for name, type in refinements.items() if "." in name}, range)
            known = {name: (emitter.frame.find(name), type) for name, type in refinements.items() if "." not in name}
            emitter.frame.falling |= known
    return a | b, took


def unless_exited(emitter: Emitter, status: int, rest: Callable[[], int]) -> int:
    """Compiles the rest of a block, some of whose ways have exited."""
    flag = emitter.frame.find("$exit")
    if isinstance(flag, Known):
        return status if flag.obj else rest()
    node = emitter.graph.emit("prim::If", [flag], [])
    first = inside(emitter, node.addBlock(), lambda: status & ~FALLS)

    def narrowed() -> int:
        known = {name: type for name, (value, type) in falling.items() if emitter.frame.find(name) is value}
        refine(emitter, known, None)
        return rest()

    falling = emitter.frame.falling
    second = inside(emitter, node.addBlock(), narrowed)
    merge(emitter, node, first, second, None)
    return (status & ~FALLS) | second[1]


Emitter.unless_exited = unless_exited  # type: ignore[assignment,method-assign]


def merge(emitter: Emitter, node: Any, first: tuple[Frame, int], second: tuple[Frame, int],
          range: SourceRange | None) -> None:  # fmt: skip
    """Lets the names that two branches set come out of the node."""
    for frame, _ in (first, second):
        for name, type in frame.declared.items():
            emitter.frame.declared.setdefault(name, type)
    names = list(dict.fromkeys([*first[0].names, *second[0].names]))
    for name in names:
        sides = [_side(frame, status, name) for frame, status in (first, second)]
        if sides[0] is None and sides[1] is None:
            continue
        found = _joined(emitter, node, name, first, second, sides, range)
        if found is not None:
            emitter.frame.set(name, found)
    for frame, status in (first, second):
        if status & FALLS:
            for name in frame.falling.keys() - names:
                sides = [way.find(name) for way, _ in (first, second)]
                if isinstance(held := emitter.frame.find(name), Value) and all(isinstance(s, Value) for s in sides):
                    _know(emitter, (first, second), name, sides, sides, held)
            for name, why in frame.lost.items():
                if name not in names:
                    emitter.frame.names.pop(name, None)
                    emitter.frame.lost[name] = why


class _Gone(Sugar):
    """What a branch that never comes to its end leaves in a name."""


_GONE = _Gone()


def _side(frame: Frame, status: int, name: str) -> Any:
    if name in HIDDEN:
        found = frame.find(name)
        return found if found is not None else (_GONE if name == "$value" else Known(False))
    if status and not status & (FALLS | BREAKS | CONTINUES) or not status:
        return _GONE
    if name in frame.names:
        return frame.names[name]
    found = frame.find(name)
    return _GONE if found is None and not status & FALLS else found


def _same(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if not isinstance(a, Sugar) or type(a) is not type(b):
        return False
    if isinstance(a, Known):
        x, y = a.obj, b.obj  # type: ignore[attr-defined]
        return x is y or (
            type(x) is type(y) and isinstance(x, (bool, int, str, tuple)) and x == y and repr(x) == repr(y)
        )
    return False


def _joined(emitter: Emitter, node: Any, name: str, first: Any, second: Any, sides: list[Any],
            range: SourceRange | None) -> Any:  # fmt: skip
    a, b = sides
    if a is _GONE and b is _GONE:
        return None
    if _same(a, b):
        return a
    if a is None or b is None:
        lines = "the first branch" if b is None else "the second branch"
        emitter.frame.names.pop(name, None)
        emitter.frame.lost[name] = f"only {lines} of the 'if' gives '{name}' a value"
        return None
    if a is _GONE or b is _GONE:
        kept = b if a is _GONE else a
        frame = (second if a is _GONE else first)[0]
        if isinstance(kept, Sugar) and not isinstance(kept, (Known, TupleOf)):
            return kept
        if isinstance(kept, Known) and (name not in HIDDEN or name == "$value") and not _is_plain(kept.obj):
            return kept
        if frame.find(name) is kept and isinstance(kept, Value) and name not in frame.names:
            if isinstance(held := emitter.frame.find(name), Value):
                _know(emitter, (first, second), name, sides, [None if side is _GONE else side for side in sides], held)
            return None
    values = _materialised(emitter, name, (first, second), sides)
    if values is None:
        return None
    type = _joined_type(emitter, name, values)
    if type is None and name == "$chosen" and any(v is not None and v.static_type is BOOL for v in values):
        values = [_as_bool(emitter, side[0], v, range) for side, v in zip((first, second), values)]
        type = BOOL
    if type is None:
        emitter.frame.names.pop(name, None)
        types = " in one branch and ".join(f"a {v.static_type}" for v in values if v is not None)
        emitter.frame.lost[name] = f"'{name}' is {types} in the other; declare it before with a type that covers both"
        return None
    for (frame, _), value in zip((first, second), values):
        with emitter.graph.insert_point_guard(frame.block):
            if value is None:
                value = emitter.graph.emit("prim::Uninitialized", [], [type]).output()
            else:
                found = conversion(value, type, WIDENING)
                if found is not None and value.static_type.kind() != "TensorType":
                    value = found(emitter.graph, value, range)
        frame.block.registerOutput(value)
    out = node.addOutput(type)
    if name not in HIDDEN:
        _know(emitter, (first, second), name, sides, values, out)
    return out if name in HIDDEN else out.setDebugName(name)


def _know(emitter: Emitter, ways: Any, name: str, sides: list[Any], values: list[Value | None], joined: Value) -> None:
    """Notes the type that a joined value has where no way has exited, if that is a better one than its own."""
    types = []
    for (frame, status), side, value in zip(ways, sides, values):
        if value is not None and status & FALLS:
            known, type = frame.falling.get(name, (None, None))
            types.append(type if known is side else value.static_type)
    narrow = functools.reduce(lambda a, b: None if a is None else unify(a, b), types) if types else None
    if narrow is not None and narrow is not joined.static_type and narrow.isSubtypeOf(joined.static_type):
        emitter.frame.falling[name] = joined, narrow


def _is_plain(obj: Any) -> bool:
    import enum

    import taeda

    kinds = (bool, int, float, complex, str, tuple, list, dict, enum.Enum, taeda.dtype, taeda.device, taeda.Tensor)
    return obj is None or isinstance(obj, kinds)


def _materialised(emitter: Emitter, name: str, ways: Any, sides: list[Any]) -> list[Value | None] | None:
    values: list[Value | None] = []
    for (frame, _), side in zip(ways, sides):
        if side is _GONE:
            values.append(None)
            continue
        with emitter.graph.insert_point_guard(frame.block):
            try:
                values.append(emitter.value(side, None, emitter.frame.declared_type(name)))
            except CompileError:
                emitter.frame.names.pop(name, None)
                emitter.frame.lost[name] = f"'{name}' is not the same in both branches of an 'if', and no value"
                return None
    return values


def _as_bool(emitter: Emitter, frame: Frame, value: Value | None, range: SourceRange | None) -> Value | None:
    """At the end of a branch: whether ``value`` counts as true, which is what PyTorch makes of ``flag and number``."""
    from taeda.jit.check.conditions import truth

    if value is None:
        return None
    with emitter.graph.insert_point_guard(frame.block):
        test = truth(emitter, value, range)
        return test.value if test.answer is None else emitter.value(Known(test.answer), range)


def _joined_type(emitter: Emitter, name: str, values: list[Value | None]) -> Any:
    declared = emitter.frame.declared_type(name)
    present = [v.static_type for v in values if v is not None]
    if declared is not None and all(t.isSubtypeOf(declared) for t in present):
        # A name that was refined stays so where both branches agree.
        joined = present[0] if len(set(present)) == 1 else declared
        return joined
    if len(present) == 1:
        return present[0]
    joined = unify(*present)
    if joined is None and in_library(emitter):
        joined = _as_lists(present)
    if joined is None and name == "$value":
        from taeda.jit.check.types import union

        return union(present)
    return joined


def in_library(emitter: Emitter) -> bool:
    """Whether it is a function of the library that is compiled."""
    return emitter.caller is not None and f"{_OWN_FOLDER}/" in emitter.definition.source.filename


_OWN_FOLDER = __file__.rpartition("/taeda/")[0] + "/taeda"


def _as_lists(types: list[Any]) -> Any:
    """Tuples of several lengths, of one type of items, as lists."""
    from taeda.jit.check.types import list_of

    inner = {
        t for type in types for t in (type.containedTypes() if type.kind() in ("TupleType", "ListType") else [None])
    }
    return list_of(inner.pop()) if len(inner) == 1 and None not in inner else None


# --- Loops
class _Assigned(ast.NodeVisitor):
    def __init__(self) -> None:
        self.names: dict[str, None] = {}
        self.has_return = self.has_break = False
        self.depth = 0

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, (ast.Store, ast.Del)):
            self.names[node.id] = None

    def visit_Return(self, node: ast.Return) -> None:
        self.has_return = True
        self.generic_visit(node)

    def visit_Break(self, node: ast.Break) -> None:
        self.has_break = self.has_break or not self.depth

    def _loop(self, node: Any) -> None:
        self.depth += 1
        for child in (*node.body, *([node.target, node.iter] if isinstance(node, ast.For) else [node.test])):
            self.visit(child)
        self.depth -= 1
        for child in node.orelse:
            self.visit(child)

    visit_For = visit_While = _loop

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.names[node.name] = None

    def visit_Lambda(self, node: ast.Lambda) -> None:
        pass

    def _comprehension(self, node: Any) -> None:
        for inner in ast.walk(node):
            if isinstance(inner, ast.NamedExpr):
                self.visit(inner.target)

    visit_ListComp = visit_DictComp = visit_GeneratorExp = visit_SetComp = _comprehension


def assigned_in(statements: Sequence[ast.AST]) -> _Assigned:
    """The names that statements set, and how they can leave a loop."""
    found = _Assigned()
    for statement in statements:
        found.visit(statement)
    return found


def loop(
    emitter: Emitter, trips: Value | None, test: Callable[[], Condition] | None, bind: Callable[[Value], None],
    work: Callable[[], int], assigned: _Assigned, orelse: Sequence[ast.stmt], range: SourceRange | None,
) -> int:  # fmt: skip
    """A loop: ``trips`` times at most, while ``test`` holds. ``bind`` gives the body's names their values for a count,
    ``work`` compiles the body. How it can end."""
    carried = {}
    for name in assigned.names:
        found = emitter.frame.find(name)
        if found is None or (isinstance(found, Sugar) and not isinstance(found, (Known, TupleOf))):
            continue
        if isinstance(found, Known) and not _is_plain(found.obj):
            continue
        declared = emitter.frame.declared_type(name)
        value = emitter.value(found, range, declared)
        carried[name] = (value, value.static_type)
    while True:
        try:
            return _loop_once(emitter, trips, test, bind, work, carried, assigned, orelse, range)
        except _Widen as wider:
            value, _ = carried[wider.name]
            carried[wider.name] = (value, wider.type)


def _loop_once(
    emitter: Emitter, trips: Value | None, test: Callable[[], Condition] | None, bind: Callable[[Value], None],
    work: Callable[[], int], carried: dict[str, tuple[Value, Any]], assigned: _Assigned, orelse: Sequence[ast.stmt],
    range: SourceRange | None,
) -> int:  # fmt: skip
    first = _truth(emitter, test() if test is not None else Condition(None, True))
    limit = trips if trips is not None else emitter.constant(FOREVER)
    start = [_entering(emitter, value, type, range) for value, type in carried.values()]
    node = emitter.graph.emit("prim::Loop", [limit, first, *start], [], range)
    body = node.addBlock()
    index = body.addInput(type=INT)
    before = {name: emitter.frame.declared_type(name) for name in carried}

    def run() -> tuple[int, Value, list[Value]]:
        frame = emitter.frame
        for name, (_, type) in carried.items():
            frame.names[name] = body.addInput(type=type).setDebugName(name)
        frame.names.update({flag: Known(False) for flag in ("$exit", "$break", "$return")})
        bind(index)
        emitter.loops += 1
        status = work()
        emitter.loops -= 1
        again = _again(emitter, test, status)
        return status, again, [_leaving(emitter, name, type, range) for name, (_, type) in carried.items()]

    try:
        frame, (status, again, nexts) = inside(emitter, body, run)
    except _Widen:
        node.destroy()
        raise
    body.registerOutput(again)
    for name, value in zip(carried, nexts):
        body.registerOutput(value)
        out = node.addOutput(carried[name][1]).setDebugName(name)
        emitter.frame.set(name, out)
        if before[name] is not None:
            emitter.frame.declared[name] = before[name]
    for name in frame.names:
        if name not in carried and name not in HIDDEN and emitter.frame.find(name) is None:
            emitter.frame.lost[name] = f"'{name}' has its value in the loop only, which may run not even once"
    if status & RETURNS:
        _carry_hidden(emitter, node, frame, ["$return", "$value"])
        flag = emitter.frame.names["$return"]
        emitter.frame.names["$exit"] = emitter.frame.names["$break"] = flag
    if orelse:
        return _otherwise(emitter, node, frame, status, orelse)
    return FALLS | (status & RETURNS)


def _entering(emitter: Emitter, value: Value, type: Any, range: SourceRange | None) -> Value:
    found = conversion(value, type, WIDENING)
    return found(emitter.graph, value, range) if found is not None else value


def _truth(emitter: Emitter, condition: Condition) -> Value:
    return emitter.constant(condition.answer) if condition.answer is not None else condition.value  # type: ignore[return-value]


def _again(emitter: Emitter, test: Callable[[], Condition] | None, status: int) -> Value:
    """Whether the loop goes on, after its body."""
    ended = emitter.frame.find("$break") if status & (BREAKS | RETURNS) else Known(False)
    if not status & (FALLS | CONTINUES) or (isinstance(ended, Known) and ended.obj):
        return emitter.constant(False)
    proceed = lambda: _truth(emitter, test() if test is not None else Condition(None, True))
    if isinstance(ended, Known):
        return proceed()
    if test is None:
        return emitter.op_value("aten::__not__", [ended])
    node = emitter.graph.emit("prim::If", [ended], [BOOL])
    for work in (lambda: emitter.constant(False), proceed):
        block = node.addBlock()
        _, value = inside(emitter, block, work)
        block.registerOutput(value)
    return node.output()


def _leaving(emitter: Emitter, name: str, type: Any, range: SourceRange | None) -> Value:
    found = emitter.frame.find(name)
    if found is None:
        fail(range, emitter.frame.why_lost(name) or f"'{name}' has no value at the end of the loop")
    declared = emitter.frame.declared_type(name)
    value = emitter.value(found, range, type)
    if value.static_type.isSubtypeOf(type):
        return value
    wider = unify(type, value.static_type)
    if declared is not None and value.static_type.isSubtypeOf(declared) and type.isSubtypeOf(declared):
        wider = declared
    if wider is None or wider is type:
        found_way = conversion(value, type, WIDENING)
        if found_way is not None and wider is not None:
            return found_way(emitter.graph, value, range)
        both = f"a {type} before the loop and becomes a {value.static_type} in it"
        fail(range, f"'{name}' is {both}; declare it with a type that covers both")
    raise _Widen(name, wider)


def _carry_hidden(emitter: Emitter, node: Any, frame: Frame, names: list[str]) -> None:
    """Lets hidden names, which no body reads, come out of a loop."""
    body = next(node.blocks())
    for name in names:
        inner = frame.names.get(name)
        with emitter.graph.insert_point_guard(body):
            value = emitter.value(inner)
        with emitter.graph.insert_point_guard(node):
            if name == "$value":
                start = emitter.graph.emit("prim::Uninitialized", [], [value.static_type]).output()
            else:
                start = emitter.constant(False)
        node.addInput(start)
        body.addInput(type=value.static_type)
        body.registerOutput(value)
        emitter.frame.names[name] = node.addOutput(value.static_type)


def _otherwise(emitter: Emitter, node: Any, frame: Frame, status: int, orelse: Sequence[ast.stmt]) -> int:
    """A loop's ``else``, which runs unless the loop was left."""
    left = status & (BREAKS | RETURNS)
    if not left:
        return emitter.block(orelse)
    outer = {name: emitter.frame.names.get(name) for name in ("$exit", "$break", "$return")}
    _carry_hidden(emitter, node, frame, ["$break"])
    flag = emitter.frame.names["$break"]
    for name, value in outer.items():
        emitter.frame.names.pop(name, None)
        if value is not None:
            emitter.frame.names[name] = value
    kept = FALLS | (status & RETURNS)
    other, _ = branch(emitter, Condition(flag), lambda: kept, lambda: emitter.block(orelse), None, None)
    return other


def narrowed(type: Any) -> Any:
    """The type without None."""
    return without_none(type)


__all__ = ["branch", "cast", "inside", "loop", "merge", "narrowed", "optional", "refine"]
