"""Which call of the program, and of which layer, a node comes from: ``torch_fn``, ``source_fn_stack`` in its meta."""

from __future__ import annotations

import operator
from collections import Counter
from types import FrameType
from typing import Any

import taeda
from taeda._library.ops import OpOverload
from taeda.export._places import library_call
from taeda.fx._naming import snake_case
from taeda.fx.node import Node
from taeda.nn import Module

# What a node that takes the place of another has from it.
INHERITED = ("stack_trace", "place", "nn_module_stack", "custom", "torch_fn", "source_fn_stack")


class Origins:
    """Notes them for each node that is recorded.

    Args:
        sources: note ``source_fn_stack``, too: a layer of `taeda.nn` by its class, any other call by its function.
    """

    def __init__(self, sources: bool) -> None:
        self.sources = sources
        self.layers: list[tuple[str, type]] = []  # the modules that are running, each call by a name of its own
        self._counts: Counter[str] = Counter()
        self._call: tuple[FrameType | None, str] = (None, "")

    def enter(self, module: Module) -> None:
        """A module is called."""
        kind = type(module)
        self.layers.append((self._number(f"module {snake_case(kind.__name__)}").removeprefix("module "), kind))

    def leave(self) -> None:
        """Its call is through."""
        self.layers.pop()

    def _number(self, name: str) -> str:
        self._counts[name] += 1
        return f"{name}_{self._counts[name]}"

    def note(self, node: Node) -> None:
        """Says which call a new node comes from."""
        if node.target is operator.getitem and isinstance(node.args[0], Node):
            whole = node.args[0].meta
            node.meta.update({key: whole[key] for key in ("torch_fn", "source_fn_stack") if key in whole})
        if not isinstance(node.target, OpOverload):
            return
        frame = library_call()
        name = node.target._opname if frame is None else frame.f_code.co_name
        if frame is None or frame is not self._call[0]:
            self._call = frame, self._number(name)
        kind = "builtin_function_or_method" if frame is None else "function"
        node.meta["torch_fn"] = self._call[1], f"{kind}.{name}"
        if self.sources:
            node.meta["source_fn_stack"] = [self._source(name)]

    def _source(self, name: str) -> tuple[str, Any]:
        layer = self.layers[-1] if self.layers else None
        if layer is not None and layer[1].__module__.startswith("taeda.nn."):
            return layer
        homes = (taeda.nn.functional, taeda)
        return self._call[1], next((f for home in homes if (f := getattr(home, name, None)) is not None), name)

    def finish(self, nodes: list[Node]) -> None:
        """Parameters and buffers come from the layer that takes them last."""
        self._call = None, ""
        for node in nodes:
            for value in node.all_input_nodes if "source_fn_stack" in node.meta else ():
                if value.op == "placeholder" and value.name.startswith(("p_", "b_")):
                    value.meta["source_fn_stack"] = node.meta["source_fn_stack"]
