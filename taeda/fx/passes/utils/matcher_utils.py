"""`SubgraphMatcher`: where a pattern's graph occurs in another."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

from taeda.fx.graph import Graph
from taeda.fx.node import Node
from taeda.fx.passes.tools_common import validate_partition

__all__ = ["InternalMatch", "SubgraphMatcher"]


@dataclass
class InternalMatch:
    """A match.

    Attributes:
        anchors: the nodes of the graph where the pattern ends.
        nodes_map: from the pattern's nodes to the graph's, or to constants for the pattern's inputs.
        placeholder_nodes: what stands for the pattern's inputs, in order.
        returning_nodes: what the pattern returns.
        name_node_map: nodes by the names that the pattern gave them.
    """

    anchors: list[Node]
    nodes_map: dict[Node, Any] = field(default_factory=dict)
    placeholder_nodes: list[Any] = field(default_factory=list)
    returning_nodes: list[Node] = field(default_factory=list)
    name_node_map: dict[str, Node] = field(default_factory=dict)

    def __copy__(self) -> InternalMatch:
        return InternalMatch(
            list(self.anchors), dict(self.nodes_map), list(self.placeholder_nodes), list(self.returning_nodes),
            dict(self.name_node_map),
        )  # fmt: skip


class SubgraphMatcher:
    """Finds a pattern in graphs: its inputs stand for anything, all else has to be equal.

    Args:
        pattern: the graph to look for.
        match_output: the match's results are the graph's.
        match_placeholder: the pattern's inputs are the graph's.
        remove_overlapping_matches: leave out matches that share a node with an earlier one.
        ignore_literals: numbers and texts equal any others.

    Raises:
        ValueError: the pattern is empty.
    """

    def __init__(
        self, pattern: Graph, match_output: bool = False, match_placeholder: bool = False,
        remove_overlapping_matches: bool = True, ignore_literals: bool = False,
    ) -> None:  # fmt: skip
        self.pattern = pattern
        self.match_output, self.match_placeholder = match_output, match_placeholder
        self.remove_overlapping_matches, self.ignore_literals = remove_overlapping_matches, ignore_literals
        if not len(pattern.nodes):
            raise ValueError("taeda.fx.SubgraphMatcher: the pattern is empty")
        for node in pattern.nodes:
            if not node.users and not node.is_impure():
                raise AssertionError(f"taeda.fx.SubgraphMatcher: nobody uses {node} of the pattern")
        self.pattern_placeholder_nodes = [n for n in pattern.nodes if n.op == "placeholder"]
        output = pattern.output_node()
        self.pattern_returning_nodes: list[Node] = output.all_input_nodes
        ends = [n for n in self.pattern_returning_nodes if len(n.users) == 1]
        self.pattern_anchors: list[Node] = [output] if match_output else ends or self.pattern_returning_nodes[:1]

    def match(self, graph: Graph, node_name_match: str = "") -> list[InternalMatch]:
        """The matches, in the order of the nodes at which they end.

        Args:
            graph: where to look.
            node_name_match: a text that the name of the node at the end has; any if empty.
        """
        candidates = {anchor: [n for n in graph.nodes if self._agree(anchor, n)] for anchor in self.pattern_anchors}
        for anchor in candidates if node_name_match else ():
            candidates[anchor] = [n for n in candidates[anchor] if node_name_match in n.name]
        found = self._pair(list(candidates.items()), InternalMatch([]))
        matches = [match for match in found if self._is_whole(match)]
        return self._without_overlaps(matches) if self.remove_overlapping_matches else matches

    def _pair(self, anchors: list[tuple[Node, list[Node]]], begun: InternalMatch) -> list[InternalMatch]:
        """All ways to place the anchors."""
        if not anchors:
            return [begun]
        (anchor, nodes), *rest = anchors
        found: list[InternalMatch] = []
        for node in nodes:
            attempt = copy.copy(begun)
            attempt.anchors.append(node)
            if self._match_nodes(anchor, node, attempt):
                found += self._pair(rest, attempt)
        return found

    # --- nodes

    def _agree(self, sought: Node, node: Node) -> bool:
        """Whether two nodes do the same, their arguments aside."""
        if not self.match_placeholder and sought.op == "placeholder":
            return True
        if sought.op != node.op:
            return False
        if sought.op in ("placeholder", "output"):
            return True
        if sought.op == "get_attr":
            return self._same_attribute(sought, node)
        if sought.op == "call_module":
            return self._same_module(sought, node)
        return sought.target == node.target

    @staticmethod
    def _same_attribute(sought: Node, node: Node) -> bool:
        kinds = []
        for one in (sought, node):
            found: Any = one.graph.owning_module
            for part in str(one.target).split("."):
                found = getattr(found, part, None)
            kinds.append(type(found))
        return kinds[0] is kinds[1]

    @staticmethod
    def _same_module(sought: Node, node: Node) -> bool:
        owners = sought.graph.owning_module, node.graph.owning_module
        if None in owners:
            return sought.target == node.target
        kinds = [type(o.get_submodule(str(n.target))) for o, n in zip(owners, (sought, node), strict=True)]
        return kinds[0] is kinds[1]

    def _match_nodes(self, sought: Node, node: Node, match: InternalMatch) -> bool:
        """Whether what the pattern computes at ``sought`` is what ``node`` is; notes the pairs. No recursion, since
        graphs are deep."""
        open_: list[tuple[Any, Any]] = [(sought, node)]
        taken = {id(value) for value in match.nodes_map.values() if isinstance(value, Node)}
        while open_:
            a, b = open_.pop()
            if not isinstance(a, Node):
                if isinstance(b, Node) or not (self.ignore_literals or (type(a) is type(b) and a == b)):
                    return False
                continue
            if a in match.nodes_map:
                known = match.nodes_map[a]
                if known is not b and (isinstance(known, Node) or isinstance(b, Node) or known != b):
                    return False
                continue
            if not isinstance(b, Node):
                if a.op != "placeholder" or self.match_placeholder:
                    return False
                match.nodes_map[a] = b
                continue
            if not self._agree(a, b) or (a.op != "placeholder" and id(b) in taken):
                return False
            match.nodes_map[a] = b
            if a.op == "placeholder":
                continue
            taken.add(id(b))
            pairs = self._arguments(a, b)
            if pairs is None:
                return False
            open_ += reversed(pairs)
        return True

    @staticmethod
    def _arguments(sought: Node, node: Node) -> list[tuple[Any, Any]] | None:
        """The leaves of a pattern's arguments beside what the node has there, None where it is nested otherwise."""
        pairs: list[tuple[Any, Any]] = []
        return pairs if _side_by_side(_ordered(sought), _ordered(node), pairs) else None

    # --- matches

    def _is_whole(self, match: InternalMatch) -> bool:
        """Whether nobody outside uses what is within; completes the match."""
        nodes_map = match.nodes_map
        within = {v for k, v in nodes_map.items() if k.op != "placeholder" and isinstance(v, Node)}
        returned = {nodes_map.get(n) for n in self.pattern_returning_nodes}
        for node in within - returned:
            if node.op not in ("get_attr", "output") and any(user not in within for user in node.users):
                return False
        if any(n not in nodes_map for n in self.pattern_returning_nodes):
            return False
        if not validate_partition(n for n in within if n.op not in ("output", "get_attr")):
            return False
        match.placeholder_nodes = [nodes_map[n] for n in self.pattern_placeholder_nodes if n in nodes_map]
        match.returning_nodes = [nodes_map[n] for n in self.pattern_returning_nodes]
        return True

    def _without_overlaps(self, matches: list[InternalMatch]) -> list[InternalMatch]:
        kept: list[InternalMatch] = []
        taken: set[Node] = set()
        for match in matches:
            within = {v for k, v in match.nodes_map.items() if k.op not in ("placeholder", "output", "get_attr")}
            if not within & taken:
                kept.append(match)
                taken |= within
        return kept


