"""Activations: in place where nobody needs what they are given, and back."""

from __future__ import annotations

from taeda.jit.ir import Graph, Node
from taeda.jit.optimise.aliases import Aliases
from taeda.jit.optimise.mutation import remove_tensor_mutation

# Those that give the dtype that they are given, and those of which that holds for floats.
_KEEP = frozenset([f"aten::{name}" for name in (
    "relu", "relu6", "leaky_relu", "elu", "celu", "selu", "hardtanh", "hardswish", "hardsigmoid", "silu", "rrelu",
)])  # fmt: skip
_KEEP_FLOATS = frozenset(["aten::sigmoid", "aten::tanh"])


def activate_in_place(graph: Graph) -> bool:
    """Activations write into what they are given, where that was made here and nobody else reads it. Whether there were
    any."""
    aliases = Aliases(graph)
    changed = False
    for node in list(graph.all_nodes()):
        if node.kind() in _KEEP | _KEEP_FLOATS and _may_write(node, aliases):
            with graph.insert_point_guard(node):
                made = graph.insert(node.kind() + "_", node._inputs)
            made.node().range = node.range
            made.setTypeAs(node.output())
            node.output().replaceAllUsesWith(made)
            node.destroy()
            changed = True
    return changed


def _may_write(node: Node, aliases: Aliases) -> bool:
    given = node.inputsAt(0)
    facts = given.facts
    floating = facts is not None and facts.dtype is not None and facts.dtype.is_floating_point
    if node.kind() in _KEEP_FLOATS and not floating:
        return False
    alone = list(given._users.values()) == [1] and given.node()._block is node._block
    return alone and not aliases.is_outside(given) and _is_new(given.node())


def _is_new(node: Node) -> bool:
    schema = node.op_schema() if node.kind().startswith("aten::") else None
    return schema is not None and all(returned.alias_info is None for returned in schema.returns)


def activate_apart(graph: Graph) -> bool:
    """Activations in place give new tensors, where nobody can tell. Whether there were any."""
    return remove_tensor_mutation(graph, frozenset(f"{kind}_" for kind in _KEEP | _KEEP_FLOATS))
