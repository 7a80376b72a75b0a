"""Types of the items of typed tuples and lists."""

from __future__ import annotations

import operator
from typing import get_args, get_origin

from taeda.fx.graph import Graph

__all__ = ["annotate_getitem_nodes"]


def annotate_getitem_nodes(graph: Graph) -> None:
    """Gives nodes that take an item the type that the container's annotation says."""
    for node in graph.nodes:
        if node.op != "call_function" or node.target is not operator.getitem:
            continue
        sequence, index = node.args
        annotation = getattr(sequence, "type", None)
        if annotation is None or not isinstance(index, int):
            continue
        fields = getattr(annotation, "__annotations__", None) if hasattr(annotation, "_fields") else None
        kinds = list(fields.values()) if fields else list(get_args(annotation))
        if fields is None and get_origin(annotation) is tuple and kinds[-1:] == [Ellipsis]:
            node.type = kinds[0]
        elif fields is not None or get_origin(annotation) is tuple:
            node.type = kinds[index] if index < len(kinds) else None
        elif get_origin(annotation) is list:
            node.type = kinds[0]
