"""Reading graphs: what `graphs` and PyTorch write."""

from __future__ import annotations

import builtins
import json
import math
import operator
import re
from typing import Any

import taeda
from taeda import Tensor
from taeda._control_flow.operators import HigherOrderOperator
from taeda._library.ops import OpOverload, find_overload
from taeda._schema.symbols import SymNode, symbol_of
from taeda.export._origins import INHERITED
from taeda.export.dynamic_shapes import UNLIMITED
from taeda.export.files import codes, expressions
from taeda.export.guards import Expression
from taeda.fx._naming import found_by_name
from taeda.fx.graph import Graph
from taeda.fx.graph_module import GraphModule
from taeda.fx.node import Node

# PyTorch puts it behind each constant that a program makes, on a copy that nobody else has.
_INSTEAD = {"torch.ops.aten.detach_.default": "torch.ops.aten.detach.default"}
# Those that take and give values: `operator` has some that make functions.
_OPERATORS = frozenset([
    "abs", "add", "and_", "eq", "floordiv", "ge", "getitem", "gt", "invert", "le", "lshift", "lt", "mod", "mul", "ne",
    "neg", "not_", "or_", "pos", "pow", "rshift", "sub", "truediv", "truth", "xor",
])  # fmt: skip
_MATH = frozenset(name for name, found in vars(math).items() if callable(found) and not name.startswith("_"))
_BUILTINS = ("abs", "round", "min", "max", "int", "float", "bool")
_SYMBOLIC = ("sym_float", "sym_int", "sym_max", "sym_min", "sym_not", "sym_ite", "sym_sqrt")


class Symbols:
    """The numbers that vary in a file: by name, the example's and another."""

    def __init__(self, ranges: dict[str, Any]) -> None:
        self.ranges = ranges
        self.hints: dict[str, Any] = {}
        self.others: dict[str, Any] = {}
        self._known: dict[str, Expression] = {}

    def note(self, graph: dict[str, Any]) -> None:
        """Learns the example's numbers from all that a graph says of its values."""
        for meta in graph["tensor_values"].values():
            for number in (*meta["sizes"], *meta["strides"]):
                self.read(number)
        for table in ("sym_int_values", "sym_bool_values", "sym_float_values"):
            for number in (graph.get(table) or {}).values():
                self.read(number)

    def read(self, described: dict[str, Any]) -> Expression:
        """The expression of a number, or the number."""
        for kind in ("as_int", "as_float", "as_bool"):
            if kind in described:
                return codes.read_float(described[kind])
        said = described["as_expr"]
        expression = self._known.get(said["expr_str"])
        if expression is None:
            try:
                expression = self._known[said["expr_str"]] = expressions.read(said["expr_str"], _symbol)
            except expressions.Unreadable as error:
                raise RuntimeError(f"taeda.export.load: no expression of sizes: {error}") from None
        hint = next((codes.read_float(v) for v in (said.get("hint") or {}).values()), None)
        if hint is not None and isinstance(expression, tuple) and expression[0] == "symbol":
            self.hints[expression[1]] = hint
        return expression

    def numbers(self, expression: Expression) -> tuple[Any, Any]:
        """The number that the example has, and another; the latter is None where it depends on values."""
        names = expressions.symbols_in(expression)
        for name in names:
            self._settle(name)
        try:
            hint = expressions.value_of(expression, self.hints)
            depends = any(name.startswith(("u", "zuf")) for name in names)
            return hint, None if depends else expressions.value_of(expression, self.others)
        except (ArithmeticError, ValueError, TypeError, OverflowError):
            return 1, None

    def range_of(self, name: str) -> tuple[int, int]:
        """The least and the greatest value of a symbol."""
        said = self.ranges.get(name) or {}
        low, high = said.get("min_val"), said.get("max_val")
        return 0 if low is None else int(low), UNLIMITED if high is None else int(high)

    def _settle(self, name: str) -> None:
        from taeda.export.dynamic_shapes import choose

        low, high = self.range_of(name)
        hint = self.hints.setdefault(name, 1.0 if name.startswith("zuf") else min(max(low, 2), high))
        if name not in self.others:
            self.others[name] = choose(hint, low, high, len(self.others)) if type(hint) is int else hint


