"""Nodes by the module or function that a program called and that became them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from taeda.fx.graph import Graph
from taeda.fx.node import Node

__all__ = ["SourcePartition", "check_subgraphs_connected", "get_source_partitions"]


@dataclass
class SourcePartition:
    """What one call became.

    Attributes:
        nodes: its nodes.
        source: the class of the module, or the function.
        input_nodes: whose values it takes.
        output_nodes: whose values are used outside.
        params: the attributes that it fetches.
    """

    nodes: list[Node]
    source: Any
    input_nodes: list[Node] = field(default_factory=list)
    output_nodes: list[Node] = field(default_factory=list)
    params: list[Node] = field(default_factory=list)


def get_source_partitions(
    graph: Graph, wanted_sources: list[Any], filter_fn: Callable[[Node], bool] | None = None
) -> dict[Any, list[SourcePartition]]:
    """The calls of some modules and functions in a graph whose nodes have ``source_fn_stack`` or ``torch_fn`` in meta.

    Args:
        graph: the graph.
        wanted_sources: classes of modules, and functions; where nodes have ``torch_fn`` alone, names of functions.
        filter_fn: which results count: a call counts if all its outputs do.

    Returns:
        By source, what each of its calls became.
    """
    found: dict[Any, dict[str, list[Node]]] = {}
    for node in graph.nodes:
        stack, called = node.meta.get("source_fn_stack"), node.meta.get("torch_fn")
        if not stack and not called:
            continue
        name, source = stack[-1] if stack else (called[0], str(called[1]).rpartition(".")[2])  # type: ignore[index]
        if source in wanted_sources:
            found.setdefault(source, {}).setdefault(name, []).append(node)
    partitions = {s: [_partition(nodes, s) for nodes in calls.values()] for s, calls in found.items()}
    if filter_fn is None:
        return partitions
    kept = {s: [p for p in ps if all(map(filter_fn, p.output_nodes))] for s, ps in partitions.items()}
    return {source: ps for source, ps in kept.items() if ps}


def _partition(nodes: list[Node], source: Any) -> SourcePartition:
    within = set(nodes)
    inputs: dict[Node, None] = {}
    outputs: dict[Node, None] = {}
    params: dict[Node, None] = {}
    for node in nodes:
        for value in node.all_input_nodes:
            if value.op == "get_attr":
                params[value] = None
            elif value not in within:
                inputs[value] = None
        if node.op == "get_attr":
            params[node] = None
        if any(user not in within for user in node.users):
            outputs[node] = None
    return SourcePartition(nodes, source, list(inputs), list(outputs), list(params))


def check_subgraphs_connected(subgraph1: SourcePartition, subgraph2: SourcePartition) -> bool:
    """Whether the second takes a value that the first makes."""
    made = set(subgraph1.nodes)
    return any(value in made for node in subgraph2.nodes for value in node.all_input_nodes)
