"""Parts of graphs as modules, and whether two graphs do the same."""

from __future__ import annotations

import operator
from typing import Any

from taeda import nn
from taeda.fx.graph import Graph
from taeda.fx.graph_module import GraphModule
from taeda.fx.node import Node
from taeda.fx.passes.utils.matcher_utils import SubgraphMatcher

__all__ = ["HolderModule", "compare_graphs", "lift_subgraph_as_module"]


class HolderModule(nn.Module):
    """A module that has others by name."""

    def __init__(self, d: dict[str, nn.Module]) -> None:
        super().__init__()
        for name, module in d.items():
            self.add_module(name, module)


def lift_subgraph_as_module(
    gm: Any, subgraph: Graph, comp_name: str = "", class_name: str = "GraphModule"
) -> tuple[GraphModule, dict[str, str]]:
    """A module of a graph that names what ``gm`` has, which it shares.

    Returns:
        The module; and by the path of each parameter or module in ``gm`` its path there, below ``comp_name``.
    """
    root = HolderModule({})
    paths: dict[str, str] = {}
    for node in subgraph.nodes:
        if node.op not in ("call_module", "get_attr"):
            continue
        target = str(node.target)
        *path, name = target.split(".")
        owner: Any = root
        for part in path:
            if not hasattr(owner, part):
                owner.add_module(part, HolderModule({}))
            owner = getattr(owner, part)
        value = operator.attrgetter(target)(gm)
        if not hasattr(owner, name):
            _set(owner, name, value)
        paths[target] = f"{comp_name}.{target}" if comp_name else target
    return GraphModule(root, subgraph, class_name), paths


def _set(owner: nn.Module, name: str, value: Any) -> None:
    from taeda.fx.graph_module import _put

    _put(owner, name, value)


def compare_graphs(left: Graph, right: Graph) -> bool:
    """Whether two graphs call the same on the same, whatever their nodes are called."""
    matches = SubgraphMatcher(left, match_output=True, match_placeholder=True).match(right)
    return bool(matches) and _count(left) == _count(right)


def _count(graph: Graph) -> int:
    return sum(isinstance(node, Node) for node in graph.nodes)
