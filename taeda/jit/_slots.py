"""Slots of objects of a program."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from taeda.jit._ir_types import contained_in

_MUTABLE = ("ListType", "DictType")


def share(source: Any, target: Any, names: Iterable[str]) -> None:
    """Has an object hold the same lists and dicts as another; what Python reads and sets are copies of them."""
    from taeda import _C
    from taeda.jit._run import runnable
    from taeda.jit.ir import Graph
    from taeda.jit.tracing.function import GraphFunction

    there = {name: type for name, type, _ in _C._class_attributes(source.type()) if name in set(names)}
    mutable = [name for name, type in there.items() if contained_in(type, lambda t: t.kind() in _MUTABLE)]
    if not mutable:
        return
    graph = Graph()
    first, second = graph.addInput("source", source.type()), graph.addInput("target", target.type())
    for name in mutable:
        held = graph.emit("prim::GetAttr", [first], [there[name]], name=("s", name)).output()
        graph.emit("prim::SetAttr", [second, held], [], name=("s", name))
    graph.registerOutput(graph.insertConstant(None))
    runnable(GraphFunction(graph, "__torch__.share"))(source, target)
