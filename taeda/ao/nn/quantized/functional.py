"""Functions of quantised tensors, as those of ``nn.functional``."""

from __future__ import annotations

import warnings
from typing import Any

import taeda
from taeda import Tensor
from taeda.nn import functional as F

ops: Any = taeda.ops.quantized


def _check(function: str, input: Tensor) -> None:
    if not input.is_quantized:
        raise ValueError(
            f"taeda.ao.nn.quantized.functional.{function}: the input must be quantised; got {input.dtype}. Put a "
            "QuantStub before it"
        )


def _all(value: Any, dims: int) -> list[int]:
    return [value] * dims if isinstance(value, int) else list(value)


def avg_pool2d(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: int | None = None,
) -> Tensor:  # fmt: skip
    """``nn.functional.avg_pool2d``; the result has the input's scale."""
    _check("avg_pool2d", input)
    return F.avg_pool2d(input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def avg_pool3d(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: int | None = None,
) -> Tensor:  # fmt: skip
    """``nn.functional.avg_pool3d``; the result has the input's scale."""
    _check("avg_pool3d", input)
    return F.avg_pool3d(input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """``nn.functional.adaptive_avg_pool2d``; the result has the input's scale."""
    _check("adaptive_avg_pool2d", input)
    return F.adaptive_avg_pool2d(input, output_size)


def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """``nn.functional.adaptive_avg_pool3d``; the result has the input's scale."""
    _check("adaptive_avg_pool3d", input)
    return F.adaptive_avg_pool3d(input, output_size)


def _conv(dims: int, input: Tensor, weight: Tensor, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int,
          padding_mode: str, scale: float, zero_point: int, dtype: Any) -> Tensor:  # fmt: skip
    if padding_mode != "zeros":
        raise NotImplementedError(f"conv{dims}d: padding_mode must be 'zeros'; got {padding_mode!r}")
    _check(f"conv{dims}d", input)
    if input.dim() != dims + 2:
        raise ValueError(f"conv{dims}d: the input must have {dims + 2} dimensions; got {input.shape}")
    sizes = [_all(value, dims) for value in (stride, padding, dilation)]
    packed = getattr(ops, f"conv{dims}d_prepack")(weight, bias, *sizes, groups)
    result: Tensor = getattr(ops, f"conv{dims}d")(input, packed, scale, zero_point)
    return result


def conv1d(
    input: Tensor, weight: Tensor, bias: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
    padding_mode: str = "zeros", scale: float = 1.0, zero_point: int = 0, dtype: Any = taeda.quint8,
) -> Tensor:  # fmt: skip
    """``nn.functional.conv1d`` with a quantised weight and a float bias; packs the weight at each call."""
    return _conv(
        1, input, weight, bias, stride, padding, dilation, groups, padding_mode, scale, zero_point, dtype
    )  # fmt: skip


def conv2d(
    input: Tensor, weight: Tensor, bias: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
    padding_mode: str = "zeros", scale: float = 1.0, zero_point: int = 0, dtype: Any = taeda.quint8,
) -> Tensor:  # fmt: skip
    """``nn.functional.conv2d`` with a quantised weight and a float bias; packs the weight at each call."""
    return _conv(
        2, input, weight, bias, stride, padding, dilation, groups, padding_mode, scale, zero_point, dtype
    )  # fmt: skip


def conv3d(
    input: Tensor, weight: Tensor, bias: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
    padding_mode: str = "zeros", scale: float = 1.0, zero_point: int = 0, dtype: Any = taeda.quint8,
) -> Tensor:  # fmt: skip
    """``nn.functional.conv3d`` with a quantised weight and a float bias; packs the weight at each call."""
    return _conv(
        3, input, weight, bias, stride, padding, dilation, groups, padding_mode, scale, zero_point, dtype
    )  # fmt: skip


def interpolate(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None
) -> Tensor:
    """``nn.functional.interpolate``; the result has the input's scale."""
    _check("interpolate", input)
    return F.interpolate(input, size, scale_factor, mode, align_corners)


def linear(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, scale: float | None = None, zero_point: int | None = None
) -> Tensor:
    """``nn.functional.linear`` with a quantised weight and a float bias; packs the weight at each call.

    The result has the given scale and zero point, or the input's.
    """
    _check("linear", input)
    packed = ops.linear_prepack(weight, bias)
    return ops.linear(
        input, packed, input.q_scale() if scale is None else scale,
        input.q_zero_point() if zero_point is None else zero_point,
    )  # fmt: skip


def max_pool1d(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor:  # fmt: skip
    """``nn.functional.max_pool1d``; the result has the input's scale."""
    if return_indices:
        raise NotImplementedError("max_pool1d: quantised pooling gives no indices")
    return taeda.max_pool1d(input, kernel_size, kernel_size if stride is None else stride, padding, dilation, ceil_mode)


def max_pool2d(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor:  # fmt: skip
    """``nn.functional.max_pool2d``; the result has the input's scale."""
    if return_indices:
        raise NotImplementedError("max_pool2d: quantised pooling gives no indices")
    return taeda.max_pool2d(input, kernel_size, kernel_size if stride is None else stride, padding, dilation, ceil_mode)


def celu(input: Tensor, scale: float, zero_point: int, alpha: float = 1.0) -> Tensor:
    """``nn.functional.celu`` with a result of this scale."""
    _check("celu", input)
    return ops.celu(input, scale, zero_point, alpha)


def leaky_relu(
    input: Tensor, negative_slope: float = 0.01, inplace: bool = False, scale: float | None = None,
    zero_point: int | None = None,
) -> Tensor:  # fmt: skip
    """``nn.functional.leaky_relu`` with a result of the given scale, or the input's."""
    if scale is not None and zero_point is not None:
        return ops.leaky_relu(input, negative_slope, inplace, scale, zero_point)
    return taeda.nn.functional.leaky_relu(input, negative_slope, inplace)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """``nn.functional.hardtanh``."""
    _check("hardtanh", input)
    return taeda.clamp_(input, min_val, max_val) if inplace else taeda.clamp(input, min_val, max_val)


def hardswish(input: Tensor, scale: float, zero_point: int) -> Tensor:
    """``nn.functional.hardswish`` with a result of this scale."""
    _check("hardswish", input)
    return ops.hardswish(input, scale, zero_point)


def threshold(input: Tensor, threshold: float, value: float) -> Tensor:
    """``nn.functional.threshold``."""
    _check("threshold", input)
    return taeda.threshold(input, threshold, value)


def elu(input: Tensor, scale: float, zero_point: int, alpha: float = 1.0) -> Tensor:
    """``nn.functional.elu`` with a result of this scale."""
    _check("elu", input)
    return ops.elu(input, scale, zero_point, alpha)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """``nn.functional.hardsigmoid``."""
    _check("hardsigmoid", input)
    return F.hardsigmoid(input, inplace)


def clamp(input: Tensor, min_: float, max_: float) -> Tensor:
    """``torch.clamp``."""
    _check("clamp", input)
    return taeda.clamp(input, min_, max_)


def upsample(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None
) -> Tensor:
    """`interpolate` by its older name."""
    warnings.warn("taeda.ao.nn.quantized.functional.upsample: use interpolate", stacklevel=2)
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """`interpolate` between corners that are aligned."""
    warnings.warn("taeda.ao.nn.quantized.functional.upsample_bilinear: use interpolate", stacklevel=2)
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """`interpolate` by the nearest."""
    warnings.warn("taeda.ao.nn.quantized.functional.upsample_nearest: use interpolate", stacklevel=2)
    return interpolate(input, size, scale_factor, mode="nearest")
