"""`replace_pattern`: finds a computation in a graph and puts another in its place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from taeda.fx._symbolic_trace import symbolic_trace
from taeda.fx.graph import Graph
from taeda.fx.graph_module import GraphModule, _copy_attr
from taeda.fx.node import Argument, Node, nodes_in

__all__ = ["Match", "ReplacedPatterns", "replace_pattern", "replace_pattern_with_filters"]

_Pattern = Callable[..., Any] | Graph | GraphModule


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
    match_filters: list[Callable[[Match, Graph, Graph], bool]] | None = None, ignore_literals: bool = False,
    replacement_callback: Callable[[Match, Graph, Graph], Graph] | None = None,
) -> list[ReplacedPatterns]:  # fmt: skip
    """`replace_pattern`, with a say in each match.

    Args:
        gm: the module.
        pattern: what to look for.
        replacement: what to put in its place.
        match_filters: a match counts if all of them, called with it, the graph and the pattern's graph, say so.
        ignore_literals: numbers and strings match any others.
        replacement_callback: makes the replacement from the match, the graph and the pattern's graph.

    Raises:
        AssertionError: there is neither a replacement nor a callback, or the numbers of parameters or results differ.
    """
    sought = _graph_of(pattern)
    given = None if replacement is None else _graph_of(replacement)
    replaced: list[ReplacedPatterns] = []
    changed: dict[Node, Node] = {}
    matches = [
        m for m in _matches(gm, sought, pattern, ignore_literals)
        if all(accepts(m, gm.graph, sought) for accepts in match_filters or ())
    ]  # fmt: skip
    for match in matches:
        new = replacement_callback(match, gm.graph, sought) if replacement_callback is not None else given
        if new is None:
            raise AssertionError("taeda.fx.replace_pattern: pass a replacement or a replacement_callback")
        replaced.append(_replace(gm, match, sought, new, changed))
    if isinstance(replacement, GraphModule):
        for node in gm.graph.nodes:
            if node.op in ("call_module", "get_attr") and not _has(gm, str(node.target)):
                _copy_attr(replacement, gm, str(node.target))
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


# Finding


class _Matcher:
    """Compares a pattern with the graph of a module, from the results backwards."""

    def __init__(self, gm: GraphModule, pattern_module: Any, ignore_literals: bool) -> None:
        self.gm = gm
        self.pattern_module = pattern_module
        self.ignore_literals = ignore_literals

    def argument(self, sought: Argument, found: Argument, pairs: dict[Node, Any]) -> bool:
        """Whether the arguments agree; adds the nodes that belong together to ``pairs``."""
        if isinstance(sought, Node):
            return self.node(sought, found, pairs)
        if isinstance(found, Node):
            return False
        if isinstance(sought, (list, tuple)):
            return (
                isinstance(found, (list, tuple))
                and len(sought) == len(found)
                and all(self.argument(a, b, pairs) for a, b in zip(sought, found, strict=True))
            )
        if isinstance(sought, dict):
            return (
                isinstance(found, dict)
                and sought.keys() == found.keys()
                and all(self.argument(value, found[key], pairs) for key, value in sought.items())
            )
        if isinstance(sought, slice):
            return isinstance(found, slice) and all(
                self.argument(getattr(sought, part), getattr(found, part), pairs) for part in ("start", "stop", "step")
            )
        return self.ignore_literals or (type(sought) is type(found) and bool(sought == found))

    def node(self, sought: Node, found: Argument, pairs: dict[Node, Any]) -> bool:
        """Whether what a pattern's node computes is what ``found`` is."""
        if sought in pairs:
            return pairs[sought] is found
        if sought.op == "placeholder":
            pairs[sought] = found
            return True
        if not isinstance(found, Node) or sought.op != found.op or found in pairs.values():
            return False
        if not self.target(sought, found):
            return False
        pairs[sought] = found
        return self.argument(sought.args, found.args, pairs) and self.argument(sought.kwargs, found.kwargs, pairs)

    def target(self, sought: Node, found: Node) -> bool:
        if sought.op == "call_module" and self.pattern_module is not None:
            kinds = [type(m.get_submodule(str(n.target))) for m, n in ((self.pattern_module, sought), (self.gm, found))]
            return kinds[0] is kinds[1]
        return sought.target == found.target


def _matches(gm: GraphModule, sought: Graph, pattern: _Pattern, ignore_literals: bool) -> Iterator[Match]:
    """The matches that do not overlap, in order."""
    module = pattern if isinstance(pattern, GraphModule) else None
    matcher = _Matcher(gm, module, ignore_literals)
    ends = nodes_in(sought.output_node().args)
    inner = {node for node in sought.nodes if node.op not in ("placeholder", "output")}
    taken: set[Node] = set()
    for anchor in gm.graph.nodes:
        if not ends or anchor in taken or anchor.op == "output":
            continue
        pairs = _pair_ends(matcher, gm.graph, ends, anchor)
        if pairs is None:
            continue
        within = {pairs[node] for node in inner if node in pairs}
        outputs = {pairs[node] for node in ends}
        leaks = any(user not in within for node in within - outputs for user in node.users)
        if within & taken or leaks or len(within) < len(inner & set(pairs)):
            continue
        taken |= within
        yield Match(pairs[ends[0]], pairs)


def _pair_ends(matcher: _Matcher, graph: Graph, ends: list[Node], anchor: Node) -> dict[Node, Any] | None:
    """The pairs with the pattern's first result at ``anchor`` and the others wherever they fit."""
    pairs: dict[Node, Any] = {}
    if ends[0].op == "placeholder" or not matcher.node(ends[0], anchor, pairs):
        return None
    for end in ends[1:]:
        if end in pairs:
            continue
        for candidate in graph.nodes:
            attempt = dict(pairs)
            if matcher.node(end, candidate, attempt):
                pairs = attempt
                break
        else:
            return None
    return pairs


# Replacing


def _replace(gm: GraphModule, match: Match, sought: Graph, new: Graph, changed: dict[Node, Node]) -> ReplacedPatterns:
    """Puts ``new`` in the place of a match. ``changed`` says what became of the results of earlier ones."""
    old_inputs = sought.find_nodes(op="placeholder")
    new_inputs = new.find_nodes(op="placeholder")
    if len(old_inputs) != len(new_inputs):
        raise AssertionError(
            f"taeda.fx.replace_pattern: the pattern has {len(old_inputs)} parameters, the replacement {len(new_inputs)}"
        )
    pairs = {
        node: changed.get(value, value) if isinstance(value, Node) else value for node, value in match.nodes_map.items()
    }
    values: dict[Node, Any] = {b: pairs.get(a) for a, b in zip(old_inputs, new_inputs, strict=True)}
    outputs = [match.nodes_map[node] for node in nodes_in(sought.output_node().args)]
    order = {node: i for i, node in enumerate(gm.graph.nodes)}
    given = [value for value in values.values() if isinstance(value, Node)]
    first = min(outputs, key=lambda node: order[node])
    latest = max(given, key=lambda node: order[node], default=None)
    at = first if latest is None or order[latest] < order[first] else latest.next
    with gm.graph.inserting_before(at):
        result = gm.graph.graph_copy(new, values)
    results = nodes_in(result)
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
    return ReplacedPatterns(match.anchor, match.nodes_map, added)
