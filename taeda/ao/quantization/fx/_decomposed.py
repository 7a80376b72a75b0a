"""The ops ``quantized_decomposed``: quantisation as arithmetic on plain tensors of integers, for graphs of them.

Each takes the limits of the integers, ``quant_min`` and ``quant_max``, and their dtype. Those for tokens treat each
row, along the last dimension, for itself; those for groups each ``group_size`` elements of a row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor
from taeda.library import Library
from taeda.types import _dtype

quantized_decomposed_lib = Library("quantized_decomposed", "FRAGMENT")
_LIMITS = "int quant_min, int quant_max, ScalarType dtype"
_TENSORS = "Tensor quant_min, Tensor quant_max, ScalarType dtype"
_OUT = "*, ScalarType? out_dtype=None"


def _op(schema: str, key: str = "CompositeExplicitAutograd") -> Callable[[Any], Any]:
    def define(function: Any) -> Any:
        quantized_decomposed_lib.define(schema)
        quantized_decomposed_lib.impl(schema.partition("(")[0], function, key)
        return function

    return define


def _rounded(x: Tensor, low: Any, high: Any, dtype: _dtype) -> Tensor:
    info = taeda.iinfo(dtype)
    if low < info.min or high > info.max:
        raise AssertionError(
            f"quantized_decomposed: quant_min and quant_max must be within {info.min} and {info.max}, the limits of "
            f"{dtype}; got {low} and {high}"
        )
    return taeda.clamp(x, low, high).to(dtype)


def _wide(x: Tensor) -> Tensor:
    return x.to(taeda.float32) if x.dtype in (taeda.float16, taeda.bfloat16) else x


@_op(f"quantize_per_tensor(Tensor input, float scale, int zero_point, {_LIMITS}) -> Tensor")
def quantize_per_tensor(input: Tensor, scale: float, zero_point: int, quant_min: int, quant_max: int, dtype: _dtype
                        ) -> Tensor:  # fmt: skip
    """``input / scale + zero_point``, rounded to integers within the limits."""
    return _rounded(taeda.round(_wide(input) * (1.0 / scale)) + zero_point, quant_min, quant_max, dtype)


@_op(f"quantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor zero_point, {_LIMITS}) -> Tensor")
@_op(f"quantize_per_tensor.tensor2(Tensor input, Tensor scale, Tensor zero_point, {_TENSORS}) -> Tensor")
def quantize_per_tensor_tensor(input: Tensor, scale: Tensor, zero_point: Tensor, quant_min: Any, quant_max: Any,
                               dtype: _dtype) -> Tensor:  # fmt: skip
    """``quantize_per_tensor`` by numbers in tensors of one element."""
    return quantize_per_tensor(input, scale.item(), int(zero_point), int(quant_min), int(quant_max), dtype)


@_op(f"dequantize_per_tensor(Tensor input, float scale, int zero_point, {_LIMITS}, {_OUT}) -> Tensor")
def dequantize_per_tensor(input: Tensor, scale: float, zero_point: int, quant_min: int, quant_max: int, dtype: _dtype,
                          *, out_dtype: _dtype | None = None) -> Tensor:  # fmt: skip
    """The numbers that integers stand for."""
    return (input.to(out_dtype or taeda.float32) - zero_point) * scale


@_op(f"dequantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor zero_point, {_LIMITS}, {_OUT}) -> Tensor")
@_op(f"dequantize_per_tensor.tensor2(Tensor input, Tensor scale, Tensor zero_point, {_TENSORS}, {_OUT}) -> Tensor")
def dequantize_per_tensor_tensor(input: Tensor, scale: Tensor, zero_point: Tensor, quant_min: Any, quant_max: Any,
                                 dtype: _dtype, *, out_dtype: _dtype | None = None) -> Tensor:  # fmt: skip
    """``dequantize_per_tensor`` by numbers in tensors of one element."""
    return dequantize_per_tensor(input, scale.item(), int(zero_point), int(quant_min), int(quant_max), dtype,
                                 out_dtype=out_dtype)  # fmt: skip


# --- scales from ranges


def _affine(low: Tensor, high: Tensor, quant_min: int, quant_max: int, eps: float) -> tuple[Tensor, Tensor]:
    """The scale and the zero point for numbers from ``low`` to ``high``, among which 0 is, which stays exact."""
    low, high = low.clamp(max=0), high.clamp(min=0)
    scale = ((high - low) / float(quant_max - quant_min)).clamp(min=eps)
    return scale, (quant_min - taeda.round(low / scale)).clamp(quant_min, quant_max)


_RANGE = "(Tensor input, int quant_min, int quant_max, float eps, ScalarType dtype) -> (Tensor, Tensor)"


@_op(f"choose_qparams.tensor{_RANGE}")
def choose_qparams_tensor(input: Tensor, quant_min: int, quant_max: int, eps: float, dtype: _dtype
                          ) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The scale (float64) and the zero point (int64) that fit the range of ``input``."""
    scale, zero_point = _affine(*taeda.aminmax(input), quant_min, quant_max, eps)
    return scale.to(taeda.float64).view(1), zero_point.to(taeda.int64).view(1)