def _symbol(node: Any) -> Expression:
    """A name on its own, as older files have them."""
    if name := getattr(node, "id", None):
        return "symbol", name
    raise expressions.Unreadable(type(node).__name__)


class GraphReader:
    """Makes one graph; ``modules`` gets the graphs in it by name."""

    def __init__(self, described: dict[str, Any], symbols: Symbols, mode: Any) -> None:
        self.described, self.symbols, self.mode = described, symbols, mode
        self.graph = Graph()
        self.modules: dict[str, GraphModule] = {}
        self.nodes: dict[str, Node] = {}
        self.values: dict[str, tuple[Any, Any]] = {}  # the example's value, and the shadow's sizes or number

    def read(self, names: list[str]) -> Graph:
        """The graph. ``names``: of its inputs, of which constants have none of their own.

        Raises:
            RuntimeError: it names an op that is not there, or something that is none.
        """
        self.symbols.note(self.described)
        for name, meta in self.described["tensor_values"].items():
            self.values[name] = self._tensor(meta)
        for table in ("sym_int_values", "sym_bool_values", "sym_float_values"):
            for name, number in (self.described.get(table) or {}).items():
                self.values[name] = self._number(name, number)
        for name, argument in zip(map(codes.identifier, names), self.described["inputs"], strict=True):
            node = self.graph.placeholder(name)
            node.name = name  # graphs would call some otherwise, as "input"
            self._add(node, name, self._constant(argument))
        for node in self.described["nodes"]:
            self._node(node)
        results = [self.argument(argument) for argument in self.described["outputs"]]
        self.graph.output(results[0] if self.described.get("is_single_tensor_return") else tuple(results))
        for node in reversed(list(self.graph.nodes)):
            if node.target is operator.getitem and not node.users:
                self.graph.erase_node(node)
        return self.graph

    def _constant(self, argument: dict[str, Any]) -> Any:
        ((kind, value),) = argument.items()
        if kind in ("as_tensor", "as_none") or kind.startswith("as_sym"):
            return None
        return codes.read_float(value) if kind == "as_float" else value

    def _tensor(self, meta: dict[str, Any]) -> tuple[Any, Any]:
        from taeda._library.fake_tensor import FakeTensor

        sizes, strides = ([self.symbols.numbers(self.symbols.read(n)) for n in meta[k]] for k in ("sizes", "strides"))
        dtype = codes.member(codes.DTYPES, meta["dtype"])
        plain = taeda.empty_strided([a for a, _ in sizes], [a for a, _ in strides], dtype=dtype, device="meta")
        value = FakeTensor(self.mode, plain, codes.read_device(meta["device"]), requires_grad=meta["requires_grad"])
        others = [b for _, b in sizes]
        return value, None if None in others else tuple(others)

    def _number(self, name: str, described: dict[str, Any]) -> tuple[Any, Any]:
        hint, other = self.symbols.numbers(self.symbols.read(described))
        return symbol_of(SymNode(hint, "input", (), None, name)), other

    def _add(self, node: Node, name: str, value: Any = None) -> Node:
        self.nodes[name] = node
        node.meta["val"], other = self.values.get(name, (value, None))
        if name in self.values:
            node.meta["other"] = other
        return node

    # --- nodes
    def _node(self, described: dict[str, Any]) -> None:
        target = read_target(described["target"])
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        parameters = [p.name for p in target._schema.arguments] if isinstance(target, OpOverload) else []
        for given in described["inputs"]:
            value, name = self.argument(given["arg"]), given["name"]
            by_place = given.get("kind") in (codes.POSITIONAL, None) and not kwargs
            if by_place and (not parameters or (len(args) < len(parameters) and parameters[len(args)] == name)):
                args.append(value)
            elif name in kwargs or name in parameters[: len(args)] or (parameters and name not in parameters):
                raise RuntimeError(f"taeda.export.load: {target} takes no {name[:100]!r}, or has it already")
            else:
                kwargs[codes.identifier(name)] = value
        outputs = described["outputs"]
        node = self.graph.create_node(
            "call_function", target, tuple(args), kwargs, described.get("name") or _first_name(outputs)
        )
        node.meta.update(_metadata(described.get("metadata") or {}))
        single = described.get("is_hop_single_tensor_return")
        returns = len(target._schema.returns) if isinstance(target, OpOverload) else None
        if not outputs:
            node.meta["val"] = None
        elif len(outputs) == 1 and "as_tensors" in outputs[0]:
            self._parts(node, [{"as_tensor": item} for item in outputs[0]["as_tensors"]])
        elif len(outputs) == 1 and (returns == 1 or single or "as_tensor" not in outputs[0]):
            self._add(node, _first_name(outputs))
        else:
            self._parts(node, outputs)
        if isinstance(target, OpOverload) and target.is_view and args and isinstance(args[0], Node):
            node.meta["is_view"] = _is_view(target, args, kwargs)

    def _parts(self, node: Node, outputs: list[Any]) -> None:
        values: list[Any] = []
        for i, output in enumerate(outputs):
            name = _first_name([output])
            if name is None:
                values.append(None)
                continue
            part = self.graph.create_node("call_function", operator.getitem, (node, i), {}, name)
            part.meta.update({k: v for k, v in node.meta.items() if k in INHERITED})
            values.append(self._add(part, name).meta["val"])
        node.meta["val"] = tuple(values)

    # --- arguments
    def argument(self, described: dict[str, Any]) -> Any:
        """An argument of a node: a node, or a value of Python."""
        ((kind, value),) = described.items()
        if kind in _READ:
            return _READ[kind](value)
        if kind == "as_graph":
            return self._graph(value)
        if kind in ("as_tensor", "as_custom_obj"):
            return self._known(value["name"])
        if kind in ("as_tensors", "as_nested_tensors"):
            return [self.argument({"as_tensors" if isinstance(v, list) else "as_tensor": v}) for v in value]
        if kind in ("as_optional_tensors", "as_optional_tensor"):
            return [self.argument(v) for v in value] if isinstance(value, list) else self.argument(value)
        if kind.startswith("as_sym"):
            return [self._symbolic(v) for v in value] if isinstance(value, list) else self._symbolic(value)
        if kind == "as_string_to_argument":
            return {key: self.argument(item) for key, item in value.items()}
        raise RuntimeError(f"taeda.export.load: there is no kind of argument {kind[:50]!r}")

    def _symbolic(self, described: dict[str, Any]) -> Any:
        return (
            self._known(described["as_name"])
            if "as_name" in described
            else codes.read_float(next(iter(described.values())))
        )

    def _known(self, name: str) -> Node:
        if name not in self.nodes:
            raise RuntimeError(f"taeda.export.load: the graph speaks of {name[:100]!r} before it is there")
        return self.nodes[name]

    def _graph(self, described: dict[str, Any]) -> Node:
        name, inner = codes.identifier(described["name"]), GraphReader(described["graph"], self.symbols, self.mode)
        names = [_first_name([argument]) or f"arg{i}_1" for i, argument in enumerate(described["graph"]["inputs"])]
        graph = inner.read(names)
        self.modules[name] = GraphModule(dict(inner.modules), graph)
        return self.graph.create_node("get_attr", name, name=name)


