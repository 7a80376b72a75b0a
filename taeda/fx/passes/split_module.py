"""`split_module`: a graph module as several, one for each partition, and one that calls them."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from typing import Any

from taeda import nn
from taeda.fx.graph import Graph
from taeda.fx.graph_module import GraphModule
from taeda.fx.node import Node, map_arg
from taeda.fx.passes.utils.common import lift_subgraph_as_module

__all__ = ["Partition", "split_module"]


class Partition:
    """A part of a graph.

    Attributes:
        name: its number, as text.
        node_names: its nodes.
        inputs, outputs: nodes of the whole graph that come in and go out.
        partitions_dependent_on, dependents: numbers of others, before and after.
        graph: what it does.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.submod_name = f"submod_{name}"
        self.node_names: list[str] = []
        self.inputs: dict[str, Node] = {}
        self.outputs: dict[str, Node] = {}
        self.dependencies: dict[str, None] = {}
        self.dependents: dict[str, None] = {}
        self.graph = Graph()
        self.environment: dict[Node, Node] = {}
        self.targets: dict[str, Any] = {}

    def __repr__(self) -> str:
        return f"Partition({self.name}, nodes {self.node_names}, of {list(self.inputs)} to {list(self.outputs)})"


def split_module_simple(
    m: GraphModule, node_to_partition: dict[Node, int], *, partition_affix: str | None = None
) -> GraphModule:
    """`split_module` by a table of the numbers of the nodes' partitions, which are called in their order in ``m``."""
    return split_module(
        m, m, lambda node: node_to_partition[node], keep_original_order=True, partition_affix=partition_affix
    )


def split_module(
    m: GraphModule, root_m: nn.Module, split_callback: Callable[[Node], Any],
    qualname_map: dict[str, str] | None = None, keep_original_order: bool = False,
    keep_original_node_name: bool = False, keep_original_input_name: bool = True, *,
    partition_affix: str | None = None, tuple_return: bool = False,
) -> GraphModule:  # fmt: skip
    """A module that calls ``submod_0``, ``submod_1`` … in turn, each of which does the nodes of one partition.

    Args:
        m: the module to split.
        root_m: has the parameters and modules that ``m`` names.
        split_callback: the number of a node's partition, for nodes that call something.
        qualname_map: gets, by the path of a called module in the result, its path in ``m``.
        keep_original_order: the partitions are called in the order in which ``m`` comes to them.
        keep_original_node_name: nodes of the parts keep their names.
        keep_original_input_name: inputs of the parts have the names of the values.
        partition_affix: goes into the names: ``submod_{affix}_0``.
        tuple_return: parts return tuples, also of one value.

    Raises:
        RuntimeError: partitions depend on each other in a circle.
    """
    return _Split(m, root_m, split_callback, partition_affix).run(
        qualname_map, keep_original_order, keep_original_node_name, keep_original_input_name, tuple_return
    )


