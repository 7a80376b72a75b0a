"""Which values of a graph may share memory, and which of that memory is written to.

A conservative analysis: values that may share memory are in one set. What comes from outside (arguments, attributes)
and what goes outside (results, arguments of calls) is in one set for each kind of memory.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from taeda.jit.ir import Block, Graph, Node, Value

_FIXED = frozenset([
    "IntType", "FloatType", "BoolType", "StringType", "ComplexType", "NumberType", "NoneType", "DeviceObjType",
    "EnumType", "SymIntType", "SymBoolType", "FunctionType", "GeneratorType", "StreamObjType",
])  # fmt: skip


def is_shared(type: Any) -> bool:
    """Whether values of a type are or hold memory that can be written to."""
    kind = type.kind()
    if kind in _FIXED:
        return False
    if kind in ("OptionalType", "UnionType") or (kind == "TupleType"):
        return any(is_shared(inner) for inner in type.containedTypes())
    return True


_KEPT: dict[Graph, Any] = {}  # the sets of the graphs that passes are at work on; None if there are none yet


def aliases_of(graph: Graph) -> Aliases:
    """The sets of a graph as it is now; inside of `kept`, the same ones until a pass changes it."""
    if graph not in _KEPT:
        return Aliases(graph)
    if _KEPT[graph] is None:
        _KEPT[graph] = Aliases(graph)
    found: Aliases = _KEPT[graph]
    return found


@contextlib.contextmanager
def kept(graph: Graph) -> Iterator[Callable[[], None]]:
    """Keeps the sets of a graph for several passes; what is given forgets them, for when one changed it."""
    is_outermost = graph not in _KEPT
    _KEPT[graph] = None

    def forget() -> None:
        _KEPT[graph] = None

    try:
        yield forget
    finally:
        if is_outermost:
            del _KEPT[graph]
        else:
            forget()


class Aliases:
    """The sets of a graph as it is now; changes of the graph are not followed.

    Args:
        graph: the graph.
        apart: values that come from outside, each of which is known to share memory with no other that does.
    """

    def __init__(self, graph: Graph, apart: frozenset[Value] = frozenset()) -> None:
        self._parent: dict[Any, Any] = {}
        self._apart = apart
        self._writers: dict[Any, list[Node]] = {}
        for value in graph.inputs():
            self._leaves(value)
        self._block(graph)
        for value in graph.outputs():
            self._leaves(value)

    # --- Questions
    def has_writers(self, value: Value) -> bool:
        """Whether anything writes to memory that the value may share."""
        return is_shared(value.static_type) and bool(self._writers.get(self._find(value)))

    def writers(self, value: Value) -> list[Node]:
        """The nodes that may write to memory that the value may share."""
        return self._writers.get(self._find(value), []) if is_shared(value.static_type) else []

    def is_outside(self, value: Value) -> bool:
        """Whether others than the graph may see the value's memory: it came from outside or goes there."""
        if not is_shared(value.static_type):
            return False
        root = self._find(value)
        return any(self._find(word) == root for word in self._outside_words())

    def may_share(self, a: Value, b: Value) -> bool:
        """Whether two values may share memory."""
        return is_shared(a.static_type) and is_shared(b.static_type) and self._find(a) == self._find(b)

    # --- Sets
    def _outside_words(self) -> list[str]:
        return [key for key in self._parent if isinstance(key, str)]

    def _find(self, key: Any) -> Any:
        parent = self._parent
        root = parent.setdefault(key, key)
        while parent[root] is not root:
            root = parent[root]
        while parent[key] is not root:
            parent[key], key = root, parent[key]
        return root

    def _join(self, a: Any, b: Any) -> None:
        a, b = self._find(a), self._find(b)
        if a is not b:
            self._parent[a] = b
            self._writers.setdefault(b, []).extend(self._writers.pop(a, []))

    def _leaves(self, value: Value) -> None:
        """The value comes from outside or goes there."""
        for word in _words(value.static_type):
            self._join(value, word)

    def _writes(self, value: Value, node: Node) -> None:
        self._writers.setdefault(self._find(value), []).append(node)

    # --- Nodes
    def _block(self, block: Block) -> None:
        for node in block.nodes():
            self._node(node)

    def _node(self, node: Node) -> None:
        kind = node.kind()
        if kind in ("prim::If", "prim::Loop"):
            self._control(node)
        elif kind in _HOLDERS:
            for held in (*node._inputs, *node._outputs):
                if is_shared(held.static_type):
                    self._join(held, (node._outputs or node._inputs)[0])
        elif kind == "prim::SetAttr":
            self._leaves(node.inputsAt(0))
            self._leaves(node.inputsAt(1))
            self._writes(node.inputsAt(0), node)
        elif kind == "prim::GetAttr":
            if node.output() not in self._apart:
                self._leaves(node.output())
        elif kind not in _FRESH:
            self._op(node)

    def _control(self, node: Node) -> None:
        blocks = list(node.blocks())
        for block in blocks:
            self._block(block)
            first = 1 if node.kind() == "prim::Loop" else 0
            groups: list[Any] = [node._outputs, block.returnNode()._inputs[first:]]
            if first:
                groups += [node._inputs[2:], block.paramNode()._outputs[1:]]
            for values in zip(*groups, strict=True):
                for value in values[1:]:
                    if is_shared(value.static_type) or is_shared(values[0].static_type):
                        self._join(values[0], value)

    def _op(self, node: Node) -> None:
        schema = node.op_schema()
        if schema is None:  # a call: it may do anything with what it is given, and with what it finds elsewhere
            for value in (*node._inputs, *node._outputs):
                self._leaves(value)
            for word in self._outside_words():
                self._writers.setdefault(self._find(word), []).append(node)
            return
        names: dict[str, Any] = {}
        given = zip(schema.arguments, node._inputs, strict=False)
        for argument, value in (*given, *zip(schema.returns, node._outputs, strict=False)):
            info = argument.alias_info
            if info is None or not is_shared(value.static_type):
                continue
            before, after = info._names
            for name in (*before, *after):
                if name == "*":
                    self._leaves(value)
                else:
                    self._join(value, names.setdefault(name, value))
            if info.is_write and value in node._inputs:
                self._writes(value, node)
        if not node.kind().startswith("aten::") or node.kind() in _LISTS:
            self._keep(node)

    def _keep(self, node: Node) -> None:
        """Outputs and inputs that hold one another: lists, dicts, objects."""
        shared = [v for v in (*node._inputs, *node._outputs) if is_shared(v.static_type)]
        if any(v.static_type.kind() != "TensorType" for v in shared):
            for value in shared[1:]:
                self._join(shared[0], value)


