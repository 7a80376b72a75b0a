"""Whole numbers that stand for real ones: scale and zero point."""

from __future__ import annotations

from typing import Any

import numpy as np

import taeda
from taeda import Tensor
from taeda.onnx.reader.elementwise import cast
from taeda.onnx.reader.learned import conv
from taeda.onnx.reader.table import op
from taeda.onnx.reader.values import DTYPES, NUMBERS, from_numpy, onnx_package, to_numpy

_LIMITS = {
    2: (0, 255),
    3: (-128, 127),
    4: (0, 65535),
    5: (-32768, 32767),
    21: (0, 15),
    22: (-8, 7),
    25: (0, 3),
    26: (-2, 1),
}


def _number_of(value: Any) -> int:
    if isinstance(value, Tensor):
        return NUMBERS[value.dtype]
    return onnx_package().helper.np_dtype_to_tensor_dtype(value.dtype)


def _along(x: Any, values: Any, axis: int, block_size: int) -> Any:
    """Scales or zero points as they lie beside ``x``."""
    rank = len(x.shape)
    if len(values.shape) == 0 or (len(values.shape) == 1 and values.shape[0] == 1 and not block_size):
        return values.reshape([1] * rank)
    if block_size:
        wide = values.repeat_interleave(block_size, axis)
        return wide.narrow(axis, 0, x.shape[axis])
    shape = [1] * rank
    shape[axis] = -1
    return values.reshape(shape)


def _plain(value: Any) -> Tensor:
    """Any number type as a tensor that can be computed with."""
    return value if isinstance(value, Tensor) else from_numpy(np.asarray(value).astype(np.float32))


@op("QuantizeLinear")
def quantize_linear(
    x: Tensor,
    scale: Any,
    zero: Any = None,
    *,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: int = 0,
    precision: int = 0,
    saturate: int = 1,
) -> Any:
    number = _number_of(zero) if zero is not None else output_dtype or 2
    kind = DTYPES[precision] if precision else _plain(scale).dtype
    kind = taeda.float32 if not kind.is_floating_point or kind.itemsize < 2 else kind
    scaled = x.to(kind) / _along(x, _plain(scale).to(kind), axis, block_size)
    if number in _LIMITS:
        low, high = _LIMITS[number]
        rounded = scaled.float().round()
        if zero is not None:
            rounded = rounded + _along(x, _plain(zero).float(), axis, block_size)
        return cast(rounded.clamp(low, high).to(taeda.int32), to=number)
    if zero is not None:
        scaled = scaled + _along(x, _plain(zero).to(kind), axis, block_size)
    return cast(scaled.float(), to=number, saturate=saturate)


@op("DequantizeLinear")
def dequantize_linear(
    x: Any, scale: Any, zero: Any = None, *, axis: int = 1, block_size: int = 0, output_dtype: int = 0
) -> Any:
    wide = _plain(x).float()
    if zero is not None:
        wide = wide - _along(x, _plain(zero).float(), axis, block_size)
    kind = DTYPES[output_dtype] if output_dtype else _plain(scale).dtype
    return (wide * _along(x, _plain(scale).float(), axis, block_size)).to(kind)


@op("DynamicQuantizeLinear")
def dynamic_quantize_linear(x: Tensor) -> Any:
    low, high = x.amin().clamp(max=0), x.amax().clamp(min=0)
    scale = (high - low) / 255
    zero = (0 - low / scale).round().clamp(0, 255)
    return (x / scale).round().add(zero).clamp(0, 255).to(taeda.uint8), scale, zero.to(taeda.uint8)


@op("QLinearMatMul")
def qlinear_matmul(
    a: Any, a_scale: Tensor, a_zero: Any, b: Any, b_scale: Tensor, b_zero: Any, y_scale: Tensor, y_zero: Any
) -> Any:
    def shifted(x: Any, zero: Any) -> Tensor:
        x, zero = _plain(x).double(), _plain(zero).double()
        return x - zero

    product = shifted(a, a_zero) @ shifted(b, b_zero)
    real = product * (a_scale.double() * b_scale.double() / y_scale.double())
    low, high = _LIMITS.get(_number_of(y_zero), (0, 255))
    if _number_of(y_zero) in _LIMITS:
        return cast((real.round() + _plain(y_zero).double()).clamp(low, high).to(taeda.int32), to=_number_of(y_zero))
    return cast((real + _plain(y_zero).double()).float(), to=_number_of(y_zero))


@op("QLinearConv")
def qlinear_conv(
    x: Tensor,
    x_scale: Tensor,
    x_zero: Tensor,
    w: Tensor,
    w_scale: Tensor,
    w_zero: Tensor,
    y_scale: Tensor,
    y_zero: Tensor,
    b: Tensor | None = None,
    **geometry: Any,
) -> Any:
    shape = (-1, *[1] * (w.dim() - 1))
    kernel = w.double() - w_zero.double().reshape(shape if w_zero.numel() > 1 else ())
    total = conv(x.double() - x_zero.double().reshape(()), kernel, None if b is None else b.double(), **geometry)
    beside = (1, -1, *[1] * (w.dim() - 2))
    factor = x_scale.double() * w_scale.double() / y_scale.double()
    real = total * (factor.reshape(beside) if factor.numel() > 1 else factor.reshape(()))
    low, high = _LIMITS[_number_of(y_zero)]
    return (real.round() + y_zero.double()).clamp(low, high).to(y_zero.dtype)


__all__ = ["dequantize_linear", "quantize_linear", "to_numpy"]
