"""Ops that are spelled by others, as they were registered."""

from __future__ import annotations

import functools
from typing import Any

import taeda
from taeda.jit.ir import Graph

_GRAPHS: dict[tuple[str, str], Graph] = {}


def register(op: Any, graph: Graph) -> None:
    """From now on `run_decompositions` puts a graph in place of an op, ``taeda.ops.aten.square.default``.

    Raises:
        RuntimeError: the graph takes other arguments than the op.
    """
    takes, wants = len(list(graph.inputs())), len(op._schema.arguments)
    if takes != wants:
        raise RuntimeError(f"taeda.jit: {op.name()} takes {wants} arguments; its decomposition takes {takes}")
    _GRAPHS[op._qualified_name, op._overloadname] = graph


def run_decompositions(graph: Graph) -> bool:
    """Puts what is registered for ops in their place. Whether there was any."""
    changed = False
    for node in list(graph.all_nodes()):
        schema = node.op_schema() if node.kind().startswith("aten::") else None
        body = None if schema is None else _body(schema.name, schema.overload_name)
        if body is None:
            continue
        with graph.insert_point_guard(node):
            results = graph.insertGraph(body, list(node.inputs()))
        for output, result in zip(node.outputs(), results, strict=True):
            output.replaceAllUsesWith(result)
        node.destroy()
        changed = True
    return changed


def _body(name: str, overload: str) -> Graph | None:
    if (name, overload) == ("aten::var", "") and (name, overload) not in _GRAPHS:
        _GRAPHS[name, overload] = _of_var()
    return _GRAPHS.get((name, overload))


@functools.cache
def _of_var() -> Graph:
    return taeda.jit.script(_var).graph  # type: ignore[no-any-return]


def _var(self: taeda.Tensor, unbiased: bool) -> taeda.Tensor:
    apart = self - self.mean()
    return (apart * apart).sum() / max(self.numel() - int(unbiased), 0)
