"""What a node of an exported program stands for, and changes to graphs that passes make."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from taeda import Tensor, nn
from taeda.export.exported_program import ExportedProgram, NestedModule
from taeda.fx.graph_module import GraphModule, _copy_attr
from taeda.fx.node import Node
from taeda.fx.passes.split_module import split_module
from taeda.utils import _pytree as pytree


def is_param(program: ExportedProgram, node: Node) -> bool:
    """Whether a node is a parameter."""
    return node.name in program.graph_signature.inputs_to_parameters


def get_param(program: ExportedProgram, node: Node) -> nn.Parameter | None:
    """The parameter that a node is; None if it is none."""
    path = program.graph_signature.inputs_to_parameters.get(node.name)
    return None if path is None else program.state_dict[path]


def is_buffer(program: ExportedProgram, node: Node) -> bool:
    """Whether a node is a buffer."""
    return node.name in program.graph_signature.inputs_to_buffers


def get_buffer(program: ExportedProgram, node: Node) -> Tensor | None:
    """The buffer that a node is; None if it is none."""
    path = program.graph_signature.inputs_to_buffers.get(node.name)
    return None if path is None else program.tensor_of(path)


def is_lifted_tensor_constant(program: ExportedProgram, node: Node) -> bool:
    """Whether a node is a constant."""
    return node.name in program.graph_signature.inputs_to_lifted_tensor_constants


def get_lifted_tensor_constant(program: ExportedProgram, node: Node) -> Tensor | None:
    """The constant that a node is; None if it is none."""
    path = program.graph_signature.inputs_to_lifted_tensor_constants.get(node.name)
    return None if path is None else program.constants[path]


def nodes_filter(nodes: Iterable[Node], node_call_back: Callable[[Node], Any]) -> list[Node]:
    """Those of which the function holds."""
    return [node for node in nodes if node_call_back(node)]


def nodes_first(nodes: Iterable[Node], node_call_back: Callable[[Node], Any] | None = None) -> Node | None:
    """The first one of which the function holds."""
    return next((node for node in nodes if node_call_back is None or node_call_back(node)), None)


def nodes_count(nodes: Iterable[Node], node_call_back: Callable[[Node], Any]) -> int:
    """Of how many the function holds."""
    return len(nodes_filter(nodes, node_call_back))


def nodes_map(nodes: Iterable[Node], node_call_back: Callable[[Node], Any]) -> Iterable[Node]:
    """Calls the function on each; gives them back."""
    for node in nodes:
        node_call_back(node)
    return nodes


def node_replace_(old_node: Node, new_node: Node) -> None:
    """Puts a node in another's place, which is erased."""
    old_node.replace_all_uses_with(new_node)
    old_node.graph.erase_node(old_node)


def node_inline_(call_mod_node: Node) -> GraphModule | None:
    """Puts the graph of a module in the place of its call."""
    if call_mod_node.op != "call_module":
        raise AssertionError(f"taeda.export: inlines calls of modules; {call_mod_node} is a {call_mod_node.op}")
    outer = call_mod_node.graph.owning_module
    inner = outer.get_submodule(str(call_mod_node.target))
    graph = call_mod_node.graph
    given = iter(pytree.tree_leaves((call_mod_node.args, call_mod_node.kwargs)))
    values: dict[Node, Any] = {}
    with graph.inserting_before(call_mod_node):
        for node in inner.graph.nodes:
            if node.op == "placeholder":
                values[node] = next(given)
            elif node.op != "output":
                values[node] = graph.node_copy(node, lambda n: values[n])
                if node.op in ("get_attr", "call_module"):
                    _copy_attr(inner, outer, str(node.target))
    results = inner.graph.output_node().args[0]
    if isinstance(results, Node):
        node_replace_(call_mod_node, values[results])
    else:
        _hand_out(call_mod_node, [values[r] if isinstance(r, Node) else r for r in results or ()])
    return outer


def _hand_out(call: Node, results: list[Any]) -> None:
    """Each user that takes an element of what a call gave takes that result."""
    for user in list(call.users):
        if user.op == "call_function" and getattr(user.target, "__name__", "") == "getitem":
            node_replace_(user, results[user.args[1]])  # type: ignore[index]
    call.replace_all_uses_with(results)  # type: ignore[arg-type]
    call.graph.erase_node(call)


def sequential_split(gm: GraphModule, node_call_back: Callable[[Node], Any]) -> GraphModule:
    """A module that calls a module for each part of the graph; a part begins at each node of which the function
    holds."""
    part, parts = 0, {}
    for node in gm.graph.nodes:
        if node.op not in ("placeholder", "output") and node_call_back(node):
            part += 1
        parts[node] = part
    made = split_module(gm, gm, lambda node: parts[node], keep_original_order=True, keep_original_node_name=True)
    made.graph._codegen = gm.graph._codegen
    if not isinstance(gm, NestedModule):
        made.recompile()
        return made
    nested = NestedModule(made, made.graph)
    nested._in_spec, nested._out_spec = gm._in_spec, gm._out_spec
    return nested


@contextlib.contextmanager
def without_state_dict_hooks(module: nn.Module) -> Iterator[tuple[Any, Any]]:
    """Within, ``module.state_dict`` and ``load_state_dict`` call no hooks; they are back behind it."""
    names = ("_state_dict_hooks", "_load_state_dict_pre_hooks")
    before = tuple(getattr(module, name) for name in names)
    for name, hooks in zip(names, before):
        setattr(module, name, type(hooks)())
    try:
        yield before
    finally:
        for name, hooks in zip(names, before):
            setattr(module, name, hooks)
