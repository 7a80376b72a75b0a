"""Simpler values for what is asked of lists and dicts that were just made and that nobody changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from taeda.jit.ir import Node, Value
from taeda.jit.optimise.aliases import Aliases

Rule = Callable[[Node, Aliases], "Value | None"]
_EXACT = ("IntType", "BoolType", "StringType", "NoneType", "DeviceObjType")


def constant_like(node: Node, value: Any) -> Value:
    """A constant at the insertion point, that stands for what a node gives."""
    made = node._graph.insertConstant(value)
    made.node().range = node.range
    return made


def made_by(value: Value, kind: str) -> Node | None:
    """The node that gives a value, if it is of this kind."""
    return value.node() if value.node().kind() == kind else None


def is_fixed(type: Any) -> bool:
    """Whether each value of a type is equal to itself, whatever it is: no number of which one may be none (nan)."""
    if type.kind() in ("ListType", "OptionalType", "TupleType"):
        return all(map(is_fixed, type.containedTypes()))
    return type.kind() in _EXACT


def item_of(node: Node, aliases: Aliases) -> Value | None:
    """An item of a list or dict."""
    source, key = node.inputsAt(0), node.inputsAt(1).toIValue()
    if aliases.has_writers(source):
        return None
    if (dict_ := made_by(source, "prim::DictConstruct")) is not None:
        return (_items(dict_) or {}).get((type(key), key))
    made = made_by(source, "prim::ListConstruct")
    if made is None or type(key) is not int or not -made.inputsSize() <= key < made.inputsSize():
        return None
    return made._inputs[key]


def _items(made: Node) -> dict[Any, Value] | None:
    """The values of a dict by their keys; None if these are not all known, or not all different."""
    keys = [key.toIValue() for key in made._inputs[::2]]
    if not all(isinstance(key, (int, float, str)) for key in keys):
        return None
    found = {(type(key), key): value for key, value in zip(keys, made._inputs[1::2], strict=True)}
    return found if len(found) == len(keys) else None


def length_of(node: Node, aliases: Aliases) -> Value | None:
    """The length of a tuple, list or dict, or of the sizes of a tensor of known rank."""
    source = node.inputsAt(0)
    if source.static_type.kind() == "TupleType":
        return constant_like(node, len(source.static_type.containedTypes()))
    if aliases.has_writers(source):
        return None
    made, count = source.node(), None
    if made.kind() == "prim::ListConstruct":
        count = made.inputsSize()
    elif made.kind() == "prim::DictConstruct" and (items := _items(made)) is not None:
        count = len(items)
    elif made.kind() == "aten::size" and made.inputsSize() == 1 and not aliases.has_writers(made.inputsAt(0)):
        facts = made.inputsAt(0).facts
        count = None if facts is None or facts.sizes is None else len(facts.sizes)
    return None if count is None else constant_like(node, count)


def slice_of(node: Node, aliases: Aliases) -> Value | None:
    """A part of a list, whose bounds are known: another list of those items."""
    made = made_by(node.inputsAt(0), "prim::ListConstruct")
    bounds = node._inputs[1:]
    if made is None or len(bounds) != 3 or aliases.has_writers(made.output()) or aliases.has_writers(node.output()):
        return None
    if any(value.node().kind() != "prim::Constant" for value in bounds):
        return None
    start, stop, step = (value.toIValue() for value in bounds)
    if type(step) is not int or step <= 0:
        return None  # left to raise
    part = made._inputs[slice(start, stop, step)]
    return node._graph.emit("prim::ListConstruct", part, [node.output().static_type], node.range).output()
