"""A tracer that notes in which module each node was made."""

from __future__ import annotations

from typing import Any

from taeda import fx, nn
from taeda.ao.nn.intrinsic.modules.fused import _FusedModule


class QuantizationTracer(fx.Tracer):
    """Calls of library modules stay calls; so do those of modules that are named, or of classes that are given.

    ``node_name_to_scope`` has the path and class of the module that each node was made in.
    """

    def __init__(self, skipped_module_names: list[str], skipped_module_classes: list[Any]) -> None:
        super().__init__()
        self.record_stack_traces = True
        self.skipped_module_names, self.skipped_module_classes = skipped_module_names, skipped_module_classes
        self.node_name_to_scope: dict[str, tuple[str, Any]] = {}
        self._open: list[tuple[str, Any]] = [("", None)]

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        """Whether a call of ``m`` is a node of its own."""
        return (
            (
                m.__module__.startswith(("torch.nn", "taeda.nn", "taeda.ao.nn", "torch.ao.nn"))
                and type(m) is not nn.Sequential
            )
            or module_qualified_name in self.skipped_module_names
            or type(m) in self.skipped_module_classes
            or isinstance(m, _FusedModule)
        )

    def call_module(self, m: nn.Module, forward: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Goes into ``m``, or makes a node of the call."""
        self._open.append((self.path_of_module(m), type(m)))
        try:
            return super().call_module(m, forward, args, kwargs)
        finally:
            self._open.pop()

    def create_node(self, *args: Any, **kwargs: Any) -> fx.Node:
        """A node, whose scope is noted."""
        node = super().create_node(*args, **kwargs)
        self.node_name_to_scope[node.name] = self._open[-1]
        return node
