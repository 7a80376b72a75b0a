"""Which graph is being recorded, and what belongs to it."""

from __future__ import annotations

from typing import Any

from taeda import nn
from taeda.fx.graph import Graph
from taeda.fx.node import Node


class Scope:
    """A graph that is being recorded; that of a branch or loop stands in another's."""

    def __init__(self, graph: Graph, outer: Scope | None) -> None:
        self.graph, self.outer = graph, outer
        self.nodes: dict[int, Node] = {}  # by the ids of tensors
        self.lifted: dict[Node, Node] = {}  # nodes of the outer graph, and the inputs that they are here

    def root(self) -> Scope:
        """The outermost."""
        return self if self.outer is None else self.outer.root()

    def find(self, key: int) -> Node | None:
        """The node of a tensor; one of an outer graph becomes an input of this one."""
        node = self.nodes.get(key)
        if node is None and self.outer is not None:
            outside = self.outer.find(key)
            if outside is not None:
                node = self.nodes[key] = self.local(outside)
        return node

    def placeholder(self, name: str) -> Node:
        """An input of this graph; of another name if one has it already."""
        node = self.graph.placeholder(name)
        node.target = node.name
        return node

    def sees(self, node: Node) -> bool:
        """Whether a node is of this graph or of one around it."""
        return node.graph is self.graph or (self.outer is not None and self.outer.sees(node))

    def local(self, node: Node) -> Node:
        """A node as one of this graph."""
        if node.graph is self.graph:
            return node
        assert self.outer is not None
        outside = self.outer.local(node)
        if outside not in self.lifted:
            before = next((n for n in self.graph.nodes if n.op != "placeholder"), None)
            with self.graph.inserting_before(before):
                self.lifted[outside] = self.placeholder(outside.name)
            self.lifted[outside].meta.update(outside.meta)
        return self.lifted[outside]


def holder(modules: dict[str, Any]) -> nn.Module:
    """A module that has others by name."""
    root = nn.Module()
    for name, module in modules.items():
        root.add_module(name, module)
    return root
