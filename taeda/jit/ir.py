"""The graph of a program: blocks of nodes, and the values between them. One for every tool: what `script` and `trace`
make, passes change, and the interpreter, archives and exporters read.

Kinds of nodes, attributes and printed text are TorchScript's (``_ir_text.py`` writes it, ``_ir_parse.py`` reads
it), and `Graph`, `Node`, `Value` and `Block` answer to the methods that PyTorch's users call.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from taeda import Tensor
from taeda._schema.types import (
    BoolType,
    ComplexType,
    FloatType,
    IntType,
    NoneType,
    StringType,
    TensorType,
    TupleType,
    Type,
)
from taeda.jit._ir_nodes import Block as Block
from taeda.jit._ir_nodes import Node as Node
from taeda.jit._ir_nodes import Use as Use
from taeda.jit._ir_nodes import Value as Value
from taeda.jit._ir_nodes import _Mapped
from taeda.jit._ir_types import FunctionType, number_of
from taeda.jit.source import SourceRange

Text = str  # `Graph.str` is a method

_CONSTANT_KINDS: list[tuple[type, str, Any]] = [
    (bool, "i", BoolType), (int, "i", IntType), (float, "f", FloatType), (complex, "c", ComplexType),
    (str, "s", StringType), (Tensor, "t", TensorType),
]  # fmt: skip


class Graph(Block):
    """A function's program: a block with a place at which new nodes are put (``insertPoint``)."""

    kept: Any = None  # what is to live as long: classes that nobody else may hold

    def __init__(self) -> None:
        self._count = 0
        self._names: dict[Text, Value] = {}
        self._suffixes: dict[Text, int] = {}
        super().__init__(self, None)
        self._insert_before: Node = self._return

    def _next_unique(self) -> int:
        self._count += 1
        return self._count - 1

    def _free_name(self, name: Text) -> Text:
        base, dot, suffix = name.rpartition(".")
        if not dot or not suffix.isdigit():
            base = name
        number = self._suffixes.get(base, 0) + 1
        while f"{base}.{number}" in self._names:
            number += 1
        self._suffixes[base] = number
        return f"{base}.{number}"

    def block(self) -> Block:
        """Its own block: itself."""
        return self

    def param_node(self) -> Node:
        """The node whose outputs are the graph's inputs."""
        return self._param

    def return_node(self) -> Node:
        """The node whose inputs are the graph's outputs."""
        return self._return

    # --- New nodes
    def create(self, kind: Text, *given: Any) -> Node:
        """A node that stands nowhere yet: ``create(kind)``, ``(kind, outputs)``, ``(kind, inputs)`` or
        ``(kind, inputs, outputs)``, where ``outputs`` is a number; one output if it is left out."""
        inputs = next((g for g in given if not isinstance(g, int)), ())
        outputs = next((g for g in given if isinstance(g, int)), 1)
        if any(value is None for value in inputs):
            raise ValueError(f"Graph.create: an input of {kind} is None; constants are values, too (insertConstant)")
        node = Node(self, kind, list(inputs))
        for _ in range(outputs):
            node.addOutput()
        return node

    def createClone(self, node: Node, value_map: Callable[[Value], Value]) -> Node:
        """A copy of a node, of this or another graph, with its blocks; ``value_map`` gives its inputs."""
        copy = Node(self, node._kind, [value_map(v) for v in node._inputs])
        copy.copyAttributes(node).copyMetadata(node)
        for output in node._outputs:
            copy.addOutput().copyMetadata(output)
        for block in node._blocks:
            inner: dict[Value, Value] = _Mapped(value_map)
            copy.addBlock().copy_from(block, inner)
        return copy

    def insertNode(self, node: Node) -> Node:
        """Puts a node at the insertion point."""
        return node.insertBefore(self._insert_before)

    def emit(
        self, kind: Text, inputs: Sequence[Value] = (), types: Sequence[Type] = (), range: SourceRange | None = None,
        overload: Text | None = None, **attributes: tuple[Text, Any],
    ) -> Node:  # fmt: skip
        """A new node at the insertion point with outputs of these types; ``attributes`` are (kind, value)."""
        node = Node(self, kind, inputs)
        for type in types:
            node.addOutput(type)
        node._attributes.update(attributes)
        node.range, node.overload = range, overload
        return self.insertNode(node)

    def insert(self, name: Text, values: Sequence[Any], kwargs: dict[Text, Any] | None = None) -> Value:
        """Calls the op ``name`` on values and constants at the insertion point; its overload is found by their types.

        Raises:
            RuntimeError: no overload takes them.
        """
        from taeda.jit.check.operators import emit_op

        as_value = lambda v: v if isinstance(v, Value) else self.insertConstant(v)
        return emit_op(self, name, [as_value(v) for v in values], {k: as_value(v) for k, v in (kwargs or {}).items()})

    def insertConstant(self, value: Any, type: Any = None) -> Value:
        """A ``prim::Constant`` at the insertion point; its type is the value's unless one is given.

        Raises:
            RuntimeError: a value that programs do not know.
        """
        node = make_constant(self, value, type)
        return self.insertNode(node).output()

    def insertGraph(self, callee: Graph, inputs: Sequence[Value]) -> list[Value]:
        """Puts a copy of another graph's nodes at the insertion point, fed with ``inputs``; the values it gives."""
        values = dict(zip(callee.inputs(), inputs, strict=True))
        for node in callee.nodes():
            copy = self.insertNode(self.createClone(node, lambda v: values[v]))
            values.update(zip(node._outputs, copy._outputs, strict=True))
        return [values[v] for v in callee.outputs()]

    # --- Where new nodes are put
    def insertPoint(self) -> Node:
        """The node before which new ones are put."""
        return self._insert_before

    def setInsertPoint(self, at: Node | Block) -> None:
        """New nodes are put before this node, or at the end of this block."""
        self._insert_before = at._return if isinstance(at, Block) else at

    @contextmanager
    def insert_point_guard(self, at: Node | Block) -> Iterator[None]:
        """As `setInsertPoint`, until the end of the ``with`` block."""
        saved = self._insert_before
        self.setInsertPoint(at)
        try:
            yield
        finally:
            self._insert_before = saved

    def makeMultiOutputIntoTuple(self) -> None:
        """Gives one tuple in place of several values."""
        if len(self._return._inputs) != 1:
            values = list(self.outputs())
            node = Node(self, "prim::TupleConstruct", values)
            node.addOutput(TupleType([v.static_type for v in values]))
            self.appendNode(node)
            self._return.removeAllInputs()
            self.registerOutput(node.output())

    def permuteInputs(self, order: Sequence[int]) -> None:
        """Takes its inputs in another order."""
        self._param._outputs = [self._param._outputs[i] for i in order]

    def copy(self) -> Graph:
        """A graph of the same nodes, names and types."""
        twin = Graph()
        twin.copy_from(self, {})
        twin._names = {}
        for old, new in zip(self._all_values(), twin._all_values()):
            new._unique, new._name = old._unique, old._name
            if new._name:
                twin._names[new._name] = new
        twin._count = self._count
        return twin

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Graph:
        return self.copy()

    def alias_db(self, isFrozen: bool = False, descend_function_calls: bool = False) -> Any:
        """Which of its values may share memory."""
        from taeda.jit._native_names import AliasDb

        return AliasDb(self)

    def lint(self) -> None:
        """Checks that every value is made before it is used, in a block that the user can see.

        Raises:
            RuntimeError: the graph is damaged; says where.
        """
        from taeda.jit._ir_lint import lint

        lint(self)

    def str(self, print_source_ranges: bool = True) -> Text:
        """Its text, with the places in the source unless they are not wanted."""
        from taeda.jit._ir_text import graph_text

        return graph_text(self, print_source_ranges)

    def __str__(self) -> Text:
        return self.str(_places_shown)

    __repr__ = __str__


