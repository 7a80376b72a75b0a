"""A function of a program whose graph was recorded, not compiled."""

from __future__ import annotations

import re
from typing import Any

from taeda.jit.check.function import MISSING, Function, Parameter
from taeda.jit.ir import Graph


class GraphFunction(Function):
    """A function that is a graph from the beginning.

    Args:
        graph: what it does; its inputs are the parameters.
        qualified_name: ``__torch__.package.name``.
        self_type: the class whose method it is.
    """

    def __init__(self, graph: Graph, qualified_name: str, self_type: Any = None) -> None:
        super().__init__(None, None, qualified_name, self_type=self_type)  # type: ignore[arg-type]
        self._graph = graph
        self._parameters = []
        for value in graph.inputs():
            name = re.sub(r"\.\d+$", "", value.debugName())  # a value within may have taken the name itself
            if any(p.name == name for p in self._parameters):
                name = value.debugName().replace(".", "_")
            self._parameters.append(Parameter(name, value.static_type, MISSING, False, None))
        self._declared_result = graph.return_node().inputsAt(0).static_type
