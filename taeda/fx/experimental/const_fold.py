"""`split_const_subgraphs`: what depends on constants alone is computed once."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import taeda
from taeda import nn
from taeda.fx._symbolic_trace import symbolic_trace
from taeda.fx.graph import Graph
from taeda.fx.graph_module import GraphModule
from taeda.fx.node import Node
from taeda.fx.passes.split_module import split_module

__all__ = ["FoldedGraphModule", "get_unique_attr_name_in_module", "split_const_subgraphs"]


class FoldedGraphModule(GraphModule):
    """A module whose constants are computed at the first call, or by `run_folding`.

    Args:
        root, graph: as of `GraphModule`.
        const_subgraph: computes the constants.
        fx_const_folded_attrs_name: the attribute that they become.
        device_for_folded_attrs: where they are.
    """

    def __init__(
        self, root: nn.Module, graph: Graph, const_subgraph: Graph | None = None,
        fx_const_folded_attrs_name: str | None = None, device_for_folded_attrs: str = "cpu",
    ) -> None:  # fmt: skip
        super().__init__(root, graph)
        self.const_subgraph_module = None if const_subgraph is None else GraphModule(root, const_subgraph)
        self.has_folding_been_run = False
        self.fx_const_folded_attrs_name = fx_const_folded_attrs_name
        self.device_for_folded_attrs = device_for_folded_attrs

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self.has_folding_been_run:
            self.run_folding()
        return super().__call__(*args, **kwargs)

    def run_folding(self) -> None:
        """Computes the constants, once.

        Raises:
            AssertionError: it was done before.
        """
        if self.const_subgraph_module is None or self.fx_const_folded_attrs_name is None:
            return
        if self.has_folding_been_run:
            raise AssertionError("taeda.fx.FoldedGraphModule.run_folding: the constants are computed already")
        self.has_folding_been_run = True
        found = self.const_subgraph_module()
        value: Any = (
            nn.ParameterList([_parameter(x, self.device_for_folded_attrs) for x in found])
            if isinstance(found, tuple)
            else _parameter(found, self.device_for_folded_attrs)
        )
        setattr(self, self.fx_const_folded_attrs_name, value)


def _parameter(value: Any, device: str) -> nn.Parameter:
    tensor = value if isinstance(value, taeda.Tensor) else taeda.tensor(value)
    return nn.Parameter(tensor.detach().to(device), requires_grad=tensor.requires_grad)


def get_unique_attr_name_in_module(mod_traced: GraphModule, name: str) -> str:
    """``name`` as a module can have it, numbered if it has it already."""
    name = re.sub(r"[^0-9a-zA-Z_]+", "_", name)
    if name[0].isdigit():
        name = f"_{name}"
    while hasattr(mod_traced, name):
        match = re.match(r"(.*)_(\d+)$", name)
        name = f"{name}_1" if match is None else f"{match[1]}_{int(match[2]) + 1}"
    return name


def split_const_subgraphs(
    module: nn.Module, skip_folding_node_fn: Callable[[Node], bool] | None = None, device_for_folded_attrs: str = "cpu"
) -> FoldedGraphModule:
    """A module that computes at its first call what depends on attributes alone, and then no more.

    Args:
        module: a module, traced if it is none of a graph.
        skip_folding_node_fn: which nodes are computed at each call all the same.
        device_for_folded_attrs: where the constants are.
    """
    traced = module if isinstance(module, GraphModule) else symbolic_trace(module)
    constant: set[Node] = set()
    found = False
    for node in traced.graph.nodes:
        if node.op in ("placeholder", "output"):
            continue
        if node.op != "get_attr" and not set(node.all_input_nodes) <= constant:
            continue
        if (skip_folding_node_fn is not None and skip_folding_node_fn(node)) or node.is_impure():
            continue
        constant.add(node)
        found |= node.op != "get_attr"
    if not found:
        return FoldedGraphModule(traced, traced.graph)
    split = split_module(traced, traced, lambda node: int(node not in constant))
    return _folded(traced, split, device_for_folded_attrs)


def _folded(traced: GraphModule, split: GraphModule, device: str) -> FoldedGraphModule:
    """The split module with the constants as an attribute, and its second part in its own graph."""
    constants: Any = split.submod_0
    first = next(n for n in split.graph.nodes if n.op == "call_module" and n.target == "submod_0")
    inputs = dict(zip(constants.graph.find_nodes(op="placeholder"), first.args, strict=True))
    alone = Graph()
    known: dict[Node, Node] = {}
    for node, source in inputs.items():  # an attribute that only comes through
        known[node] = alone.get_attr(str(source.target))
    result = alone.graph_copy(constants.graph, known)
    alone.output(result)
    name = get_unique_attr_name_in_module(split, "_FX_CONST_FOLDED_ATTRS")
    with split.graph.inserting_before(first):
        folded = split.graph.get_attr(name)
    folded.meta = dict((result if isinstance(result, Node) else first).meta)
    first.replace_all_uses_with(folded)
    split.graph.erase_node(first)
    setattr(split, name, nn.ParameterList() if isinstance(result, tuple) else nn.Parameter(taeda.empty(0)))
    if hasattr(split, "submod_1"):
        _inline_module(split, "submod_1")
    for path in {str(n.target) for n in alone.nodes if n.op in ("get_attr", "call_module")}:
        _share(traced, split, path)
    return FoldedGraphModule(split, split.graph, alone, name, device)


def _share(source: nn.Module, target: nn.Module, path: str) -> None:
    from taeda.fx.graph_module import _copy_attr

    _copy_attr(source, target, path)


def _inline_module(gm: GraphModule, inline_mod_name: str, run_dce: bool = True) -> dict[Node, Node]:
    """Puts the nodes of a module of a graph in the place of its call; gives the new node for each of its nodes."""
    inner: Any = gm.get_submodule(inline_mod_name)
    call = next(n for n in gm.graph.nodes if n.op == "call_module" and n.target == inline_mod_name)
    known: dict[Node, Any] = dict(zip(inner.graph.find_nodes(op="placeholder"), call.args, strict=False))
    for path in {str(n.target) for n in inner.graph.nodes if n.op in ("get_attr", "call_module")}:
        _share(inner, gm, path)
    with gm.graph.inserting_before(call):
        result: Any = gm.graph.graph_copy(inner.graph, known)
    if isinstance(result, Node):
        call.replace_all_uses_with(result)
    else:
        for user in list(call.users):
            user.replace_all_uses_with(result[user.args[1]])
            gm.graph.erase_node(user)
    gm.graph.erase_node(call)
    if run_dce:
        gm.graph.eliminate_dead_code()
    return known