def _side_by_side(sought: Any, found: Any, pairs: list[tuple[Any, Any]]) -> bool:
    """Whether ``found`` is nested as ``sought``, whose nodes may stand for lists; adds the leaves to ``pairs``."""
    if isinstance(sought, (list, tuple)):
        return (
            isinstance(found, (list, tuple)) and len(sought) == len(found)
            and all(_side_by_side(a, b, pairs) for a, b in zip(sought, found))
        )  # fmt: skip
    if isinstance(sought, dict):
        return (
            isinstance(found, dict) and sought.keys() == found.keys()
            and all(_side_by_side(value, found[key], pairs) for key, value in sought.items())
        )  # fmt: skip
    if isinstance(sought, slice):
        parts = ("start", "stop", "step")
        return isinstance(found, slice) and all(
            _side_by_side(getattr(sought, part), getattr(found, part), pairs) for part in parts
        )
    pairs.append((sought, found))
    return True


def _ordered(node: Node) -> tuple[list[Any], dict[str, Any]]:
    """A node's arguments with defaults of its op filled in."""
    schema = getattr(node.target, "_schema", None)
    if schema is None:
        return list(node.args), dict(node.kwargs)
    args, kwargs = list(node.args), dict(node.kwargs)
    for parameter in schema.arguments[len(args) :]:
        if not parameter.kwarg_only and parameter.name in kwargs:
            args.append(kwargs.pop(parameter.name))
        elif not parameter.kwarg_only and parameter.has_default_value():
            args.append(parameter.default_value)
        elif parameter.kwarg_only and parameter.has_default_value():
            kwargs.setdefault(parameter.name, parameter.default_value)
    return args, dict(sorted(kwargs.items()))
