"""Attributes and methods of values that are no objects of classes, and of what is known."""

from __future__ import annotations

import enum
import inspect
from typing import Any

import taeda
from taeda import Tensor
from taeda.jit.check import operators
from taeda.jit.check.emitter import ATTRIBUTES, Emitter
from taeda.jit.check.iteration import tuple_item
from taeda.jit.check.types import TENSOR, is_named_tuple
from taeda.jit.check.values import BoundMethod, BoundOp, BoundPython, Known, Namespace, SuperOf, TupleOf
from taeda.jit.ir import Value
from taeda.jit.parse.errors import fail
from taeda.jit.source import SourceRange

_TENSOR_FIELDS = {
    "dtype": "prim::dtype", "device": "prim::device", "grad": "prim::grad", "data": "prim::data",
    "shape": "aten::size", "is_cuda": "prim::is_cuda", "is_cpu": "prim::is_cpu", "is_xpu": "prim::is_xpu",
    "is_sparse": "prim::is_sparse", "is_sparse_csr": "prim::is_sparse_csr", "is_mkldnn": "prim::is_mkldnn",
    "is_mps": "prim::is_mps", "is_meta": "prim::is_meta", "is_quantized": "prim::is_quantized",
    "is_nested": "prim::is_nested", "requires_grad": "prim::requires_grad", "layout": "prim::layout",
    "name": "prim::name", "itemsize": "prim::itemsize", "nbytes": "prim::nbytes", "T": "aten::numpy_T",
    "H": "aten::matrix_H", "mT": "aten::mT", "mH": "aten::mH", "ndim": "aten::dim", "is_leaf": "aten::is_leaf",
    "real": "aten::real", "imag": "aten::imag", "output_nr": "aten::output_nr", "_version": "aten::_version",
}  # fmt: skip
_RENAMED = {  # methods of Python's that are ops of another name
    ("StringType", "format"): "format",
    ("TensorType", "nelement"): "numel",
    ("TensorType", "ndimension"): "dim",
    ("TensorType", "__len__"): "len",
    ("TensorType", "tolist"): "tolist",
}  # fmt: skip


def _of_tensor(emitter: Emitter, owner: Any, name: str, range: SourceRange | None) -> Any:
    if not isinstance(owner, Value) or owner.static_type is not TENSOR:
        return None
    kind = _TENSOR_FIELDS.get(name)
    if kind is not None and operators.exists(kind):
        return emitter.op(kind, [owner], None, range)
    if name in _CASTS:
        return BoundMethod(name, lambda e, args, kwargs, place: _cast(e, owner, _CASTS[name], args, kwargs, place))
    return _method(owner, name) or _python_method(owner, name)


_CASTS = {  # methods that are `to` with a dtype
    "bool": taeda.bool, "byte": taeda.uint8, "char": taeda.int8, "short": taeda.int16, "int": taeda.int32,
    "long": taeda.int64, "half": taeda.float16, "bfloat16": taeda.bfloat16, "float": taeda.float32,
    "double": taeda.float64, "chalf": taeda.complex32, "cfloat": taeda.complex64, "cdouble": taeda.complex128,
}  # fmt: skip


def _cast(emitter: Emitter, owner: Value, dtype: Any, args: Any, kwargs: Any, range: SourceRange | None) -> Any:
    form = kwargs.get("memory_format", args[0] if args else Known(None))
    return emitter.op("aten::to", [owner, Known(dtype)], {"memory_format": form}, range)


def _method(owner: Value, name: str) -> Any:
    kind = owner.static_type.kind()
    name = _RENAMED.get((kind, name), name)
    if name == "tolist":
        return BoundOp(owner, "tolist")
    return BoundOp(owner, name) if operators.exists(f"aten::{name}") else None


def _python_method(owner: Value, name: str) -> Any:
    """A method of tensors that is written in Python: compiled into its caller."""
    raw = inspect.getattr_static(Tensor, name, None)
    if raw is None:
        return None
    return BoundPython(owner, raw) if inspect.isfunction(raw) else None