@_op(f"choose_qparams_symmetric.tensor{_RANGE}")
def choose_qparams_symmetric_tensor(input: Tensor, quant_min: int, quant_max: int, eps: float, dtype: _dtype
                                    ) -> tuple[Tensor, Tensor]:  # fmt: skip
    """As ``choose_qparams``, with the same range on both sides of 0."""
    scale = (input.abs().max() / (float(quant_max - quant_min) / 2)).clamp(min=eps)
    middle = (quant_min + quant_max + 1) // 2 if dtype == taeda.uint8 else 0
    return scale.to(taeda.float64).view(1), taeda.full((1,), middle, dtype=taeda.int64, device=input.device)


@_op("choose_qparams_per_token(Tensor input, ScalarType dtype) -> (Tensor, Tensor)")
def choose_qparams_per_token(input: Tensor, dtype: _dtype) -> tuple[Tensor, Tensor]:
    """Scales for each row, symmetric."""
    largest = input.abs().amax(dim=-1, keepdim=True)
    scales = (largest.float() if largest.dtype == taeda.float16 else largest).clamp(min=1e-5) / 127
    return scales, taeda.zeros_like(scales)


@_op("_choose_qparams_per_token_asymmetric_impl(Tensor input, ScalarType dtype) -> (Tensor, Tensor)",
     "CompositeImplicitAutograd")  # fmt: skip
def _choose_qparams_per_token_asymmetric_impl(input: Tensor, dtype: _dtype) -> tuple[Tensor, Tensor]:
    """A scale and a zero point for each row; of the two ends of its range that decides which is kept more exactly."""
    low = taeda.amin(input, dim=-1, keepdim=True).clamp(max=0)
    high = taeda.amax(input, dim=-1, keepdim=True).clamp(min=0)
    scale = ((high - low) / 255.0).clamp(min=taeda.finfo(taeda.float32).eps)
    from_low, from_high = -128 - low / scale, 127 - high / scale
    zero_point = taeda.where((-128 + low / scale) + (127 + high / scale) > 0, from_low, from_high)
    return scale.to(taeda.float64), taeda.clamp(zero_point, -128, 127).round().to(taeda.int64)


@_op("choose_qparams_per_token_asymmetric(Tensor input, ScalarType dtype) -> (Tensor, Tensor)")
def choose_qparams_per_token_asymmetric(input: Tensor, dtype: _dtype) -> tuple[Tensor, Tensor]:
    """A scale (float64) and a zero point (int64) for each row."""
    return _choose_qparams_per_token_asymmetric_impl(input, dtype)


# --- many scales


def _along(x: Tensor, axis: int, numbers: Tensor) -> Tensor:
    shape = [1] * x.dim()
    shape[axis] = -1
    return numbers.reshape(shape)


@_op(f"quantize_per_channel(Tensor input, Tensor scales, Tensor zero_points, int axis, {_LIMITS}) -> Tensor")
def quantize_per_channel(input: Tensor, scales: Tensor, zero_points: Tensor, axis: int, quant_min: int, quant_max: int,
                         dtype: _dtype) -> Tensor:  # fmt: skip
    """``quantize_per_tensor`` with a scale and a zero point for each index of ``axis``."""
    made = taeda.round(_wide(input) * (1.0 / _along(input, axis, scales))) + _along(input, axis, zero_points)
    return _rounded(made, quant_min, quant_max, dtype)


@_op(f"dequantize_per_channel(Tensor input, Tensor scales, Tensor? zero_points, int axis, {_LIMITS}, {_OUT}) -> Tensor")
def dequantize_per_channel(input: Tensor, scales: Tensor, zero_points: Tensor | None, axis: int, quant_min: int,
                           quant_max: int, dtype: _dtype, *, out_dtype: _dtype | None = None) -> Tensor:  # fmt: skip
    """The numbers that integers stand for; zero points that are not given are 0."""
    wanted = out_dtype or taeda.float32
    shifted = input.to(wanted)
    if zero_points is not None:
        shifted = shifted - _along(input, axis, zero_points.to(wanted))
    return (shifted * _along(input, axis, scales)).to(wanted)


