"""Which expression stands in a file for each number that varies.

Graphs say a size by the node that reads it. Files want it as an expression over the sizes of the inputs, also where no
node reads it: it is then the expression that has the same two numbers, the example's and the shadow's, and if there is
none a symbol of its own.
"""

from __future__ import annotations

import re
from typing import Any

from taeda import Tensor
from taeda._schema.symbols import _Symbol
from taeda.export.dynamic_shapes import UNLIMITED
from taeda.export.exported_program import ExportedProgram
from taeda.export.files import codes, expressions
from taeda.export.guards import Expression, SizeName
from taeda.fx.node import Node

_SAME_AS = {
    "sym_not": "not_", "sym_max": "max", "sym_min": "min", "sym_float": "float", "sym_int": "trunc", "int": "trunc",
}  # fmt: skip


class Sizes:
    """The symbols of a program and what stands for what.

    Attributes:
        inputs: by input and dimension, expressions.
        labels: by symbol, the name that the program's author gave it, or none.
    """

    def __init__(self, program: ExportedProgram) -> None:
        self.inputs: dict[tuple[str, int | None], Expression] = {}
        self.labels: dict[str, str] = {}
        self._ranges: dict[str, tuple[int, int]] = {}
        self._pairs: dict[tuple[int, int], Expression] = {}
        self._nodes: dict[Node, Expression] = {}
        self._taken: set[str] = set()
        roots: dict[str, str] = {}
        nodes = {node.name: node for node in program.graph.find_nodes(op="placeholder")}
        for size in program.sizes:
            key = size.root or size.where
            if key not in roots:
                roots[key] = self._root(size, program)
            factor, offset = size.derived or (1, 0)
            expression = _plus(_times(factor, ("symbol", roots[key])), offset)
            self.inputs[size.node, size.dim] = expression
            self._remember(nodes[size.node], size.dim, expression)

    def _root(self, size: SizeName, program: ExportedProgram) -> str:
        named = size.root or ""
        symbol = named if re.fullmatch(r"s\d+", named) and named not in self._taken else self._free("s")
        self._taken.add(symbol)
        if symbol != named:
            self.labels[symbol] = named
        said = program.range_constraints.get(size.label or size.where)
        low, high = (size.low, size.high) if said is None else (said.lower, said.upper)
        factor, offset = size.derived or (1, 0)
        self._ranges[symbol] = -((offset - low) // factor), high if high >= UNLIMITED else (high - offset) // factor
        return symbol

    def _remember(self, node: Node, dim: int | None, expression: Expression) -> None:
        value, other = node.meta.get("val"), node.meta.get("other")
        if isinstance(value, Tensor) and dim is not None and other is not None:
            self._pairs.setdefault((int(value.shape[dim]), other[dim]), expression)
        elif isinstance(value, _Symbol) and type(other) is int and type(value.node.hint) is int:
            self._pairs.setdefault((value.node.hint, other), expression)

    def _free(self, letter: str) -> str:
        number = 0
        while f"{letter}{number}" in self._taken:
            number += 1
        self._taken.add(f"{letter}{number}")
        return f"{letter}{number}"

    def ranges(self) -> dict[str, Any]:
        """By symbol the least and the greatest value."""
        return {
            name: {"min_val": low, "max_val": None if high >= UNLIMITED else high}
            for name, (low, high) in self._ranges.items()
        }

    # --- numbers
    def of_node(self, node: Node) -> Expression:
        """The expression of a node that is a number."""
        if node not in self._nodes:
            self._nodes[node] = found = self._made(node)
            self._remember(node, None, found)
        return self._nodes[node]

    def _made(self, node: Node) -> Expression:
        hint, other = node.meta["val"].node.hint, node.meta.get("other")
        if node.op == "placeholder" and (node.name, None) in self.inputs:
            return self.inputs[node.name, None]
        name = getattr(node.target, "_opname", "")
        if name == "sym_size" and isinstance(node.args[0], Node) and (node.args[0].name, node.args[1]) in self.inputs:
            return self.inputs[node.args[0].name, node.args[1]]  # type: ignore[index]
        operation = getattr(node.target, "__name__", "")
        operation = _SAME_AS.get(operation, operation)
        if node.op == "call_function" and expressions.can_write(operation) and not name:
            return (operation, *(self.of_node(a) if isinstance(a, Node) else a for a in node.args))
        if type(hint) is bool:
            return "eq", ("symbol", self._free("u")), 1
        if type(hint) is float:
            return "symbol", self._free("zuf")
        return self._of_pair(hint, other)

    def _of_pair(self, hint: int, other: int | None) -> Expression:
        if other is None:
            return "symbol", self._free("u")
        if (hint, other) in self._pairs:
            return self._pairs[hint, other]
        for (a, b), known in self._pairs.items():
            if a and b and hint % a == 0 and hint // a == other / b:
                return _times(hint // a, known)
        made = self._pairs[hint, other] = "symbol", self._free("s")
        return made

    # --- tensors
    def described(self, tensor: Tensor, other: Any) -> dict[str, Any]:
        """A tensor but for its values. ``other``: the sizes that its shadow has, None if they depend on values."""
        shape = [int(size) for size in tensor.shape]
        others = [None] * len(shape) if other is None else list(other)
        sizes = [a if a == b else self._of_pair(a, b) for a, b in zip(shape, others)]
        strides = _strides(list(map(int, tensor.stride())), shape, sizes)
        return codes.described(
            tensor, list(map(_number, sizes, shape)), list(map(_number, strides, map(int, tensor.stride())))
        )


def _number(expression: Expression, hint: int) -> dict[str, Any]:
    if type(expression) is int:
        return {"as_int": expression}
    return {"as_expr": {"expr_str": expressions.written(expression), "hint": {"as_int": hint}}}


def written_symbol(expression: Expression, hint: Any) -> dict[str, Any]:
    """A number of a graph as the tables of numbers have it."""
    kind = "as_bool" if type(hint) is bool else "as_float" if type(hint) is float else "as_int"
    return {"as_expr": {"expr_str": expressions.written(expression), "hint": {kind: hint}}}


def _strides(strides: list[int], shape: list[int], sizes: list[Expression]) -> list[Expression]:
    """Those of a tensor without gaps follow from the sizes, in whichever order its dimensions lie."""
    if all(type(size) is int for size in sizes):
        return list(strides)
    found: list[Expression] = list(strides)
    whole, count = 1, 1
    for dim in sorted(range(len(shape)), key=lambda d: (strides[d], -d)):
        if strides[dim] == count:
            found[dim] = whole
        whole, count = _times(sizes[dim], whole), count * shape[dim]
    return found


def _times(a: Expression, b: Expression) -> Expression:
    if a == 1 or b == 1:
        return b if a == 1 else a
    return a * b if type(a) is int and type(b) is int else ("mul", a, b)


def _plus(a: Expression, b: int) -> Expression:
    return a if b == 0 else ("add", a, b)
