"""Items: ``x[i]`` read, set, and of tensors by slices, masks, lists and None."""

from __future__ import annotations

import ast
from typing import Any

import taeda
from taeda import Tensor
from taeda.jit.check import operators
from taeda.jit.check.emitter import Emitter, handles
from taeda.jit.check.iteration import tuple_item
from taeda.jit.check.types import BOOL, FLOAT, INT, NONE, TENSOR, is_static_tuple, optional
from taeda.jit.check.values import Known, RangeOf, SliceOf, TupleOf
from taeda.jit.ir import Value
from taeda.jit.parse.errors import fail
from taeda.jit.source import SourceRange


class _Settled(ast.expr):
    """A part of an index that has been evaluated."""

    what: Any


@handles(_Settled)
def _settled(emitter: Emitter, node: _Settled, hint: Any) -> Any:
    return node.what


def _settle(emitter: Emitter, index: ast.expr) -> ast.expr:
    """The index with names and calls evaluated, so that slices that were made elsewhere are written out."""
    if isinstance(index, ast.Tuple):
        return ast.copy_location(ast.Tuple([_settle(emitter, part) for part in index.elts], ast.Load()), index)
    if not isinstance(index, (ast.Name, ast.Call)):
        return index
    what = emitter.expression(index)

    def done(part: Any) -> ast.expr:
        node = _Settled()
        node.what = part
        return ast.copy_location(node, index)

    if not isinstance(what, SliceOf):
        return done(what)
    parts = (what.start, what.stop, what.step)
    return ast.copy_location(ast.Slice(*(None if p == Known(None) else done(p) for p in parts)), index)  # type: ignore[arg-type]


@handles(ast.Subscript)
def _subscript(emitter: Emitter, node: ast.Subscript, hint: Any) -> Any:
    owner = emitter.expression(node.value)
    if hint is not None and hint.kind() == "InterfaceType" and isinstance(owner, Value):
        from taeda.jit.check.modules import children_of, item_by_value

        index = _settle(emitter, node.slice)
        if children_of(emitter, owner) is not None and _known_index(emitter, index) is None:
            return item_by_value(emitter, owner, emitter.expression(index), hint, emitter.range(node))
        return get_item(emitter, owner, index, emitter.range(node))
    return get_item(emitter, owner, node.slice, emitter.range(node))


def _known_index(emitter: Emitter, node: ast.expr) -> Any:
    """The index if it is known now, as Python has it; None otherwise."""
    if isinstance(node, ast.Slice):
        parts = [None if p is None else emitter.expression(p) for p in (node.lower, node.upper, node.step)]
        if all(p is None or isinstance(p, Known) for p in parts):
            return slice(*(None if p is None else p.obj for p in parts))
        return None
    what = emitter.expression(node)
    if isinstance(what, Value) and what.node().kind() == "prim::Constant":
        return what.toIValue()
    return what.obj if isinstance(what, Known) else None


def get_item(emitter: Emitter, owner: Any, index: ast.expr, range: SourceRange) -> Any:
    """``owner[index]``."""
    index = _settle(emitter, index)
    if isinstance(owner, Known) and not isinstance(owner.obj, Tensor):
        at = _known_index(emitter, index)
        if at is None and isinstance(owner.obj, tuple):
            return _of_tuple(emitter, owner, len(owner.obj), index, range, lambda i: Known(owner.obj[i]))
        if at is not None:
            try:
                return Known(owner.obj[at])
            except (IndexError, KeyError, TypeError) as error:
                fail(range, f"{owner.what()}: {error}")
    if isinstance(owner, RangeOf):
        owner = emitter.value(owner, range)
    if isinstance(owner, TupleOf) and not owner.is_list:
        return _of_tuple(emitter, owner, len(owner.items), index, range, lambda i: owner.items[i])
    if not isinstance(owner, Value):
        owner = emitter.value(owner, range)
    type = owner.static_type
    kind = type.kind()
    if is_static_tuple(type):
        count = len(type.containedTypes())
        return _of_tuple(emitter, owner, count, index, range, lambda i: tuple_item(emitter, owner, i, range))
    if kind == "TensorType":
        return _of_tensor(emitter, owner, index, range)
    if kind in ("ListType", "StringType"):
        if isinstance(index, ast.Slice):
            return emitter.op("aten::slice", [owner, *_slice(emitter, index)], None, range)
        return emitter.op("aten::__getitem__", [owner, emitter.expression(index)], None, range)
    if kind == "DictType":
        return emitter.op("aten::__getitem__", [owner, emitter.expression(index)], None, range)
    if kind == "ClassType":
        return _of_object(emitter, owner, index, range)
    extra = "; it may be None here: ask 'is not None' first" if kind == "OptionalType" else ""
    fail(range, f"a {type} has no items{extra}")


