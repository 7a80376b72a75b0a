"""Derivatives as C++ over ``ops::``: the op form of a traced graph."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from taedagen.emit import cpp
from taedagen.opdef.declaration import REGISTRY, Declaration
from taedagen.opdef.expr import Expr, children, shared_nodes, walk
from taedagen.opdef.intrinsics import CALLS
from taedagen.opdef.schema import Argument, Schema, Type, split_commas

# Questions about a tensor that its geometry answers: they need no saved data.
METADATA = {
    "sizes": "IntList",
    "strides": "IntList",
    "size": "int",
    "dim": "int",
    "numel": "int",
    "dtype": "ScalarType",
    "storage_offset": "int",
}
_INFIX = cpp.INFIX | {"logical_and": "&&", "logical_or": "||"}
# With a number and a tensor; and with the number first.
_CLAMPS = {"maximum": "clamp_min", "minimum": "clamp_max"}
_SWAPPED = {"add": "add", "mul": "mul", "sub": "rsub", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq",
            "ne": "ne"} | _CLAMPS  # fmt: skip


@dataclass(frozen=True)
class Typed:
    """A C++ expression and what it is: a base of the schema grammar, ``IntList`` or ``TensorList``."""

    text: str
    type: str

    @property
    def is_tensor(self) -> bool:
        return self.type == "Tensor"


def argument_kind(type_: Type) -> str:
    if type_.is_list:
        return "IntList" if type_.base in ("int", "SymInt", "bool") else f"{type_.base}List"
    return {"SymInt": "int"}.get(type_.base, type_.base)


class Lowering:
    """Turns nodes into C++ expressions; nodes used twice become locals in ``statements``."""

    def __init__(self, declaration: Declaration, known: dict[str, Typed]) -> None:
        self.declaration = declaration
        self.known = known
        self.statements: list[str] = []
        self._locals: dict[int, Typed] = {}

    def lower(self, roots: list[Expr]) -> list[Typed]:
        for node in shared_nodes(roots):
            if node.kind == "call" and id(node) not in self._locals and node.name not in METADATA:
                value = self._call(node)
                name = f"t{len(self._locals)}"
                self.statements.append(f"auto {name} = {value.text};")
                self._locals[id(node)] = Typed(name, value.type)
        return [self.expression(root) for root in roots]

    def expression(self, node: Expr) -> Typed:
        if id(node) in self._locals:
            return self._locals[id(node)]
        if node.kind == "arg":
            return self.known[node.name]
        if node.kind == "const":
            return _constant(node.value)
        if node.kind == "list":
            return Typed(", ".join(self.expression(a).text for a in node.args), "list")
        if node.kind == "item":
            return self._item(node)
        return self._call(node)

    def _item(self, node: Expr) -> Typed:
        source = node.args[0]
        if source.kind == "arg":  # grads[i]
            return Typed(f"{self.known[source.name].text}[{node.value}]", "Tensor")
        value = self.expression(source)
        if value.type == "TensorList":
            return Typed(f"{value.text}[{node.value}]", "Tensor")
        return Typed(f"std::get<{node.value}>({value.text})", "Tensor")

    def _call(self, node: Expr) -> Typed:
        if node.name in METADATA and node.args:
            return self._metadata(node)
        values = [self.expression(a) for a in node.args]
        named = {k: self.expression(v) for k, v in node.kwargs}
        if not any(v.type in ("Tensor", "TensorList", "list") for v in [*values, *named.values()]):
            return self._number(node, values)
        if node.name == "conj":  # most tensors are real, for which it is nothing
            return Typed(f"conj_of({values[0].text})", "Tensor")
        if node.name == "where" and not values[0].is_tensor:
            return self._chosen(values, node)
        name = CALLS[node.name].op or node.name if node.name in CALLS else node.name
        if len(values) == 2 and not values[0].is_tensor and values[1].is_tensor and not named:
            swapped = self._number_first(name, values[0], values[1], node)
            if swapped:
                return swapped
        if name == "mul" and len(values) == 2 and values[0].is_tensor and values[1].type == "Scalar":
            return Typed(f"scaled({values[0].text}, {values[1].text})", "Tensor")
        if name in _CLAMPS and len(values) == 2 and not values[1].is_tensor:
            name = _CLAMPS[name]
        return self._op(name, values, named, node)

    def _metadata(self, node: Expr) -> Typed:
        source = node.args[0]
        stored = self.known.get(f"{source.name}.{node.name}") if source.kind == "arg" else None
        if stored is not None and node.name != "size":
            return stored
        sizes = self.known.get(f"{source.name}.sizes") if source.kind == "arg" else None
        if node.name == "size":
            dim = self.expression(node.args[1]).text
            if sizes is not None:
                return Typed(f"{sizes.text}[wrap_dim({dim}, {sizes.text}.size())]", "int")
            return Typed(f"{self.expression(source).text}.size({dim})", "int")
        if sizes is not None and node.name == "dim":
            return Typed(f"static_cast<int64_t>({sizes.text}.size())", "int")
        if sizes is not None and node.name == "numel":
            return Typed(f"numel_of({sizes.text})", "int")
        return Typed(f"{self.expression(source).text}.{node.name}()", METADATA[node.name])

    def _number(self, node: Expr, values: list[Typed]) -> Typed:
        """Arithmetic between numbers, done in C++."""
        texts = [v.text for v in values]
        is_scalar = any(v.type == "Scalar" for v in values)
        kind = (
            "Scalar"
            if is_scalar
            else "float"
            if node.name == "div" or any(v.type == "float" for v in values)
            else "int"
        )
        if node.name in _INFIX and len(texts) == 2:
            left = f"static_cast<double>({texts[0]})" if node.name == "div" and not is_scalar else texts[0]
            is_test = node.name not in ("add", "sub", "mul", "div")
            return Typed(f"({left} {_INFIX[node.name]} {texts[1]})", "bool" if is_test else kind)
        if node.name == "neg":
            return Typed(f"(-{texts[0]})", kind)
        if node.name == "where":
            return Typed(f"({texts[0]} ? {texts[1]} : {texts[2]})", values[1].type)
        if node.name == "logical_not":
            return Typed(f"(!{texts[0]})", "bool")
        if node.name in CALLS:
            return Typed(f"number::{node.name}({', '.join(texts)})", "Scalar" if is_scalar else "float")
        return self._op(node.name, values, {k: self.expression(v) for k, v in node.kwargs}, node)

    def _number_first(self, name: str, number: Typed, tensor: Typed, node: Expr) -> Typed | None:
        if name == "div":
            return self._op("mul", [self._op("reciprocal", [tensor], {}, node), number], {}, node)
        return self._op(_SWAPPED[name], [tensor, number], {}, node) if name in _SWAPPED else None

    def _chosen(self, values: list[Typed], node: Expr) -> Typed:
        """A choice by a number: made in C++, with a tensor either way."""
        condition, *branches = values
        like = next(b for b in branches if b.is_tensor)
        texts = [b.text if b.is_tensor else self._op("full_like", [like, b], {}, node).text for b in branches]
        return Typed(f"({condition.text} ? {texts[0]} : {texts[1]})", "Tensor")

    def _op(self, name: str, values: list[Typed], named: dict[str, Typed], node: Expr) -> Typed:
        candidates = [op.schema for d in REGISTRY.named(name.removesuffix("_")) + REGISTRY.named(name) for op in d.ops()
                      if op.schema.name == name and op.variant != "out"]  # fmt: skip
        # Second time round, a number may stand where an op takes only tensors.
        for schema, lenient in [(c, lenient) for lenient in (False, True) for c in candidates]:
            bound = _bind(schema, values, named, lenient)
            if bound is not None:
                texts = [
                    _converted(a, bound[a.name]) if a.name in bound else str(cpp.default(a)) for a in schema.arguments
                ]
                returned = schema.returns[0].type
                kind = "TensorList" if returned.is_list else returned.base if len(schema.returns) == 1 else "tuple"
                return Typed(f"ops::{cpp.identifier(name)}({', '.join(texts)})", {"SymInt": "int"}.get(kind, kind))
        shown = ", ".join([v.type for v in values] + [f"{k}={v.type}" for k, v in named.items()])
        reason = "there is no such op" if not candidates else f"no overload of it takes ({shown})"
        raise self.declaration.fail(f"the derivative calls '{name}', but {reason}", self.declaration.derivative_where)


def _constant(value: object) -> Typed:
    if value is None:
        return Typed("{}", "None")
    if isinstance(value, bool):
        return Typed(str(value).lower(), "bool")
    if isinstance(value, int):
        return Typed(f"int64_t{{{value}}}", "int")
    if isinstance(value, float):
        text = {"inf": "INFINITY", "-inf": "-INFINITY", "nan": "NAN"}.get(repr(value), repr(value))
        return Typed(text, "float")
    if isinstance(value, complex):
        return Typed(f"complex128({value.real!r}, {value.imag!r})", "complex")
    return Typed(cpp.string(str(value)), "str")


def _scalar(value: Typed) -> str:
    return value.text if value.type == "Scalar" else f"Scalar({value.text})"


_NUMBERS = {"int", "float", "bool", "complex", "Scalar"}


def _fits(argument: Argument, value: Typed) -> bool:
    type_ = argument.type
    if value.type == "None":
        return type_.optional or (type_.is_tensor and type_.optional_elements)
    kind = argument_kind(type_)
    if kind == "Scalar":
        return value.type in _NUMBERS
    if kind == "float":
        return value.type in ("int", "float", "Scalar")
    if kind == "IntList":
        return value.type in ("IntList", "list") or (value.type == "int" and type_.list_size > 0)
    if kind == "TensorList":
        return value.type in ("TensorList", "list")
    return value.type == kind


def _bind(schema: Schema, values: list[Typed], named: dict[str, Typed], lenient: bool) -> dict[str, Typed] | None:
    positional = [a for a in schema.arguments if not a.keyword_only]
    if len(values) > len(positional) or any(k not in schema.names for k in named):
        return None
    bound = {a.name: v for a, v in zip(positional, values, strict=False)} | named
    for argument in schema.arguments:
        if argument.name not in bound:
            if argument.default is None:
                return None
        elif not _fits(argument, bound[argument.name]):
            becomes_tensor = argument.type == Type("Tensor") and bound[argument.name].type in _NUMBERS
            if not (lenient and becomes_tensor):
                return None
    return bound


def _converted(argument: Argument, value: Typed) -> str:
    type_, kind = argument.type, argument_kind(argument.type)
    if value.type == "None":
        return str(cpp.default(Argument(argument.name, type_, "None")))
    if kind == "Tensor" and value.type in _NUMBERS:
        return f"number_tensor({_scalar(value)})"
    if kind == "Scalar" and value.type != "Scalar":
        return f"Scalar({value.text})"
    if kind == "float" and value.type == "Scalar":
        return f"{value.text}.to<double>()"
    if kind == "IntList" and value.type in ("list", "int"):
        count = type_.list_size if value.type == "int" else len(split_commas(value.text))
        items = ", ".join([value.text] * count) if value.type == "int" else value.text
        return f"IntList(std::array<int64_t, {count}>{{{items}}})" if items else "IntList()"
    if kind == "TensorList" and value.type == "list":
        return f"TensorList(std::array<Tensor, {len(split_commas(value.text))}>{{{value.text}}})"
    return value.text


def joint_call(roots: Iterable[Expr]) -> Expr | None:
    """The call that makes several gradients together, as its results; None if each is made by itself."""
    return next((r.args[0] for r in roots if r.kind == "item" and r.args[0].kind == "call"), None)


def used_arguments(roots: list[Expr]) -> dict[str, set[str]]:
    """Argument name to how it is used: ``{"value"}``, or only the metadata that is asked of it."""
    used: dict[str, set[str]] = {}
    for node in walk(roots):
        for child in children(node):
            if child.kind == "arg":
                is_metadata = node.kind == "call" and node.name in METADATA and node.args[0] is child
                used.setdefault(child.name, set()).add(node.name if is_metadata else "value")
    for root in roots:
        if root.kind == "arg":
            used.setdefault(root.name, set()).add("value")
    return used