_places_shown = True


@contextmanager
def hide_source_ranges() -> Iterator[None]:
    """Graphs print without the places in the source, until the end of the ``with`` block."""
    global _places_shown
    before, _places_shown = _places_shown, False
    try:
        yield
    finally:
        _places_shown = before


def make_constant(graph: Graph, value: Any, type: Any = None) -> Node:
    """A ``prim::Constant`` that stands nowhere yet."""
    node = Node(graph, "prim::Constant")
    kinds = () if isinstance(value, enum.Enum) else _CONSTANT_KINDS  # a member may be a text or number, too
    kind, known = next(((k, t.get()) for cls, k, t in kinds if isinstance(value, cls)), ("ival", None))
    if value is None:
        node.addOutput(NoneType.get() if type is None else type)
        return node
    if known is None or (type is not None and type is not known):
        kind, value, known = _other_constant(value, type)
    node._attributes["value" if not isinstance(known, FunctionType) else "name"] = (kind, value)
    node.addOutput(known)
    return node


def _other_constant(value: Any, type: Any) -> tuple[str, Any, Any]:
    from taeda import _C, device, dtype, layout, memory_format

    if isinstance(type, FunctionType):
        return "s", type.name, type
    if isinstance(value, device):
        return "s", str(value), _C._parse_type("Device")
    if isinstance(value, (dtype, layout, memory_format)):
        return "i", number_of(value), IntType.get()
    if isinstance(value, int) and type is FloatType.get():
        return "f", float(value), type
    if isinstance(value, (bool, int, float, complex, str, Tensor)) and not isinstance(value, enum.Enum):
        return next((k, value, type) for cls, k, _ in _CONSTANT_KINDS if isinstance(value, cls))
    return "ival", value, type if type is not None else _C._type_of(value)


def parse_ir(text: str, parse_tensor_constants: bool = False, tensors: Sequence[Tensor] = ()) -> Graph:
    """The graph that a text describes, as `Graph.str` writes it.

    Args:
        text: the graph.
        parse_tensor_constants: whether tensors whose text says too little are taken from ``tensors``, in order, and are
            empty when there are no more; without it such a text is refused.
        tensors: the tensors that the text leaves out.

    Raises:
        RuntimeError: the text is no graph; says where.
    """
    from taeda.jit._ir_parse import parse

    return parse(Graph, text, parse_tensor_constants, tensors)
