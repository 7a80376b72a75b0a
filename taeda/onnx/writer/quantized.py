"""Rounding to integers with a scale: ``QuantizeLinear`` and ``DequantizeLinear``, which runtimes join with their
neighbours to products of integers."""

from __future__ import annotations

from typing import Any

import taeda
from taeda.onnx.writer.builder import Builder, Value
from taeda.onnx.writer.table import translates


def _integers(low: int, high: int) -> taeda.dtype:
    if low >= 0 and high <= 255:
        return taeda.uint8
    if low >= -128 and high <= 127:
        return taeda.int8
    raise NotImplementedError(f"rounding to integers from {low} to {high}: ONNX has those of 8 bits")


def _rounded(g: Builder, x: Value, scale: Any, zero_point: Any, low: int, high: int, axis: int | None) -> Value:
    dtype = _integers(low, high)
    if isinstance(zero_point, Value) and zero_point.dtype is not None and zero_point.dtype.is_floating_point:
        zero_point = g.op("Round", zero_point)
    scale, zero = g.number(scale, taeda.float32), g.number(zero_point, dtype)
    if axis is None:
        scale, zero = (g.reshape(v, []) if v.shape not in ((), None) else v for v in (scale, zero))
    if axis is not None and g.opset < 13:
        raise NotImplementedError("a scale for each channel needs opset 13")
    made = g.op("QuantizeLinear", g.cast(x, taeda.float32), scale, zero, axis_i=axis)
    made.dtype, made.shape = dtype, x.shape
    if (low, high) not in ((0, 255), (-128, 127)):
        if g.opset < 12:
            raise NotImplementedError(f"rounding to integers from {low} to {high} needs opset 12")
        made = g.op("Clip", made, g.constant(low, dtype), g.constant(high, dtype))
    result = g.op("DequantizeLinear", made, scale, zero, axis_i=axis)
    result.dtype, result.shape = taeda.float32, x.shape
    return g.cast(result, x.dtype)


@translates("fake_quantize_per_tensor_affine")
def fake_quantize(g: Builder, self: Value, scale: Any, zero_point: Any, quant_min: int, quant_max: int) -> Value:
    return _rounded(g, self, scale, zero_point, quant_min, quant_max, None)


@translates("fake_quantize_per_channel_affine")
def fake_quantize_channels(g: Builder, self: Value, scale: Value, zero_point: Value, axis: int, quant_min: int,
                           quant_max: int) -> Value:  # fmt: skip
    return _rounded(g, self, scale, zero_point, quant_min, quant_max, axis)


@translates("quantized_decomposed::dequantize_per_tensor")
def dequantize(g: Builder, self: Value, scale: float, zero_point: int, *_: Any, out_dtype: Any = None) -> Value:
    zero = g.constant(zero_point, self.dtype)
    return _dequantized(g, self, g.constant(scale, taeda.float32), zero, None)


@translates("quantized_decomposed::dequantize_per_channel")
def dequantize_channels(g: Builder, self: Value, scales: Value, zeros: Any, axis: int, *_: Any,
                        out_dtype: Any = None) -> Value:  # fmt: skip
    if g.opset < 13:
        raise NotImplementedError("a scale for each channel needs opset 13")
    return _dequantized(g, self, scales, zeros, axis)


def _dequantized(g: Builder, x: Value, scale: Value, zero: Any, axis: int | None) -> Value:
    made = g.op("DequantizeLinear", x, scale, zero, axis_i=axis)
    made.dtype, made.shape = taeda.float32, x.shape
    return made
