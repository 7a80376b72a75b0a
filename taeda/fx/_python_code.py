"""Source text from a graph."""

from __future__ import annotations

import cmath
import enum
import json
import math
import re
import typing
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import NoneType
from typing import TYPE_CHECKING, Any, TypeAlias

import taeda
from taeda.fx import _pytree as fx_pytree
from taeda.fx._naming import RESERVED, Namespace, is_reachable, qualified_name
from taeda.fx.node import Argument, Node, map_arg, type_name
from taeda.utils import _pytree as pytree

if TYPE_CHECKING:
    from taeda.fx.graph import Graph

_BINARY = {
    "eq": "==", "ne": "!=", "lt": "<", "gt": ">", "le": "<=", "ge": ">=", "add": "+", "sub": "-", "mul": "*",
    "floordiv": "//", "truediv": "/", "mod": "%", "pow": "**", "lshift": "<<", "rshift": ">>", "and_": "&",
    "or_": "|", "xor": "^", "matmul": "@",
}  # fmt: skip
_INPLACE = {f"i{name.rstrip('_')}": text for name, text in _BINARY.items()}
_UNARY = {"pos": "+", "neg": "-", "invert": "~"}
_GLOBALS: dict[str, Any] = {
    "inf": math.inf, "nan": math.nan, "NoneType": NoneType, "torch": taeda, "device": taeda.device,
    "fx_pytree": fx_pytree, "pytree": pytree,
}  # fmt: skip


TransformBody: TypeAlias = Callable[[list[str]], list[str]]


@dataclass
class PythonCode:
    """A graph as source text.

    Attributes:
        src: the text of one function.
        globals: the names that it uses, with their values.
    """

    src: str
    globals: dict[str, Any]


def last_uses(nodes: Iterable[Node]) -> dict[Node, list[Node]]:
    """Which values each node is the last one to need."""
    found: dict[Node, list[Node]] = {}
    seen: set[Node] = set()

    def visit(user: Node, value: Node) -> None:
        if value not in seen:
            seen.add(value)
            found.setdefault(user, []).append(value)

    for node in nodes:
        map_arg((node.args, node.kwargs), lambda value, user=node: visit(user, value))  # type: ignore[misc]
    return found


class CodeGen:
    """Turns a graph into source text. A subclass may change the head of the function, its arguments and its result;
    `Graph.set_codegen` installs it."""

    transform_body: TransformBody | None = None

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str) -> str:
        """The line with ``def``. ``free_vars`` are the parameters without ``self``, annotated."""
        parameters = ", ".join([*([] if free_vars[:1] == ["self"] else ["self"]), *free_vars])
        return f"def forward({parameters}){maybe_return_annotation}:"

    def generate_output(self, output_args: Argument, *, descs: Any = None) -> str:
        """The line that returns ``output_args``, which prints as code."""
        return f"return {output_args!r}"

    def process_inputs(self, *args: Any) -> Any:
        """What an Interpreter's placeholders get for the arguments of its ``run``."""
        return args

    def process_outputs(self, outputs: Any) -> Any:
        """What an Interpreter's ``run`` returns for the graph's result."""
        return outputs

    def additional_globals(self) -> Sequence[tuple[str, Any]]:
        """More names that the text uses, with their values."""
        return []


class ContainerCodeGen(CodeGen):
    """The arguments are nested containers, whose leaves are the placeholders.

    Args:
        names: the function's parameters.
        spec: how the list of the arguments is nested.
    """

    def __init__(self, names: list[str], spec: pytree.TreeSpec) -> None:
        self.names = names
        self.spec = spec

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str) -> str:
        head = super().gen_fn_def(self.names, maybe_return_annotation)
        leaves = [re.split(r"[ :=]", name)[0] for name in free_vars]
        assigned = f"{', '.join(leaves)}, = " if leaves else ""
        return f"{head}\n    {assigned}fx_pytree.tree_flatten_spec([{', '.join(self.names)}], self._in_spec)"

    def process_inputs(self, *args: Any) -> Any:
        return fx_pytree.tree_flatten_spec(list(args), self.spec)


