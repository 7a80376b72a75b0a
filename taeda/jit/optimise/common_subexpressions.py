"""Common subexpressions: what was computed before from the same values is not computed again."""

from __future__ import annotations

from typing import Any

from taeda.jit.ir import Block, Graph, Node
from taeda.jit.optimise.aliases import Aliases, aliases_of, is_shared
from taeda.jit.optimise.effects import MAKERS, is_barrier, is_random, writes

Table = dict[Any, Node]


def merge_common_subexpressions(graph: Graph) -> bool:
    """Merges nodes that compute the same. Whether it changed the graph.

    Constants and equal computations become one where the first is seen by all users of the second. What is written to
    is never merged, nor what others than the graph will see as two tensors.
    """
    return _merge(graph, aliases_of(graph), [{}])


def _merge(block: Block, aliases: Aliases, tables: list[Table]) -> bool:
    changed = False
    for node in block.nodes():
        if node._blocks:
            for inner in node.blocks():
                changed |= _merge(inner, aliases, [*tables, {}])
        if is_barrier(node):
            tables[:] = [{key: n for key, n in table.items() if n.kind() == "prim::Constant"} for table in tables]
            continue
        key = _key(node)
        if key is None:
            continue
        found = next((table[key] for table in reversed(tables) if key in table), None)
        if found is None:
            tables[-1][key] = node
        elif _can_merge(found, node, aliases):
            node.replaceAllUsesWith(found)
            node.destroy()
            changed = True
    return changed


def _key(node: Node) -> Any:
    """What is equal for nodes that compute the same; None for nodes of which each is its own."""
    if (
        node._blocks
        or not node._outputs
        or node.kind() in ("prim::Uninitialized", "prim::GetAttr", "prim::CreateObject")
    ):
        return None
    attributes = tuple((name, kind, _frozen(value)) for name, (kind, value) in node._attributes.items())
    if any(part[2] is None for part in attributes):
        return None
    if node.kind() not in _KNOWN and (writes(node) or is_random(node)):
        return None
    types = tuple(id(value.static_type) for value in node._outputs)
    return node.kind(), node.overload, attributes, tuple(map(id, node._inputs)), types


_KNOWN = frozenset(["prim::Constant"])


def _frozen(value: Any) -> Any:
    """An attribute's value as part of a key: 1, 1.0 and True differ, and so do 0.0 and -0.0; None if it has none."""
    if isinstance(value, (bool, int, float, complex, str)):
        return type(value), repr(value) if isinstance(value, (float, complex)) else value
    if isinstance(value, (list, tuple)):
        parts = tuple(_frozen(item) for item in value)
        return None if None in parts else (type(value), parts)
    return None if hasattr(value, "shape") or isinstance(value, dict) else (type(value), id(value))


def _can_merge(first: Node, second: Node, aliases: Aliases) -> bool:
    if first.kind() == "prim::Constant":
        return not is_shared(second.output().static_type) or not second._attributes
    if any(aliases.has_writers(v) for v in (*second._inputs, *second._outputs, *first._outputs)):
        return False
    if second.kind() in MAKERS and not _only_read(second):
        return False
    both = zip(first._outputs, second._outputs, strict=True)
    return not any(aliases.is_outside(a) and aliases.is_outside(b) for a, b in both)


def _only_read(node: Node) -> bool:
    """Whether all that becomes of a new list or dict is that ops read it."""
    for user in node.output()._users:
        schema = user.op_schema() if user.kind().startswith("aten::") else None
        if schema is None or any(
            is_shared(v.static_type) and v.static_type.kind() != "TensorType" for v in user._outputs
        ):
            return False
    return True
