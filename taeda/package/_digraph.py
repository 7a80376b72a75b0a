"""Directed graphs: what needs what."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


class DiGraph:
    """Nodes with attributes, and edges between them. Anything hashable is a node."""

    def __init__(self) -> None:
        self._node: dict[Any, dict[str, Any]] = {}
        self._next: dict[Any, dict[Any, None]] = {}  # as sets that remember the order
        self._previous: dict[Any, dict[Any, None]] = {}

    def add_node(self, n: Any, **kwargs: Any) -> None:
        """Adds a node, or attributes to one that is there."""
        self._node.setdefault(n, {}).update(kwargs)
        self._next.setdefault(n, {})
        self._previous.setdefault(n, {})

    def add_edge(self, u: Any, v: Any) -> None:
        """Adds an edge, and its nodes if need be."""
        self.add_node(u)
        self.add_node(v)
        self._next[u][v] = self._previous[v][u] = None

    def successors(self, n: Any) -> Iterator[Any]:
        """Where edges from a node lead; ValueError if there is no such node."""
        return iter(self._neighbours(self._next, n))

    def predecessors(self, n: Any) -> Iterator[Any]:
        """Where edges to a node come from; ValueError if there is no such node."""
        return iter(self._neighbours(self._previous, n))

    def _neighbours(self, edges: dict[Any, dict[Any, None]], n: Any) -> list[Any]:
        if n not in self:
            raise ValueError(f"taeda.package: {n!r} is not a node of the graph")
        return list(edges[n])

    @property
    def edges(self) -> Iterator[tuple[Any, Any]]:
        """All edges, as pairs."""
        return ((u, v) for u, following in self._next.items() for v in following)

    @property
    def nodes(self) -> dict[Any, dict[str, Any]]:
        """The attributes of the nodes."""
        return self._node

    def __iter__(self) -> Iterator[Any]:
        return iter(self._node)

    def __contains__(self, n: Any) -> bool:
        try:
            return n in self._node
        except TypeError:  # what has no hash is no node
            return False

    def forward_transitive_closure(self, src: Any) -> set[Any]:
        """A node, and all that can be reached from it."""
        return _reached(src, self.successors)

    def backward_transitive_closure(self, src: Any) -> set[Any]:
        """A node, and all from which it can be reached."""
        return _reached(src, self.predecessors)

    def all_paths(self, src: Any, dst: Any) -> str:
        """The part of the graph on the ways from one node to another, in the dot language."""
        between = self.forward_transitive_closure(src) & self.backward_transitive_closure(dst)
        part = DiGraph()
        for u, v in self.edges:
            if u in between and v in between:
                part.add_edge(u, v)
        return part.to_dot()

    def first_path(self, dst: Any) -> list[Any]:
        """A way to a node from one that nothing leads to, as far as there is one: always by the first edge."""
        path = [dst]
        while (before := next(self.predecessors(path[0]), None)) is not None and before not in path:
            path.insert(0, before)
        return path

    def to_dot(self) -> str:
        """The graph in the dot language, in which other programs draw it."""
        edges = "\n".join(f'"{u}" -> "{v}";' for u, v in self.edges)
        return f"digraph G {{\nrankdir = LR;\nnode [shape=box];\n{edges}\n}}\n"


def _reached(start: Any, neighbours: Any) -> set[Any]:
    found, waiting = {start}, [start]
    while waiting:
        new = [n for n in neighbours(waiting.pop()) if n not in found]
        found.update(new)
        waiting += new
    return found
