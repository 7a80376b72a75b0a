"""What an expression of a body is in C++: its text and its type, and how one type becomes another.

A type is a base of the schema grammar (``Tensor``, ``int``, ``ScalarType``), one with ``[]`` (a list) or ``?`` (an
optional), ``None``, ``void`` (a call without a result), or a tuple: ``(Tensor, int)``. A tensor may be None.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from taedagen.emit import cpp
from taedagen.opdef.schema import Argument, Type, split_commas

LOCALS = {
    "Tensor": "Tensor", "int": "int64_t", "float": "double", "bool": "bool", "str": "std::string_view",
    "Scalar": "Scalar", "ScalarType": "DType", "Device": "Device", "Layout": "Layout", "MemoryFormat": "MemoryFormat",
    "Generator": "Ref<Generator>", "int[]": "shape::Dims", "Tensor[]": "std::vector<Tensor>",
    "float[]": "std::vector<double>", "Scalar[]": "std::vector<Scalar>",
}  # fmt: skip
PARAMETERS = LOCALS | {
    "Tensor": "const Tensor&", "Scalar": "const Scalar&", "Generator": "const Ref<Generator>&", "int[]": "IntList",
    "Tensor[]": "TensorList", "float[]": "std::span<const double>", "Scalar[]": "std::span<const Scalar>",
}  # fmt: skip
_SPANS = {"int[]": "IntList", "Tensor[]": "TensorList", "float[]": "std::span<const double>",
          "Scalar[]": "std::span<const Scalar>"}  # fmt: skip
NUMBERS = ("bool", "int", "float", "complex", "Scalar")


@dataclass(frozen=True)
class Value:
    """A C++ expression. ``items`` are those of a list or tuple that is written out; ``owned`` says that a list is no
    span of someone else's memory; ``constant`` is a literal's value in Python."""

    text: str
    type: str
    items: tuple[Value, ...] | None = field(default=None, compare=False)
    owned: bool = False
    constant: object = field(default=..., compare=False)

    @property
    def is_number(self) -> bool:
        return self.type in NUMBERS


NONE = Value("std::nullopt", "None", constant=None)


def of_schema(type_: Type) -> str:
    """The type of an argument."""
    base = {"SymInt": "int"}.get(type_.base, type_.base)
    if type_.is_list:
        base = ("int" if base == "bool" else base) + "[]"
    return base + ("?" if type_.optional and not type_.is_tensor and base != "Generator" else "")


def annotated(text: str) -> str:
    """The type that an annotation says: ``list[int]``, ``Tensor | None``."""
    text = {"list[int]": "int[]", "list[Tensor]": "Tensor[]", "list[float]": "float[]"}.get(text, text)
    text = text.replace(" | None", "?")
    return "Tensor" if text == "Tensor?" else text


def element(type_: str) -> str:
    return type_.removesuffix("[]")


def is_list(type_: str) -> bool:
    return type_.endswith("[]")


def is_tuple(type_: str) -> bool:
    return type_.startswith("(")


def parts_of(type_: str) -> list[str]:
    """The types of a tuple's items."""
    return split_commas(type_[1:-1])


def local_type(type_: str) -> str:
    """As the type of a variable, or of a result."""
    if is_tuple(type_):
        return f"std::tuple<{', '.join(map(local_type, parts_of(type_)))}>"
    return f"std::optional<{_SPANS.get(type_[:-1], LOCALS[type_[:-1]])}>" if type_.endswith("?") else LOCALS[type_]


def parameter_type(type_: str) -> str:
    return local_type(type_) if type_.endswith("?") or is_tuple(type_) else PARAMETERS[type_]


def join(a: str, b: str) -> str | None:
    """The type that holds both; None if there is none."""
    if a == b:
        return a
    for one, other in ((a, b), (b, a)):
        if one == "None":
            return other if other in ("Tensor", "Generator") or other.endswith("?") else f"{other}?"
        if one.endswith("?"):
            inner = join(one[:-1], other.removesuffix("?"))
            return inner and f"{inner}?"
        if one == "[]" and is_list(other):
            return other
    if is_tuple(a) and is_tuple(b) and len(parts_of(a)) == len(parts_of(b)):
        joined = [join(x, y) for x, y in zip(parts_of(a), parts_of(b), strict=True)]
        return None if None in joined else f"({', '.join(map(str, joined))})"
    if a in NUMBERS and b in NUMBERS:
        return max(a, b, key=NUMBERS.index)
    if {a, b} == {"int[]", "float[]"}:
        return "float[]"
    return None


