"""Graphs of ``fx`` and of ``jit``, each as the other, where both can say it: calls of ops in a row.

``to_ir(module)`` takes a graph of op calls, as export makes it; ``from_ir(graph)`` a graph without control flow.
"""

from __future__ import annotations

import operator
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda._library.ops import OpOverload, find_overload
from taeda._schema.types import IntType, ListType, TensorType
from taeda.fx.graph import Graph
from taeda.fx.graph_module import GraphModule
from taeda.fx.node import Node
from taeda.jit import _ir_types, ir

__all__ = ["from_ir", "to_ir"]


def to_ir(module: GraphModule) -> ir.Graph:
    """The graph in the notation of ``jit``; what it fetches from the module are further inputs, by their paths.

    Raises:
        TypeError: a step is no op: a method, a module, a Python function.
    """
    return _ToIr(module).run()


class _ToIr:
    def __init__(self, module: GraphModule) -> None:
        self.module, self.graph = module, ir.Graph()
        self.values: dict[Node, Any] = {}

    def run(self) -> ir.Graph:
        for node in self.module.graph.nodes:
            if node.op in ("placeholder", "get_attr"):
                value = self.graph.addInput(node.name)
                example = node.meta.get("val")
                if isinstance(example, int) or type(example).__name__ == "SymInt":
                    value.setType(IntType.get())
                self.values[node] = value
            elif node.op == "output":
                results = node.args[0] if isinstance(node.args[0], (tuple, list)) else [node.args[0]]
                for result in results:
                    self.graph.registerOutput(self._value(result, None))
            elif node.target is operator.getitem:
                self.values[node] = self.values[node.args[0]][node.args[1]]
            elif isinstance(node.target, OpOverload):
                self.values[node] = self._call(node, node.target)
            else:
                raise TypeError(f"taeda.fx.ir.to_ir: {node} calls {node.target}, which is no op")
        return self.graph

    def _call(self, node: Node, op: OpOverload) -> Any:
        schema = op._schema
        given = dict(zip((a.name for a in schema.arguments), node.args)) | dict(node.kwargs)
        inputs = [self._value(given.get(a.name, a.default_value), a.type) for a in schema.arguments]
        types = [r.type for r in schema.returns]
        made = self.graph.emit(op._qualified_name, inputs, types, overload=op._overloadname)
        outputs = list(made.outputs())
        if not outputs:
            return None
        if len(outputs) == 1:
            outputs[0].setDebugName(node.name)
        return outputs[0] if len(outputs) == 1 else outputs

    def _value(self, given: Any, wanted: Any) -> Any:
        if isinstance(given, Node):
            return self.values[given]
        if isinstance(given, (list, tuple)) and any(isinstance(item, Node) for item in given):
            inner = [self._value(item, None) for item in given]
            kind = next((v.static_type for v in inner if str(v.static_type) != "NoneType"), TensorType.get())
            return self.graph.emit("prim::ListConstruct", inner, [ListType(kind)]).output()
        if isinstance(given, (taeda.dtype, taeda.layout, taeda.memory_format)):
            return self.graph.insertConstant(_ir_types.number_of(given))
        return self.graph.insertConstant(list(given) if isinstance(given, tuple) else given)


def from_ir(graph: ir.Graph, root: nn.Module | None = None) -> GraphModule:
    """The graph as a module of ``fx``.

    Args:
        graph: it may call ops, make lists and tuples, and fetch attributes; with ``root`` its first input is the
            module.
        root: whose attributes are fetched.

    Raises:
        TypeError: it branches, loops, or calls what is no op.
    """
    made = Graph()
    values: dict[Any, Any] = {}
    paths: dict[Any, str] = {}
    inputs = list(graph.inputs())
    if root is not None:
        paths[inputs.pop(0)] = ""
    for value in inputs:
        values[value] = made.placeholder(
            "".join(c if c.isalnum() else "_" for c in f"x_{value.debugName()}")[2:] or "x"
        )
    for node in graph.nodes():
        _add(made, node, values, paths, root)
    results = [values[v] for v in graph.outputs()]
    made.output(results[0] if len(results) == 1 else tuple(results))
    made.eliminate_dead_code()
    return GraphModule(root if root is not None else {}, made)


def _add(made: Graph, node: Any, values: dict[Any, Any], paths: dict[Any, str], root: nn.Module | None) -> None:
    kind, outputs = node.kind(), list(node.outputs())
    if kind == "prim::Constant":
        values[outputs[0]] = node.output().toIValue()
        return
    if kind == "prim::GetAttr":
        (owner,) = node.inputs()
        path = f"{paths[owner]}.{node.s('name')}".lstrip(".")
        found = root
        for part in path.split("."):
            found = getattr(found, part)
        paths[outputs[0]] = path
        if isinstance(found, Tensor):
            values[outputs[0]] = made.get_attr(path)
        elif not isinstance(found, nn.Module):
            values[outputs[0]] = found
        return
    args = [values[v] for v in node.inputs()]
    if kind in ("prim::ListConstruct", "prim::TupleConstruct"):
        values[outputs[0]] = args if kind.endswith("ListConstruct") else tuple(args)
    elif kind in ("prim::ListUnpack", "prim::TupleUnpack"):
        for i, value in enumerate(outputs):
            source = args[0]
            values[value] = (
                source[i] if isinstance(source, (list, tuple)) else made.call_function(operator.getitem, (source, i))
            )
    else:
        _add_call(made, node, args, outputs, values)


def _add_call(made: Graph, node: Any, args: list[Any], outputs: list[Any], values: dict[Any, Any]) -> None:
    try:
        op = find_overload(node.kind(), node.overload or "")
    except AttributeError:
        raise TypeError(f"taeda.fx.ir.from_ir: a graph of fx cannot say {node.kind()}: {str(node).strip()}") from None
    parameters = op._schema.arguments
    args = [by_type(value, str(p.real_type)) for value, p in zip(args, parameters)]
    plain = tuple(v for v, p in zip(args, parameters) if not p.kwarg_only)
    named = {p.name: v for v, p in zip(args, parameters) if p.kwarg_only and v != p.default_value}
    while (
        plain
        and parameters[len(plain) - 1].has_default_value()
        and _same(plain[-1], parameters[len(plain) - 1].default_value)
    ):
        plain = plain[:-1]
    called = made.create_node("call_function", op, plain, named, op._opname)
    if len(outputs) == 1:
        values[outputs[0]] = called
        return
    for i, value in enumerate(outputs):
        values[value] = made.call_function(operator.getitem, (called, i))


_DTYPES = (
    taeda.uint8, taeda.int8, taeda.int16, taeda.int32, taeda.int64, taeda.float16, taeda.float32, taeda.float64,
    taeda.complex64, taeda.complex128, taeda.bool, taeda.bfloat16,
)  # fmt: skip
_FORMATS = (taeda.contiguous_format, taeda.preserve_format, taeda.channels_last, taeda.channels_last_3d)


def by_type(value: Any, kind: str) -> Any:
    """An argument as ops take it: dtypes, layouts and memory formats are numbers in graphs of ``jit``."""
    if type(value) is not int:
        return value
    if "ScalarType" in kind:
        return next(dtype for dtype in _DTYPES if _ir_types.number_of(dtype) == value)
    if "MemoryFormat" in kind:
        return next(layout for layout in _FORMATS if _ir_types.number_of(layout) == value)
    return taeda.strided if "Layout" in kind else value


def _same(a: Any, b: Any) -> bool:
    return not isinstance(a, Node) and type(a) is type(b) and a == b
