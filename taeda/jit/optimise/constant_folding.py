"""Constant folding: what depends on constants only is computed now."""

from __future__ import annotations

from typing import Any

from taeda import Tensor
from taeda.jit.ir import Graph, Node
from taeda.jit.optimise.aliases import Aliases, aliases_of
from taeda.jit.optimise.effects import MAKERS, PURE, enters_autocast, is_random, writes
from taeda.jit.optimise.evaluate import CannotEvaluate, evaluate

_LARGEST = 1 << 22  # elements: larger results would make the program larger than what they save
_LONGEST_TEXT = 1 << 12


def fold_constants(graph: Graph) -> bool:
    """Replaces nodes by their results where all that goes in is constant. Whether it changed the graph.

    Results are numbers, texts and tuples of them, and tensors that are computed from constant tensors, that nothing
    writes to and that do not leave the graph. What raises is left to raise when the program runs.
    """
    aliases = aliases_of(graph)
    changed = False
    nodes = list(graph.all_nodes())
    casting = any(map(enters_autocast, nodes))  # tensors have the dtypes that their places give them
    for node in nodes:
        if _may_fold(node, aliases) and not (casting and any(map(_holds_tensor, node._inputs))):
            changed |= _fold(graph, node)
    return changed


def _may_fold(node: Node, aliases: Aliases) -> bool:
    if node._block is None or node._blocks or not node.hasUses() or node.kind() in _NEVER or node.kind() in MAKERS:
        return False
    if not all(_is_constant(value, aliases) for value in node._inputs):
        return False
    if node.kind() not in PURE and (writes(node) or is_random(node) or not node._inputs):
        return False
    tensors = [value for value in node._outputs if value.static_type.kind() == "TensorType"]
    if not tensors:
        return all(_is_plain(value.static_type) for value in node._outputs)
    from_tensors = any(_holds_tensor(value) for value in node._inputs)
    return from_tensors and not any(aliases.has_writers(v) or aliases.is_outside(v) for v in tensors)


_NEVER = frozenset(
    ["prim::Constant", "prim::GetAttr", "prim::Uninitialized", "prim::CreateObject", "prim::unchecked_cast"]
)


def _is_constant(value: Any, aliases: Aliases) -> bool:
    node = value.node()
    if node.kind() == "prim::ListConstruct" and not aliases.has_writers(value):
        return all(_is_constant(item, aliases) for item in node._inputs)
    return node.kind() == "prim::Constant" and value.static_type.kind() != "FunctionType"


def _holds_tensor(value: Any) -> bool:
    kind = value.static_type.kind()
    return kind == "TensorType" or (kind == "ListType" and any(_holds_tensor(item) for item in value.node()._inputs))


def _is_plain(type: Any) -> bool:
    kind = type.kind()
    if kind in ("TupleType", "OptionalType"):
        return all(_is_plain(inner) for inner in type.containedTypes())
    return kind in ("IntType", "FloatType", "BoolType", "StringType", "ComplexType", "NoneType", "NumberType",
                    "DeviceObjType")  # fmt: skip


def _fold(graph: Graph, node: Node) -> bool:
    try:
        results = evaluate(node)
    except CannotEvaluate:
        return False
    if not all(_is_small(result) for result in results):
        return False
    with graph.insert_point_guard(node):
        for output, result in zip(node._outputs, results, strict=True):
            constant = graph.insertConstant(result, None if isinstance(result, Tensor) else _type_of(output, result))
            constant.node().range = node.range
            output.replaceAllUsesWith(constant)
    node.destroy()
    return True


def _type_of(output: Any, result: Any) -> Any:
    """The output's type, unless it is less than the value's."""
    return (
        None
        if output.static_type.kind() in ("NumberType", "OptionalType") and result is not None
        else output.static_type
    )


def _is_small(result: Any) -> bool:
    if isinstance(result, Tensor):
        return result.numel() <= _LARGEST and not result.requires_grad
    return not isinstance(result, str) or len(result) <= _LONGEST_TEXT