@_op(
    "fake_quant_per_channel(Tensor input, Tensor scales, Tensor zero_points, int axis, int quant_min, int quant_max) "
    "-> Tensor", "CompositeImplicitAutograd",
)  # fmt: skip
def fake_quant_per_channel(input: Tensor, scales: Tensor, zero_points: Tensor, axis: int, quant_min: int, quant_max: int
                           ) -> Tensor:  # fmt: skip
    """``torch.fake_quantize_per_channel_affine``."""
    return taeda.fake_quantize_per_channel_affine(input, scales, zero_points.int(), axis, quant_min, quant_max)


def _per_token_quant_qparam_dim_check(input: Tensor, scales: Tensor, zero_points: Tensor) -> None:
    """AssertionError unless there are a scale and a zero point for each row."""
    rows = input.shape[:-1].numel()
    if scales.numel() != rows or zero_points.numel() != rows:
        raise AssertionError(
            f"quantized_decomposed: {rows} rows need as many scales and zero points; got shapes "
            f"{tuple(scales.shape)} and {tuple(zero_points.shape)}"
        )


@_op(f"quantize_per_token(Tensor input, Tensor scales, Tensor zero_points, {_LIMITS}) -> Tensor")
def quantize_per_token(input: Tensor, scales: Tensor, zero_points: Tensor, quant_min: int, quant_max: int,
                       dtype: _dtype) -> Tensor:  # fmt: skip
    """Rows by their own scales (..., 1)."""
    _per_token_quant_qparam_dim_check(input, scales, zero_points)
    return _rounded((input * (1.0 / scales) + zero_points).round(), quant_min, quant_max, dtype)


@_op(f"dequantize_per_token(Tensor input, Tensor scales, Tensor zero_points, {_LIMITS}, ScalarType output_dtype) "
     "-> Tensor")  # fmt: skip
def dequantize_per_token(input: Tensor, scales: Tensor, zero_points: Tensor, quant_min: int, quant_max: int,
                         dtype: _dtype, output_dtype: _dtype = taeda.float32) -> Tensor:  # fmt: skip
    """The numbers that rows of integers stand for."""
    _per_token_quant_qparam_dim_check(input, scales, zero_points)
    return ((input - zero_points) * scales).to(output_dtype)


def _groups(x: Tensor, scales: Tensor, group_size: int) -> Tensor:
    if x.dim() != 2 or group_size <= 1 or x.shape[-1] % group_size or scales.numel() * group_size != x.numel():
        raise AssertionError(
            f"quantized_decomposed: groups of {group_size} must divide the rows of a matrix, with a scale each; got "
            f"shapes {tuple(x.shape)} and {tuple(scales.shape)}"
        )
    return x.reshape(-1, group_size)


@_op(
    f"quantize_per_channel_group(Tensor input, Tensor scales, Tensor zero_points, {_LIMITS}, int group_size) -> Tensor"
)
def quantize_per_channel_group(input: Tensor, scales: Tensor, zero_points: Tensor, quant_min: int, quant_max: int,
                               dtype: _dtype, group_size: int = 128) -> Tensor:  # fmt: skip
    """Groups of elements of a row by their own scales (rows, groups)."""
    groups = _groups(input, scales, group_size)
    made = (groups * (1.0 / scales.reshape(-1, 1)) + zero_points.reshape(-1, 1)).round()
    return _rounded(made, quant_min, quant_max, dtype).reshape_as(input)


@_op(f"dequantize_per_channel_group(Tensor input, Tensor scales, Tensor? zero_points, {_LIMITS}, int group_size, "
     "ScalarType output_dtype) -> Tensor")  # fmt: skip
def dequantize_per_channel_group(input: Tensor, scales: Tensor, zero_points: Tensor | None, quant_min: int,
                                 quant_max: int, dtype: _dtype, group_size: int = 128,
                                 output_dtype: _dtype = taeda.float32) -> Tensor:  # fmt: skip
    """The numbers that groups of integers stand for."""
    groups = _groups(input, scales, group_size)
    shift = 0 if zero_points is None else zero_points.reshape(-1, 1)
    return ((groups - shift) * scales.reshape(-1, 1)).reshape_as(input).to(output_dtype)


@_op("convert_element_type.no_fuse(Tensor input, ScalarType dtype) -> Tensor")
def convert_element_type(input: Tensor, dtype: _dtype) -> Tensor:
    """``input.to(dtype)``, which no pass joins with others."""
    return input.to(dtype)
