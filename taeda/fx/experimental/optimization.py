"""Modules for inference, by their graphs: batch norms in convolutions, and no dropout."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from taeda import nn
from taeda.fx._symbolic_trace import Tracer, symbolic_trace
from taeda.fx.graph import Graph
from taeda.fx.graph_module import GraphModule
from taeda.fx.node import Node
from taeda.nn.utils.fusion import fuse_conv_bn_eval

__all__ = [
    "extract_subgraph",
    "fuse",
    "matches_module_pattern",
    "optimize_for_inference",
    "remove_dropout",
    "replace_node_module",
]


def matches_module_pattern(pattern: Iterable[type], node: Node, modules: dict[str, Any]) -> bool:
    """Whether a node calls a module of the second class on the result of a call of one of the first."""
    if not node.args:
        return False
    for kind, current in zip(pattern, (node.args[0], node), strict=False):
        if not isinstance(current, Node) or current.op != "call_module":
            return False
        if type(modules.get(str(current.target))) is not kind:
            return False
    return True


def replace_node_module(node: Node, modules: dict[str, Any], new_module: nn.Module) -> None:
    """Puts a module in the place of the one that a node calls."""
    parent, _, name = str(node.target).rpartition(".")
    modules[str(node.target)] = new_module
    setattr(modules[parent], name, new_module)


def fuse(model: nn.Module, inplace: bool = False, no_trace: bool = False) -> nn.Module:
    """A model for inference in which convolutions do the work of the batch norms after them.

    Args:
        model: the model, in ``eval()``.
        inplace: change the model itself.
        no_trace: it is a `GraphModule` already.
    """
    patterns = [(nn.Conv1d, nn.BatchNorm1d), (nn.Conv2d, nn.BatchNorm2d), (nn.Conv3d, nn.BatchNorm3d)]
    if not inplace:
        model = copy.deepcopy(model)
    traced = model if no_trace and isinstance(model, GraphModule) else symbolic_trace(model)
    modules: dict[Any, Any] = dict(traced.named_modules())
    graph = copy.deepcopy(traced.graph)
    for pattern in patterns:
        for node in graph.nodes:
            if not matches_module_pattern(pattern, node, modules) or len(node.args[0].users) > 1:
                continue
            convolution, norm = modules[node.args[0].target], modules[node.target]
            if not norm.track_running_stats:
                continue
            replace_node_module(node.args[0], modules, fuse_conv_bn_eval(convolution, norm))
            node.replace_all_uses_with(node.args[0])
            graph.erase_node(node)
    return GraphModule(traced, graph)


def remove_dropout(model: nn.Module) -> nn.Module:
    """A model without its modules of class `nn.Dropout`."""
    traced = symbolic_trace(model)
    for node in traced.graph.nodes:
        if node.op == "call_module" and isinstance(traced.get_submodule(str(node.target)), nn.Dropout):
            node.replace_all_uses_with(node.args[0])
            traced.graph.erase_node(node)
    traced.delete_all_unused_submodules()
    traced.recompile()
    return traced


def extract_subgraph(orig_module: nn.Module, nodes: list[Node], inputs: list[Node], outputs: list[Node]) -> GraphModule:
    """A module of some nodes, which takes ``inputs`` and gives ``outputs``."""
    graph, known = Graph(), dict[Node, Node]()
    for value in inputs:
        known[value] = graph.placeholder(value.name)
    for node in nodes:
        known[node] = graph.node_copy(node, lambda value: known[value])
    graph.output([known[node] for node in outputs])
    graph.lint()
    return GraphModule(orig_module, graph)


def optimize_for_inference(
    model: nn.Module, pass_config: dict[str, Any] | None = None, tracer: type[Tracer] = Tracer
) -> nn.Module:
    """A model for inference: convolutions do the work of batch norms, and there is no dropout.

    Args:
        model: the model, in ``eval()``.
        pass_config: which steps to leave out: ``{"conv_bn_fuse": False}``, ``{"remove_dropout": False}``.
            ``"mkldnn_layout_optimize"`` is taken as PyTorch's callers give it: oneDNN packs weights by itself here.
        tracer: the class of the tracer that records the result.

    Raises:
        RuntimeError: there is no such step.
    """
    config: dict[str, Any] = {"conv_bn_fuse": True, "remove_dropout": True, "mkldnn_layout_optimize": True}
    unknown = set(pass_config or {}) - set(config)
    if unknown:
        raise RuntimeError(f"taeda.fx.optimize_for_inference: there are no steps {sorted(unknown)}")
    config |= pass_config or {}
    if config["conv_bn_fuse"]:
        model = fuse(model)
    if config["remove_dropout"]:
        model = remove_dropout(model)
    made = tracer()
    graph = made.trace(copy.deepcopy(model))
    return GraphModule(made.root, graph)
