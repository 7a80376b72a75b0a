"""Reads the text of a graph."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import taeda
from taeda import _C, Tensor
from taeda._schema.types import BoolType, FloatType, TensorType, Type
from taeda.jit._ir_nodes import Block, Node, Value
from taeda.jit._ir_types import DTYPE_NAMES, DTYPES, FunctionType, ShapedTensorType, TensorFacts
from taeda.jit.source import Source, SourceRange

if TYPE_CHECKING:
    from taeda.jit.ir import Graph

_TOKEN = re.compile(
    r'\s*(?:#[^\n]*\n?\s*)*("(?:[^"\\]|\\.)*"|%[\w.\-/:]+|<\w+>|->|[A-Za-z_][\w.]*(?:::[\w.]+)?'
    r"|[-+]?(?:inf|nan|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)|\S)"
)
_SHAPED = re.compile(rf"({'|'.join(sorted(DTYPE_NAMES, key=len, reverse=True))}|Tensor)\(")
_FACT_WORDS = ("strides", "requires_grad", "device")
_OCTAL = re.compile(rb"\\([0-7]{1,3})|\\(.)", re.S)
_PLAIN_ESCAPES = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}


class _NamedFunction:
    """Stands for a function of which the text says the name only."""

    def __init__(self, name: str) -> None:
        self.name = name


def parse(graph_type: type[Graph], text: str, tensors_left_out: bool, tensors: Sequence[Tensor]) -> Graph:
    """See `taeda.jit.ir.parse_ir`."""
    return _Parser(graph_type, text, tensors_left_out, tensors).program()


def unquote(quoted: str) -> str:
    """The string that a quoted one stands for."""

    def put(match: re.Match[bytes]) -> bytes:
        if match[1] is not None:
            return bytes([int(match[1], 8) & 255])
        return _PLAIN_ESCAPES.get(match[2], match[2])

    return _OCTAL.sub(put, quoted[1:-1].encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")


class _Parser:
    def __init__(self, graph_type: type[Graph], text: str, tensors_left_out: bool, tensors: Sequence[Tensor]) -> None:
        self.graph_type = graph_type
        self.text, self.at = text, 0
        self.tensors_left_out, self.tensors = tensors_left_out, iter(tensors)
        self.token, self.start = "", 0
        self.pending: dict[str, list[Node]] = {}  # nodes whose subgraph is still to come
        self.advance()

    # --- Tokens
    def advance(self) -> str:
        past = self.token
        match = _TOKEN.match(self.text, self.at)
        if match is None:
            self.token, self.start, self.at = "", len(self.text), len(self.text)
        else:
            self.token, self.start, self.at = match[1], match.start(1), match.end(1)
        return past

    def fail(self, wanted: str) -> NoReturn:
        found = repr(self.token) if self.token else "the end"
        place = SourceRange(Source(self.text, "<graph>"), self.start, self.start + max(1, len(self.token)))
        raise RuntimeError(f"parse_ir: expected {wanted}, found {found}\n{place}")

    def take(self, token: str) -> bool:
        if self.token != token:
            return False
        self.advance()
        return True

    def expect(self, token: str) -> None:
        if not self.take(token):
            self.fail(f"'{token}'")

    def seek(self, at: int) -> None:
        self.at = at
        self.advance()

    def several(self, close: str, read: Any) -> list[Any]:
        items: list[Any] = []
        while self.token != close:
            if items:
                self.expect(",")
                if self.token == close:
                    break
            items.append(read())
        self.expect(close)
        return items

    # --- Graphs
    def program(self) -> Graph:
        graph = self.graph()
        while self.take("with"):
            name = self.advance()
            self.expect("=")
            inner = self.graph()
            if name not in self.pending:
                self.fail(f"a graph that some node has; {name} is not among them")
            for node in self.pending.pop(name):
                node.g_("Subgraph", inner)
        if self.token:
            self.fail("the end")
        return graph

    def graph(self) -> Graph:
        graph = self.graph_type()
        self.expect("graph")
        self.expect("(")
        self.declare(graph, graph.addInput, ")")
        self.expect(":")
        values = dict(self.names)
        self.body(graph, values, "return")
        return graph

    names: dict[str, Value]

    def declare(self, graph: Graph, add: Any, close: str) -> dict[str, Value]:
        """Values with their types, up to ``close``."""
        self.names = {}
        while self.token != close:
            if self.names:
                self.expect(",")
            name = self.advance()
            if not name.startswith("%"):
                self.fail("a value as %x")
            type: Any = TensorType.get()  # unless the text says more
            if self.token == ":":
                self.start = self.at
                type = self.type()
            value = add(type=type.tree if isinstance(type, ShapedTensorType) else type)
            value.setType(type)
            _name(value, name[1:])
            self.names[name] = value
        self.expect(close)
        return self.names

    def body(self, block: Block, values: dict[str, Value], end: str) -> None:
        while self.token != end:
            if not self.token:
                self.fail(f"'{end}'")
            self.statement(block, values)
        self.advance()
        self.expect("(")
        for value in self.several(")", lambda: self.value(values)):
            block.registerOutput(value)

    def value(self, values: dict[str, Value]) -> Value:
        if self.token not in values:
            self.fail("a value that is known here")
        return values[self.advance()]

    def statement(self, block: Block, values: dict[str, Value]) -> None:
        node = Node(block._graph, "")
        made = self.declare(block._graph, node.addOutput, "=")
        node._kind = self.kind(node)
        if self.take("["):
            self.several("]", lambda: self.attribute(node))
        self.expect("(")
        for value in self.several(")", lambda: self.value(values)):
            node.addInput(value)
        block.appendNode(node)
        _settle_constant(node)
        number = 0
        while self.token == f"block{number}":
            self.advance()
            self.expect("(")
            inner = node.addBlock()
            known = values | self.declare(block._graph, inner.addInput, ")")
            self.expect(":")
            self.body(inner, known, "->")
            number += 1
        values.update(made)

    def kind(self, node: Node) -> str:
        kind = self.advance()
        if "::" not in kind:
            self.fail("a kind as aten::add")
        base, _, number = kind.rpartition("_")
        if number.isdigit() and base.startswith(("prim::fork", "prim::awaitable", "prim::Differentiable", "prim::Fus",
                                                 "prim::TensorExpr", "prim::Closure")):  # fmt: skip
            self.pending.setdefault(kind, []).append(node)
            return base
        return kind

    # --- Types
    def type(self) -> Any:
        """A type starts at the token and ends where its brackets are closed."""
        while self.start < len(self.text) and self.text[self.start] in " \t\n":
            self.start += 1
        start = self.start
        shaped = _SHAPED.match(self.text, start)
        depth, at = 0, start
        while at < len(self.text):
            char = self.text[at]
            if char in "([<":
                depth += 1
            elif char in ")]>" and depth:
                depth -= 1
            elif not depth and (char in ",)=#\n" or self.text.startswith("]", at)):
                break
            at += 1
        text = self.text[start:at].strip()
        try:
            if (shaped and text.endswith(")")) or text in DTYPE_NAMES:
                type: Any = _shaped(text)
            else:
                type = FunctionType(_NamedFunction("")) if text == "Function" else read_type(text)
        except (RuntimeError, ValueError) as error:
            self.fail(f"a type ({error})")
        self.seek(at)
        return type

    # --- Attributes
    def attribute(self, node: Node) -> None:
        name = self.advance()
        self.expect("=")
        if name == "types":
            self.expect("[")
            node.tys_(name, self.several("]", self.type))
            return
        if (tensor := self.tensor()) is not None:
            node.t_(name, tensor)
            return
        value = self.literal()
        node._attributes[name] = (_held_as(value), value)

    def tensor(self) -> Tensor | None:
        """``<Tensor>``, ``{2}`` or numbers with their dtype and sizes; None if something else follows."""
        if self.token in ("<Tensor>", "<Tensors>"):
            if not self.tensors_left_out:
                self.fail(
                    "a tensor that the text tells, or parse_tensor_constants=True with the tensors that it leaves out"
                )
            self.advance()
            return next(self.tensors, taeda.empty(0))
        if (match := re.compile(r"\{([^}:\"]+)\}").match(self.text, self.start)) is not None:
            if re.fullmatch(r"\s*[-+]?(inf|nan|[\d.]+([eE][-+]?\d+)?)\s*", match[1]) is None:
                self.fail("a number between the braces")
            self.seek(match.end())
            return taeda.tensor(_number(match[1]))
        many = re.compile(r"((?:[-+\w.]+\s+)*)\[ (CPU|CUDA|META)(\w+?)Type\{([\d,]*)\} \]").match(self.text, self.start)
        if many is None:
            return None
        self.seek(many.end())
        items = [_number(item) for item in many[1].split()]
        kind = DTYPES[DTYPE_NAMES.index(many[3])]
        return taeda.tensor(items, dtype=kind).reshape([int(n) for n in many[4].split(",") if n])

    def generator(self) -> Any:
        """``(device="cpu", seed=0)``, behind ``torch.Generator``."""
        self.expect("(")
        said = {}
        while not self.take(")"):
            word = self.advance()
            self.expect("=")
            said[word] = self.literal()
            self.take(",")
        seed = said.get("seed", 0)
        if not isinstance(seed, int) or not 0 <= seed < 1 << 63:
            self.fail(f"a seed from 0 to {(1 << 63) - 1}; got {seed}")
        return taeda.Generator(said.get("device", "cpu")).manual_seed(seed)

    def annotated(self) -> Any:
        """The value in ``annotate(List[int], [])``."""
        self.expect("(")
        depth = 0
        while depth or self.token != ",":
            if not self.token:
                self.fail("','")
            depth += (self.token == "[") - (self.token == "]")
            self.advance()
        self.advance()
        value = self.literal()
        self.expect(")")
        return value

    def literal(self) -> Any:
        token = self.advance()
        if token == "torch.Generator":
            return self.generator()
        if token == "annotate":
            return self.annotated()
        if token.startswith('"'):
            return unquote(token)
        if token in ("True", "False", "None"):
            return {"True": True, "False": False, "None": None}[token]
        if token == "[":
            if self.token == "<Tensors>":
                tensors = [self.tensor()]
                self.expect("]")
                return tensors
            return self.several("]", self.literal)
        if token == "(":
            return tuple(self.several(")", self.literal))
        if token == "{":
            return dict(self.several("}", self.pair))
        if re.match(r"[-+]?(\d|\.|inf|nan)", token):
            return self.complex_or(_number(token))
        if "." in token and token[0].isalpha() or token.startswith("__torch__"):
            return _Member(token)
        if token[:1].isalpha():
            return read_type(token)
        self.fail("a value")

    def pair(self) -> tuple[Any, Any]:
        key = self.literal()
        self.expect(":")
        return key, self.literal()

    def complex_or(self, real: Any) -> Any:
        if not re.match(r"[-+]", self.token):
            return real
        imaginary = _number(self.advance())
        self.expect("j")
        return complex(real, imaginary)


class _Member(str):
    """The full name of a member of an enumeration."""


def read_type(text: str) -> Type:
    """A type as graphs print it; also the names that are no types of schemas: enumerations and named tuples.

    Raises:
        RuntimeError: it is none.
    """
    return _C._parse_type(text)


def _number(text: str) -> Any:
    return int(text) if re.fullmatch(r"[-+]?\d+", text.strip()) else float(text)


def _name(value: Value, name: str) -> None:
    if not name.isdigit():
        value.setDebugName(name)
        return
    graph = value.node()._graph
    value._unique = int(name)
    graph._count = max(graph._count, int(name) + 1)


def _held_as(value: Any) -> str:
    if isinstance(value, list) and value and not isinstance(value[0], (list, tuple, dict)):
        kinds = {_held_as(item) for item in value}
        if kinds <= {"i", "f"} and "f" in kinds:
            return "fs"
        return {"i": "is", "s": "ss", "c": "cs", "ty": "tys"}.get(kinds.pop(), "ival") if len(kinds) == 1 else "ival"
    if isinstance(value, (bool, _Member)) or value is None or value == []:
        return "ival"
    for cls, kind in ((int, "i"), (float, "f"), (complex, "c"), (str, "s"), (Type, "ty")):
        if isinstance(value, cls):
            return kind
    return "ival"


def _settle_constant(node: Node) -> None:
    """Text does not tell 1 of an int, a float and a bool; a constant's type does."""
    if node.kind() != "prim::Constant" or not node.hasAttributes():
        return
    (name,) = node.attributeNames()
    type, (held, value) = node.output().static_type, node._attribute(name)
    if isinstance(type, FunctionType):
        type.function.name = value
    elif type is FloatType.get():
        node.f_(name, float(value))
    elif type is BoolType.get():
        node.i_(name, int(value))
    elif held == "t" and (facts := node.output().facts) is not None and value.numel() == 1:
        shape = facts.sizes if facts.sizes is not None and set(facts.sizes) <= {1} else value.shape
        node.t_(name, value.to(facts.dtype or value.dtype).reshape(shape))
    elif type.kind() in ("ListType", "TupleType", "DictType", "EnumType") and held != "ival":
        node.ival_(name, value)


def _shaped(text: str) -> ShapedTensorType:
    name, _, inner = text.partition("(")
    facts: dict[str, Any] = {"dtype": None if name == "Tensor" else DTYPES[DTYPE_NAMES.index(name)]}
    sizes: list[int | None] = []
    for part in re.findall(r"(?:[^,\[]|\[[^\]]*\])+", inner.removesuffix(")")):
        word, equals, value = part.strip().partition("=")
        if not equals:
            sizes.append(None if word == "*" else int(word))
        elif word == "strides":
            facts[word] = tuple(int(n) for n in value.strip("[]").split(",") if n.strip())
        else:
            facts[word] = value == "1" if word == "requires_grad" else taeda.device(value)
    if inner:
        facts["sizes"] = tuple(sizes)
    return ShapedTensorType(TensorFacts(**facts))
