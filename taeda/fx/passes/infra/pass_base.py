"""`PassBase`: a pass over a graph module, with conditions before and after."""

from __future__ import annotations

import abc
from typing import NamedTuple

from taeda import nn
from taeda.fx.graph_module import GraphModule

__all__ = ["PassBase", "PassResult"]


class PassResult(NamedTuple):
    """What a pass gives: the module, and whether it is changed."""

    graph_module: nn.Module
    modified: bool


class PassBase(abc.ABC):
    """A pass: calling it checks `requires`, runs `call` and checks `ensures`."""

    def __call__(self, graph_module: GraphModule) -> PassResult | None:
        self.requires(graph_module)
        result = self.call(graph_module)
        self.ensures(graph_module)
        return result

    @abc.abstractmethod
    def call(self, graph_module: GraphModule) -> PassResult | None:
        """Does the work."""

    def requires(self, graph_module: GraphModule) -> None:  # noqa: B027
        """Raises where the pass cannot begin."""

    def ensures(self, graph_module: GraphModule) -> None:  # noqa: B027
        """Raises where the pass did not do what it promises."""
