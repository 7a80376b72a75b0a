"""Small tools for graphs."""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

from taeda import fx


class NodeInfo(NamedTuple):
    """What a node does: its op and its target."""

    op: Any
    target: Any


def _is_take(node: Any) -> bool:
    return isinstance(node, fx.Node) and node.op == "call_function" and node.target is operator.getitem


def _taken(node: fx.Node) -> Any:
    """What ``getitem`` takes out of tuples that the graph itself makes; the node itself if they are not known."""
    index, source = node.args[1], node.args[0]
    if _is_take(source):
        source = _taken(source)  # type: ignore[arg-type]
    if isinstance(source, fx.Node) and source.op == "call_function" and source.target is tuple:
        return source.args[0][index]  # type: ignore[index]
    return node


def _reroute_tuple_getitem_pattern(graph: fx.Graph) -> None:
    """What is taken out of a tuple that was made in the graph is used directly."""
    for node in list(graph.nodes):
        if _is_take(node) and (found := _taken(node)) is not node:
            node.replace_all_uses_with(found)