def _words(type: Any) -> list[str]:
    """The sets outside in which a value of a type may be."""
    if not is_shared(type):
        return []
    kind = type.kind()
    if kind == "TensorType":
        return ["Tensor"]
    if kind in ("ListType", "DictType") and not any(is_shared(inner) for inner in type.containedTypes()):
        return [type.str()]
    if kind in ("OptionalType", "TupleType", "UnionType", "ListType", "DictType"):
        found = [word for inner in type.containedTypes() for word in _words(inner)]
        return found if kind in ("OptionalType", "TupleType", "UnionType") else [*found, type.str()]
    return ["Tensor", "any"]


_FRESH = frozenset([
    "prim::Constant", "prim::Uninitialized", "prim::isinstance", "prim::Print", "prim::RaiseException",
    "prim::CreateObject",
])  # fmt: skip
# Nodes whose outputs are, hold or are held by their inputs.
_HOLDERS = frozenset([
    "prim::ListConstruct", "prim::DictConstruct", "prim::TupleConstruct", "prim::TupleIndex", "prim::TupleUnpack",
    "prim::TupleSlice", "prim::ListUnpack", "prim::unchecked_cast", "prim::unchecked_unwrap_optional", "prim::Enter",
    "prim::Exit",
])  # fmt: skip
_LISTS = frozenset([f"aten::{name}" for name in (
    "append", "insert", "extend", "_set_item", "__getitem__", "pop", "slice", "list", "copy", "values", "items",
    "setdefault", "get", "popitem", "update", "dict", "reverse", "sort", "sorted", "add", "add_", "mul", "clear",
    "remove", "Delete", "keys", "unbind", "split", "chunk", "tensor_split", "hsplit", "vsplit", "dsplit", "zip",
)])  # fmt: skip
