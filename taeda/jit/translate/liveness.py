"""Where values of a graph are used last, so that registers and tensors are let go as soon as in eager code."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from taeda.jit.ir import Block, Graph, Node, Value

# Ordered sets: the same graph gives the same program each time.
Values = dict["Value", None]


@dataclass
class Liveness:
    """``last[node]``: the inputs that the node is the last to use. ``dropped[block]``: what is used no more from the
    beginning of a branch on; ``after[node]``: what a loop was the last to use."""

    last: dict[Node, Values] = field(default_factory=dict)
    dropped: dict[Block, Values] = field(default_factory=dict)
    after: dict[Node, Values] = field(default_factory=dict)


def liveness(graph: Graph) -> Liveness:
    """The last uses of all values but constants, which are in no register of their own."""
    found = Liveness()
    _block(graph, {}, found)
    return found


def _uses(node: Node) -> Values:
    return {value: None for value in node.inputs() if value.node().kind() != "prim::Constant"}


def _block(block: Block, live: Values, found: Liveness) -> Values:
    """What is live where the block begins, if ``live`` is where it ends."""
    live = dict(live)
    _use(block.returnNode(), live, found)
    for node in block.reversed_nodes():
        for value in node.outputs():
            live.pop(value, None)
        kind = node.kind()
        if kind == "prim::Constant":
            continue
        if kind == "prim::If":
            live = _branches(node, live, found)
        elif kind == "prim::Loop":
            live = _loop(node, live, found)
        _use(node, live, found)
    for value in block.inputs():
        live.pop(value, None)
    return live


def _use(node: Node, live: Values, found: Liveness) -> None:
    last = {value: None for value in _uses(node) if value not in live}
    found.last[node] = last
    live.update(last)


def _branches(node: Node, live: Values, found: Liveness) -> Values:
    begins = [_block(block, live, found) for block in node.blocks()]
    needed = {value: None for begin in begins for value in begin}
    for block, begin in zip(node.blocks(), begins, strict=True):
        found.dropped[block] = {value: None for value in needed if value not in begin}
    return needed


def _loop(node: Node, live: Values, found: Liveness) -> Values:
    (body,) = node.blocks()
    outer = _from_outside(body)
    found.after[node] = {value: None for value in outer if value not in live}
    kept = {**live, **{value: None for value in outer}}
    # The limit is asked for in each round.
    limit = node.inputsAt(0)
    if limit.node().kind() != "prim::Constant" and limit not in kept:
        found.after[node][limit] = kept[limit] = None
    _block(body, kept, found)
    return kept


def _from_outside(body: Block) -> Values:
    inside: set[Value] = set()
    outer: Values = {}

    def walk(block: Block) -> None:
        inside.update(block.inputs())
        for node in (*block.nodes(), block.returnNode()):
            for value in _uses(node):
                if value not in inside:
                    outer[value] = None
            for inner in node.blocks():
                walk(inner)
            inside.update(node.outputs())

    walk(body)
    return outer
