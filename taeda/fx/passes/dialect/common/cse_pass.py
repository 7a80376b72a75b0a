"""`CSEPass`: what is computed twice is computed once."""

from __future__ import annotations

import operator
from typing import Any

import taeda
from taeda._library.ops import OpOverload
from taeda.fx.graph import Graph
from taeda.fx.graph_module import GraphModule
from taeda.fx.node import Node, map_arg
from taeda.fx.passes.infra.pass_base import PassBase, PassResult
from taeda.utils import _pytree as pytree

__all__ = ["CSEPass", "get_CSE_banned_ops"]

aten: Any = taeda.ops.aten
_RANDOM = (
    "dropout", "_fused_dropout", "_standard_gamma", "bernoulli", "multinomial", "native_dropout", "normal", "poisson",
    "binomial", "rrelu", "rand_like", "rand", "randint", "randint_like", "randn", "randn_like", "randperm",
)  # fmt: skip
_IN_PLACE = ("add_", "sub_", "mul_", "div_", "pow_", "lerp_", "relu_", "sigmoid_", "tanh_")


def get_CSE_banned_ops() -> set[Any]:
    """Ops of which two calls are not one: they draw random numbers or write."""
    return {getattr(aten, name) for name in (*_RANDOM, *_IN_PLACE) if hasattr(aten, name)}


class CSEPass(PassBase):
    """Leaves one of several equal calls.

    Args:
        banned_ops: ops whose calls all stay; by default `get_CSE_banned_ops`. What writes stays anyhow.
    """

    def __init__(self, banned_ops: set[Any] | None = None) -> None:
        super().__init__()
        self.banned_ops = get_CSE_banned_ops() if banned_ops is None else banned_ops

    def call(self, graph_module: GraphModule) -> PassResult:
        new = Graph()
        known: dict[Node, Node] = {}
        first: dict[Any, Node] = {}
        written = _written(graph_module.graph)
        modified = False
        for node in graph_module.graph.nodes:
            changes = not written.isdisjoint([node, *node.all_input_nodes])
            if node.op != "call_function" or changes or not self._may_be_one(node):
                known[node] = new.node_copy(node, lambda value: known[value])
                continue
            args, kwargs = map_arg((node.args, node.kwargs), lambda value: known[value])
            key = _key(node, args, kwargs)
            if key is not None and key in first:
                known[node] = first[key]
                modified = True
                continue
            known[node] = new.node_copy(node, lambda value: known[value])
            if key is not None:
                first[key] = known[node]
        new._codegen = graph_module.graph._codegen
        made = GraphModule(graph_module, new)
        return PassResult(made, modified)

    def _may_be_one(self, node: Node) -> bool:
        target: Any = node.target
        if target in self.banned_ops or node.is_impure():
            return False
        if isinstance(target, OpOverload):
            return target.overloadpacket not in self.banned_ops and not target._schema.is_mutable
        return True


def _written(graph: Graph) -> set[Node]:
    """The nodes whose values change: what ops write to, and what shows the same memory."""
    found: set[Node] = set()
    open_: list[Node] = []
    for node in graph.nodes:
        schema = getattr(node.target, "_schema", None)
        calls = node.op in ("call_function", "call_method")
        if (schema is not None and schema.is_mutable) or (calls and node.is_impure(impure_random=False)):
            open_ += [node, *node.all_input_nodes]
    while open_:
        node = open_.pop()
        if node in found:
            continue
        found.add(node)
        open_ += [user for user in node.users if _is_view(user)]
        open_ += node.all_input_nodes if _is_view(node) else []
    return found


def _is_view(node: Node) -> bool:
    return node.target is operator.getitem or bool(getattr(node.target, "is_view", False))


def _key(node: Node, args: Any, kwargs: Any) -> Any:
    """Equal for equal calls; None where an argument cannot be compared. 1, 1.0 and True are three values."""
    leaves, spec = pytree.tree_flatten((args, kwargs))
    try:
        key = node.target, tuple((type(leaf), leaf) for leaf in leaves), str(spec)
        hash(key)
    except TypeError:
        return None
    return key
