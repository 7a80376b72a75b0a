"""What passes share: parts of graphs as modules, and matching of graphs."""

from taeda.fx.passes.utils.common import HolderModule, compare_graphs, lift_subgraph_as_module

__all__ = ["HolderModule", "compare_graphs", "lift_subgraph_as_module"]
