"""The text of a graph, in TorchScript's notation."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from taeda import Tensor, device

if TYPE_CHECKING:
    from taeda.jit.ir import Block, Graph, Node, Value

_ESCAPES = {"\\": "\\\\", '"': '\\"', "'": "\\'", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\a": "\\a", "\b": "\\b",
            "\f": "\\f", "\v": "\\v", "?": "?"}  # fmt: skip
_SMALL = 10  # elements of a tensor that are printed


class _Printer:
    """Text of one graph; graphs that are attributes (of ``prim::fork``) are numbered and follow it."""

    def __init__(self, with_ranges: bool) -> None:
        self.with_ranges = with_ranges
        self.subgraphs: list[tuple[str, Graph]] = []

    def graph(self, graph: Graph) -> str:
        inputs = (",\n" + " " * 6).join(map(_typed, graph.inputs()))
        lines = [f"graph({inputs}):", *self.body(graph, 1), f"  return ({_names(graph.outputs())})"]
        return "\n".join(lines) + "\n"

    def body(self, block: Block, level: int) -> Iterator[str]:
        for node in block.nodes():
            yield from self.node(node, level)

    def node(self, node: Node, level: int) -> Iterator[str]:
        indent = "  " * level
        yield indent + ", ".join(map(_typed, node.outputs())) + f" = {self.call(node)}{self.remark(node)}"
        for i, block in enumerate(node.blocks()):
            yield f"{indent}  block{i}({', '.join(map(_typed, block.inputs()))}):"
            yield from self.body(block, level + 2)
            yield f"{indent}    -> ({_names(block.outputs())})"

    def call(self, node: Node) -> str:
        kind, attributes = node.kind(), []
        for name in node.attributeNames():
            held, value = node.kindOf(name), node.attribute(name)
            if name == "Subgraph" and held == "g":
                kind += f"_{len(self.subgraphs)}"
                self.subgraphs.append((kind, value))
            else:
                attributes.append(f"{name}={attribute_text(held, value)}")
        listed = f"[{', '.join(attributes)}]" if attributes else ""
        return f"{kind}{listed}({_names(node.inputs())})"

    def remark(self, node: Node) -> str:
        parts = [f"scope: {node.scope}"] if node.scope else []
        if self.with_ranges and node.range is not None:
            parts.append(node.range.place())
        return " # " + " # ".join(parts) if parts else ""


def graph_text(graph: Graph, print_source_ranges: bool = True) -> str:
    """The text of a graph, that of graphs in attributes behind it."""
    printer = _Printer(print_source_ranges)
    text = printer.graph(graph)
    done = 0
    while done < len(printer.subgraphs):
        name, inner = printer.subgraphs[done]
        text += f"with {name} = {printer.graph(inner)}"
        done += 1
    return text


def node_text(node: Node) -> str:
    """The text of one node with its blocks."""
    return "\n".join(_Printer(True).node(node, 0)) + "\n"


def _names(values: Iterator[Value]) -> str:
    return ", ".join(f"%{value.debugName()}" for value in values)


def _typed(value: Value) -> str:
    return f"%{value.debugName()} : {value.facts.str() if value.facts is not None else value.static_type.str()}"


def string_text(text: str) -> str:
    """A string as it is quoted in graphs: bytes that ASCII cannot print as three octal digits."""
    out = []
    for byte in text.encode("utf-8", "surrogatepass"):
        char = chr(byte)
        out.append(_ESCAPES.get(char) or (char if 32 <= byte < 127 else f"\\{byte:03o}"))
    return f'"{"".join(out)}"'


def float_text(value: float) -> str:
    """A number that reads back as the same, with a point unless it is large, infinite or no number."""
    if value != value or value in (float("inf"), float("-inf")):
        return "nan" if value != value else "inf" if value > 0 else "-inf"
    if value == int(value) and abs(value) < 2**31:
        return f"{value:.0f}."
    return f"{value:.17g}"


def complex_text(value: complex) -> str:
    """``1.+2.j``."""
    imaginary = float_text(value.imag)
    return float_text(value.real) + ("" if imaginary[0] == "-" else "+") + imaginary + "j"


def tensor_text(value: Tensor) -> str:
    """A number as ``{2}``, a few numbers with dtype and sizes, anything else as ``<Tensor>``."""
    if value.numel() > _SMALL or not value.numel() or value.layout is not _strided() or value.is_meta:
        return "<Tensor>"
    if value.dim() == 0:
        item = value.item()
        return (
            "{" + (str(int(item)) if isinstance(item, int) else f"{item:.17g}".replace("(", "").replace(")", "")) + "}"
        )
    from taeda.jit._ir_types import DTYPE_NAMES, DTYPES

    items = "".join(f" {item}" for item in value.flatten().tolist())
    sizes = ",".join(map(str, value.shape))
    return f"{items} [ {str(value.device.type).upper()}{DTYPE_NAMES[DTYPES.index(value.dtype)]}Type{{{sizes}}} ]"


def _strided() -> Any:
    import taeda

    return taeda.strided


_PLAIN: dict[str, Any] = {
    "i": lambda v: str(int(v)),
    "f": lambda v: float_text(float(v)),
    "c": complex_text,
    "s": string_text,
    "t": tensor_text,
    "ty": lambda v: v.str(),
    "g": lambda v: "<Graph>",
}


def attribute_text(kind: str, value: Any) -> str:
    """An attribute's value."""
    if kind == "ival":
        return ival_text(value)
    if kind in ("ts", "gs"):
        return f"[<{'Tensors' if kind == 'ts' else 'Graphs'}>]"
    if kind in _PLAIN:
        return _PLAIN[kind](value)
    return f"[{', '.join(map(_PLAIN[kind[:-1]], value))}]"


def ival_text(value: Any) -> str:
    """A constant that is made of others, of a class, or a member of an enumeration."""
    if value is None or isinstance(value, bool):
        return str(value)
    if isinstance(value, enum.Enum):
        from taeda import _C

        return f"{_C._enum_type(type(value))._name}.{value.name}"
    for cls, kind in ((int, "i"), (float, "f"), (complex, "c"), (str, "s"), (Tensor, "t")):
        if isinstance(value, cls):
            return _PLAIN[kind](value)
    if isinstance(value, device):
        return string_text(str(value))
    if isinstance(value, (list, tuple)) and any(isinstance(v, Tensor) for v in value):
        return "[<Tensors>]" if isinstance(value, list) else "(<Tensors>)"
    if isinstance(value, list):
        return f"[{', '.join(map(ival_text, value))}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(ival_text, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{ival_text(k)}: {ival_text(v)}" for k, v in value.items()) + "}"
    return f"<{type(value).__name__} object at {id(value):#x}>"