def fits(value: Value, wanted: str, lenient: bool = False, count: int = 0) -> bool:
    """Whether the value may stand where ``wanted`` is: itself, or ``lenient``ly by a conversion that may lose the
    absence of an optional. ``count`` is the length that a single number is repeated to."""
    have, inner = value.type, wanted.removesuffix("?")
    if have in (wanted, inner):
        return True
    if have == "None":
        return wanted.endswith("?") or wanted == "Generator"
    if have == "[]":
        return is_list(inner)
    if inner == "Scalar" and have in NUMBERS:
        return True
    if inner == "float" and have in ("int", "Scalar"):
        return True
    if inner == "int[]" and have == "int" and count:
        return True
    if inner == "float[]" and have == "int[]":
        return True
    if not lenient:
        return False
    if have.endswith("?"):
        return fits(Value("", have[:-1]), wanted, True, count)
    return (inner == "Tensor" and have in NUMBERS) or (inner == "int" and have == "bool")


def convert(value: Value, wanted: str, type_: Type | None = None) -> str:
    """The value as ``wanted``, which it fits; ``type_`` is the schema's where an op takes it."""
    text, have, inner = value.text, value.type, wanted.removesuffix("?")
    if have == "None":
        if wanted == "Tensor":
            return "Tensor()"
        return str(cpp.default(Argument("", type_, "None"))) if type_ else f"{local_type(wanted)}()"
    if have.endswith("?"):
        return text if wanted.endswith("?") else convert(Value(f"*{text}", have[:-1]), wanted)
    if is_list(inner):
        return _as_list(value, inner, type_)
    if have == inner:  # as a pointer, a literal would rather be a bool
        return f"std::string_view({text})" if type_ and text.startswith('"') else text
    if inner == "Scalar":
        return f"Scalar({unwrapped(text)})"
    if inner == "float":
        return f"{text}.as_double()" if have == "Scalar" else _as_double(text)
    if inner == "int" and have == "bool":
        return f"int64_t{{{text}}}"
    if inner == "Tensor":
        number = text if have == "Scalar" else f"Scalar({unwrapped(text)})"
        return f"number_tensor({number})"
    return text


def _as_double(text: str) -> str:
    return f"{text}.0" if re.fullmatch(r"-?\d+", text) else f"static_cast<double>({text})"


def _as_list(value: Value, wanted: str, type_: Type | None) -> str:
    if value.type == "[]":
        return f"{_SPANS[wanted]}()"
    if not is_list(value.type):  # a number for each dimension
        assert type_ is not None
        items = [value.text] * type_.list_size
        is_literal = all(re.fullmatch(r"-?\d+", item) for item in items)
        return f"kValues<int64_t, {', '.join(items)}>" if is_literal else f"shape::Dims{{{', '.join(items)}}}"
    if wanted == "float[]" and value.items is not None:
        items = [convert(item, "float") for item in value.items]
        return f"std::array<double, {len(items)}>{{{', '.join(items)}}}"
    return f"{_SPANS[wanted]}({value.text})" if value.owned else value.text


def result_text(value: Value, wanted: str) -> str:
    """As what a function returns or a variable holds: lists own their items."""
    if value.type == "Tensor[]" and value.items is not None:
        return f"std::vector<Tensor>{{{', '.join(item.text for item in value.items)}}}"
    if value.type == "[]":
        return "{}"
    if is_list(wanted):
        same = value.owned or value.text.startswith(("std::vector", "ops::"))
        return (
            value.text if same or wanted == "int[]" else f"{LOCALS[wanted]}({value.text}.begin(), {value.text}.end())"
        )
    if is_tuple(wanted) and value.items is not None:
        parts = zip(value.items, parts_of(wanted), strict=True)
        return f"{{{', '.join(result_text(item, part) for item, part in parts)}}}"
    return convert(value, wanted)


def unwrapped(text: str) -> str:
    """Without the brackets around all of it."""
    if not text.startswith("("):
        return text
    depth = 0
    for i, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth == 0:
            return text[1:-1] if i == len(text) - 1 else text
    return text
