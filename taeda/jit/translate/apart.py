"""Calls that are graphs of their own, brought into the graph around them: futures, and what is awaited."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from taeda.jit.ir import Graph, Node

_WAITS = {"prim::fork": "aten::wait", "prim::awaitable": "prim::awaitable_wait"}


def run_in_place(graph: Graph) -> None:
    """Brings them in. What is forked runs where the fork is; what is awaited where it is waited for, if that is one
    place, else where it is made. A future is its value."""
    found = True
    while found:  # those in what was brought in, too
        nodes = [node for kind in _WAITS for node in graph.findAllNodes(kind)]
        found = bool(nodes)
        for node in nodes:
            _bring_in(node)


def _bring_in(node: Node) -> None:
    graph, future, wait = node.owningGraph(), node.output(), _WAITS[node.kind()]
    users = [use.user for use in future.uses()]
    is_lazy = node.kind() == "prim::awaitable"
    if is_lazy and not users:
        node.destroy()
        return
    place = users[0] if is_lazy and len(users) == 1 and _comes_once(users[0], node, wait) else node
    with graph.insert_point_guard(place):
        (result,) = graph.insertGraph(node.g("Subgraph"), list(node.inputs()))
        held = graph.emit("prim::unchecked_cast", [result], [future.static_type], node.range).output()
    for user in users:
        if user.kind() == wait:
            user.output().replaceAllUsesWith(result)
            user.destroy()
    future.replaceAllUsesWith(held)
    node.destroy()
    if not held.hasUses():
        held.node().destroy()


def _comes_once(wait: Node, made: Node, kind: str) -> bool:
    """Whether a node is a wait that runs at most once for each time that the other runs: no loop is between them."""
    block = wait.owningBlock()
    while block is not made.owningBlock():
        owner = block.owningNode()
        if owner is None or owner.kind() != "prim::If":
            return False
        block = owner.owningBlock()
    return wait.kind() == kind
