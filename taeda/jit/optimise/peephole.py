"""Peepholes: short patterns that are known to give one of their inputs, or a constant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from taeda.jit.ir import Graph, Node, Value
from taeda.jit.optimise.aliases import Aliases

Rule = Callable[[Node, Aliases], "Value | None"]


def simplify(graph: Graph) -> bool:
    """Replaces values by simpler ones that are equal to them. Whether it changed the graph."""
    aliases = Aliases(graph)
    changed = False
    for node in list(graph.all_nodes()):
        rule = _RULES.get(node.kind())
        if rule is None or node._block is None or not node.hasUses():
            continue
        with graph.insert_point_guard(node):
            simpler = rule(node, aliases)
        if simpler is not None and simpler.static_type.isSubtypeOf(node.outputsAt(0).static_type):
            node.outputsAt(0).replaceAllUsesWith(simpler)
            if not node._blocks:
                node.destroy()  # the rule knows that it does not raise
            changed = True
    return changed


def _constant(node: Node, value: Any) -> Value:
    made = node._graph.insertConstant(value)
    made.node().range = node.range
    return made


def _made_by(value: Value, kind: str) -> Node | None:
    return value.node() if value.node().kind() == kind else None


def _tuple_item(node: Node, aliases: Aliases) -> Value | None:
    made, place = _made_by(node.inputsAt(0), "prim::TupleConstruct"), node.inputsAt(1).toIValue()
    if made is None or type(place) is not int or not -made.inputsSize() <= place < made.inputsSize():
        return None
    return made._inputs[place]


def _list_item(node: Node, aliases: Aliases) -> Value | None:
    """An item of a list that was just made and that nobody changes."""
    made, place = _made_by(node.inputsAt(0), "prim::ListConstruct"), node.inputsAt(1).toIValue()
    if made is None or type(place) is not int or not -made.inputsSize() <= place < made.inputsSize():
        return None
    return None if aliases.has_writers(made.output()) else made._inputs[place]


def _length(node: Node, aliases: Aliases) -> Value | None:
    source = node.inputsAt(0)
    if source.static_type.kind() == "TupleType":
        return _constant(node, len(source.static_type.containedTypes()))
    made = _made_by(source, "prim::ListConstruct")
    if made is None or aliases.has_writers(source):
        return None
    return _constant(node, made.inputsSize())


def _is_none(wanted: bool) -> Rule:
    def rule(node: Node, aliases: Aliases) -> Value | None:
        left, right = node._inputs
        if not right.node().mustBeNone():
            left, right = right, left
        if not right.node().mustBeNone():
            return None
        if left.node().mustBeNone():
            return _constant(node, wanted)
        return None if _may_be_none(left.static_type) else _constant(node, not wanted)

    return rule


def _may_be_none(type: Any) -> bool:
    return type.kind() in ("NoneType", "OptionalType", "UnionType", "AnyType", "ClassType", "InterfaceType", "Type")


def _cast(node: Node, aliases: Aliases) -> Value | None:
    """A value that already has the type it is cast to."""
    given = node.inputsAt(0)
    return given if given.static_type is node.output().static_type else None


def _number(node: Node, aliases: Aliases) -> Value | None:
    """A tensor that was made of a number, read as that number."""
    made = _made_by(node.inputsAt(0), "prim::NumToTensor")
    return made.inputsAt(0) if made is not None else _same_kind(node, aliases)


def _same_kind(node: Node, aliases: Aliases) -> Value | None:
    given = node.inputsAt(0)
    return given if given.static_type is node.output().static_type and node.inputsSize() == 1 else None


def _not(node: Node, aliases: Aliases) -> Value | None:
    made = _made_by(node.inputsAt(0), "aten::__not__")
    return made.inputsAt(0) if made is not None else None


def _if(node: Node, aliases: Aliases) -> Value | None:
    """A branch that gives True and False, which is its condition."""
    if node.outputsSize() != 1:
        return None
    results = [block.returnNode().inputsAt(0).toIValue() for block in node.blocks()]
    return node.inputsAt(0) if results[0] is True and results[1] is False else None


def _neutral(place: int, neutral: int, both: bool) -> Rule:
    """An integer with a number that changes nothing."""

    def rule(node: Node, aliases: Aliases) -> Value | None:
        if any(value.static_type.kind() != "IntType" for value in (*node._inputs, *node._outputs)):
            return None
        places = (1, 0) if both else (place,)
        for i in places:
            held = node.inputsAt(i).toIValue()
            if type(held) is int and held == neutral:
                return node.inputsAt(1 - i)
        return None

    return rule


def _fact(read: Callable[[Any], Any]) -> Rule:
    """What is known of a tensor without looking at it."""

    def rule(node: Node, aliases: Aliases) -> Value | None:
        source = node.inputsAt(0)
        if source.facts is None or node.inputsSize() != 1 or any(_reshapes(n) for n in aliases.writers(source)):
            return None
        known = read(source.facts)
        return None if known is None else _constant(node, known)

    return rule


def _reshapes(node: Node) -> bool:
    """Whether a node that writes to a tensor may give it another shape, dtype or device."""
    return not node.kind().startswith("aten::") or any(word in node.kind() for word in _RESHAPERS)


_RESHAPERS = ("resize", "set_", "squeeze_", "t_", "transpose_", "swap", "data", "as_strided_", "out")


def _dropout(node: Node, aliases: Aliases) -> Value | None:
    """Dropout in evaluation mode gives the tensor that it is given."""
    return node.inputsAt(0) if node.inputsAt(2).toIValue() is False else None


def _dtype_number(facts: Any) -> Any:
    from taeda.jit._ir_types import number_of

    return None if facts.dtype is None else number_of(facts.dtype)


_RULES: dict[str, Rule] = {
    "prim::TupleIndex": _tuple_item,
    "aten::__getitem__": _list_item,
    "aten::len": _length,
    "aten::__is__": _is_none(True),
    "aten::__isnot__": _is_none(False),
    "prim::unchecked_cast": _cast,
    "aten::Int": _number,
    "aten::Float": _same_kind,
    "aten::Bool": _same_kind,
    "aten::str": _same_kind,
    "aten::__not__": _not,
    "prim::If": _if,
    "aten::add": _neutral(1, 0, both=True),
    "aten::mul": _neutral(1, 1, both=True),
    "aten::sub": _neutral(1, 0, both=False),
    "aten::floordiv": _neutral(1, 1, both=False),
    "aten::dropout": _dropout,
    "aten::dim": _fact(lambda facts: None if facts.sizes is None else len(facts.sizes)),
    "prim::dtype": _fact(_dtype_number),
    "prim::device": _fact(lambda facts: facts.device),
}
