"""`replace_pattern`: finds a computation in a graph and puts another in its place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from taeda import nn
from taeda.fx._symbolic_trace import symbolic_trace
from taeda.fx.graph import Graph
from taeda.fx.graph_module import GraphModule, _copy_attr
from taeda.fx.node import Node, map_arg, nodes_in
from taeda.fx.passes.utils.matcher_utils import InternalMatch, SubgraphMatcher
from taeda.utils import _pytree as pytree

__all__ = ["Match", "ReplacedPatterns", "replace_pattern", "replace_pattern_with_filters"]

_Pattern = Callable[..., Any] | nn.Module | Graph


class Match(NamedTuple):
    """Where a pattern was found.

    Attributes:
        anchor: the node at which the match ends.
        nodes_map: from the pattern's nodes to the graph's.
    """

    anchor: Node
    nodes_map: dict[Node, Any]


@dataclass
class ReplacedPatterns:
    """A match, and the nodes that took its place."""

    anchor: Node
    nodes_map: dict[Node, Any]
    replacements: list[Node] = field(default_factory=list)


def replace_pattern(
    gm: GraphModule, pattern: Callable[..., Any] | GraphModule, replacement: Callable[..., Any] | GraphModule
) -> list[Match]:
    """Replaces every occurrence of a computation in ``gm``, which it changes and recompiles.

    The pattern's parameters stand for any value, and become the replacement's parameters in order. Everything else must
    be equal: functions, methods, modules by class or path, and constants. What is between the pattern's inputs and
    outputs must not be used elsewhere. Occurrences do not overlap; the first one counts.

    Args:
        gm: the module.
        pattern: what to look for: a function, or a module's graph.
        replacement: what to put in its place.

    Returns:
        The matches.
    """
    replaced = replace_pattern_with_filters(gm, pattern, replacement)
    return [Match(one.anchor, one.nodes_map) for one in replaced]


def replace_pattern_with_filters(
    gm: GraphModule, pattern: _Pattern, replacement: _Pattern | None = None,
    match_filters: list[Callable[[InternalMatch, Graph, Graph], bool]] | None = None, ignore_literals: bool = False,
    replacement_callback: Callable[[InternalMatch, Graph, Graph], Graph] | None = None, node_name_match: str = "",
) -> list[ReplacedPatterns]:  # fmt: skip
    """`replace_pattern`, with a say in each match.

    Args:
        gm: the module.
        pattern: what to look for.
        replacement: what to put in its place.
        match_filters: a match counts if all of them, called with it, the graph and the pattern's graph, say so.
        ignore_literals: numbers and strings match any others.
        replacement_callback: makes the replacement from the match, the graph and the pattern's graph.
        node_name_match: only nodes whose names hold this text are matched.

    Raises:
        AssertionError: there is neither a replacement nor a callback, or the numbers of parameters or results differ.
    """
    sought = _graph_of(pattern)
    given = None if replacement is None else _graph_of(replacement)
    replaced: list[ReplacedPatterns] = []
    changed: dict[Node, Node] = {}
    matches = [
        m for m in SubgraphMatcher(sought, ignore_literals=ignore_literals).match(gm.graph, node_name_match)
        if all(accepts(m, gm.graph, sought) for accepts in match_filters or ())
    ]  # fmt: skip
    for match in matches:
        new = replacement_callback(match, gm.graph, sought) if replacement_callback is not None else given
        if new is None:
            raise AssertionError("taeda.fx.replace_pattern: pass a replacement or a replacement_callback")
        replaced.append(_replace(gm, match, sought, new, changed))
    if isinstance(replacement, nn.Module):
        for node in gm.graph.nodes:
            if node.op in ("call_module", "get_attr") and not _has(gm, str(node.target)):
                _copy_attr(replacement, gm, str(node.target))
        gm.delete_all_unused_submodules()
    gm.recompile()
    return replaced


def _graph_of(pattern: _Pattern) -> Graph:
    if isinstance(pattern, Graph):
        return pattern
    return pattern.graph if isinstance(pattern, GraphModule) else symbolic_trace(pattern).graph


def _has(module: Any, path: str) -> bool:
    for part in path.split("."):
        if not hasattr(module, part):
            return False
        module = getattr(module, part)
    return True


def _replace(
    gm: GraphModule, match: InternalMatch, sought: Graph, new: Graph, changed: dict[Node, Node]
) -> ReplacedPatterns:
    """Puts ``new`` in the place of a match. ``changed`` says what became of the results of earlier ones."""
    old_inputs = sought.find_nodes(op="placeholder")
    new_inputs = new.find_nodes(op="placeholder")
    if len(old_inputs) != len(new_inputs):
        raise AssertionError(
            f"taeda.fx.replace_pattern: the pattern has {len(old_inputs)} parameters, the replacement {len(new_inputs)}"
        )
    pairs = {node: map_arg(value, lambda n: changed.get(n, n)) for node, value in match.nodes_map.items()}
    values: dict[Node, Any] = {b: pairs.get(a) for a, b in zip(old_inputs, new_inputs, strict=True)}
    outputs = match.returning_nodes
    order = {node: i for i, node in enumerate(gm.graph.nodes)}
    given = nodes_in(list(values.values()))
    first = min(outputs, key=lambda node: order[node])
    latest = max(given, key=lambda node: order[node], default=None)
    at = first if latest is None or order[latest] < order[first] else latest.next
    with gm.graph.inserting_before(at):
        result = gm.graph.graph_copy(new, values)
    results = [leaf for leaf in pytree.tree_leaves(result) if isinstance(leaf, Node)]
    if len(results) != len(outputs):
        raise AssertionError(
            f"taeda.fx.replace_pattern: the pattern has {len(outputs)} results, the replacement {len(results)}"
        )
    for old, fresh in zip(outputs, results, strict=True):
        old.replace_all_uses_with(fresh)
        changed[old] = fresh
    inner = {value for node, value in match.nodes_map.items() if node.op != "placeholder"}
    for node in reversed(gm.graph.nodes):
        if node in inner and not node.users:
            gm.graph.erase_node(node)
    added = [values[node] for node in new.nodes if node in values and node.op not in ("placeholder", "output")]
    return ReplacedPatterns(match.anchors[0], match.nodes_map, added)
