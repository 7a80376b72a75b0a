"""Inlining: a call of a known function or method becomes its nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from taeda.jit.ir import Graph, Node

_DEEPEST = 200


def inline_calls(graph: Graph) -> bool:
    """Puts the nodes of functions and methods in place of their calls. Whether it changed the graph.

    A call of an interface's method stays, for what it calls is known only when the program runs; so does one of a
    function that is being inlined already.
    """
    return _inline(list(graph.all_nodes()), ())


def _inline(nodes: list[Node], path: tuple[Any, ...]) -> bool:
    changed = False
    for node in nodes:
        target = callee(node)
        if target is None or target in path or len(path) > _DEEPEST:
            continue
        _inline(_splice(node, target), (*path, target))
        changed = True
    return changed


def callee(node: Node) -> Graph | None:
    """The graph of what a node calls, if that is known."""
    if node.kind() == "prim::CallFunction":
        function = getattr(node.inputsAt(0).static_type, "function", None)
        return getattr(function, "graph", None)
    if node.kind() == "prim::CallMethod":
        from taeda.jit.check.classes import method_graph

        return method_graph(node.inputsAt(0).static_type, node.s("name"))
    return None


def _splice(call: Node, target: Graph) -> list[Node]:
    """Puts a copy of ``target`` in place of a call; the copied nodes, those of blocks too."""
    graph = call._graph
    first = 1 if call.kind() == "prim::CallFunction" else 0
    with graph.insert_point_guard(call):
        before = call.prev()
        results = graph.insertGraph(target, call._inputs[first:])
    scope = f"{call.scope}/{_name(call)}" if call.scope else _name(call)
    copied = []
    node = before.next()
    while node is not call:
        copied.append(node)
        copied += [inner for block in node.blocks() for inner in block.all_nodes()]
        node = node.next()
    for node in copied:
        if not call.scope or not node.scope.startswith(call.scope):  # as in traces, where it begins at the outermost
            node.scope = scope if not node.scope else f"{scope}/{node.scope}"
    for output, value in zip(call._outputs, results, strict=True):
        output.replaceAllUsesWith(value)
    function = call.inputsAt(0).node() if first else None
    call.destroy()
    if function is not None and not function.hasUses():
        function.destroy()
    return copied


def _name(call: Node) -> str:
    if call.kind() == "prim::CallMethod":
        return f"{call.inputsAt(0).static_type.str().rpartition('.')[2]}.{call.s('name')}"
    return str(call.inputsAt(0).static_type.function.name)  # type: ignore[attr-defined]


def inline_forks(graph: Graph, wanted: Callable[[Node], bool] = lambda fork: True) -> bool:
    """Puts what was to run aside where it was begun; of forks that are wanted alone. Whether there was anything."""
    changed = False
    for fork in graph.findAllNodes("prim::fork"):
        users = fork.output()._users
        if any(user.kind() != "aten::wait" for user in users) or not wanted(fork):
            continue  # what waits for it is not known
        with graph.insert_point_guard(fork):
            results = graph.insertGraph(fork.g("Subgraph"), list(fork.inputs()))
        for wait in list(users):
            wait.output().replaceAllUsesWith(results[0])
            wait.destroy()
        fork.destroy()
        changed = True
    return changed
