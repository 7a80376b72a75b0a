"""Questions about dtypes that libraries ask in ``torch._prims_common``."""

from __future__ import annotations

from taeda import _C

_COMPLEX = {_C.float16: _C.complex32, _C.bfloat16: _C.complex64, _C.float32: _C.complex64, _C.float64: _C.complex128}
_REAL = {_C.complex32: _C.float16, _C.complex64: _C.float32, _C.complex128: _C.float64}
_INTEGERS = (_C.bool, _C.uint8, _C.int8, _C.int16, _C.int32, _C.int64, _C.uint16, _C.uint32, _C.uint64)


def corresponding_complex_dtype(dtype: _C.dtype) -> _C.dtype:
    """The complex dtype whose parts are of a floating one; KeyError for others."""
    return _COMPLEX[dtype]


def corresponding_real_dtype(dtype: _C.dtype) -> _C.dtype:
    """The dtype of a complex one's parts; KeyError for others."""
    return _REAL[dtype]


def is_boolean_dtype(dtype: _C.dtype) -> bool:
    """Whether it is bool."""
    return dtype is _C.bool


def is_complex_dtype(dtype: _C.dtype) -> bool:
    """Whether its elements are complex numbers."""
    return dtype.is_complex


def is_float_dtype(dtype: _C.dtype) -> bool:
    """Whether its elements are floating-point numbers."""
    return dtype.is_floating_point


def is_integer_dtype(dtype: _C.dtype) -> bool:
    """Whether its elements are integers, of which bools are the smallest."""
    return dtype in _INTEGERS