def _of_tuple(emitter: Emitter, owner: Any, count: int, index: ast.expr, range: SourceRange, item: Any) -> Any:
    at = _known_index(emitter, index)
    if isinstance(at, slice):
        return TupleOf(tuple(item(i) for i in _places(count)[at]))
    if not isinstance(at, int):
        types = {emitter.value(item(i), range).static_type for i in _places(count)}
        if len(types) == 1 and not isinstance(index, ast.Slice):
            items = [emitter.value(item(i), range) for i in _places(count)]
            listed = operators.make_list(emitter.graph, items, types.pop(), range)
            return emitter.op("aten::__getitem__", [listed, emitter.expression(index)], None, range)
        fail(
            range, "which item of a tuple is meant must be known while the program is compiled, since each has its type"
        )
    if not -count <= at < count:
        fail(range, f"the index {at} is out of range for a tuple of {count}")
    return item(at % count)


def _places(count: int) -> list[int]:
    import builtins

    return list(builtins.range(count))


def _of_object(emitter: Emitter, owner: Value, index: ast.expr, range: SourceRange) -> Any:
    from taeda.jit.check.classes import call_magic
    from taeda.jit.check.modules import children_of, item_of_container, own_method

    own = own_method(owner, "__getitem__")
    if own is not None:
        return emitter.call(own, [emitter.expression(index)], {}, range)
    if children_of(emitter, owner) is not None:
        return item_of_container(emitter, owner, _known_index(emitter, index), index, range)
    done = call_magic(emitter, owner, "__getitem__", [emitter.expression(index)], range)
    if done is None:
        fail(range, f"a {owner.static_type} has no items: it has no method __getitem__")
    return done


def _slice(emitter: Emitter, node: ast.Slice) -> list[Any]:
    return [
        Known(None) if node.lower is None else emitter.expression(node.lower),
        Known(None) if node.upper is None else emitter.expression(node.upper),
        Known(1) if node.step is None else emitter.expression(node.step),
    ]


# --- Tensors
def _of_tensor(emitter: Emitter, tensor: Value, index: ast.expr, range: SourceRange) -> Any:
    """Slices, numbers and None one after the other, each an op; tensors and lists together by ``aten::index``."""
    view, indices = _viewed(emitter, tensor, index, range)
    return view if indices is None else emitter.op("aten::index", [view, indices], None, range)


def _listed(emitter: Emitter, indices: list[Value], range: SourceRange, may_lack: bool = False) -> Value:
    """A list of indices; where some are None, or that ``may_lack`` some, of optional ones."""
    from taeda.jit.check.types import list_of

    may_lack = may_lack or any(v.static_type is not TENSOR for v in indices)
    type = list_of(optional(TENSOR)) if may_lack else list_of(TENSOR)
    return emitter.graph.emit("prim::ListConstruct", indices, [type], range).output()


def _viewed(emitter: Emitter, tensor: Value, index: ast.expr, range: SourceRange) -> tuple[Value, Value | None]:
    """The view that slices, numbers and None give, and the list of indices that are left to ``aten::index``."""
    parts = list(index.elts) if isinstance(index, ast.Tuple) else [index]
    whats: list[Any] = []
    for part in parts:
        if isinstance(part, ast.Slice):
            whats.append(_slice(emitter, part))
            continue
        what = emitter.expression(part)
        if isinstance(what, TupleOf) and not what.is_list:
            whats.extend(what.items)
        elif isinstance(what, Known) and isinstance(what.obj, tuple):
            whats.extend(Known(item) for item in what.obj)
        elif isinstance(what, Value) and is_static_tuple(what.static_type):
            whats.extend(operators.unpack_tuple(emitter.graph, what, range))
        else:
            whats.append(what)
    return _applied(emitter, tensor, whats, range)


def _is_ellipsis(what: Any) -> bool:
    return isinstance(what, Known) and what.obj is ...


