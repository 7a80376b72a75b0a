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
    if node.kind() == "prim::Loop":
        return _drop_carried(node)
    unused = [i for i, value in enumerate(node._outputs) if not value._users] if node.kind() == "prim::If" else []
    for i in reversed(unused):
        for block in node.blocks():
            block.eraseOutput(i)
        node.eraseOutput(i)
    return bool(unused)


def _drop_carried(loop: Node) -> bool:
    """Removes what a loop carries for nothing but itself."""
    body = next(loop.blocks())
    unused = sorted(set(range(loop.outputsSize())) - _needed(loop, body), reverse=True)
    for i in unused:  # first all that is returned: one may be there for another
        body.eraseOutput(i + 1)
    for node in body.reversed_nodes():
        if unused and not node.hasUses() and not has_effects(node):
            node.destroy()
    for i in unused:
        body.eraseInput(i + 1)
        loop.eraseOutput(i)
        loop.removeInput(i + 2)
    return bool(unused)


def _needed(loop: Node, body: Block) -> set[int]:
    """Which of the values that a loop carries are used behind it, decide how it runs, or go into what has effects."""
    needed = {i for i, value in enumerate(loop._outputs) if value._users}
    returned, carried = body.returnNode()._inputs, body.paramNode()._outputs
    pending = [returned[0], *(returned[i + 1] for i in needed)]
    for node in body.nodes():
        if has_effects(node):
            pending += _read_by(node)
    seen: set[Value] = set()
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.add(value)
        if value.node() is body.paramNode():
            i = carried.index(value) - 1
            if i >= 0 and i not in needed:
                needed.add(i)
                pending.append(returned[i + 1])
        elif (owner := _standing_in(value.node(), body)) is not None:
            pending += _read_by(owner)
    return needed


def _read_by(node: Node) -> list[Value]:
    """All values that go into a node, and into those of its blocks."""
    read = list(node._inputs)
    for block in node.blocks():
        read += block.returnNode()._inputs
        for inner in block.all_nodes():
            read += inner._inputs
            read += [value for b in inner.blocks() for value in b.returnNode()._inputs]
    return read


def _standing_in(node: Node, body: Block) -> Node | None:
    """The node of the block that is or holds a node; None if it stands outside."""
    while node._block is not body:
        owner = node._block._owner if node._block is not None else None
        if owner is None:
            return None
        node = owner
    return node
