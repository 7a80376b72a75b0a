"""Writing graphs: a node is the name of its op, its arguments by name, and the names of its results."""

from __future__ import annotations

import builtins
import json
import math
import operator
from typing import Any

import taeda
from taeda import Tensor
from taeda._library.ops import OpOverload
from taeda._schema.symbols import SymBool, SymFloat, _Symbol
from taeda.export.files import codes
from taeda.export.files.sizes import Sizes, written_symbol
from taeda.fx._naming import qualified_name
from taeda.fx.graph import Graph
from taeda.fx.node import Node

# What the format calls functions of numbers by other names.
FUNCTIONS: dict[Any, str] = {
    builtins.float: "torch.sym_float", builtins.int: "torch.sym_int", builtins.max: "torch.sym_max",
    builtins.min: "torch.sym_min", math.sqrt: "torch.sym_sqrt", operator.not_: "torch.sym_not",
    taeda.sym_float: "torch.sym_float", taeda.sym_int: "torch.sym_int", taeda.sym_max: "torch.sym_max",
    taeda.sym_min: "torch.sym_min", taeda.sym_not: "torch.sym_not", taeda.sym_ite: "torch.sym_ite",
}  # fmt: skip
_PREFIXES = {"_operator": "_operator", "math": "math", "builtins": "builtins"}


class GraphWriter:
    """Writes one graph; ``owner`` is the module that has the graphs in it."""

    def __init__(self, graph: Graph, owner: Any, sizes: Sizes) -> None:
        self.graph, self.owner, self.sizes = graph, owner, sizes
        self.tensors: dict[str, Any] = {}
        self.numbers: dict[type, dict[str, Any]] = {int: {}, float: {}, bool: {}}

    def write(self, is_single: bool = False) -> dict[str, Any]:
        """The graph. ``is_single``: it is a function that returns one tensor and no tuple."""
        inputs = [self._input(node) for node in self.graph.find_nodes(op="placeholder")]
        nodes = [self._node(node) for node in self.graph.nodes if node.op == "call_function" and not _is_part(node)]
        results = self.graph.output_node().args[0]
        outputs = [self.argument(value) for value in (results if isinstance(results, (tuple, list)) else (results,))]
        return {
            "inputs": inputs, "outputs": outputs, "nodes": nodes, "tensor_values": self.tensors,
            "sym_int_values": self.numbers[int], "sym_bool_values": self.numbers[bool],
            "is_single_tensor_return": is_single, "custom_obj_values": {}, "sym_float_values": self.numbers[float],
        }  # fmt: skip

    def _input(self, node: Node) -> dict[str, Any]:
        value = node.meta.get("val")
        return self.result(node) if isinstance(value, (Tensor, _Symbol)) else self.argument(value)

    # --- nodes
    def _node(self, node: Node) -> dict[str, Any]:
        is_op = isinstance(node.target, OpOverload)
        higher = getattr(node.target, "namespace", None) == "higher_order"
        value = node.meta.get("val")
        return {
            "target": _target(node.target), "inputs": self._by_name(node) if is_op else self._by_place(node, higher),
            "outputs": self._outputs(node), "metadata": _metadata(node),
            "is_hop_single_tensor_return": isinstance(value, Tensor) if higher else None, "name": node.name,
        }  # fmt: skip

    def _by_name(self, node: Node) -> list[Any]:
        parameters: Any = node.target._schema.arguments  # type: ignore[union-attr]
        given = [(p, value, codes.POSITIONAL) for p, value in zip(parameters, node.args)]
        given += [(p, node.kwargs[p.name], codes.KEYWORD) for p in parameters if p.name in node.kwargs]
        return [_named(p.name, self.argument(value, str(p.type)), kind) for p, value, kind in given]

    def _by_place(self, node: Node, higher: bool) -> list[Any]:
        names = [""] * len(node.args) if higher else ["a", "b", "c"]
        given = [_named(name, self.argument(value), codes.POSITIONAL) for name, value in zip(names, node.args)]
        return given + [_named(k, self.argument(v), codes.KEYWORD) for k, v in node.kwargs.items()]

    def _outputs(self, node: Node) -> list[Any]:
        value = node.meta.get("val")
        if value is None:
            return []
        if not isinstance(value, (tuple, list)):
            return [self.result(node)]
        returns = getattr(getattr(node.target, "_schema", None), "returns", None)
        parts = {user.args[1]: user for user in node.users if _is_part(user)}
        items = [self._part(node, i, item, parts.get(i)) for i, item in enumerate(value)]
        if returns is not None and len(returns) == 1:
            return [{"as_tensors": [item["as_tensor"] for item in items]}]
        return items

    def _part(self, node: Node, i: int, value: Any, part: Node | None) -> dict[str, Any]:
        if part is not None:
            return self.result(part)
        if not isinstance(value, Tensor):
            return self.argument(value)
        name = f"{node.name}_unused_{i}"
        self.tensors[name] = self.sizes.described(value, value.shape)
        return {"as_tensor": {"name": name}}

    def result(self, node: Node) -> dict[str, Any]:
        """The value of a node by its name, of which the tables of the graph tell."""
        value = node.meta.get("val")
        if isinstance(value, Tensor):
            if node.name not in self.tensors:
                self.tensors[node.name] = self.sizes.described(value, node.meta.get("other", value.shape))
            return {"as_tensor": {"name": node.name}}
        if not isinstance(value, _Symbol):
            raise RuntimeError(f"taeda.export.save: {node.name} is a {type(value).__name__}, which files do not hold")
        hint = value.node.hint
        self.numbers[type(hint)][node.name] = written_symbol(self.sizes.of_node(node), hint)
        kind = "as_sym_bool" if isinstance(value, SymBool) else "as_sym_float" if isinstance(value, SymFloat) else ""
        return {kind or "as_sym_int": {"as_name": node.name}}

    # --- arguments
    def argument(self, value: Any, type: str = "") -> dict[str, Any]:
        """An argument; ``type`` is what its parameter takes."""
        if isinstance(value, Node):
            return self._graph(value) if value.op == "get_attr" else self.result(value)
        if isinstance(value, (list, tuple)):
            return self._list(list(value), type)
        for kind, cls, write in _PLAIN:
            if isinstance(value, cls):
                return {kind: write(value)}
        raise RuntimeError(f"taeda.export.save: an argument of type {value.__class__.__name__} cannot be written")

    def _graph(self, node: Node) -> dict[str, Any]:
        module = self.owner.get_submodule(str(node.target))
        results = module.graph.output_node().args[0]
        writer = GraphWriter(module.graph, module, self.sizes)
        return {"as_graph": {"name": node.name, "graph": writer.write(not isinstance(results, (tuple, list)))}}

    def _list(self, items: list[Any], type: str) -> dict[str, Any]:
        if "Tensor?" in type or (any(i is None for i in items) and any(isinstance(i, Node) for i in items)):
            return {"as_optional_tensors": [self.argument(i) for i in items]}
        if not items:
            kind = next((kind for word, kind in _EMPTY.items() if word in type), "as_tensors")
            return {kind: []}
        written = [self.argument(item) for item in items]
        kinds = {kind for item in written for kind in item}
        if kinds == {"as_tensor"}:
            return {"as_tensors": [item["as_tensor"] for item in written]}
        for single, several in _LISTS.items():
            if kinds == {single}:
                return {several: [item[single] for item in written]}
        if kinds <= {"as_sym_int", "as_int"}:
            return {"as_sym_ints": [item.get("as_sym_int", item) for item in written]}
        if kinds <= {"as_sym_float", "as_float"}:
            return {"as_sym_floats": [item.get("as_sym_float", item) for item in written]}
        if kinds == {"as_int", "as_float"}:
            return {"as_floats": [codes.written_float(float(item)) for item in items]}
        raise RuntimeError(f"taeda.export.save: a list of {', '.join(sorted(kinds))} has no form in files")


