"""``_C`` stubs: the signatures of every bound function and method, as type checkers read them."""

from __future__ import annotations

import ast
import keyword

from taedagen.emit.bindings import MODULES, Bound, bound_names, is_factory
from taedagen.emit.plan import Plan
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
_HEAD = """# Made by taedagen.
# mypy: disable-error-code="overload-cannot-match, overload-overlap, misc"
from builtins import bool as Bool, complex as Complex, float as Float, int as Int, str as Str
from collections.abc import Sequence
from typing import overload

from taeda._C import Generator, Size, device as _device, dtype as Dtype, layout as Layout, memory_format as MemoryFormat
from taeda._tensor import Tensor

Number = Int | Float | Bool | Complex
Device = _device | Str | Int
"""


_INIT = """# Made by taedagen. What is written by hand in csrc/python is typed loosely; the bound ops
# are in the submodules.
from typing import Any

from taeda._C import _fft as _fft, _functions as _functions, _linalg as _linalg, _nn as _nn, _special as _special
from taeda._C._methods import TensorMethods
from taeda._tensor import Tensor

class TensorBase(TensorMethods):
    def __getattr__(self, name: str) -> Any: ...
    def __setattr__(self, name: str, value: Any) -> None: ...
    def __getitem__(self, index: Any) -> Tensor: ...
    def __setitem__(self, index: Any, value: Any) -> None: ...
    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...
    @staticmethod
    def _make_subclass(cls: Any, data: Any, require_grad: Any = ...) -> Any: ...
    def __int__(self) -> int: ...
    def __index__(self) -> int: ...
    def __float__(self) -> float: ...
    def __complex__(self) -> complex: ...
{operators}

class _OpBase:
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __getattr__(self, name: str) -> Any: ...

class dtype:
    is_floating_point: bool
    is_complex: bool
    is_signed: bool
    itemsize: int
    def __getattr__(self, name: str) -> Any: ...

class device:
    type: str
    index: int | None
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def __enter__(self) -> device: ...
    def __exit__(self, *args: Any) -> None: ...

class layout: ...
class memory_format: ...

class Size(tuple[int, ...]):
    def numel(self) -> int: ...

class Generator:
    def __init__(self, device: Any = ...) -> None: ...
    def __getattr__(self, name: str) -> Any: ...

class UntypedStorage:
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
    def __getitem__(self, index: Any) -> Any: ...
    def __setitem__(self, index: Any, value: Any) -> None: ...

def _set_tensor_type(cls: Any) -> None: ...
def _overridable(function: Any) -> Any: ...
def _set_op_class(cls: Any) -> None: ...
def from_numpy(ndarray: Any) -> Tensor: ...
def tensor(data: Any, *, dtype: Any = ..., device: Any = ..., requires_grad: bool = ...,
           pin_memory: bool = ...) -> Tensor: ...
def as_tensor(data: Any, dtype: Any = ..., device: Any = ...) -> Tensor: ...
def __getattr__(name: str) -> Any: ...
"""


_BINARY = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift"


def _operators() -> str:
    names = [prefix + name for name in _BINARY.split() for prefix in ("", "r", "i")] + ["lt", "le", "gt", "ge"]
    lines = [f"    def __{name}__(self, other: Any) -> Tensor: ..." for name in names]
    lines += [f"    def __{name}__(self, other: Any) -> Tensor: ...  # type: ignore[override]" for name in ("eq", "ne")]
    return "\n".join(
        [*lines, *(f"    def __{name}__(self) -> Tensor: ..." for name in ("neg", "pos", "abs", "invert"))]
    )


def emit_stubs(plan: Plan) -> dict[str, str]:
    names = bound_names(plan)
    files = {f"taeda/_C/_{attribute}.pyi": _module(names, module)
             for module, attribute in MODULES.items()}  # fmt: skip
    methods = [line for b in names if b.method for line in _definitions(b, is_method=True)]
    files["taeda/_C/__init__.pyi"] = _INIT.replace("{operators}", _operators())
    files["taeda/_C/_methods.pyi"] = "\n".join([_HEAD, "class TensorMethods:", *(methods or ["    ..."]), ""])
    return files


def _module(names: list[Bound], module: str) -> str:
    lines = [line for b in names if b.function and b.module == module for line in _definitions(b, is_method=False)]
    return "\n".join([_HEAD, *lines, ""])


def _definitions(bound: Bound, is_method: bool) -> list[str]:
    indent = "    " if is_method else ""
    if keyword.iskeyword(bound.name):
        return []
    signatures = [f"({_parameters(op, out, is_method)}) -> {_result(op)}: ..." for op, out in bound.overloads]
    signatures += [
        f"({text}) -> {_result(op)}: ..." for op, out in bound.overloads if (text := _spelled_out(op, out, is_method))
    ]
    overload = [f"{indent}@overload"] * (len(signatures) > 1)
    return [line for signature in signatures for line in (*overload, f"{indent}def {bound.name}{signature}")]


def _spelled_out(op: Op, out: Op | None, is_method: bool) -> str:
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
    rest = [_parameter(a) for a in arguments[first + 1 :]] + _extras(op, out)
    return ", ".join([*["self"] * first, f"*{arguments[first].name}: Int", *rest])


def _extras(op: Op, out: Op | None) -> list[str]:
    """What Python takes beyond the schema."""
    extra = [f"out: {_out_type(out)} | None = None"] if out else []
    return extra + (["requires_grad: Bool = False"] if is_factory(op) else [])


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
    extra = _extras(op, out)
    if extra and not starred:
        parts.append("*")
    return ", ".join([*parts, *extra])


def _parameter(argument: Argument) -> str:
    name = argument.name + "_" if keyword.iskeyword(argument.name) else argument.name
    return f"{name}: {_type(argument.type)}" + ("" if argument.default is None else f" = {_default(argument.default)}")


def _default(text: str) -> str:
    """The schema's default where Python writes it likewise."""
    try:
        ast.literal_eval(text)
    except ValueError:
        return "..."  # of C++: long, contiguous_format
    return text.replace('"', "'") if text.startswith('"') else text


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