class _Split:
    def __init__(self, m: GraphModule, root_m: nn.Module, callback: Callable[[Node], Any], affix: str | None) -> None:
        self.m, self.root = m, root_m
        self.affix = affix
        self.partitions: dict[str, Partition] = {}
        self.of_node: dict[Node, str] = {}
        for node in m.graph.nodes:
            if node.op in ("call_module", "call_method", "call_function"):
                self._assign(node, str(callback(node)))

    def _assign(self, node: Node, name: str) -> None:
        if name not in self.partitions:
            self.partitions[name] = Partition(name)
            if self.affix is not None:
                self.partitions[name].submod_name = f"submod_{self.affix}_{name}"
        self.partitions[name].node_names.append(node.name)
        self.of_node[node] = name

    def run(
        self, qualname_map: dict[str, str] | None, in_order: bool, node_names: bool, input_names: bool, tuples: bool
    ) -> GraphModule:
        for node in self.m.graph.nodes:
            for value in node.all_input_nodes:
                self._flows(value, node)
        order = list(self.partitions) if in_order else self._sorted()
        for name in order:
            self._fill(self.partitions[name], node_names, input_names, tuples)
        return self._base(order, qualname_map, tuples)

    def _flows(self, value: Node, user: Node) -> None:
        """Notes that a value goes from one partition to another, or to the end."""
        source, target = self.of_node.get(value), self.of_node.get(user)
        if source == target:
            return
        if source is not None:
            self.partitions[source].outputs.setdefault(value.name, value)
        if target is not None:
            self.partitions[target].inputs.setdefault(value.name, value)
        if source is not None and target is not None:
            self.partitions[target].dependencies.setdefault(source)
            self.partitions[source].dependents.setdefault(target)

    def _sorted(self) -> list[str]:
        """An order in which each partition comes after those that it depends on."""
        waiting = {name: len(p.dependencies) for name, p in self.partitions.items()}
        ready = [name for name, count in waiting.items() if not count]
        order: list[str] = []
        while ready:
            name = ready.pop(0)
            order.append(name)
            for user in self.partitions[name].dependents:
                waiting[user] -= 1
                if not waiting[user]:
                    ready.append(user)
        if len(order) < len(self.partitions):
            raise RuntimeError(
                f"taeda.fx.split_module: the partitions {sorted(set(self.partitions) - set(order))} depend on each "
                "other in a circle"
            )
        return order

    def _fill(self, part: Partition, node_names: bool, input_names: bool, tuples: bool) -> None:
        """Copies a partition's nodes to its graph."""
        for i, value in enumerate(part.inputs.values()):
            name = value.name if input_names else f"arg_{i}"
            part.environment[value] = part.graph.placeholder(name, value.type)
            part.environment[value].meta = dict(value.meta)
        for node in self.m.graph.nodes:
            if self.of_node.get(node) == part.name:
                self._copy(part, node, node_names)
        results = [part.environment[value] for value in part.outputs.values()]
        if results:
            part.graph.output(results[0] if len(results) == 1 and not tuples else tuple(results))
        else:
            part.graph.output(None if not tuples else ())

    def _copy(self, part: Partition, node: Node, keep_name: bool) -> None:
        args, kwargs = map_arg((node.args, node.kwargs), lambda value: part.environment[value])
        name = node.name if keep_name else None
        twin = part.graph.create_node(node.op, node.target, args, kwargs, name, node.type)
        twin.meta = dict(node.meta)
        part.environment[node] = twin

    def _base(self, order: list[str], qualname_map: dict[str, str] | None, tuples: bool) -> GraphModule:
        """The module that calls the parts."""
        graph, known, modules = Graph(), dict[Node, Node](), dict[str, Any]()
        for node in self.m.graph.nodes:
            if node.op == "placeholder":
                default = node.args[0] if node.args else inspect.Signature.empty
                known[node] = graph.create_node(
                    "placeholder", node.target, () if default is inspect.Signature.empty else (default,), {}, node.name,
                    node.type,
                )  # fmt: skip
                known[node].meta = dict(node.meta)

        def outer(value: Node) -> Node:
            if value not in known:
                known[value] = graph.get_attr(str(value.target), value.type)
                known[value].meta = dict(value.meta)
                modules[str(value.target)] = _found(self.root, str(value.target))
            return known[value]

        for name in order:
            part = self.partitions[name]
            module, paths = lift_subgraph_as_module(_Named(self.root, self.m), part.graph, part.submod_name)
            if qualname_map is not None:
                qualname_map.update({there: path for path, there in paths.items()})
            modules[part.submod_name] = module
            call = graph.call_module(part.submod_name, tuple(outer(value) for value in part.inputs.values()))
            values = list(part.outputs.values())
            if len(values) == 1 and not tuples:
                known[values[0]] = call
            else:
                for i, value in enumerate(values):
                    known[value] = graph.call_function(operator.getitem, (call, i))
        for node in self.m.graph.nodes:
            if node.op == "output":
                graph.output(map_arg(node.args[0], outer), node.type).meta = dict(node.meta)
        graph._codegen = self.m.graph._codegen
        return GraphModule(modules, graph)


def _found(root: Any, path: str) -> Any:
    for part in path.split("."):
        root = getattr(root, part)
    return root


class _Named:
    """What a graph names: in the root, or else in the module that has the graph."""

    def __init__(self, root: nn.Module, module: GraphModule) -> None:
        self._root, self._module = root, module

    def __getattr__(self, name: str) -> Any:
        return getattr(self._root if hasattr(self._root, name) else self._module, name)
