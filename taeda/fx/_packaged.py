"""Modules of graphs in packages: code that imports what it names, and the graph traced from that code again."""

from __future__ import annotations

import builtins
from types import ModuleType
from typing import Any

from taeda import nn
from taeda.fx._symbolic_trace import Tracer
from taeda.fx.graph import Graph
from taeda.fx.graph_module import GraphModule, _CodeOnlyModule

# As PyTorch reads them.
_LINES = {
    "NoneType": "NoneType = type(None)", "device": "from torch import device", "inf": "from math import inf",
    "nan": "from math import nan", "fx_pytree": "import torch.fx._pytree as fx_pytree",
    "pytree": "import torch.utils._pytree as pytree", "torch": "import torch",
}  # fmt: skip


def source_of(graph: Graph, importer: Any) -> str:
    """The text of a Python module whose ``forward`` is the graph.

    Args:
        graph: the graph.
        importer: by whose names its functions are imported.

    Raises:
        ObjMismatchError, ObjNotFoundError: a function is not found by the importer.
    """
    code = graph.python_code("self")
    lines, wrapped = [], []
    for name, value in code.globals.items():
        if name in _LINES:
            lines.append(_LINES[name])
            continue
        if getattr(builtins, name, None) is not value:
            lines += _import_of(name, value, importer)
        if callable(value) and not isinstance(value, type):
            wrapped.append(f"torch.fx.wrap({name!r})")  # it stays one step when the code is traced
    if wrapped:
        wrapped.insert(0, "import torch.fx")
    return "\n".join([*lines, *wrapped]) + code.src


def _import_of(name: str, value: Any, importer: Any) -> list[str]:
    if isinstance(value, ModuleType):
        return [f"import {value.__name__} as {name}"]
    module, whole = importer.get_name(value)
    outer, *inner = whole.split(".")
    if not inner:
        return [f"from {module} import {outer}" + ("" if outer == name else f" as {name}")]
    return [f"from {module} import {outer}", f"{name} = {whole}"]


class _LeavesWhole:
    """A tracer's part: every module is one step, as it was before."""

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        return True


def loaded(forward: Any, body: dict[Any, Any]) -> GraphModule:
    """The module with these attributes whose code is ``forward``."""
    kept = {name: value for name, value in body.items() if name not in ("_code", "_graphmodule_cls_name")}
    holder = type("CodeOnlyModule", (_CodeOnlyModule,), {"forward": forward})(kept)
    tracer_class = body.get("_tracer_cls") or Tracer
    tracer: Any = type("KeepModules", (_LeavesWhole, tracer_class), {})()
    graph = tracer.trace(holder, **body.get("_tracer_extras", {}))
    graph._tracer_cls = tracer_class
    made = GraphModule(holder, graph, body.get("_graphmodule_cls_name", "GraphModule"))
    for name, value in kept.items():
        if name not in vars(made):
            setattr(made, name, value)
    return made
