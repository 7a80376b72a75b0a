"""Source text from a graph."""

from __future__ import annotations

import cmath
import enum
import json
import math
import re
import typing
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from types import NoneType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import taeda
from taeda.fx import _pytree as fx_pytree
from taeda.fx._naming import RESERVED, Namespace, is_reachable, qualified_name
from taeda.fx._readable import Reader
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
        _lineno_map: by the number of a line below the head, that of the node it stands for; None for other lines.
    """

    src: str
    globals: dict[str, Any]
    _lineno_map: dict[int, int | None] = field(default_factory=dict)


class _Line(str):
    """A line of text, which remembers the number of its node."""

    node: int


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


class _PyTreeInfo(NamedTuple):
    """How the arguments and the result of a graph are nested.

    Attributes:
        orig_args: the function's parameters.
        in_spec: how the arguments are: a list of them, or ``(args, kwargs)``.
        out_spec: how the result is; None if the graph returns it as it is.
    """

    orig_args: list[str]
    in_spec: pytree.TreeSpec
    out_spec: pytree.TreeSpec | None


class _PyTreeCodeGen(CodeGen):
    """The arguments are nested containers, whose leaves are the placeholders; the result may be nested, too."""

    def __init__(self, pytree_info: _PyTreeInfo) -> None:
        self.pytree_info = pytree_info

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str) -> str:
        names, spec, _ = self.pytree_info
        returns = "" if self.pytree_info.out_spec is not None else maybe_return_annotation
        head = super().gen_fn_def(names, returns)
        names = [name for name in names if name != "self"]
        keywords = list(spec.child(1).context) if takes_keywords(spec) else []
        given = f"[{', '.join(names[: len(names) - len(keywords)])}]"
        if takes_keywords(spec):
            given = f"({given}, {{{', '.join(f'{key!r}:{key}' for key in keywords)}}})"
        annotated = "".join(f"{name}; " for name in free_vars if ":" in name)
        leaves = "".join(f"{re.split(r'[ :=]', name)[0]}, " for name in free_vars)
        return (
            head
            + (f"\n    {annotated}\n" if annotated else "")
            + f"\n    {f'{leaves}= ' if leaves else ''}fx_pytree.tree_flatten_spec({given}, self._in_spec)"
        )

    def generate_output(self, output_args: Argument, *, descs: Any = None) -> str:
        if self.pytree_info.out_spec is None:
            return super().generate_output(output_args)
        return f"return pytree.tree_unflatten({output_args!r}, self._out_spec)"

    def process_inputs(self, *args: Any) -> Any:
        return pytree.arg_tree_leaves(*args)

    def process_outputs(self, outputs: Any) -> Any:
        spec = self.pytree_info.out_spec
        return outputs if spec is None else pytree.tree_unflatten(outputs, spec)


def takes_keywords(spec: pytree.TreeSpec) -> bool:
    """Whether arguments are nested as ``(args, kwargs)``."""
    return spec.type is tuple and spec.num_children == 2 and spec.child(0).type is tuple and spec.child(1).type is dict


class _Writer:
    """The text of one graph, line by line."""

    def __init__(self, root: str, reader: Reader | None) -> None:
        self.root, self.reader = root, reader
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
        text = self.constant(a)
        return text if self.reader is None else self.reader.constant(a, text)

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
        kind = self._kind(node)
        default = f" = {self.value(node.args[0])}" if node.args else ""
        self.parameters.append(f"{target}{kind}{default}")
        raw = target.replace("*", "")
        return "" if raw == self.name(node) else f"{self.name(node)} = {raw}"

    def _assigned(self, node: Node, text: str) -> str:
        return f"{self.name(node)}{self._kind(node)} = {text}"

    def _kind(self, node: Node) -> str:
        """The annotation: for a reader what the value is, else the type that the program gave."""
        told = self.reader.kind(node) if self.reader is not None else ""
        return told or ("" if node.type is None else f" : {self.annotation(node.type)}")

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


def write(graph: Graph, codegen: CodeGen, root: str, reader: Reader | None = None) -> PythonCode:
    """The text of a function that computes the graph, whose modules are attributes of ``root``. ``reader``: what is
    written for people beside it."""
    writer = _Writer(root, reader)
    for name, value in codegen.additional_globals():
        writer.global_name(name, value)
    freed = last_uses(reversed(graph.nodes))
    for number, node in enumerate(graph.nodes):
        if reader is not None and node.op not in ("placeholder", "output"):
            writer.body += reader.comment(node)
        line = writer.line(node)
        if node.op == "output":
            line = codegen.generate_output(_Text(writer.value(node.args[0])))
        elif node.op != "placeholder":
            done = [writer.name(value) for value in freed.get(node, [])]
            done += [] if node.users or " = " not in line else [writer.name(node)]
            cleared = f"{' = '.join(done)} = None"
            line += f";  {cleared if reader is None else reader.dimmed(cleared)}" if done else ""
        if line:
            writer.body.append(_Line(f"{line}\n"))
            writer.body[-1].node = number  # type: ignore[attr-defined]
    return _assemble(writer, codegen)


def _assemble(writer: _Writer, codegen: CodeGen) -> PythonCode:
    head = codegen.gen_fn_def(writer.parameters, writer.returns)
    if writer.reader is not None and writer.reader.expanded:
        head = _one_each(head)
    lines = writer.body or ["pass\n"]
    if codegen.transform_body is not None:
        lines = codegen.transform_body(lines)
    text = [(part, getattr(line, "node", None)) for line in lines for part in line.splitlines(keepends=True)]
    body = "".join(f"    {part}" if part.strip() else part for part, _ in text)
    values = {name: _GLOBALS[name] for name in RESERVED} | writer.globals
    first = head.count("\n") + 1
    return PythonCode(f"\n\n\n{head}\n{body}    ", values, {first + i: node for i, (_, node) in enumerate(text)})


def _one_each(head: str) -> str:
    """The head of a function with each parameter on a line of its own."""
    first, newline, rest = head.partition("\n")
    name, _, tail = first.partition("(")
    parameters, _, returns = tail.rpartition(")")
    depth, parts = 0, [""]
    for c in parameters:
        depth += (c in "([{") - (c in ")]}")
        if c == "," and not depth:
            parts.append("")
        else:
            parts[-1] += c
    return f"{name}(\n" + "".join(f"    {p.strip()},\n" for p in parts) + f"){returns}{newline}{rest}"