_READ: dict[str, Any] = {
    "as_none": lambda _: None, "as_bool": bool, "as_int": int, "as_string": str, "as_float": codes.read_float,
    "as_ints": list, "as_bools": list, "as_strings": list, "as_floats": lambda v: [codes.read_float(x) for x in v],
    "as_int_lists": list, "as_float_lists": lambda v: [[codes.read_float(x) for x in row] for row in v],
    "as_complex": lambda v: complex(codes.read_float(v["real"]), codes.read_float(v["imag"])),
    "as_scalar_type": lambda v: codes.member(codes.DTYPES, v), "as_layout": lambda v: codes.member(codes.LAYOUTS, v),
    "as_memory_format": lambda v: codes.member(codes.MEMORY_FORMATS, v), "as_device": codes.read_device,
    "as_operator": lambda v: read_target(v),
}  # fmt: skip


def read_target(text: str) -> Any:
    """The op or function of a name.

    Raises:
        RuntimeError: there is none.
    """
    if op := re.fullmatch(r"torch\.ops\.(\w+)\.(\w+)\.(\w+)", _INSTEAD.get(text, text)):
        try:
            return find_overload(f"{op[1]}::{op[2]}", "" if op[3] == "default" else op[3])
        except AttributeError as error:
            raise RuntimeError(f"taeda.export.load: {error}") from None
    if higher := re.fullmatch(r"torch\.ops\.higher_order\.(\w+)", text):
        found = getattr(taeda.ops.higher_order, higher[1], None)
        if isinstance(found, HigherOrderOperator):
            return found
    module, _, name = text.rpartition(".")
    if module == "_operator" and name in _OPERATORS:
        return getattr(operator, name)
    if module == "math" and name in _MATH:
        return getattr(math, name)
    if module == "torch" and name in _SYMBOLIC:
        return math.sqrt if name == "sym_sqrt" else getattr(taeda, name)
    if module == "builtins" and name in _BUILTINS:
        return getattr(builtins, name)
    raise RuntimeError(f"taeda.export.load: {text[:100]!r} is no function of graphs")


