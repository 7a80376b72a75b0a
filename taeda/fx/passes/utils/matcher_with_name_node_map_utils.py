"""A matcher whose pattern names some of its nodes."""

from __future__ import annotations

from taeda.fx._python_code import _PyTreeCodeGen
from taeda.fx.graph import Graph
from taeda.fx.graph_module import GraphModule
from taeda.fx.node import Node
from taeda.fx.passes.utils.matcher_utils import InternalMatch, SubgraphMatcher
from taeda.utils import _pytree as pytree

__all__ = ["SubgraphMatcherWithNameNodeMap"]


class SubgraphMatcherWithNameNodeMap(SubgraphMatcher):
    """Matches a pattern that returns its results and, last, a dict of nodes by name; ``name_node_map`` of a match has
    the nodes of the graph by these names.

    Args:
        pattern_gm: the pattern as a module.
        match_output, match_placeholder, remove_overlapping_matches, ignore_literals: see `SubgraphMatcher`.
    """

    def __init__(
        self, pattern_gm: GraphModule, match_output: bool = False, match_placeholder: bool = False,
        remove_overlapping_matches: bool = True, ignore_literals: bool = False,
    ) -> None:  # fmt: skip
        pattern, self.name_node_map = _split_to_graph_and_name_node_map(pattern_gm)
        self.pattern_gm = pattern
        super().__init__(pattern.graph, match_output, match_placeholder, remove_overlapping_matches, ignore_literals)

    def match(self, graph: Graph, node_name_match: str = "") -> list[InternalMatch]:
        found = super().match(graph, node_name_match)
        for match in found:
            for name, node in self.name_node_map.items():
                match.name_node_map[name] = match.nodes_map[node]
        return found


def _split_to_graph_and_name_node_map(gm: GraphModule) -> tuple[GraphModule, dict[str, Node]]:
    """The pattern without the dict among its results, and the dict."""
    names: dict[str, Node] = {}
    for node in gm.graph.nodes:
        if node.op == "output":
            given, codegen = node.args[0], gm.graph._codegen
            nested = isinstance(codegen, _PyTreeCodeGen) and codegen.pytree_info.out_spec is not None
            if nested:  # the graph of an exported program returns a flat tuple
                given = codegen.process_outputs(given)
            *results, last = given if isinstance(given, (tuple, list)) else (given,)
            if not isinstance(last, dict):
                raise AssertionError(
                    "taeda.fx.SubgraphMatcherWithNameNodeMap: the pattern must return a dict of nodes by name, last; "
                    f"got {type(last).__name__}"
                )
            names = dict(last)
            if nested:
                kept, spec = pytree.tree_flatten(tuple(results))
                codegen.pytree_info = codegen.pytree_info._replace(out_spec=spec)  # type: ignore[attr-defined]
                node.args = (tuple(kept),)
                continue
            kept = [r for r in results if isinstance(r, Node)]
            node.args = (tuple(kept),) if len(kept) != 1 else (kept[0],)
    gm.recompile()
    return gm, names
