"""A graph of ops as JSON."""

from __future__ import annotations

import builtins
import math
import operator
from typing import Any

import taeda
from taeda import Tensor
from taeda._library.ops import OpOverload, find_overload
from taeda._schema.symbols import SymNode, _Symbol, symbol_of
from taeda.fx.graph import Graph
from taeda.fx.node import Node

_MODULES = {"_operator": operator, "math": math, "builtins": builtins}
_PLAIN = {"dtype": taeda.dtype, "layout": taeda.layout, "memory_format": taeda.memory_format}


def write_graph(graph: Graph) -> list[Any]:
    """A list of its nodes."""
    return [
        {
            "op": node.op, "name": node.name, "target": _target(node), "args": [_write(a) for a in node.args],
            "kwargs": {k: _write(a) for k, a in node.kwargs.items()}, "meta": _meta(node),
        }
        for node in graph.nodes
    ]  # fmt: skip


def _target(node: Node) -> Any:
    target: Any = node.target
    if isinstance(target, str):
        return target
    if isinstance(target, OpOverload):
        return {"op": target._qualified_name, "overload": target._overloadname}
    if getattr(target, "namespace", None) == "higher_order":
        return {"higher_order": target.__name__}
    if target.__module__ in _MODULES:
        return {"function": target.__name__, "module": target.__module__}
    raise RuntimeError(f"taeda.export.save: {target} is no op; it cannot be named in a file")


def _read_target(described: Any) -> Any:
    if isinstance(described, str):
        return described
    if "op" in described:
        try:
            return find_overload(described["op"], described["overload"])
        except AttributeError as error:
            raise RuntimeError(f"taeda.export.load: {error}") from None
    if "higher_order" in described:
        return getattr(taeda.ops.higher_order, described["higher_order"])
    name, module = described["function"], _MODULES[described["module"]]
    if module is builtins and name not in ("abs", "round", "min", "max", "int", "float", "bool"):
        raise RuntimeError(f"taeda.export.load: {name} is no function of graphs")
    return getattr(module, name)


def _write(value: Any) -> Any:
    if isinstance(value, Node):
        return {"node": value.name}
    if isinstance(value, (list, tuple)):
        return {"list" if isinstance(value, list) else "tuple": [_write(item) for item in value]}
    if isinstance(value, dict):
        return {"dict": [[key, _write(item)] for key, item in value.items()]}
    for kind, cls in _PLAIN.items():
        if isinstance(value, cls):
            return {kind: str(value).removeprefix("torch.")}
    if isinstance(value, taeda.device):
        return {"device": str(value)}
    if isinstance(value, complex):
        return {"complex": [value.real, value.imag]}
    if isinstance(value, slice):
        return {"slice": [_write(v) for v in (value.start, value.stop, value.step)]}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise RuntimeError(f"taeda.export.save: an argument of type {type(value).__name__} cannot be written")


def _read(value: Any, nodes: dict[str, Node]) -> Any:
    if not isinstance(value, dict):
        return value
    ((kind, inner),) = value.items()
    if kind == "node":
        return nodes[inner]
    if kind in ("list", "tuple"):
        items = [_read(item, nodes) for item in inner]
        return items if kind == "list" else tuple(items)
    if kind == "dict":
        return {key: _read(item, nodes) for key, item in inner}
    if kind in _PLAIN:
        return getattr(taeda, inner)
    if kind == "device":
        return taeda.device(inner)
    if kind == "complex":
        return complex(*inner)
    return slice(*(_read(item, nodes) for item in inner))


def _meta(node: Node) -> dict[str, Any]:
    meta: dict[str, Any] = {k: node.meta[k] for k in ("stack_trace", "is_view") if node.meta.get(k)}
    if "nn_module_stack" in node.meta:
        meta["nn_module_stack"] = [[k, list(v)] for k, v in node.meta["nn_module_stack"].items()]
    if "other" in node.meta:
        meta["other"] = node.meta["other"]
    meta["val"] = _write_example(node.meta.get("val"))
    return meta


def _write_example(value: Any) -> Any:
    if isinstance(value, Tensor):
        return {"shape": list(map(int, value.shape)), "stride": list(map(int, value.stride())),
                "dtype": str(value.dtype).removeprefix("torch."), "device": str(value.device),
                "requires_grad": value.requires_grad}  # fmt: skip
    if isinstance(value, _Symbol):
        return {"symbol": value.node.hint, "text": str(value)}
    if isinstance(value, (list, tuple)):
        return [_write_example(item) for item in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else None


def read_graph(described: list[Any]) -> Graph:
    """The graph from what `write_graph` gave.

    Raises:
        RuntimeError: it names an op that is not there.
    """
    from taeda._library.fake_tensor import FakeTensorMode

    graph = Graph()
    nodes: dict[str, Node] = {}
    with FakeTensorMode() as mode:
        pass
    for step in described:
        args = tuple(_read(a, nodes) for a in step["args"])
        kwargs = {k: _read(a, nodes) for k, a in step["kwargs"].items()}
        node = graph.create_node(step["op"], _read_target(step["target"]), args, kwargs, step["name"])
        nodes[step["name"]] = node
        meta = dict(step["meta"])
        if "nn_module_stack" in meta:
            meta["nn_module_stack"] = {k: tuple(v) for k, v in meta["nn_module_stack"]}
        if isinstance(meta.get("other"), list):
            meta["other"] = tuple(meta["other"])
        meta["val"] = _read_example(meta["val"], mode)
        node.meta.update(meta)
    return graph


def _read_example(value: Any, mode: Any) -> Any:
    if isinstance(value, list):
        return tuple(_read_example(item, mode) for item in value)
    if not isinstance(value, dict):
        return value
    if "symbol" in value:
        return symbol_of(SymNode(value["symbol"], "input", (), None, value["text"]))
    meta = taeda.empty_strided(value["shape"], value["stride"], dtype=getattr(taeda, value["dtype"]), device="meta")
    from taeda._library.fake_tensor import FakeTensor

    return FakeTensor(mode, meta, value["device"], requires_grad=value["requires_grad"])
