"""Finds what does the same in two graphs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import taeda
from taeda import fx, nn
from taeda.ao.ns.fx import mappings
from taeda.ao.ns.fx.ns_types import NSSubgraph
from taeda.ao.quantization.fx.patterns import is_relu, kind_of, module_of, takes_relu
from taeda.nn.utils.parametrize import type_before_parametrizations as class_of

_NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)


class GraphMatchingException(Exception):
    """Two graphs do not do the same."""


def op_of(node: fx.Node, modules: dict[str, nn.Module]) -> Any:
    """The class of the module, the function, or the name of the method that a node calls."""
    module = module_of(node, modules)
    return node.target if module is None else class_of(module)


class Steps:
    """The steps of a graph that are compared, from its end on: a step takes in a norm, a ReLU and an observer after
    it, and conversions to and from half floats around it."""

    def __init__(self, model: fx.GraphModule, unmatchable: dict[str, set[Any]] | None = None) -> None:
        self.model = model
        self.modules = dict(model.named_modules(remove_duplicate=False))
        self.unmatchable = unmatchable or mappings.get_unmatchable_types_map()

    def __iter__(self) -> Iterator[NSSubgraph]:
        """The steps, the last first."""
        waiting = [node for node in self.model.graph.nodes if node.op == "output"]
        seen: set[fx.Node] = set()
        while waiting:
            node = waiting.pop()
            if node in seen:
                continue
            step, within = self._ending_at(node)
            seen |= within
            waiting += step.start_node.all_input_nodes
            if self.is_compared(step.base_op_node):
                yield step

    def is_compared(self, node: fx.Node) -> bool:
        """Whether a node computes what is worth comparing."""
        if node.op == "call_function":
            return node.target not in self.unmatchable["funs_unmatchable"]
        if node.op == "call_method":
            return node.target not in self.unmatchable["meths_unmatchable"]
        return node.op == "call_module" and not isinstance(
            module_of(node, self.modules), tuple(self.unmatchable["mods_unmatchable"])
        )

    def _ending_at(self, node: fx.Node) -> tuple[NSSubgraph, set[fx.Node]]:
        within, base = {node}, node
        before = _first(node)
        if before is not None and (self._is_observed(node, before) or _to_half(node)):
            base = before
            within.add(base)
        for link in (self._relu_of, self._norm_of):
            inner = link(base)
            if inner is not None:
                base = inner
                within.add(base)
        start = base
        source = _first(base)
        if _to_half(node) and source is not None and (source.op, source.target) == ("call_method", "dequantize"):
            start = source
            within.add(start)
        elif _to_half(node):
            return NSSubgraph(node, node, node), {node}
        return NSSubgraph(start, node, base), within

    def _is_observed(self, node: fx.Node, value: fx.Node) -> bool:
        """Whether a node is the observer of a step that takes one value first."""
        if not isinstance(module_of(node, self.modules), mappings._OBSERVERS):
            return False
        return kind_of(value, self.modules) is not None and _first(value) is not None

    def _relu_of(self, node: fx.Node) -> fx.Node | None:
        inner = _first(node)
        if not is_relu(node, self.modules) or inner is None or len(inner.users) != 1 or _first(inner) is None:
            return None
        kind = op_of(inner, self.modules)
        fits = kind in (nn.Linear, *_NORMS, nn.Conv1d, nn.Conv2d, nn.Conv3d) or takes_relu(inner)
        return inner if fits else None

    def _norm_of(self, node: fx.Node) -> fx.Node | None:
        inner = _first(node)
        if op_of(node, self.modules) not in _NORMS or inner is None or len(inner.users) != 1:
            return None
        return inner if op_of(inner, self.modules) in (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d) else None


def _first(node: fx.Node) -> fx.Node | None:
    found = node.args[0] if node.args else None
    return found if isinstance(found, fx.Node) else None


def _to_half(node: fx.Node) -> bool:
    return (node.op, node.target) == ("call_method", "to") and node.args[1:] == (taeda.float16,)


def get_matching_subgraph_pairs(
    gm_a: fx.GraphModule, gm_b: fx.GraphModule, base_name_to_sets_of_related_ops: mappings.Sets | None = None,
    unmatchable_types_map: dict[str, set[Any]] | None = None,
) -> dict[str, tuple[NSSubgraph, NSSubgraph]]:  # fmt: skip
    """The steps of two graphs, pair by pair in the order in which they run, by names.

    Args:
        base_name_to_sets_of_related_ops: which ops do the same, see `get_base_name_to_sets_of_related_ops`.
        unmatchable_types_map: what is not compared, see `get_unmatchable_types_map`.

    Raises:
        GraphMatchingException: they are not equally many, or two in the same place do not do the same.
    """
    sets = base_name_to_sets_of_related_ops or mappings.get_base_name_to_sets_of_related_ops()
    a, b = Steps(gm_a, unmatchable_types_map), Steps(gm_b, unmatchable_types_map)
    ones, others = list(a), list(b)
    if len(ones) != len(others):
        raise GraphMatchingException(
            f"get_matching_subgraph_pairs: the graphs have {len(ones)} and {len(others)} steps that are compared; both"
            " must come from one model"
        )
    found: dict[str, tuple[NSSubgraph, NSSubgraph]] = {}
    for one, other in zip(ones, others, strict=True):
        kinds = op_of(one.base_op_node, a.modules), op_of(other.base_op_node, b.modules)
        names = [mappings.get_base_name_for_op(sets, kind) for kind in kinds]
        if kinds[0] != kinds[1] and (names[0] is None or names[0] != names[1]):
            raise GraphMatchingException(
                f"get_matching_subgraph_pairs: {one.base_op_node.name!r} and {other.base_op_node.name!r} do not do the"
                f" same: {kinds[0]} and {kinds[1]}; add_op_to_sets_of_related_ops says that ops do"
            )
        name = names[0] if names[0] is not None else getattr(kinds[0], "__name__", kinds[0])
        number = sum(key.startswith(f"base_op_{name}_") for key in found)
        found[f"base_op_{name}_{number}"] = one, other
    return dict(reversed(found.items()))
