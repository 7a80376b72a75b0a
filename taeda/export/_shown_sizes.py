"""Sizes that vary, as `node.meta["val"]` shows them: symbols by the names of `range_constraints`."""

from __future__ import annotations

import itertools
import operator
from typing import TYPE_CHECKING, Any

from taeda._library.fake_tensor import FakeTensor
from taeda._schema.recorder import SizeRecorder
from taeda._schema.symbols import SymInt, SymNode, _Symbol, symbol_of
from taeda.fx.graph_module import GraphModule
from taeda.fx.node import Node
from taeda.utils._pytree import tree_leaves

if TYPE_CHECKING:
    from taeda.export.guards import SizeName

_OPERATIONS = {
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "neg", "eq", "ne", "lt", "le", "gt", "ge",
}  # fmt: skip


class _Unheard(SizeRecorder):
    """Symbols stay symbols when they are calculated with, and nobody is told."""

    def __init__(self) -> None:
        super().__init__()
        self.is_recording = True

    def operation(self, node: SymNode) -> None:
        """Nothing."""

    def guard(self, condition: SymNode, value: bool, place: tuple[str, int]) -> None:
        """Nothing."""


_UNHEARD = _Unheard()


def show_sizes(module: GraphModule, sizes: list[SizeName]) -> None:
    """Gives the values of a program's nodes the sizes that programs read there."""
    names = _Names({size.label or size.where for size in sizes})
    placeholders = {node.name: node for node in module.graph.find_nodes(op="placeholder")}
    for size in sizes:
        names.learn(placeholders.get(size.node), size)
    for part in module.modules():
        if isinstance(part, GraphModule):
            for node in part.graph.nodes:
                names.show(node)


def show_pairs(module: GraphModule, pairs: dict[int, int]) -> None:
    """The same for a graph whose inputs have these sizes: by the example's, the shadow's."""
    names = _Names(set())
    for hint, other in pairs.items():
        if hint != other:
            names.pairs[hint, other] = names._fresh(hint, "s")
    for node in module.graph.nodes:
        names.show(node)
        node.meta.pop("other", None)


class _Names:
    """Which symbol stands for the sizes that are one number in the example and another in its shadow."""

    def __init__(self, taken: set[str]) -> None:
        self.pairs: dict[tuple[int, int], SymNode] = {}
        self.taken = taken

    def learn(self, node: Node | None, size: SizeName) -> None:
        """A size of an input, with the name that it has."""
        value = None if node is None else node.meta.get("val")
        other = None if node is None else node.meta.get("other")
        if size.dim is not None and isinstance(value, FakeTensor) and other is not None:
            self._keep(value._meta.shape[size.dim], other[size.dim], size.label or size.where)
        elif size.dim is None and isinstance(value, _Symbol) and isinstance(other, int):
            self._keep(value.node.hint, other, size.label or size.where)

    def _keep(self, hint: Any, other: int, name: str) -> None:
        self.pairs.setdefault((hint, other), SymNode(hint, "input", (), _UNHEARD, name))

    def show(self, node: Node) -> None:
        """What a node gives, with symbols."""
        value, other = node.meta.get("val"), node.meta.get("other")
        if isinstance(value, _Symbol):
            number = self._number(node, value.node.hint, other)
            if type(number.hint) is int and type(other) is int:
                self.pairs.setdefault((number.hint, other), number)
            node.meta["val"] = symbol_of(number)
            return
        for leaf in [value] if isinstance(value, FakeTensor) else tree_leaves(value):
            if isinstance(leaf, FakeTensor):
                self._show_tensor(node, leaf, other if leaf is value else _other_of(node, leaf))

    def _show_tensor(self, node: Node, value: FakeTensor, other: Any) -> None:
        shape = list(value._meta.shape)
        if value._shown is not None or other is _ABSENT or (other is not None and list(other) == shape):
            return
        if other is None:
            given = {v.node.hint: v for v in (arg.meta.get("val") for arg in node.all_input_nodes) if type(v) is SymInt}
            value._shown = tuple(given.get(size) or symbol_of(self._fresh(size, "u")) for size in shape)
        else:
            value._shown = tuple(a if a == b else symbol_of(self._size(a, b)) for a, b in zip(shape, other))

    def _size(self, hint: int, other: int) -> SymNode:
        known = self.pairs.get((hint, other))
        if known is None:
            known = self.pairs[hint, other] = self._expression(hint, other) or self._fresh(hint, "s")
        return known

    def _expression(self, hint: int, other: int) -> SymNode | None:
        """A multiple of a known size."""
        for (a, b), known in list(self.pairs.items()):
            if a and hint % a == 0 and b * (hint // a) == other:
                return SymNode(hint, "mul", (known, hint // a), _UNHEARD)
        return None

    def _number(self, node: Node, hint: Any, other: Any) -> SymNode:
        if isinstance(other, int) and (hint, other) in self.pairs and type(hint) is int:
            return self.pairs[hint, other]
        name = getattr(node.target, "__name__", "")
        if node.op == "call_function" and name in _OPERATIONS and getattr(operator, name) is node.target:
            operands = [a.meta.get("val") if isinstance(a, Node) else a for a in node.args]
            if all(isinstance(o, (_Symbol, int, float)) for o in operands):
                inner = tuple(o.node if isinstance(o, _Symbol) else o for o in operands)
                return SymNode(hint, name, inner, _UNHEARD)
        if type(hint) is int and isinstance(other, int):
            return self._size(hint, other)
        return self._fresh(hint, "u")

    def _fresh(self, hint: Any, letter: str) -> SymNode:
        name = next(n for i in itertools.count() if (n := f"{letter}{i}") not in self.taken)
        self.taken.add(name)
        return SymNode(hint, "input", (), _UNHEARD, name)


_ABSENT: Any = object()


def _other_of(node: Node, leaf: Any) -> Any:
    """The sizes that the shadow of a part of a result has."""
    parts = (user for user in node.users if user.meta.get("val") is leaf)
    return next((part.meta["other"] for part in parts if "other" in part.meta), _ABSENT)
