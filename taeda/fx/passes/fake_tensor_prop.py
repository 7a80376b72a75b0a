"""`FakeTensorProp`: what a graph's values are but their elements, by running it on fake tensors."""

from __future__ import annotations

from typing import Any

from taeda import Tensor
from taeda._library.fake_tensor import FakeTensorMode
from taeda.fx.graph_module import GraphModule
from taeda.fx.interpreter import Interpreter
from taeda.fx.node import Node, map_aggregate
from taeda.fx.passes.shape_prop import _extract_tensor_metadata

__all__ = ["FakeTensorProp"]


class FakeTensorProp(Interpreter):
    """Notes in ``meta["val"]`` of each node a fake tensor like its result, and in ``meta["tensor_meta"]`` what it is.

    Args:
        module: the module.
        mode: the mode of the fake tensors; a new one if None.
    """

    def __init__(self, module: GraphModule, mode: Any = None) -> None:
        super().__init__(module)
        self._mode = FakeTensorMode(allow_non_fake_inputs=True) if mode is None else mode

    def run_node(self, n: Node) -> Any:
        result = super().run_node(n)
        tensors: list[Tensor] = []

        def described(leaf: Any) -> Any:
            if isinstance(leaf, Tensor):
                tensors.append(leaf)
                return _extract_tensor_metadata(leaf)
            return leaf

        meta = map_aggregate(result, described)
        if tensors:
            n.meta["val"] = map_aggregate(result, lambda leaf: leaf)
            n.meta["tensor_meta"] = meta
        elif isinstance(result, (int, float, bool)):
            n.meta["val"] = result
        return result

    def propagate(self, *args: Any) -> Any:
        """Runs the graph on fake tensors like the arguments and returns its result."""
        fakes = [self._mode.from_tensor(a) if isinstance(a, Tensor) else a for a in args]
        return self.propagate_dont_convert_inputs(*fakes)

    def propagate_dont_convert_inputs(self, *args: Any) -> Any:
        """Runs the graph on fake tensors."""
        with self._mode:
            return super().run(*args)
