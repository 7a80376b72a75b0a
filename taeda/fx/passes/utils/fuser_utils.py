"""Nodes of a graph as one call of a module of them."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from typing import Any

from taeda.fx.graph import Graph
from taeda.fx.graph_module import GraphModule
from taeda.fx.node import Node, map_arg
from taeda.fx.passes.tools_common import stable_topological_sort, validate_partition
from taeda.fx.passes.utils.common import lift_subgraph_as_module

__all__ = [
    "erase_nodes", "fuse_as_graphmodule", "fuse_by_partitions", "insert_subgm", "topo_sort", "validate_partition",
]  # fmt: skip


def topo_sort(nodes: Iterable[Node]) -> list[Node]:
    """The nodes so that each comes after those of them that it uses."""
    wanted = dict.fromkeys(nodes)
    missing = {node: sum(value in wanted for value in node.all_input_nodes) for node in wanted}
    ready = [node for node, count in missing.items() if not count]
    order: list[Node] = []
    for node in ready:  # grows
        order.append(node)
        for user in node.users:
            if user in wanted:
                missing[user] -= 1
                if not missing[user]:
                    ready.append(user)
    if len(order) < len(wanted):
        raise AssertionError("taeda.fx.topo_sort: the nodes depend on each other in a circle")
    return order


def fuse_as_graphmodule(
    gm: GraphModule, nodes: list[Node], module_name: str, partition_lookup_table: Mapping[Node, Any] | None = None,
    *, always_return_tuple: bool = False,
) -> tuple[GraphModule, tuple[Node, ...], tuple[Node, ...]]:  # fmt: skip
    """A module of some nodes, which must be in order.

    Returns:
        The module; the nodes whose values it takes; the nodes whose values it gives.

    Raises:
        AssertionError: a node is not of ``gm``, or a value comes in that depends on one that goes out.
    """
    for node in nodes:
        if node.graph.owning_module is not gm or node._erased:
            raise AssertionError(f"taeda.fx.fuse_as_graphmodule: {node} is not in the graph of the module")
    if not validate_partition(nodes):
        raise AssertionError("taeda.fx.fuse_as_graphmodule: what the nodes take depends on what they give")
    within = set(nodes) if partition_lookup_table is None else set(partition_lookup_table)
    graph, known = Graph(), dict[Node, Node]()
    inputs: dict[Node, Node] = {}

    def inner(value: Node) -> Node:
        if value.op == "get_attr" and value not in known and value not in within:
            known[value] = graph.node_copy(value)
        elif value not in known:
            made = graph.placeholder(value.name, value.type)
            made.meta = dict(value.meta)
            inputs[value] = known[value] = made
        return known[value]

    for node in nodes:
        args, kwargs = map_arg((node.args, node.kwargs), inner)
        twin = graph.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        twin.meta = dict(node.meta)
        known[node] = twin
    outputs = [node for node in nodes if any(user not in within for user in node.users)]
    results = tuple(known[node] for node in outputs)
    graph.output(results[0] if len(results) == 1 and not always_return_tuple else results)
    graph.lint()
    module, _ = lift_subgraph_as_module(gm, graph, "", module_name)
    return module, tuple(inputs), tuple(outputs)


def insert_subgm(
    gm: GraphModule, sub_gm: GraphModule, orig_inputs: tuple[Node, ...], orig_outputs: tuple[Node, ...],
    insertion_point: Node | None = None,
) -> GraphModule:  # fmt: skip
    """Puts a call of ``sub_gm`` into the graph of ``gm``; users of ``orig_outputs`` take its results."""
    name = type(sub_gm).__name__
    gm.add_submodule(name, sub_gm)
    end = gm.graph.output_node()
    with gm.graph.inserting_before(end if insertion_point is None else insertion_point.next):
        call = gm.graph.call_module(name, tuple(orig_inputs))
        gives_tuple = isinstance(sub_gm.graph.output_node().args[0], tuple)
        if not gives_tuple and len(orig_outputs) == 1:
            orig_outputs[0].replace_all_uses_with(call, propagate_meta=True)
        else:
            for i, node in enumerate(orig_outputs):
                item = gm.graph.call_function(operator.getitem, (call, i))
                node.replace_all_uses_with(item, propagate_meta=True)
            call.meta["val"] = tuple(node.meta.get("val") for node in orig_outputs)
    return gm


def erase_nodes(gm: GraphModule, nodes: list[Node]) -> None:
    """Erases nodes, last first."""
    for node in reversed(nodes):
        gm.graph.erase_node(node)


def fuse_by_partitions(
    gm: GraphModule, partitions: list[dict[Node, Any]], prefix: str = "fused_", always_return_tuple: bool = False
) -> GraphModule:
    """Puts in the place of each partition a call of a module of its nodes, ``fused_0`` and so on."""
    for number, partition in enumerate(partitions):
        nodes = topo_sort(partition)
        sub, inputs, outputs = fuse_as_graphmodule(
            gm, nodes, f"{prefix}{number}", partition, always_return_tuple=always_return_tuple
        )
        insert_subgm(gm, sub, inputs, outputs, nodes[-1])
        erase_nodes(gm, nodes)
    stable_topological_sort(gm)
    gm.graph.lint()
    gm.recompile()
    return gm
