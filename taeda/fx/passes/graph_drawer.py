"""`FxGraphDrawer`: graphs as pictures, through ``pydot``."""

from __future__ import annotations

import hashlib
from typing import Any

from taeda.fx.graph_module import GraphModule
from taeda.fx.node import Node

__all__ = ["FxGraphDrawer"]

_COLOURS = {"placeholder": "AliceBlue", "get_attr": "LightGrey", "output": "PowderBlue"}
_OTHERS = ("CadetBlue1", "Coral", "DarkOliveGreen1", "DarkSeaGreen1", "GhostWhite", "Khaki1", "LavenderBlush1",
           "LightSkyBlue", "MistyRose", "MistyRose2", "PaleTurquoise2", "PeachPuff1", "Salmon", "Thistle1", "Thistle3",
           "Wheat1")  # fmt: skip


class FxGraphDrawer:
    """Makes the picture of a graph, and of those of the modules in it.

    Args:
        graph_module: has the graph.
        name: the name of the picture.
        ignore_getattr: leave out nodes that fetch attributes.
        ignore_parameters_and_buffers: leave out what modules hold.
        skip_node_names_in_args: do not write the names of nodes among arguments.
        parse_stack_trace: write where the program made a call.
        dot_graph_shape: the shape of a node.
        normalize_args: write arguments by the names of parameters.

    Raises:
        RuntimeError: ``pydot`` is not installed.
    """

    def __init__(
        self, graph_module: GraphModule, name: str, ignore_getattr: bool = False,
        ignore_parameters_and_buffers: bool = False, skip_node_names_in_args: bool = True,
        parse_stack_trace: bool = False, dot_graph_shape: str | None = None, normalize_args: bool = False,
    ) -> None:  # fmt: skip
        try:
            import pydot  # type: ignore[import-not-found,unused-ignore]
        except ImportError:
            raise RuntimeError(
                "taeda.fx.FxGraphDrawer: pictures are made by pydot, which is not installed: pip install pydot, and "
                "Graphviz"
            ) from None
        self._pydot = pydot
        self._name = name
        self._options = ignore_getattr, ignore_parameters_and_buffers, skip_node_names_in_args, parse_stack_trace
        self._shape = dot_graph_shape or "record"
        self._normalize = normalize_args
        self._dot_graphs = {name: self._drawn(graph_module, name)}
        for child_name, child in graph_module.named_children():
            if isinstance(child, GraphModule):
                self._dot_graphs[f"{name}_{child_name}"] = self._drawn(child, f"{name}_{child_name}")

    def get_dot_graph(self, submod_name: str | None = None) -> Any:
        """The picture, a ``pydot.Dot``, of the module or of the one within whose name is given."""
        return self.get_main_dot_graph() if submod_name is None else self.get_submod_dot_graph(submod_name)

    def get_main_dot_graph(self) -> Any:
        """The picture of the module."""
        return self._dot_graphs[self._name]

    def get_submod_dot_graph(self, submod_name: str) -> Any:
        """The picture of a module within."""
        return self._dot_graphs[f"{self._name}_{submod_name}"]

    def get_all_dot_graphs(self) -> dict[str, Any]:
        """All pictures by name."""
        return self._dot_graphs

    def _drawn(self, module: GraphModule, name: str) -> Any:
        ignore_getattr, ignore_state, *_ = self._options
        dot = self._pydot.Dot(name, rankdir="TB")
        for node in module.graph.nodes:
            if ignore_getattr and node.op == "get_attr":
                continue
            style = {"shape": self._shape, "style": '"filled,rounded"', "fontcolor": "#000000",
                     "fillcolor": self._colour(node)}  # fmt: skip
            dot.add_node(self._pydot.Node(node.name, label=self._label(module, node), **style))
            if node.op == "call_module" and not ignore_state:
                self._draw_state(dot, module, node, style)
        for node in module.graph.nodes:
            for user in node.users:
                if not (ignore_getattr and node.op == "get_attr"):
                    dot.add_edge(self._pydot.Edge(node.name, user.name))
        return dot

    def _draw_state(self, dot: Any, module: GraphModule, node: Node, style: dict[str, Any]) -> None:
        leaf = module.get_submodule(str(node.target))
        if isinstance(leaf, GraphModule):
            return
        for name, tensor in [*leaf.named_parameters(), *leaf.named_buffers()]:
            key = f"{node.name}.{name}"
            label = f"{{{key}|op_code=get_attr\\l{tensor.dtype}{list(tensor.shape)}\\l}}"
            dot.add_node(self._pydot.Node(key, label=label, **style))
            dot.add_edge(self._pydot.Edge(key, node.name))

    @staticmethod
    def _colour(node: Node) -> str:
        if node.op in _COLOURS:
            return _COLOURS[node.op]
        text = node._pretty_print_target(node.target)
        return _OTHERS[int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) % len(_OTHERS)]

    def _label(self, module: GraphModule, node: Node) -> str:
        _, _, skip_names, traces = self._options
        parts = [f"name=%{node.name}", f"op_code={node.op}"]
        if node.op == "call_module":
            parts[-1] += f"\\l{type(module.get_submodule(str(node.target))).__name__}"
        parts.append(f"target={node._pretty_print_target(node.target)}\\n")
        args, kwargs = node.args, node.kwargs
        known = node.normalized_arguments(module, normalize_to_only_use_kwargs=True) if self._normalize else None
        if known is not None:
            args, kwargs = known
        shown = [_text(a, skip_names) for a in args]
        if shown:
            parts.append(f"args=({', '.join(shown)})\\l")
        if kwargs:
            parts.append("kwargs={" + ", ".join(f"{k}: {_text(v, skip_names)}" for k, v in kwargs.items()) + "}\\l")
        parts.append(f"num_users={len(node.users)}")
        meta: Any = node.meta.get("tensor_meta")
        if hasattr(meta, "dtype"):
            parts.append(f"dtype={meta.dtype}\\lshape={tuple(meta.shape)}\\lstride={tuple(meta.stride)}")
        if traces and node.stack_trace:
            parts.append("\\l".join(line.strip() for line in node.stack_trace.splitlines()[-2:]))
        return "{" + "|".join(map(_escaped, parts)) + "\\n}"


def _text(value: Any, skip_names: bool) -> str:
    if isinstance(value, Node):
        return "" if skip_names else f"%{value.name}"
    text = str(value)
    return text if len(text) < 80 else f"{text[:77]}..."


def _escaped(text: str) -> str:
    for sign in "{}<>":
        text = text.replace(sign, f"\\{sign}")
    return text.replace("|", "\\|")