def _of_value(emitter: Emitter, owner: Any, name: str, range: SourceRange | None) -> Any:
    """Of collections, texts, devices, numbers, futures, enumerations and named tuples."""
    if not isinstance(owner, Value):
        return None
    type = owner.static_type
    kind = type.kind()
    if kind == "OptionalType":
        fail(range, f"'{name}': a {type} may be None here; ask 'if x is not None' or 'assert x is not None' first")
    if is_named_tuple(type) and name in type._fields:
        return tuple_item(emitter, owner, type._fields.index(name), range)
    if kind == "TupleType" and name in ("index", "count"):
        return BoundOp(owner, name)
    if kind == "EnumType" and name in ("name", "value"):
        return operators.enum_field(emitter.graph, owner, name, range)
    if kind == "DeviceObjType" and name in ("type", "index"):
        return emitter.op(f"prim::{name}", [owner], None, range)
    if kind in ("IntType", "FloatType", "ComplexType", "BoolType") and name in ("real", "imag"):
        return emitter.op(f"aten::{name}", [owner], None, range)
    if kind == "FutureType" and name in ("wait", "value"):
        return BoundOp(owner, "wait")
    if kind == "AwaitType":  # of its result
        return emitter.attribute(emitter.op_value("prim::awaitable_wait", [owner], range), name, range)
    if kind == "ListType" and name == "numel":  # of a size
        return BoundMethod(name, lambda e, args, kwargs, place: _product(e, owner, place))
    if kind in ("ListType", "DictType", "StringType", "GeneratorType", "IntType", "FloatType", "StreamObjType"):
        return _method(owner, name)
    return None


def _product(emitter: Emitter, sizes: Value, range: SourceRange | None) -> Any:
    tensor = emitter.op("aten::tensor", [sizes], None, range)
    return emitter.op("aten::Int", [emitter.op("aten::prod", [tensor], None, range)], None, range)


def _of_tuple(emitter: Emitter, owner: Any, name: str, range: SourceRange | None) -> Any:
    if not isinstance(owner, TupleOf):
        return None
    if owner.named is not None and name in owner.named._fields:
        return owner.items[owner.named._fields.index(name)]
    table = getattr(owner, "table", None)
    if table is not None and name in ("items", "keys", "values", "get"):
        rows: dict[str, list[Any]] = {"items": [TupleOf((Known(k), v)) for k, v in table.items()],
                "keys": list(map(Known, table)),
                "values": list(table.values())}  # fmt: skip
        if name == "get":
            return BoundMethod(name, lambda e, args, kwargs, place: table.get(args[0].obj, [*args, Known(None)][1]))
        return BoundMethod(name, lambda e, args, kwargs, place: TupleOf(tuple(rows[name])))
    return _of_value(emitter, emitter.value(owner, range), name, range)


_LEFT_TO_PROGRAM = (str, list, dict, tuple, int, float, complex, bool)


def _of_known(emitter: Emitter, owner: Any, name: str, range: SourceRange | None) -> Any:
    from taeda.jit.check.classes import static_method

    if not isinstance(owner, Known):
        return None
    obj = owner.obj
    if isinstance(obj, Tensor):
        return emitter.attribute(emitter.value(owner, range), name, range)
    if isinstance(obj, tuple) and hasattr(obj, "_fields") and name in obj._fields:
        return Known(getattr(obj, name))
    if isinstance(obj, _LEFT_TO_PROGRAM) and not isinstance(obj, enum.Enum):
        if isinstance(obj, dict) and name in ("items", "keys", "values", "get"):
            return Known(getattr(obj, name))
        if isinstance(obj, str) and hasattr(obj, name):
            return Known(getattr(obj, name))
        return _of_value(emitter, emitter.value(owner, range), name, range)
    if isinstance(obj, Namespace):
        return obj.find(name, range)
    if not hasattr(obj, name):
        what = f"module {obj.__name__}" if inspect.ismodule(obj) else owner.what()
        fail(range, f"{what} has no '{name}'")
    if isinstance(obj, type) and (own := static_method(obj, name)) is not None:
        return Known(own)
    raw = getattr(obj, name)
    if inspect.isclass(obj) and isinstance(inspect.getattr_static(obj, name, None), property):
        return BoundPython(owner, raw)
    return Known(raw)


def _of_super(emitter: Emitter, owner: Any, name: str, range: SourceRange | None) -> Any:
    if not isinstance(owner, SuperOf):
        return None
    from taeda.jit.check.classes import info_of
    from taeda.jit.check.modules import ModuleInfo

    info = info_of(owner.value)
    python = type(info.example) if isinstance(info, ModuleInfo) else info.python_class if info is not None else None
    if python is None:
        fail(range, "super() is known in methods of Python's classes only")
    mro = python.__mro__
    for cls in mro[mro.index(owner.cls) + 1 :]:
        if name in vars(cls):
            return BoundPython(owner.value, vars(cls)[name])
    return None


def _of_namespace(emitter: Emitter, owner: Any, name: str, range: SourceRange | None) -> Any:
    return owner.find(name, range) if isinstance(owner, Namespace) else None


ATTRIBUTES.extend([_of_namespace, _of_super, _of_tensor, _of_tuple, _of_value, _of_known])
