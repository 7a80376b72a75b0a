"""Rebuilding pickled tensors, and the old names of tensor types."""

from __future__ import annotations

import importlib
from typing import Any

from taeda import _C

OLD_NAMES = {
    "float32": "Float", "float64": "Double", "float16": "Half", "bfloat16": "BFloat16", "uint8": "Byte", "int8": "Char",
    "int16": "Short", "int32": "Int", "int64": "Long", "bool": "Bool", "complex64": "ComplexFloat",
    "complex128": "ComplexDouble", "complex32": "ComplexHalf", "uint16": "UInt16", "uint32": "UInt32",
    "uint64": "UInt64",
    "float8_e4m3fn": "Float8_e4m3fn", "float8_e4m3fnuz": "Float8_e4m3fnuz", "float8_e5m2": "Float8_e5m2",
    "float8_e5m2fnuz": "Float8_e5m2fnuz", "float8_e8m0fnu": "Float8_e8m0fnu",
}  # fmt: skip
# The classes of storages, which there are for the dtypes that are as old.
_YOUNG = ("UInt", "Float8", "ComplexHalf")
OLD_STORAGES = {f"{old}Storage": dtype for dtype, old in OLD_NAMES.items() if not old.startswith(_YOUNG)}


def rebuild_tensor(storage: Any, dtype: Any, offset: int, size: tuple[int, ...], stride: tuple[int, ...],
                   requires_grad: bool, conj: bool = False, neg: bool = False) -> Any:  # fmt: skip
    """A tensor over ``storage`` (an UntypedStorage; None: on meta) with the given geometry in elements, lazily
    conjugated or negated."""
    if storage is None:
        tensor = _C._functions.empty_strided(size, stride, dtype=dtype, device="meta")
    else:
        tensor = _C._functions.empty(0, dtype=dtype, device=storage.device).set_(storage, offset, size, stride)
    tensor = with_bits(tensor, conj, neg)
    return tensor.requires_grad_() if requires_grad else tensor


def bits(tensor: Any) -> tuple[bool, ...]:
    """The last arguments of `rebuild_tensor`."""
    return (tensor.is_conj(), tensor.is_neg()) if tensor.is_conj() or tensor.is_neg() else ()


def with_bits(tensor: Any, conj: bool, neg: bool) -> Any:
    """``tensor``, lazily conjugated and negated as asked, and not as a view."""
    if conj:
        tensor = _C._functions._conj(tensor).detach()
    return _C._functions._neg_view(tensor).detach() if neg else tensor


def rebuild_with_state(cls: type, arguments: tuple[Any, ...], state: dict[str, Any]) -> Any:
    """A subclass instance and its attributes."""
    untracked = (*arguments[:5], False, *arguments[6:])
    tensor = _C.TensorBase._make_subclass(cls, rebuild_tensor(*untracked), arguments[5])
    tensor.__setstate__(state)
    return tensor


def type_name(tensor: Any) -> str:
    """``torch.FloatTensor`` and the like."""
    name = str(tensor.dtype).removeprefix("torch.")
    device = "" if tensor.device.type == "cpu" else f"{tensor.device.type}."
    return f"torch.{device}{OLD_NAMES[name]}Tensor"


def dtype_of_type_name(name: Any) -> Any:
    """The dtype that a dtype, an old name or type, or a Python type stands for; ValueError for anything else."""
    if isinstance(name, str):
        short = name.rpartition(".")[2].removesuffix("Tensor")
        for dtype, old in OLD_NAMES.items():
            if old == short:
                return getattr(_C, dtype)
        raise ValueError(f"taeda.Tensor.type: '{name}' is no tensor type")
    if isinstance(name, type) and hasattr(name, "dtype"):  # FloatTensor
        return name.dtype
    return {float: _C.float32, int: _C.int64, bool: _C.bool}.get(name, name)


def _element_size(dtype: Any) -> int:
    """How many bytes an element takes."""
    size: int = dtype.itemsize
    return size


def __getattr__(name: str) -> Any:
    """What rebuilds the tensors of a file, by the names that stand there, and what is seldom needed."""
    if name.startswith("_rebuild_"):
        found = importlib.import_module("taeda._serialization.names").REBUILDERS.get(("torch._utils", name))
        if found is not None:
            return found
    if name in ("_flatten_dense_tensors", "_reorder_tensors_as", "_take_tensors", "_unflatten_dense_tensors"):
        return getattr(importlib.import_module("taeda._flat_tensors"), name)
    raise AttributeError(f"module 'taeda._utils' has no attribute '{name}'")


def wrong_argument(function: Any, /, *args: Any, **kwargs: Any) -> str | None:
    """Which argument is no tensor where ``function``, written in Python, wants one; None if all are."""
    import inspect

    signature = inspect.signature(function)
    wanted = {name: str(p.annotation) for name, p in signature.parameters.items()}
    for name, value in signature.bind(*args, **kwargs).arguments.items():
        is_tensor = isinstance(value, _C.TensorBase) or (value is None and "None" in wanted[name])
        if wanted[name] in ("Tensor", "Tensor | None") and not is_tensor:
            home = function.__module__.removeprefix("taeda._tensor")
            return f"{home or 'taeda'}.{function.__qualname__}: '{name}' must be a Tensor, got {type(value).__name__}"
    return None
