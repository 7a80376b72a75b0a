"""The signatures of bound functions and methods, as type checkers read them."""

from __future__ import annotations

import ast
import keyword

from taedagen.emit.bindings import Bound, is_factory, operator_names
from taedagen.opdef.declaration import Op
from taedagen.opdef.schema import Argument, Type

_TYPES = {
    "Tensor": "Tensor", "Scalar": "Number", "int": "Int", "SymInt": "Int", "float": "Float", "bool": "Bool",
    "str": "Str",
    "ScalarType": "Dtype", "Layout": "Layout", "Device": "Device", "MemoryFormat": "MemoryFormat",
    "Generator": "Generator",
}  # fmt: skip
# Ops have the names of Python's types (int, bool, complex ...), so the stubs spell those through aliases. Schemas tell
# more overloads apart than Python's type system does.
HEAD = """# Made by taedagen.
# mypy: disable-error-code="overload-cannot-match, overload-overlap, misc"
from builtins import bool as Bool, complex as Complex, float as Float, int as Int, str as Str
from collections.abc import Sequence
from typing import Any, overload

from taeda import return_types
from taeda._C import (
    Generator, Size, UntypedStorage, device as _device, dtype as Dtype, layout as Layout, memory_format as MemoryFormat
)
from taeda._tensor import Tensor
from taeda.storage import TypedStorage

Number = Int | Float | Bool | Complex
Device = _device | Str | Int
Storage = UntypedStorage | TypedStorage
"""


def operators(names: list[Bound]) -> list[str]:
    """The members of Tensor that Python's operators call, those that this build has."""
    present = {b.name for b in names}
    lines = []
    for operator, op in operator_names().items():
        if op not in present:
            continue
        if operator in ("__neg__", "__pos__", "__abs__", "__invert__"):
            lines.append(f"    def {operator}(self) -> Tensor: ...")
        elif operator in ("__eq__", "__ne__"):
            lines.append(f"    def {operator}(self, other: object) -> Tensor: ...  # type: ignore[override]")
        else:
            other = "Tensor" if "matmul" in operator else "Tensor | Number"
            lines.append(f"    def {operator}(self, other: {other}) -> Tensor: ...")
    return lines


def definitions(bound: Bound, is_method: bool) -> list[str]:
    """The lines that declare a function or, indented, a method."""
    indent = "    " if is_method else ""
    if keyword.iskeyword(bound.name):
        return []
    signatures = [
        f"({parameters}) -> {_result(bound, op)}: ..."
        for form in (_parameters, _spelled_out)
        for op, out in bound.overloads
        if (parameters := form(bound, op, out, is_method))
    ]
    signatures = list(dict.fromkeys(signatures))
    overload = [f"{indent}@overload"] * (len(signatures) > 1)
    return [line for signature in signatures for line in (*overload, f"{indent}def {bound.name}{signature}")]


def result_class(bound: Bound, op: Op) -> str | None:
    """The class of ``return_types`` whose instances the call gives; None where the results have no names."""
    returns = op.schema.returns
    return bound.name if len(returns) > 1 and all(r.name for r in returns) else None


def result_fields(op: Op) -> list[str]:
    return [f"    {r.name}: {_result_type(r.type)}" for r in op.schema.returns]


def _spelled_out(bound: Bound, op: Op, out: Op | None, is_method: bool) -> str:
    """``x.view(2, 3)``, ``zeros(2, 3, dtype=...)``: the sizes one by one; empty where the op takes none first."""
    arguments = op.schema.arguments
    first = 1 if is_method else 0
    if (
        len(arguments) <= first
        or arguments[first].type.base not in ("int", "SymInt")
        or not arguments[first].type.is_list
    ):
        return ""
    if arguments[first].type.list_size or any(not a.keyword_only for a in arguments[first + 1 :]):
        return ""
    rest = [_parameter(bound, a) for a in arguments[first + 1 :]] + _extras(op, out)
    return ", ".join([*["self"] * first, f"*{arguments[first].name}: Int", *rest])


def _extras(op: Op, out: Op | None) -> list[str]:
    """What Python takes beyond the schema."""
    extra = [f"out: {_out_type(out)} | None = None"] if out else []
    return extra + (["requires_grad: Bool = False"] if is_factory(op) else [])


def _parameters(bound: Bound, op: Op, out: Op | None, is_method: bool) -> str:
    parts, starred = [], False
    for argument in op.schema.arguments:
        if argument.name == "self" and is_method:
            parts.append("self")
            continue
        if argument.keyword_only and not starred:
            parts.append("*")
            starred = True
        parts.append(_parameter(bound, argument))
    extra = _extras(op, out)
    if extra and not starred:
        parts.append("*")
    return ", ".join([*parts, *extra])


def _parameter(bound: Bound, argument: Argument) -> str:
    name, type_ = argument.name, _type(argument.type)
    if name == "self":
        name = "input"
    elif keyword.iskeyword(name):
        name = f"__{name}"  # which makes it positional
    if (bound.name, name) == ("set_", "source"):
        type_ += " | Storage"
    if argument.name == bound.declaration.options.get("number"):
        type_ += " | Number"
    return f"{name}: {type_}" + ("" if argument.default is None else f" = {_default(argument.default)}")


def _default(text: str) -> str:
    """The schema's default where Python writes it likewise."""
    try:
        ast.literal_eval(text)
    except ValueError:
        return "..."  # of C++: long, contiguous_format
    return text.replace('"', "'") if text.startswith('"') else text


def _type(type_: Type) -> str:
    text = "Any" if type_.is_class else _TYPES[type_.base]
    if type_.is_list:
        element = f"{text} | None" if type_.optional_elements else text
        text = f"Sequence[{element}]" + (f" | {text}" if type_.list_size else "")
    return f"{text} | None" if type_.optional else text


def _out_type(op: Op) -> str:
    return "Tensor" if len(op.outs) == 1 else f"tuple[{', '.join('Tensor' for _ in op.outs)}]"


def _result_type(type_: Type) -> str:
    return "tuple[Tensor, ...]" if type_.is_list and type_.is_tensor else _TYPES[type_.base]


def _result(bound: Bound, op: Op) -> str:
    if named := result_class(bound, op):
        return f"return_types.{named}"
    parts = [_result_type(r.type) for r in op.schema.returns]
    return parts[0] if len(parts) == 1 else f"tuple[{', '.join(parts)}]" if parts else "None"
