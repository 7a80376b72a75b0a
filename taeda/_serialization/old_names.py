"""The names that dtypes had as types of tensors and storages: ``torch.FloatTensor``, ``torch.FloatStorage``."""

from __future__ import annotations

from typing import Any

from taeda import _C

OLD_NAMES = {
    "float32": "Float", "float64": "Double", "float16": "Half", "bfloat16": "BFloat16", "uint8": "Byte", "int8": "Char",
    "int16": "Short", "int32": "Int", "int64": "Long", "bool": "Bool", "complex64": "ComplexFloat",
    "complex128": "ComplexDouble", "complex32": "ComplexHalf", "uint16": "UInt16", "uint32": "UInt32",
    "uint64": "UInt64",
    "float8_e4m3fn": "Float8_e4m3fn", "float8_e4m3fnuz": "Float8_e4m3fnuz", "float8_e5m2": "Float8_e5m2",
    "float8_e5m2fnuz": "Float8_e5m2fnuz", "float8_e8m0fnu": "Float8_e8m0fnu",
    "qint8": "QInt8", "quint8": "QUInt8", "qint32": "QInt32", "quint4x2": "QUInt4x2", "quint2x4": "QUInt2x4",
}  # fmt: skip
# The classes of storages, which there are for the dtypes that are as old.
_YOUNG = ("UInt", "Float8", "ComplexHalf")
OLD_STORAGES = {f"{old}Storage": dtype for dtype, old in OLD_NAMES.items() if not old.startswith(_YOUNG)}


def type_name(tensor: Any) -> str:
    """``torch.FloatTensor`` and the like."""
    name = str(tensor.dtype).removeprefix("torch.")
    device = "" if tensor.device.type == "cpu" else f"{tensor.device.type}."
    kind = "quantized." if tensor.is_quantized else "sparse." if tensor.layout == _C.sparse_coo else ""
    return f"torch.{device}{kind}{OLD_NAMES[name]}Tensor"


def dtype_of_type_name(name: Any) -> Any:
    """The dtype that a dtype, an old name or type, or a Python type stands for; ValueError for anything else."""
    if isinstance(name, str):
        short = name.rpartition(".")[2].removesuffix("Tensor")
        for dtype, old in OLD_NAMES.items():
            if old == short:
                return getattr(_C, dtype)
        raise ValueError(f"taeda.Tensor.type: '{name}' is no tensor type")
    if isinstance(name, type) and issubclass(name, _C.TensorBase):
        return _C.get_default_dtype()
    if isinstance(name, type) and hasattr(name, "dtype"):  # FloatTensor
        return name.dtype
    if isinstance(name, type):
        return {float: _C.float32, int: _C.int64, bool: _C.bool}.get(name, name)
    return name
