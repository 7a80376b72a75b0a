"""What a loop, a comprehension, ``zip`` and ``enumerate`` go over: by count, or unrolled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from taeda.jit.check import operators
from taeda.jit.check.emitter import Emitter
from taeda.jit.check.types import INT, TENSOR, is_static_tuple
from taeda.jit.check.values import EnumerateOf, Known, RangeOf, ReversedOf, TupleOf, ZipOf
from taeda.jit.ir import Value
from taeda.jit.parse.errors import fail
from taeda.jit.source import SourceRange


@dataclass
class Iteration:
    """How something is gone over.

    Args:
        items: each item by itself, where they are known and a loop over them is unrolled.
        length: how many items there are, else.
        item: the item at a count, else.
    """

    items: list[Callable[[Emitter], Any]] | None = None
    length: Callable[[Emitter], Value] | None = None
    item: Callable[[Emitter, Value], Any] | None = None


def _fixed(items: Any) -> Iteration:
    return Iteration([_giving(item) for item in items])


def _giving(item: Any) -> Callable[[Emitter], Any]:
    return lambda emitter: item


def iterate(emitter: Emitter, what: Any, range: SourceRange | None) -> Iteration:
    """How ``what`` is gone over.

    Raises:
        CompileError: it has no items.
    """
    if isinstance(what, TupleOf):
        return _fixed(what.items) if not what.is_list else _of_value(emitter, emitter.value(what, range), range)
    if isinstance(what, RangeOf):
        return _range(emitter, what, range)
    if isinstance(what, EnumerateOf):
        return _enumerate(emitter, what, range)
    if isinstance(what, ZipOf):
        return _zip(emitter, what, range)
    if isinstance(what, ReversedOf):
        return _reversed(emitter, what, range)
    if isinstance(what, Known):
        return _known(emitter, what, range)
    if isinstance(what, Value):
        return _of_value(emitter, what, range)
    fail(range, f"{what.what()} has no items to go over")


def _known(emitter: Emitter, what: Known, range: SourceRange | None) -> Iteration:
    import enum
    import inspect

    obj = what.obj
    if isinstance(obj, tuple) or (inspect.isclass(obj) and issubclass(obj, enum.Enum)):
        return _fixed([Known(item) for item in obj])
    if isinstance(obj, list):
        from taeda.jit.check.control import in_library

        if in_library(emitter):
            return _fixed([Known(item) for item in obj])
        if all(isinstance(item, (int, float, str)) for item in obj) and obj:
            return _of_value(emitter, emitter.value(what, range), range)
        return _fixed([Known(item) for item in obj])
    if isinstance(obj, dict):
        return _fixed([Known(key) for key in obj])
    if isinstance(obj, str):
        return _of_value(emitter, emitter.value(what, range), range)
    fail(range, f"{what.what()} has no items to go over")


def _of_value(emitter: Emitter, value: Value, range: SourceRange | None) -> Iteration:
    type = value.static_type
    kind = type.kind()
    if is_static_tuple(type):
        count = len(type.containedTypes())
        return Iteration([lambda e, i=i: tuple_item(e, value, i, range) for i in _upto(count)])  # type: ignore[misc]
    if kind == "ListType" or kind == "StringType":
        return Iteration(
            length=lambda e: e.op_value("aten::len", [value], range),
            item=lambda e, i: e.op("aten::__getitem__", [value, i], None, range),
        )
    if kind == "TensorType":
        return Iteration(
            length=lambda e: e.op_value("aten::len", [value], range),
            item=lambda e, i: e.op("aten::select", [value, Known(0), i], None, range),
        )
    if kind == "DictType":
        keys = emitter.op_value("aten::keys", [value], range)
        return _of_value(emitter, keys, range)
    if kind == "ClassType":
        from taeda.jit.check.modules import children_of, is_keyed, own_method

        own = own_method(value, "__iter__")
        if own is not None:
            return iterate(emitter, emitter.call(own, [], {}, range), range)
        children = children_of(emitter, value)
        if children is not None and is_keyed(value):
            return _fixed([Known(name) for name, _ in children])
        if children is not None:
            return Iteration([lambda e, name=name: e.attribute(value, name, range) for name, _ in children])  # type: ignore[misc]
    extra = "; it may be None here" if kind == "OptionalType" else ""
    fail(range, f"a {type} has no items to go over{extra}")


def _upto(count: int) -> Any:
    import builtins

    return builtins.range(count)


def tuple_item(emitter: Emitter, value: Value, i: int, range: SourceRange | None) -> Value:
    """One item of a tuple."""
    if value.node().kind() == "prim::TupleConstruct":
        return value.node().inputsAt(i)
    type = value.static_type.containedTypes()[i]
    return emitter.graph.emit("prim::TupleIndex", [value, emitter.constant(i)], [type], range).output()


def _range(emitter: Emitter, what: RangeOf, range: SourceRange | None) -> Iteration:
    start, stop, step = what.start, what.stop, what.step
    if isinstance(step, Known) and step.obj == 1 and isinstance(start, Known) and start.obj == 0:
        return Iteration(length=lambda e: e.value(stop, range), item=lambda e, i: i)
    return Iteration(
        length=lambda e: e.op_value("aten::__range_length", [start, stop, step], range),
        item=lambda e, i: e.op("aten::__derive_index", [i, start, step], None, range),
    )


def _enumerate(emitter: Emitter, what: EnumerateOf, range: SourceRange | None) -> Iteration:
    inner = iterate(emitter, what.items, range)
    start = what.start
    if inner.items is not None:
        if not isinstance(start, Known):
            fail(range, "enumerate over things of which each has a type of its own takes a start that is known")
        first = start.obj
        return Iteration([_numbered(first + i, item) for i, item in enumerate(inner.items)])
    assert inner.item is not None
    item = inner.item

    def pair(e: Emitter, i: Value) -> TupleOf:
        count = i if isinstance(start, Known) and start.obj == 0 else e.op("aten::add", [i, start], None, range)
        return TupleOf((count, item(e, i)))

    return Iteration(length=inner.length, item=pair)


def _numbered(number: int, item: Callable[[Emitter], Any]) -> Callable[[Emitter], Any]:
    return lambda emitter: TupleOf((Known(number), item(emitter)))


def _zip(emitter: Emitter, what: ZipOf, range: SourceRange | None) -> Iteration:
    parts = [iterate(emitter, item, range) for item in what.items]
    fixed = [p.items for p in parts if p.items is not None]
    if fixed:
        count = min(map(len, fixed))

        def at(part: Iteration, i: int) -> Callable[[Emitter], Any]:
            if part.items is not None:
                return part.items[i]
            assert part.item is not None
            item = part.item
            return lambda e: item(e, e.constant(i))

        rows = [[at(part, i) for part in parts] for i in _upto(count)]
        return Iteration([lambda e, row=row: TupleOf(tuple(item(e) for item in row)) for row in rows])  # type: ignore[misc]

    def length(e: Emitter) -> Value:
        lengths = [p.length(e) for p in parts]  # type: ignore[misc]
        if len(lengths) == 1:
            return lengths[0]
        return e.op_value("prim::min", [operators.make_list(e.graph, lengths, INT, range)], range)

    return Iteration(length=length, item=lambda e, i: TupleOf(tuple(p.item(e, i) for p in parts)))  # type: ignore[misc]


def _reversed(emitter: Emitter, what: ReversedOf, range: SourceRange | None) -> Iteration:
    if isinstance(what.items, RangeOf):
        inner = emitter.value(what.items, range)
        return _reversed(emitter, ReversedOf(inner), range)
    part = iterate(emitter, what.items, range)
    if part.items is not None:
        return Iteration(part.items[::-1])
    assert part.length is not None and part.item is not None
    item, length = part.item, part.length
    count = length(emitter)

    def at(e: Emitter, i: Value) -> Any:
        last = e.op("aten::sub", [count, Known(1)], None, range)
        return item(e, e.op_value("aten::sub", [last, i], range))

    return Iteration(length=lambda e: count, item=at)


def as_list(emitter: Emitter, what: Any, range: SourceRange | None) -> Value | None:
    """A range, zip or enumeration as a list, where one is wanted; None for what is none of them."""
    if not isinstance(what, (RangeOf, EnumerateOf, ZipOf, ReversedOf)):
        return None
    return collect(emitter, what, range, lambda e, item: e.value(item, range), None)


def collect(
    emitter: Emitter, what: Any, range: SourceRange | None, make: Callable[[Emitter, Any], Value], element: Any
) -> Value:
    """A new list of what ``make`` gives for each item."""
    from taeda.jit.check.control import inside
    from taeda.jit.check.types import list_of

    turn = iterate(emitter, what, range)
    if turn.items is not None:
        items = [make(emitter, item(emitter)) for item in turn.items]
        return emitter.list_value(items, range, None if element is None else list_of(element))
    assert turn.length is not None and turn.item is not None
    item_at = turn.item
    out = operators.make_list(emitter.graph, [], TENSOR if element is None else element, range)
    node = emitter.graph.emit("prim::Loop", [turn.length(emitter), emitter.constant(True)], [], range)
    body = node.addBlock()
    index = body.addInput(type=INT)

    def once() -> None:
        value = make(emitter, item_at(emitter, index))
        fits = element is not None and operators.conversion(value, element, operators.WIDENING) is not None
        if not fits:  # where it must, who asked for the list says so
            out.setType(list_of(value.static_type))
        elif not value.static_type.isSubtypeOf(element):
            value = emitter.convert(value, element, range, "an item of the list", widen=True)
        emitter.op("aten::append", [out, value], None, range)

    inside(emitter, body, once)
    body.registerOutput(emitter.constant(True))
    return out


Emitter.iterable_as_list = as_list  # type: ignore[method-assign,assignment]
