"""Other targets for nodes, and how many bytes their values take."""

from __future__ import annotations

from typing import Any, NamedTuple

import taeda
from taeda.fx.graph import Graph
from taeda.fx.graph_module import GraphModule
from taeda.fx.node import Node, Target, map_arg
from taeda.fx.passes.shape_prop import ShapeProp, TensorMetadata

__all__ = ["get_size_of_all_nodes", "get_size_of_node", "get_tensor_meta", "replace_target_nodes_with", "size_bytes"]


class size_bytes(NamedTuple):
    """Bytes of a node's result, and of that and its parameters."""

    output_size: int
    total_size: int


def replace_target_nodes_with(
    fx_module: GraphModule, old_op: str, old_target: Target, new_op: str, new_target: Target
) -> None:
    """Gives nodes with this ``op`` and target others; the graph is a new one."""
    graph, known = Graph(), dict[Node, Node]()
    for node in fx_module.graph.nodes:
        if node.op == old_op and node.target == old_target:
            args, kwargs = map_arg((node.args, node.kwargs), lambda value: known[value])
            known[node] = graph.create_node(new_op, new_target, args, kwargs, node.name)
        else:
            known[node] = graph.node_copy(node, lambda value: known[value])
    fx_module.graph = graph


def get_size_of_all_nodes(fx_module: GraphModule, args: list[Any] | None = None) -> None:
    """Notes in ``size_bytes`` of each node what it takes; runs `ShapeProp` if ``args`` are given."""
    if args is not None:
        ShapeProp(fx_module).propagate(*args)
    for node in fx_module.graph.nodes:
        if node.op == "output":
            break
        setattr(node, "size_bytes", get_size_of_node(fx_module, node))  # noqa: B010


def get_tensor_meta(node: Node) -> Any:
    """``meta["tensor_meta"]``; RuntimeError without one."""
    meta = node.meta.get("tensor_meta")
    if not meta:
        raise RuntimeError(f"taeda.fx.get_tensor_meta: {node} has no tensor_meta; run ShapeProp first")
    return meta


def get_size_of_node(fx_module: GraphModule, node: Node) -> size_bytes:
    """How many bytes a node's value, and that and its parameters, take."""
    total = 0
    if node.op == "call_module":
        module = fx_module.get_submodule(str(node.target))
        total += sum(p.numel() * p.element_size() for p in module.parameters())
    meta = get_tensor_meta(node)
    described = [meta] if isinstance(meta, TensorMetadata) else [m for m in meta if isinstance(m, TensorMetadata)]
    output = sum(m.shape.numel() * taeda.empty((), dtype=m.dtype).element_size() for m in described)
    return size_bytes(output, total + output)
