"""Peepholes: short patterns that are known to give one of their inputs, or a constant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from taeda.jit.ir import Graph, Node, Value
from taeda.jit.optimise.aliases import Aliases, aliases_of
from taeda.jit.optimise.branches import known_result
from taeda.jit.optimise.containers import Rule, constant_like, is_fixed, item_of, length_of, made_by, slice_of
from taeda.jit.optimise.effects import may_reshape


def simplify(graph: Graph, believe_dtypes: bool = False) -> bool:
    """Replaces values by simpler ones that are equal to them. Whether it changed the graph.

    Args:
        graph: the graph.
        believe_dtypes: whether tensors will always have the dtypes and devices that are noted of them. A trace notes
            those of its example.
    """
    rules = _RULES | _DTYPE_RULES if believe_dtypes else _RULES
    aliases = aliases_of(graph)
    changed = False
    for node in list(graph.all_nodes()):
        changed |= _narrow(node)
        rule = rules.get(node.kind())
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


def _tuple_item(node: Node, aliases: Aliases) -> Value | None:
    made, place = made_by(node.inputsAt(0), "prim::TupleConstruct"), node.inputsAt(1).toIValue()
    if made is None or type(place) is not int or not -made.inputsSize() <= place < made.inputsSize():
        return None
    return made._inputs[place]


def _is_none(wanted: bool) -> Rule:
    def rule(node: Node, aliases: Aliases) -> Value | None:
        left, right = node._inputs
        if not right.node().mustBeNone():
            left, right = right, left
        if not right.node().mustBeNone():
            return None
        if left.node().mustBeNone():
            return constant_like(node, wanted)
        return None if _may_be_none(left.static_type) else constant_like(node, not wanted)

    return rule


def _may_be_none(type: Any) -> bool:
    return type.kind() in ("NoneType", "OptionalType", "UnionType", "AnyType", "ClassType", "InterfaceType", "Type")


def _cast(node: Node, aliases: Aliases) -> Value | None:
    """A value that already has the type it is cast to."""
    given = node.inputsAt(0)
    return given if given.static_type is node.output().static_type else None


def _number(node: Node, aliases: Aliases) -> Value | None:
    """A tensor that was made of a number, read as that number."""
    made = made_by(node.inputsAt(0), "prim::NumToTensor")
    return made.inputsAt(0) if made is not None else _same_kind(node, aliases)


def _same_kind(node: Node, aliases: Aliases) -> Value | None:
    given = node.inputsAt(0)
    return given if given.static_type is node.output().static_type and node.inputsSize() == 1 else None


def _not(node: Node, aliases: Aliases) -> Value | None:
    made = made_by(node.inputsAt(0), "aten::__not__")
    return made.inputsAt(0) if made is not None else None


def _if(node: Node, aliases: Aliases) -> Value | None:
    """A branch that gives True and False, which is its condition."""
    if node.outputsSize() != 1:
        return None
    results = [known_result(node, place, 0) for place in (0, 1)]
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
        if source.facts is None or node.inputsSize() != 1 or any(may_reshape(n) for n in aliases.writers(source)):
            return None
        known = read(source.facts)
        return None if known is None else constant_like(node, known)

    return rule


def _with_itself(equal: bool) -> Rule:
    """A value that is compared with itself, but for numbers that need not be equal to themselves."""

    def rule(node: Node, aliases: Aliases) -> Value | None:
        left, right = node._inputs
        return constant_like(node, equal) if left is right and is_fixed(left.static_type) else None

    return rule


def _type_as(node: Node, aliases: Aliases) -> Value | None:
    """A tensor that has the dtype and device of the other already."""
    given, other = (value.facts for value in node._inputs)
    if given is None or other is None or None in (given.dtype, given.device):
        return None
    if any(may_reshape(n) for value in node._inputs for n in aliases.writers(value)):
        return None
    return node.inputsAt(0) if (given.dtype, given.device) == (other.dtype, other.device) else None


def _narrow(node: Node) -> bool:
    """A branch whose results are never None gives no optional. Whether there was one."""
    narrowed = False
    for i, output in enumerate(node._outputs if node.kind() == "prim::If" else ()):
        results = {block.returnNode().inputsAt(i).static_type for block in node.blocks()}
        if output.static_type.kind() == "OptionalType" and results == set(output.static_type.containedTypes()):
            output.setType(results.pop())
            narrowed = True
    return narrowed


def _dropout(node: Node, aliases: Aliases) -> Value | None:
    """Dropout in evaluation mode gives the tensor that it is given."""
    return node.inputsAt(0) if node.inputsAt(2).toIValue() is False else None


def _dtype_number(facts: Any) -> Any:
    from taeda.jit._ir_types import number_of

    return None if facts.dtype is None else number_of(facts.dtype)


_RULES: dict[str, Rule] = {
    "prim::TupleIndex": _tuple_item,
    "aten::__getitem__": item_of,
    "aten::len": length_of,
    "aten::slice": slice_of,
    "aten::eq": _with_itself(True),
    "aten::ne": _with_itself(False),
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
    **dict.fromkeys((f"aten::{kind}dropout" for kind in ("", "feature_", "alpha_", "feature_alpha_")), _dropout),
    "aten::dim": _fact(lambda facts: None if facts.sizes is None else len(facts.sizes)),
    "prim::dtype": _fact(_dtype_number),
    "prim::device": _fact(lambda facts: facts.device),
}
_DTYPE_RULES: dict[str, Rule] = {"aten::type_as": _type_as}
