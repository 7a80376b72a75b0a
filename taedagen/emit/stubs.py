"""``_C`` stubs: the signatures of every bound function and method, as type checkers read them."""

from __future__ import annotations

import keyword

from taedagen.emit.bindings import MODULES, Bound, bound_names, is_factory
from taedagen.emit.plan import Plan
from taedagen.opdef.declaration import Op
from taedagen.opdef.schema import Argument, Type

_TYPES = {
    "Tensor": "Tensor", "Scalar": "Number", "int": "int", "SymInt": "int", "float": "float", "bool": "bool", "str": "str",
    "ScalarType": "dtype", "Layout": "layout", "Device": "device | str | int", "MemoryFormat": "memory_format",
    "Generator": "Generator",
}  # fmt: skip
_HEAD = """# Made by taedagen.
from collections.abc import Sequence
from typing import Any, overload

from taeda import Generator, Tensor, device, dtype, layout, memory_format

Number = int | float | bool | complex
"""


def emit_stubs(plan: Plan) -> dict[str, str]:
    names = bound_names(plan)
    files = {f"taeda/_C/{attribute if attribute != 'functions' else '_functions'}.pyi": _module(names, module)
             for module, attribute in MODULES.items()}  # fmt: skip
    methods = [line for b in names if b.method for line in _definitions(b, is_method=True)]
    files["taeda/_C/_methods.pyi"] = "\n".join([_HEAD, "class TensorMethods:", *(methods or ["    ..."]), ""])
    return files


def _module(names: list[Bound], module: str) -> str:
    lines = [line for b in names if b.function and b.module == module for line in _definitions(b, is_method=False)]
    return "\n".join([_HEAD, *lines, ""])


def _definitions(bound: Bound, is_method: bool) -> list[str]:
    indent = "    " if is_method else ""
    many = len(bound.overloads) > 1
    lines = []
    for op, out in bound.overloads:
        if keyword.iskeyword(bound.name):
            continue
        if many:
            lines.append(f"{indent}@overload")
        lines.append(f"{indent}def {bound.name}({_parameters(op, out, is_method)}) -> {_result(op)}: ...")
    return lines


def _parameters(op: Op, out: Op | None, is_method: bool) -> str:
    parts, starred = [], False
    for argument in op.schema.arguments:
        name = argument.name
        if name == "self":
            parts.append("self" if is_method else "input: Tensor")
            continue
        if argument.keyword_only and not starred:
            parts.append("*")
            starred = True
        parts.append(_parameter(argument))
    extra = ([f"out: {_out_type(out)} | None = None"] if out else []) + (
        ["requires_grad: bool = False"] if is_factory(op) else []
    )
    if extra and not starred:
        parts.append("*")
    return ", ".join([*parts, *extra])


def _parameter(argument: Argument) -> str:
    name = argument.name + "_" if keyword.iskeyword(argument.name) else argument.name
    return f"{name}: {_type(argument.type)}" + ("" if argument.default is None else " = ...")


def _type(type_: Type) -> str:
    text = _TYPES[type_.base]
    if type_.is_list:
        element = f"{text} | None" if type_.optional_elements else text
        text = f"Sequence[{element}]" + (f" | {text}" if type_.list_size else "")
    return f"{text} | None" if type_.optional else text


def _out_type(op: Op) -> str:
    return "Tensor" if len(op.outs) == 1 else f"tuple[{', '.join('Tensor' for _ in op.outs)}]"


def _result(op: Op) -> str:
    parts = [
        "tuple[Tensor, ...]" if r.type.is_list and r.type.is_tensor else _TYPES[r.type.base] for r in op.schema.returns
    ]
    return parts[0] if len(parts) == 1 else f"tuple[{', '.join(parts)}]" if parts else "None"