_PLAIN: list[tuple[str, Any, Any]] = [
    ("as_none", type(None), lambda _: True), ("as_bool", bool, bool), ("as_int", int, int),
    ("as_float", float, codes.written_float), ("as_string", str, str),
    ("as_complex", complex, lambda v: {"real": codes.written_float(v.real), "imag": codes.written_float(v.imag)}),
    ("as_scalar_type", taeda.dtype, lambda v: codes.DTYPES[v]), ("as_layout", taeda.layout, lambda v: codes.LAYOUTS[v]),
    ("as_memory_format", taeda.memory_format, lambda v: codes.MEMORY_FORMATS[v]),
    ("as_device", taeda.device, codes.written_device), ("as_operator", OpOverload, lambda v: _target(v)),
]  # fmt: skip
_LISTS = {
    "as_int": "as_ints", "as_float": "as_floats", "as_bool": "as_bools", "as_string": "as_strings",
    "as_ints": "as_int_lists", "as_floats": "as_float_lists", "as_tensors": "as_nested_tensors",
    "as_sym_int": "as_sym_ints", "as_sym_bool": "as_sym_bools", "as_sym_float": "as_sym_floats",
}  # fmt: skip
_EMPTY = {"Tensor": "as_tensors", "float": "as_floats", "bool": "as_bools", "str": "as_strings", "nt": "as_ints"}


def _is_part(node: Node) -> bool:
    """Whether a node takes one of a node's several results."""
    owner = node.args[0] if node.target is operator.getitem else None
    return isinstance(owner, Node) and isinstance(owner.meta.get("val"), (tuple, list))


def _named(name: str, argument: Any, kind: int) -> dict[str, Any]:
    return {"name": name, "arg": argument, "kind": kind}


def _target(target: Any) -> str:
    if isinstance(target, OpOverload):
        return f"torch.ops.{target._qualified_name.replace('::', '.')}.{target._overloadname or 'default'}"
    if getattr(target, "namespace", None) == "higher_order":
        return f"torch.ops.higher_order.{target.__name__}"
    if target in FUNCTIONS:
        return FUNCTIONS[target]
    if getattr(target, "__module__", None) in _PREFIXES:
        return f"{_PREFIXES[target.__module__]}.{target.__name__}"
    raise RuntimeError(f"taeda.export.save: {target} is no op; it cannot be named in a file")


def _metadata(node: Node) -> dict[str, str]:
    found = {}
    if node.meta.get("stack_trace"):
        found["stack_trace"] = node.meta["stack_trace"]
    if node.meta.get("custom"):
        found["custom"] = json.dumps(node.meta["custom"])
    if sources := node.meta.get("source_fn_stack"):
        found["source_fn_stack"] = ";".join(
            f"{name},{source if isinstance(source, str) else qualified_name(source)}" for name, source in sources
        )
    if called := node.meta.get("torch_fn"):
        found["torch_fn"] = ";".join(called)
    if stack := node.meta.get("nn_module_stack"):
        found["nn_module_stack"] = ";".join(f"{key},{path},{_class(kind)}" for key, (path, kind) in stack.items())
    return found


def _class(kind: Any) -> str:
    return kind if isinstance(kind, str) else f"{kind.__module__}.{kind.__qualname__}"
