"""ONNX's values and ours: tensors, and NumPy arrays where there is no such dtype (texts, numbers of 4 bits)."""

from __future__ import annotations

from typing import Any

import numpy as np

import taeda
from taeda import Tensor
from taeda.onnx.errors import OnnxExporterError

# By the numbers of ONNX's types.
DTYPES = {
    1: taeda.float32, 2: taeda.uint8, 3: taeda.int8, 4: taeda.uint16, 5: taeda.int16, 6: taeda.int32, 7: taeda.int64,
    9: taeda.bool, 10: taeda.float16, 11: taeda.float64, 12: taeda.uint32, 13: taeda.uint64, 14: taeda.complex64,
    15: taeda.complex128, 16: taeda.bfloat16, 17: taeda.float8_e4m3fn, 18: taeda.float8_e4m3fnuz,
    19: taeda.float8_e5m2, 20: taeda.float8_e5m2fnuz,
}  # fmt: skip
NUMBERS = {dtype: number for number, dtype in DTYPES.items()}
NARROW_UNSIGNED = (taeda.uint16, taeda.uint32, taeda.uint64)
# Dtypes that NumPy has no name for, moved as bits.
_BITS = {
    "bfloat16": (taeda.bfloat16, np.int16, taeda.int16), "float8_e4m3fn": (taeda.float8_e4m3fn, np.uint8, taeda.uint8),
    "float8_e4m3fnuz": (taeda.float8_e4m3fnuz, np.uint8, taeda.uint8),
    "float8_e5m2": (taeda.float8_e5m2, np.uint8, taeda.uint8),
    "float8_e5m2fnuz": (taeda.float8_e5m2fnuz, np.uint8, taeda.uint8),
}  # fmt: skip
_NAMES = {dtype: name for name, (dtype, _, _) in _BITS.items()}


def from_numpy(array: Any) -> Any:
    """A tensor with the array's elements; arrays of texts and of types without a dtype stay arrays."""
    array = np.asarray(array)
    if array.dtype.num not in _KNOWN:
        if array.dtype.name not in _BITS:
            return array
        dtype, bits, plain = _BITS[array.dtype.name]
        return taeda.from_numpy(np.ascontiguousarray(array).view(bits).copy()).view(dtype).reshape(array.shape)
    array = np.array(array, order="C", copy=True)
    return taeda.from_numpy(array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("=")))


# By number: NumPy makes a name anew whenever it is asked for, in as long as a small array's copy takes, and other
# packages' types have the same letters.
_KNOWN = frozenset(np.dtype(letter).num for letter in "?bBhHiIlLqQefdFD")


def to_numpy(value: Any) -> Any:
    """The array that a value is; lists element by element."""
    if isinstance(value, list):
        return [to_numpy(item) for item in value]
    if not isinstance(value, Tensor):
        return value
    value = value.detach().cpu().contiguous()
    if value.dtype not in _NAMES:
        return value.numpy()
    import ml_dtypes  # type: ignore[import-not-found]

    name = _NAMES[value.dtype]
    _, bits, plain = _BITS[name]
    return value.view(plain).numpy().astype(bits).view(getattr(ml_dtypes, name))


def ints(value: Any) -> list[int]:
    """The elements of a tensor of whole numbers, or of a list."""
    if value is None:
        return []
    return [int(v) for v in (value.flatten().tolist() if isinstance(value, Tensor) else np.ravel(value).tolist())]


def is_unsigned(dtype: Any) -> bool:
    """Whether kernels have no arithmetic on it, and int64 takes its place."""
    return dtype in NARROW_UNSIGNED


def onnx_package() -> Any:
    """The package ``onnx``; ImportError that says how to get it where it is absent."""
    try:
        import onnx  # type: ignore[import-not-found]
    except ImportError:
        raise ImportError(
            "taeda.onnx: reading and writing models needs the package onnx: pip install taeda[onnx]"
        ) from None
    return onnx


class UnsupportedOp(OnnxExporterError, NotImplementedError):
    """A model has an op that nothing says the meaning of."""


def dtype_of(number: int) -> taeda.dtype:
    """The dtype for one of ONNX's numbers.

    Raises:
        UnsupportedOp: there is none.
    """
    if number not in DTYPES:
        raise UnsupportedOp(f"taeda.onnx.load: there is no dtype for ONNX's type {number}")
    return DTYPES[number]
