"""The rules that every graph keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from taeda.jit.ir import Block, Graph, Node, Value


def lint(graph: Graph) -> None:
    """Checks a graph: values are made before they are used, where the user can see them; users and inputs agree;
    loops and branches have the blocks and values that they need.

    Raises:
        RuntimeError: it does not hold; says where.
    """
    _lint_block(graph, set())


def _require(holds: bool, node: Node, why: str) -> None:
    if not holds:
        raise RuntimeError(f"Graph.lint: {why}: {str(node).rstrip()}")


def _lint_block(block: Block, outer: set[Value]) -> None:
    seen = outer | set(block.inputs())
    place = -1
    for node in block.nodes():
        _require(node.owningBlock() is block and node.prev().next() is node, node, "a node is not where its links say")
        _require(node._place > place, node, "the nodes of a block are out of order")
        place = node._place
        _lint_inputs(node, seen)
        for inner in node.blocks():
            _require(inner.owningNode() is node, node, "a block does not know its node")
            _lint_block(inner, seen)
        _lint_shape(node)
        seen.update(node.outputs())
    _lint_inputs(block.returnNode(), seen)


def _lint_inputs(node: Node, seen: set[Value]) -> None:
    counts: dict[Value, int] = {}
    for value in node.inputs():
        _require(value in seen, node, f"%{value.debugName()} is used where it is not known")
        counts[value] = counts.get(value, 0) + 1
    for value, count in counts.items():
        _require(value._users.get(node) == count, node, f"%{value.debugName()} does not know that it is used")
    for value in node.outputs():
        _require(value.node() is node, node, f"%{value.debugName()} is said to be made elsewhere")


def _lint_shape(node: Node) -> None:
    blocks = list(node.blocks())
    if node.kind() == "prim::If":
        _require(len(blocks) == 2 and node.inputsSize() == 1, node, "a branch has two blocks and one condition")
        for block in blocks:
            _require(block.returnNode().inputsSize() == node.outputsSize(), node, "a branch gives what the node gives")
    elif node.kind() == "prim::Loop":
        _require(len(blocks) == 1 and node.inputsSize() >= 2, node, "a loop has a body, a count and a condition")
        carried = node.outputsSize()
        _require(node.inputsSize() == carried + 2, node, "a loop gives what it carries")
        body = blocks[0]
        given, taken = body.returnNode().inputsSize(), body.paramNode().outputsSize()
        _require(given == taken == carried + 1, node, "a loop's body takes and gives what the loop carries")
