"""`split_by_tags`: a graph module as several, by a tag of each node."""

from __future__ import annotations

import copy
import operator
from dataclasses import dataclass, field
from typing import Any

from taeda.fx.graph import Graph
from taeda.fx.graph_module import GraphModule
from taeda.fx.node import Node, map_arg
from taeda.fx.passes.utils.common import HolderModule, lift_subgraph_as_module

__all__ = ["Component", "getattr_recursive", "setattr_recursive", "split_by_tags"]


def getattr_recursive(obj: Any, name: str) -> Any:
    """The attribute at a dotted path; None if there is none."""
    for part in name.split("."):
        if not hasattr(obj, part):
            return None
        obj = getattr(obj, part)
    return obj


def setattr_recursive(obj: Any, attr: str, value: Any) -> None:
    """Sets the attribute at a dotted path."""
    *path, name = attr.split(".")
    for part in path:
        obj = getattr(obj, part)
    setattr(obj, name, value)


@dataclass
class Component:
    """The nodes of one tag.

    Attributes:
        graph: what they do.
        order, name: the place and the name of the tag.
        input_placeholders: of the graph.
        orig_inputs, orig_outputs: nodes of the whole graph that come in and go out.
        getattr_maps: from the whole graph's attributes to the graph's.
        gm: the module.
    """

    graph: Graph
    order: int
    name: str
    input_placeholders: list[Node] = field(default_factory=list)
    orig_inputs: list[Node] = field(default_factory=list)
    orig_outputs: list[Node] = field(default_factory=list)
    getattr_maps: dict[Node, Node] = field(default_factory=dict)
    constructor_args: list[str] = field(default_factory=list)
    gm: GraphModule | None = None


def split_by_tags(
    gm: GraphModule, tags: list[str], return_fqn_mapping: bool = False, return_tuple: bool = False,
    GraphModuleCls: type[GraphModule] = GraphModule,
) -> Any:  # fmt: skip
    """A module that calls one for each tag, with the nodes whose ``tag`` attribute it is.

    Args:
        gm: the module; all its nodes that call something have a ``tag``.
        tags: all tags, so that values go from earlier ones to later ones.
        return_fqn_mapping: give by the path of each parameter in ``gm`` its path there, too.
        return_tuple: the modules return tuples, also of one value.
        GraphModuleCls: the class of the result.

    Raises:
        AssertionError: a node has no tag, or one of an earlier part needs a value of a later one.
    """
    parts = {tag: Component(Graph(), i, tag) for i, tag in enumerate(tags)}
    of_node: dict[Node, Component] = {}
    inner: dict[Node, Node] = {}
    for node in gm.graph.nodes:
        if node.op in ("placeholder", "output", "get_attr"):
            continue
        if not hasattr(node, "tag"):
            raise AssertionError(f"taeda.fx.split_by_tags: {node} has no tag")
        part = of_node[node] = parts[node.tag]
        _copy(node, part, of_node, inner)
    _collect_outputs(gm, of_node)
    main, known = Graph(), dict[Node, Node]()
    modules: dict[str, Any] = {}
    paths: dict[str, str] = {}
    for node in gm.graph.nodes:
        if node.op == "placeholder":
            known[node] = main.placeholder(str(node.target), node.type)
            known[node].meta = copy.copy(node.meta)
        elif node.op == "get_attr" and any(user.op == "output" for user in node.users):
            known[node] = main.node_copy(node)
            modules[str(node.target)] = operator.attrgetter(str(node.target))(gm)
    for part in parts.values():
        if any(n.op not in ("placeholder", "output") for n in part.graph.nodes):
            _call(gm, part, main, known, inner, modules, paths, return_tuple)
    output = gm.graph.output_node()
    main.output(map_arg(output.args[0], lambda value: known[value])).meta = copy.copy(output.meta)
    main._codegen = gm.graph._codegen
    attributes = {k: v for k, v in modules.items() if not isinstance(v, GraphModule)}
    root = HolderModule({k: v for k, v in modules.items() if isinstance(v, GraphModule)})
    for name, value in attributes.items():
        setattr(root, name, value)
    made = GraphModuleCls(root, main)
    return (made, paths) if return_fqn_mapping else made


def _copy(node: Node, part: Component, of_node: dict[Node, Component], inner: dict[Node, Node]) -> None:
    def value_of(value: Node) -> Node:
        if value.op == "get_attr":
            if value not in part.getattr_maps:
                part.getattr_maps[value] = part.graph.get_attr(str(value.target), value.type)
            return part.getattr_maps[value]
        source = of_node.get(value)
        if source is part:
            return inner[value]
        if source is not None and source.order > part.order:
            raise AssertionError(
                f"taeda.fx.split_by_tags: {node}, of {part.name}, needs {value}, of {source.name}, which comes later"
            )
        if value not in part.orig_inputs:
            part.orig_inputs.append(value)
            placeholder = part.graph.placeholder(value.name, value.type)
            placeholder.meta = copy.copy(value.meta)
            part.input_placeholders.append(placeholder)
        return part.input_placeholders[part.orig_inputs.index(value)]

    inner[node] = part.graph.node_copy(node, value_of)
    inner[node].tag = part.name  # type: ignore[attr-defined]


def _collect_outputs(gm: GraphModule, of_node: dict[Node, Component]) -> None:
    for node in gm.graph.nodes:
        for value in node.all_input_nodes:
            source = of_node.get(value)
            if source is not None and of_node.get(node) is not source and value not in source.orig_outputs:
                source.orig_outputs.append(value)


def _call(
    gm: GraphModule, part: Component, main: Graph, known: dict[Node, Node], inner: dict[Node, Node],
    modules: dict[str, Any], paths: dict[str, str], return_tuple: bool,
) -> None:  # fmt: skip
    """Ends a part's graph, makes its module and calls it."""
    results = tuple(inner[node] for node in part.orig_outputs)
    part.graph.output(results if return_tuple or len(results) != 1 else results[0])
    part.gm, names = lift_subgraph_as_module(gm, part.graph, part.name)
    paths.update(names)
    modules[part.name] = part.gm
    call = main.call_module(part.name, tuple(known[value] for value in part.orig_inputs))
    if len(results) == 1 and not return_tuple:
        known[part.orig_outputs[0]] = call
        call.meta = copy.copy(part.orig_outputs[0].meta)
    else:
        for i, node in enumerate(part.orig_outputs):
            known[node] = main.call_function(operator.getitem, (call, i))
            known[node].meta = copy.copy(node.meta)