def _applied(emitter: Emitter, view: Value, whats: list[Any], range: SourceRange) -> tuple[Value, Value | None]:
    dim, dims_from_end = 0, False
    indices: dict[int, Value] = {}
    last: list[Value | None] = []  # what stands for each of the view's last dimensions, behind an ellipsis
    behind = [w for w in whats[next((i for i, w in enumerate(whats) if _is_ellipsis(w)), len(whats)) :]]
    for what in whats:
        place = Known(dim)
        if _is_ellipsis(what):
            # From here dimensions are counted from the end.
            dim = -sum(_takes_dimension(emitter, w) for w in behind if not _is_ellipsis(w))
            dims_from_end = True
            continue
        if isinstance(what, list):
            view = emitter.op_value("aten::slice", [view, place, *what], range)
            dim += 1
            last += [None] * dims_from_end
            continue
        if isinstance(what, Known) and what.obj is None or isinstance(what, Value) and what.static_type is NONE:
            view = emitter.op_value("aten::unsqueeze", [view, Known(dim - 1) if dims_from_end else place], range)
            dim += not dims_from_end
            last += [None] * dims_from_end
            continue
        value = _index_value(emitter, what, range)
        if value.static_type is INT:
            view = emitter.op_value("aten::select", [view, place, value], range)
            dim += dims_from_end
            continue
        if value.static_type is not TENSOR:
            fail(
                range,
                f"a {value.static_type} is no index of a tensor; ints, slices, None, lists of ints and tensors are",
            )
        if dims_from_end:
            last.append(value)
        else:
            indices[dim] = value
        dim += 1
    first = [indices.get(i) or emitter.none() for i in _places(max(indices, default=-1) + 1)]
    if any(value is not None for value in last):
        return view, _around_ellipsis(emitter, view, first, [value or emitter.none() for value in last], range)
    return view, _listed(emitter, first, range) if first else None


def _around_ellipsis(emitter: Emitter, view: Value, first: list[Value], last: list[Value],
                     range: SourceRange) -> Value:  # fmt: skip
    """``x[first, ..., last]``: as many None between as the view has dimensions more, which a call knows."""
    rank = emitter.op_value("aten::dim", [view], range)
    count = emitter.op_value("aten::sub", [rank, Known(len(first) + len(last))], range)
    between = emitter.op_value("aten::mul", [_listed(emitter, [emitter.none()], range, True), count], range)
    if first:
        between = emitter.op_value("aten::add", [_listed(emitter, first, range, True), between], range)
    return emitter.op_value("aten::add", [between, _listed(emitter, last, range, True)], range)


def _takes_dimension(emitter: Emitter, what: Any) -> int:
    if isinstance(what, Known) and what.obj is None:
        return 0
    return 0 if isinstance(what, Value) and what.static_type is NONE else 1


def _index_value(emitter: Emitter, what: Any, range: SourceRange) -> Value:
    if isinstance(what, Known) and isinstance(what.obj, bool):
        return emitter.op_value("aten::tensor", [what], range)
    value = emitter.value(what, range)
    if value.static_type is BOOL:
        return emitter.op_value("aten::tensor", [value], range)
    if value.static_type.kind() == "ListType" and value.static_type.containedTypes()[0] is not TENSOR:
        # Numbers with fractions are cut off, as Python's calls do it.
        dtype = taeda.int64 if value.static_type.containedTypes()[0] is FLOAT else None
        return emitter.value(emitter.op("aten::tensor", [value], {"dtype": Known(dtype)}, range), range)
    return value


def set_item(emitter: Emitter, owner: Value, index: ast.expr, what: Any, range: SourceRange) -> None:
    """``owner[index] = what``."""
    index = _settle(emitter, index)
    kind = owner.static_type.kind()
    if kind == "TensorType":
        view, indices = _viewed(emitter, owner, index, range)
        value = emitter.value(what, range)
        if value.static_type.kind() == "ListType":
            value = emitter.op_value("aten::tensor", [value], range)
        if indices is None:
            if value.static_type is TENSOR:
                emitter.op("aten::copy_", [view, value], None, range)
            else:
                emitter.op("aten::fill_", [view, value], None, range)
            return
        if value.static_type is not TENSOR:
            options = {"dtype": emitter.op("prim::dtype", [view], None, range),
                       "device": emitter.op("prim::device", [view], None, range)}  # fmt: skip
            value = emitter.value(emitter.op("aten::tensor", [value], options, range), range)
        emitter.op("aten::index_put_", [view, indices, value], None, range)
        return
    if kind == "ClassType":
        from taeda.jit.check.classes import call_magic

        if call_magic(emitter, owner, "__setitem__", [emitter.expression(index), what], range) is None:
            fail(range, f"items of a {owner.static_type} cannot be set: it has no method __setitem__")
        return
    if kind == "ListType" and isinstance(index, ast.Slice):
        fail(range, "slices of lists cannot be set in a program; build a new list")
    if kind not in ("ListType", "DictType"):
        fail(range, f"items of a {owner.static_type} cannot be set")
    element = owner.static_type.containedTypes()[-1]
    value = emitter.convert(what, element, range, "the item", widen=True)
    emitter.op("aten::_set_item", [owner, emitter.expression(index), value], None, range)
