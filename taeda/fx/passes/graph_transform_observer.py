"""`GraphTransformObserver`: which nodes a pass made and erased."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any, ClassVar

from taeda.fx.graph_module import GraphModule

__all__ = ["GraphTransformObserver"]


class GraphTransformObserver:
    """Within ``with GraphTransformObserver(gm, "name") as observer:`` changes of the graph are noted.

    Attributes:
        created_nodes: names of nodes that are new, known at the end.
        erased_nodes: names of nodes that are gone.
    """

    _passes: ClassVar[int] = 0

    def __init__(
        self, gm: GraphModule, passname: str, subsystem: str | None = None, log_url: str | None = None
    ) -> None:
        self.gm, self.passname, self.subsystem, self.log_url = gm, passname, subsystem, log_url
        self.created_nodes: set[str] = set()
        self.erased_nodes: set[str] = set()
        self.name_to_node: dict[str, Any] = {}
        GraphTransformObserver._passes += 1

    @classmethod
    def get_current_pass_count(cls) -> int:
        """How many passes were observed in this process."""
        return cls._passes

    def apply_gm_pass(self, pass_fn: Callable[[GraphModule], Any]) -> Any:
        """Observes a pass over the module."""
        with self:
            return pass_fn(self.gm)

    def apply_graph_pass(self, pass_fn: Callable[[Any], Any]) -> Any:
        """Observes a pass over the graph."""
        with self:
            return pass_fn(self.gm.graph)

    def __enter__(self) -> GraphTransformObserver:
        self._before = {node.name: node for node in self.gm.graph.nodes}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.name_to_node = {node.name: node for node in self.gm.graph.nodes}
        self.created_nodes |= {n for n, node in self.name_to_node.items() if self._before.get(n) is not node}
        self.erased_nodes |= {n for n, node in self._before.items() if self.name_to_node.get(n) is not node}