def _first_name(outputs: list[Any]) -> Any:
    """The name of a result."""
    for output in outputs:
        for value in output.values():
            if isinstance(value, dict):
                return value.get("name", value.get("as_name"))
    return None


def _metadata(described: dict[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if trace := described.get("stack_trace"):
        found["stack_trace"] = trace
    if custom := described.get("custom"):
        found["custom"] = json.loads(custom)
    if sources := described.get("source_fn_stack"):
        pairs = [entry.partition(",") for entry in sources.split(";")]
        found["source_fn_stack"] = [(name, found_by_name(source)) for name, _, source in pairs]
    if called := described.get("torch_fn"):
        found["torch_fn"] = tuple(called.split(";"))
    if stack := described.get("nn_module_stack"):
        entries = [entry.split(",") for entry in stack.split(";")]
        found["nn_module_stack"] = {key: (path[0], path[1]) for key, *path in entries if len(path) == 2}
    return found


def _is_view(op: OpOverload, args: list[Any], kwargs: dict[str, Any]) -> bool:
    """Whether the result of this call shows the memory of its first argument."""
    if "[]" in str(op._schema.returns[0].type):  # of how many parts a file may say anything
        return True
    from taeda.utils import _pytree as pytree

    def plain(leaf: Any) -> Any:
        value: Any = leaf.meta.get("val") if isinstance(leaf, Node) else leaf
        if isinstance(value, Tensor):
            shape, stride = list(map(int, value.shape)), list(map(int, value.stride()))
            return taeda.empty_strided(shape, stride, dtype=value.dtype, device="meta")
        return value.node.hint if hasattr(value, "node") else taeda.device("meta") if _is_device(value) else value

    try:
        result = op(*pytree.tree_map(plain, tuple(args)), **pytree.tree_map(plain, kwargs))
    except (RuntimeError, NotImplementedError, TypeError, ValueError):
        return True
    return isinstance(result, Tensor) and result._is_view()


def _is_device(value: Any) -> bool:
    return isinstance(value, taeda.device)