class _Writer:
    """The text of one graph, line by line."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.namespace = Namespace()
        self.globals: dict[str, Any] = {}
        self.parameters: list[str] = []
        self.body: list[str] = []
        self.returns = ""

    # Names and values

    def name(self, node: Node) -> str:
        return self.namespace.create_name(node.name, node)

    def global_name(self, hint: str, value: Any) -> str:
        """A name by which the text reaches ``value``: its own below torch, else one that is made for it."""
        if hint.startswith("torch.") and is_reachable(hint, value):
            self.globals["torch"] = taeda
            return hint
        name = self.namespace.create_name(hint.replace(".", "_"), value)
        self.globals[name] = value
        return name

    def annotation(self, kind: Any) -> str:
        if isinstance(kind, str):
            return repr(kind)
        name = type_name(kind)
        inner = typing.get_args(kind)
        if inner and name.startswith("typing."):  # typing_List[str], where the name is typing.List
            outer = name.partition("[")[0]
            parts = [self.annotation(NoneType if part is NoneType else part) for part in inner]
            return f"{self.global_name(outer, getattr(typing, outer[len('typing.') :]))}[{', '.join(parts)}]"
        builtin = kind is None or (isinstance(kind, type) and kind.__module__ == "builtins" and "[" not in name)
        return name if builtin else self.global_name(re.sub(r"[^\w.]+", "_", name), kind)

    def value(self, a: Argument) -> str:
        if isinstance(a, Node):
            return self.name(a)
        if isinstance(a, tuple):
            if hasattr(a, "_fields"):
                return f"{self.global_name(qualified_name(type(a)), type(a))}({', '.join(map(self.value, a))})"
            return f"({self.value(a[0])},)" if len(a) == 1 else f"({', '.join(map(self.value, a))})"
        if isinstance(a, list):
            return f"[{', '.join(map(self.value, a))}]"
        if isinstance(a, dict):
            return f"{{{', '.join(f'{self.value(key)}: {self.value(item)}' for key, item in a.items())}}}"
        if isinstance(a, slice):
            return f"slice({self.value(a.start)}, {self.value(a.stop)}, {self.value(a.step)})"
        return self.constant(a)

    def constant(self, a: Any) -> str:
        if isinstance(a, enum.Enum) and type(a).__members__.get(a.name) is a:
            return f"{self.global_name(type(a).__name__, type(a))}.{a.name}"
        if a is None or a is Ellipsis or type(a) in (bool, int, str, bytes, range):
            return repr(a)
        if type(a) is complex and cmath.isfinite(a):
            return repr(a)
        if type(a) is float:
            self.globals.update({name: _GLOBALS[name] for name in ("inf", "nan")} if not math.isfinite(a) else {})
            return repr(a)
        if isinstance(a, (taeda.dtype, taeda.layout, taeda.memory_format)):
            self.globals["torch"] = taeda
            return repr(a)
        if isinstance(a, taeda.device):
            self.globals["device"] = taeda.device
            return repr(a)
        if callable(a):
            return self.global_name(qualified_name(a), a)
        return self.global_name(f"_constant_{type(a).__name__}", a)

    def arguments(self, args: Iterable[Argument], kwargs: dict[str, Argument]) -> str:
        return ", ".join([*map(self.value, args), *(f"{name} = {self.value(value)}" for name, value in kwargs.items())])

    # Lines

    def line(self, node: Node) -> str:
        """The statement for a node; the empty string for a plain placeholder."""
        return str(getattr(self, node.op)(node))

    def placeholder(self, node: Node) -> str:
        target = str(node.target)
        kind = "" if node.type is None else f" : {self.annotation(node.type)}"
        default = f" = {self.value(node.args[0])}" if node.args else ""
        self.parameters.append(f"{target}{kind}{default}")
        raw = target.replace("*", "")
        return "" if raw == self.name(node) else f"{self.name(node)} = {raw}"

    def _assigned(self, node: Node, text: str) -> str:
        kind = "" if node.type is None else f" : {self.annotation(node.type)}"
        return f"{self.name(node)}{kind} = {text}"

    def get_attr(self, node: Node) -> str:
        return self._assigned(node, _access(self.root, str(node.target)))

    def call_module(self, node: Node) -> str:
        return self._assigned(node, f"{_access(self.root, str(node.target))}({self.arguments(node.args, node.kwargs)})")

    def call_method(self, node: Node) -> str:
        method = _access(self.value(node.args[0]), str(node.target))
        return self._assigned(node, f"{method}({self.arguments(node.args[1:], node.kwargs)})")

    def call_function(self, node: Node) -> str:
        target: Any = node.target
        module, name = getattr(target, "__module__", ""), getattr(target, "__name__", "")
        if module == "_operator" and not node.kwargs:
            operands = [self._operand(a) for a in node.args]
            if name in _BINARY and len(operands) == 2:
                return self._assigned(node, f"{operands[0]} {_BINARY[name]} {operands[1]}")
            if name in _INPLACE and len(operands) == 2 and isinstance(node.args[0], Node):
                return f"{operands[0]} {_INPLACE[name]}= {operands[1]};  {self._assigned(node, operands[0])}"
            if name in _UNARY and len(operands) == 1:
                return self._assigned(node, f"{_UNARY[name]}{operands[0]}")
            if name == "getitem" and len(operands) == 2:
                return self._assigned(node, f"{operands[0]}[{self.value(node.args[1])}]")
            if name == "setitem" and len(operands) == 3 and not node.users:
                return f"{operands[0]}[{self.value(node.args[1])}] = {self.value(node.args[2])}"
        if target is getattr and len(node.args) == 2 and str(node.args[1]).isidentifier():
            return self._assigned(node, f"{self._operand(node.args[0])}.{node.args[1]}")
        function = self.global_name(qualified_name(target), target)
        return self._assigned(node, f"{function}({self.arguments(node.args, node.kwargs)})")

    def _operand(self, a: Argument) -> str:
        text = self.value(a)
        return f"({text})" if isinstance(a, (int, float, complex)) and text.startswith("-") else text

    def output(self, node: Node) -> str:
        if node.type is not None:
            self.returns = f" -> {self.annotation(node.type)}"
        return ""


def _access(base: str, path: str) -> str:
    """The expression for an attribute at a dotted path, whose parts may be numbers."""
    for part in path.split("."):
        base = f"{base}.{part}" if part.isidentifier() else f"getattr({base}, {json.dumps(part)})"
    return base


class _Text:
    """Prints as the code it holds."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def write(graph: Graph, codegen: CodeGen, root: str, verbose: bool) -> PythonCode:
    """The text of a function that computes the graph, whose modules are attributes of ``root``."""
    writer = _Writer(root)
    for name, value in codegen.additional_globals():
        writer.global_name(name, value)
    freed = last_uses(reversed(graph.nodes))
    trace: str | None = None
    for node in graph.nodes:
        if verbose and node.stack_trace and node.stack_trace != trace:
            trace = node.stack_trace
            writer.body.append(f"# {_place(trace)}")
        line = writer.line(node)
        if node.op == "output":
            line = codegen.generate_output(_Text(writer.value(node.args[0])))
        elif node.op != "placeholder":
            done = [writer.name(value) for value in freed.get(node, [])]
            done += [] if node.users or " = " not in line else [writer.name(node)]
            line += f";  {' = '.join(done)} = None" if done else ""
        if line:
            writer.body.append(line)
    return _assemble(writer, codegen)


def _assemble(writer: _Writer, codegen: CodeGen) -> PythonCode:
    head = codegen.gen_fn_def(writer.parameters, writer.returns)
    lines = [f"{line}\n" for line in writer.body or ["pass"]]
    if codegen.transform_body is not None:
        lines = codegen.transform_body(lines)
    body = "".join(f"    {line}" for line in lines)
    values = {name: _GLOBALS[name] for name in RESERVED} | writer.globals
    return PythonCode(f"\n\n\n{head}\n{body}    ", values)


def _place(trace: str) -> str:
    """The innermost call of a recorded stack: its file, line and text."""
    lines = [line.strip() for line in trace.strip().splitlines()]
    at = max((i for i, line in enumerate(lines) if line.startswith("File ")), default=0)
    return ", code: ".join(lines[at : at + 2])
