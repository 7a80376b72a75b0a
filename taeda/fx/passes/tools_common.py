"""What passes ask of nodes, and orders of nodes."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import taeda
from taeda import nn
from taeda.fx._naming import qualified_name
from taeda.fx.graph import Graph
from taeda.fx.graph_module import GraphModule
from taeda.fx.node import Node

__all__ = [
    "CALLABLE_NODE_OPS",
    "FxNetAccFusionsFinder",
    "get_acc_ops_name",
    "get_node_target",
    "is_node_output_tensor",
    "legalize_graph",
    "stable_topological_sort",
    "validate_partition",
]

Tensors = tuple[taeda.Tensor] | list[taeda.Tensor]
TensorOrTensors = taeda.Tensor | Tensors
NodeList = list[Node]
NodeSet = set[Node]
Names = list[str]
CALLABLE_NODE_OPS = {"call_module", "call_function", "call_method"}


def get_acc_ops_name(k: Any) -> str:
    """The name of a function, with ``acc_ops`` in place of the module where it has been one's."""
    if isinstance(k, str):
        return k
    module = getattr(k, "__module__", None) or ""
    if module and "acc_ops" in module:
        return f"acc_ops.{k.__name__}"
    return f"{module.replace('torch._ops', 'torch.ops')}.{k.__name__}" if module else k.__name__


def get_node_target(submodules: Mapping[str, nn.Module], node: Node) -> str:
    """What a node calls, as text: a function's qualified name, a module's class, a method's name.

    Raises:
        AssertionError: the node calls nothing.
    """
    if node.op not in CALLABLE_NODE_OPS:
        raise AssertionError(f"taeda.fx.get_node_target: {node} is a {node.op}, which calls nothing")
    if node.op == "call_module":
        module = submodules[str(node.target)]
        kind: Any = getattr(module, "_base_class_origin", type(module))
        return get_acc_ops_name(kind)
    if node.op == "call_function":
        target: Any = node.target
        is_acc = "acc_ops" in (getattr(target, "__module__", None) or "")
        return f"acc_ops.{target.__name__}" if is_acc else qualified_name(target)
    return str(node.target)


def is_node_output_tensor(node: Node) -> bool:
    """Whether a node's result is a tensor, by ``meta["type"]``, which `ShapeProp` notes."""
    kind = node.meta.get("type")
    return isinstance(kind, type) and issubclass(kind, taeda.Tensor)


@dataclass
class _Group:
    top_node_idx: int
    nodes: NodeSet
    inputs: NodeSet
    nodes_need_process: NodeSet


class FxNetAccFusionsFinder:
    """Groups of supported nodes that belong together, since values between them are no tensors.

    Calling it gives, for each node of a group, the group.
    """

    def __init__(self, module: GraphModule, acc_nodes: NodeSet) -> None:
        self.module, self.acc_nodes = module, acc_nodes
        self.nodes = list(module.graph.nodes)

    def __call__(self) -> dict[Node, NodeSet]:
        groups: dict[Node, NodeSet] = {}
        for node in self.nodes:
            if node not in self.acc_nodes or is_node_output_tensor(node) or "tensor_meta" in node.meta:
                continue
            together = {node, *node.users, *node.all_input_nodes} & self.acc_nodes
            if not all(other in self.acc_nodes for other in node.users):
                continue
            for known in [groups[other] for other in together if other in groups]:
                together |= known
            for other in together:
                groups[other] = together
        return groups


def _ready_order(gm: GraphModule) -> list[Node]:
    """The nodes so that each comes after its inputs, and else as they were; RuntimeError for a circle."""
    place = {node: i for i, node in enumerate(gm.graph.nodes)}
    missing = {node: len(node.all_input_nodes) for node in place}
    ready = [place[node] for node, count in missing.items() if not count]
    nodes = list(place)
    heapq.heapify(ready)
    order: list[Node] = []
    while ready:
        node = nodes[heapq.heappop(ready)]
        order.append(node)
        for user in node.users:
            missing[user] -= 1
            if not missing[user]:
                heapq.heappush(ready, place[user])
    if len(order) < len(nodes):
        stuck = [node for node in nodes if missing[node] > 0]
        raise RuntimeError(f"taeda.fx.legalize_graph: {stuck[:5]} depend on each other, so that none can come first")
    return order


def legalize_graph(gm: GraphModule) -> GraphModule:
    """Puts nodes that were inserted anywhere into an order in which each comes after its inputs.

    Raises:
        RuntimeError: nodes depend on each other in a circle.
    """
    new = Graph(tracer_cls=gm.graph._tracer_cls)
    order = _ready_order(gm)
    order.sort(key=lambda node: node.op == "output")
    copies: dict[Node, Node] = {}
    for node in order:
        copies[node] = new.node_copy(node, lambda value: copies[value])
    new._codegen = gm.graph._codegen
    gm.graph = new
    return gm


def stable_topological_sort(gm: GraphModule) -> GraphModule:
    """Moves nodes so that each comes after its inputs, in place: the nodes stay the same objects."""
    for node in _ready_order(gm):
        gm.graph._root.prepend(node)
    return gm


def validate_partition(partition: Iterable[Node]) -> bool:
    """Whether no value goes out of the nodes and, through others, comes in again."""
    within = set(partition)
    open_ = [user for node in within for user in node.users if user not in within]
    seen: set[Node] = set(open_)
    while open_:
        node = open_.pop()
        for user in node.users:
            if user in within:
                return False
            if user not in seen:
                seen.add(user)
                open_.append(user)
    return True
