"""Dead code: nodes whose outputs nobody uses and that do nothing else, and what blocks carry for nobody."""

from __future__ import annotations

from taeda.jit.ir import Block, Graph, Node, Value
from taeda.jit.optimise.effects import has_effects


def remove_dead_code(graph: Graph) -> bool:
    """Removes what has no effect on the results. Whether it changed the graph."""
    return _clean(graph)


def _clean(block: Block) -> bool:
    changed = False
    for node in block.reversed_nodes():
        if node._blocks:
            changed |= _drop_outputs(node)
            for inner in node.blocks():
                changed |= _clean(inner)
            if node.kind() == "prim::Loop":  # what only a removed node used need not be carried
                changed |= _drop_outputs(node)
        if not node.hasUses() and not has_effects(node):
            node.destroy()
            changed = True
    return changed


def _drop_outputs(node: Node) -> bool:
    """Removes the outputs that nobody uses of a branch or loop."""
    if node.kind() not in ("prim::If", "prim::Loop"):
        return False
    changed = False
    for i in reversed(range(node.outputsSize())):
        if node.outputsAt(i)._users:
            continue
        if node.kind() == "prim::If":
            for block in node.blocks():
                block.eraseOutput(i)
            node.eraseOutput(i)
            changed = True
        elif _drop_carried(node, i):
            changed = True
    return changed


def _drop_carried(loop: Node, i: int) -> bool:
    """Removes what a loop carries at ``i`` if its body uses it for nothing but carrying it on."""
    body = next(loop.blocks())
    carried: Value = body.paramNode().outputsAt(i + 1)
    returned = body.returnNode()
    if any(user is not returned for user in carried._users):
        return False
    if any(use.offset != i + 1 for use in carried.uses()):
        return False
    body.eraseOutput(i + 1)
    body.eraseInput(i + 1)
    loop.eraseOutput(i)
    loop.removeInput(i + 2)
    return True
