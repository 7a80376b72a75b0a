"""A function of a program whose graph was recorded, not compiled."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from taeda.jit.check.function import MISSING, Function, Parameter
from taeda.jit.ir import Graph


class GraphFunction(Function):
    """A function that is a graph from the beginning.

    Args:
        graph: what it does; its inputs are the parameters. None if that is for ``shown`` to say.
        qualified_name: ``__torch__.package.name``.
        self_type: the class whose method it is.
        shown: makes the graph that people and archives see, when it is asked for first: the same with calls in it.
    """

    is_compiled = True

    def __init__(
        self, graph: Graph | None, qualified_name: str, self_type: Any = None, shown: Callable[[], Graph] | None = None
    ) -> None:
        super().__init__(None, None, qualified_name, self_type=self_type)  # type: ignore[arg-type]
        self._shown, self._row = shown, graph
        self._graph = graph if shown is None else None
        if graph is not None:
            self._describe(graph)

    def _describe(self, graph: Graph) -> None:
        self._parameters = []
        for value in graph.inputs():
            name = re.sub(r"\.\d+$", "", value.debugName())  # a value within may have taken the name itself
            if any(p.name == name for p in self._parameters):
                name = value.debugName().replace(".", "_")
            self._parameters.append(Parameter(name, value.static_type, MISSING, False, None))
        self._declared_result = graph.return_node().inputsAt(0).static_type

    def compile(self) -> None:
        """Makes the graph, unless it is."""
        if self._graph is None and self._shown is not None:
            self._graph, self._shown = self._shown(), None
            self._describe(self._graph)

    def parameters(self) -> list[Parameter]:
        """Its parameters, the object of a method first."""
        if self._parameters is None:
            self.compile()
        return super().parameters()

    def set_graph(self, graph: Graph) -> None:
        """Gives it a graph that was made elsewhere."""
        super().set_graph(graph)
        self._row = self._shown = None

    @property
    def run_graph(self) -> Graph:
        """What runs."""
        return self.graph if self._row is None else self._row
