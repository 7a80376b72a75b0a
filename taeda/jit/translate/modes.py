"""Contexts whose classes do nothing: what is entered by them is a mode of the thread that runs the program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taeda import _C

if TYPE_CHECKING:
    from taeda.jit.ir import Graph


def enter_modes(graph: Graph) -> None:
    """Has autocast entered and left where the graph enters and leaves its contexts.

    Their classes stand in archives, PyTorch's too, with methods that do nothing: there a pass casts tensors instead.
    """
    from taeda.jit.optimise.effects import enters_autocast

    for node in [n for kind in ("prim::Enter", "prim::Exit") for n in graph.findAllNodes(kind) if enters_autocast(n)]:
        if node.kind() == "prim::Exit":
            with graph.insert_point_guard(node):
                graph.emit("prim::leave_autocast", [], [], node.range)
            continue
        context = node.input()
        types = {name: type for name, type, _ in _C._class_attributes(context.static_type)}
        with graph.insert_point_guard(node.next()):
            said = [graph.emit("prim::GetAttr", [context], [types[name]], node.range, name=("s", name)).output()
                    for name in ("device", "_enabled", "fast_dtype")]  # fmt: skip
            graph.emit("prim::enter_autocast", said, [], node.range)
