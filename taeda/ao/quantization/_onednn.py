"""The ops ``onednn``: products and convolutions of plain 8-bit tensors, with what follows them in compiled graphs.

Sums are exact integers. What follows is computed with floats, and rounded once where the result has 8 bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda.library import Library
from taeda.nn import functional as F
from taeda.types import _dtype

_library = Library("onednn", "DEF")
_X = "Tensor qx, {0} x_scale, {1} x_zero_point, Tensor qw, Tensor w_scale, Tensor w_zero_point, "
_SIZES = "int[] stride, int[] padding, int[] dilation, int groups, "
_RESULT = "float output_scale, int output_zero_point, ScalarType? output_dtype, "
_NUMBERS = {"": ("float", "int"), "tensor": ("Tensor", "Tensor")}
_UNARY: dict[str, Callable[..., Tensor]] = {
    "none": lambda y, numbers, how: y,
    "relu": lambda y, numbers, how: F.relu(y),
    "leaky_relu": lambda y, numbers, how: F.leaky_relu(y, numbers[0]),
    "tanh": lambda y, numbers, how: taeda.tanh(y),
    "gelu": lambda y, numbers, how: F.gelu(y, approximate="tanh" if how == "tanh" else "none"),
    "hardtanh": lambda y, numbers, how: taeda.clamp(y, numbers[0], numbers[1]),
    "hardswish": lambda y, numbers, how: F.hardswish(y),
    "swish": lambda y, numbers, how: F.silu(y),
}


def _define(schema: str, function: Any) -> None:
    _library.define(schema)
    _library.impl(schema.partition("(")[0], function, "CompositeExplicitAutograd")


def _unary(name: str | None, y: Tensor, numbers: Sequence[Any], how: str | None) -> Tensor:
    if (name or "none") not in _UNARY:
        raise RuntimeError(f"onednn: what follows a product is one of {', '.join(_UNARY)}; got {name!r}")
    return _UNARY[name or "none"](y, numbers, how)


def _result(y: Tensor, scale: float, zero_point: int, dtype: _dtype | None, like: Tensor) -> Tensor:
    """Floats in the dtype asked for; None is that of the input."""
    dtype = dtype or like.dtype
    if dtype.is_floating_point:
        return y.to(dtype)
    info = taeda.iinfo(dtype)
    return taeda.clamp(taeda.round(y / scale) + zero_point, info.min, info.max).to(dtype)


def _with_other(name: str, y: Tensor, other: Tensor, scale: float, zero_point: int, alpha: Any) -> Tensor:
    if name not in ("sum", "add"):
        raise RuntimeError(f"onednn: another tensor is added by 'sum' or 'add'; got {name!r}")
    floats = other.to(taeda.float32)
    if not other.is_floating_point():
        floats = (floats - zero_point) * scale
    return taeda.add(y, floats, alpha=1 if alpha is None else alpha)


def _by_channel(weight: Tensor, scale: Tensor, zero_point: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
    """What kernels need beside a weight's integers: their sums, scales, and zero points unless all are 0."""
    count = weight.size(0)
    sums = weight.flatten(1).sum(1, dtype=taeda.int32)
    zeros = zero_point.to(taeda.int32).expand(count).contiguous() if zero_point.any() else None
    return sums, scale.to(taeda.float32).reshape(-1).expand(count), zeros


def _linear(x: Tensor, x_scale: Any, x_zero: Any, w: Tensor, w_scale: Tensor, w_zero: Tensor, bias: Tensor | None
            ) -> Tensor:  # fmt: skip
    """The product as float32."""
    ops = taeda.ops.quantized
    sums, scales, zeros = _by_channel(w, w_scale, w_zero)
    rows = x.reshape(-1, x.size(-1)).contiguous()
    bias = None if bias is None else bias.to(taeda.float32)
    y = ops._matmul(rows, w, ops._pack_matrix(w), int(x_zero), sums, zeros, scales * float(x_scale), bias, None, 0,
                    False)  # fmt: skip
    made: Tensor = y.view(*x.shape[:-1], w.size(0))
    return made


def _conv(
    x: Tensor, x_scale: Any, x_zero: Any, w: Tensor, w_scale: Tensor, w_zero: Tensor, bias: Tensor | None,
    stride: list[int], padding: list[int], dilation: list[int], groups: int,
) -> Tensor:  # fmt: skip
    """The convolution as float32; in one dimension it is one of images of height 1."""
    if x.dim() == 3:
        w = w.unsqueeze(2) if w.dim() == 3 else w
        y = _conv(x.unsqueeze(2), x_scale, x_zero, w, w_scale, w_zero, bias, [1, *stride[-1:]], [0, *padding[-1:]],
                  [1, *dilation[-1:]], groups)  # fmt: skip
        return y.squeeze(2)
    ops, rank = taeda.ops.quantized, x.dim() - 2
    stride, padding, dilation = ([*sizes] * (rank if len(sizes) == 1 else 1) for sizes in (stride, padding, dilation))
    w = w.contiguous()
    sums, scales, zeros = _by_channel(w, w_scale, w_zero)
    bias = None if bias is None else bias.to(taeda.float32)
    packed = ops._pack_filter(w, stride, dilation, groups)
    made: Tensor = ops._convolve(x, w, packed, int(x_zero), stride, padding, padding, dilation, [1] * rank, groups,
                                 sums, zeros, scales * float(x_scale), bias, None, 0, False)  # fmt: skip
    return made


def _linear_unary(*args: Any) -> Tensor:
    scale, zero_point, dtype, name, numbers, how = args[7:]
    return _result(_unary(name, _linear(*args[:7]), numbers, how), scale, zero_point, dtype, args[0])


def _linear_binary(*args: Any) -> Tensor:
    other, bias, scale, zero_point, dtype, other_scale, other_zero, binary, alpha, name, numbers, how = args[6:]
    y = _with_other(binary, _linear(*args[:6], bias), other, other_scale, other_zero, alpha)
    return _result(_unary(name, y, numbers, how), scale, zero_point, dtype, args[0])


def _conv_unary(*args: Any) -> Tensor:
    scale, zero_point, dtype, name, numbers, how = args[11:]
    return _result(_unary(name, _conv(*args[:11]), numbers, how), scale, zero_point, dtype, args[0])


def _conv_binary(*args: Any) -> Tensor:
    """Its result takes the place of what is added."""
    sum_into: Tensor = args[6]
    scale, zero_point, dtype, sum_scale, sum_zero, binary, alpha, name, numbers, how = args[12:]
    y = _with_other(binary, _conv(*args[:6], *args[7:12]), sum_into, sum_scale, sum_zero, alpha)
    return sum_into.copy_(_result(_unary(name, y, numbers or (), how), scale, zero_point, dtype, args[0]))


def _linear_half(x: Tensor, w: Tensor, bias: Tensor | None) -> Tensor:
    return F.linear(x, w.to(x.dtype), bias)


def _define_all() -> None:
    half = "(Tensor x, Tensor w, Tensor? bias) -> Tensor"
    _define("linear_prepack_fp16(Tensor weight, int[]? x_shape) -> Tensor", lambda w, *_: w.to(taeda.float16))
    _define(f"linear_dynamic_fp16{half}", _linear_half)
    _define(f"linear_relu_dynamic_fp16{half}", lambda *args: F.relu(_linear_half(*args)))
    _define("qlinear_prepack(Tensor weight, int[]? x_shape) -> Tensor", lambda weight, *_: weight.contiguous())
    _define(
        "qconv_prepack(Tensor weight, Tensor w_scales, float x_scale, int x_zp, int[] stride, int[] padding, "
        "int[] dilation, int groups, int[]? x_shape=None) -> Tensor",
        lambda weight, *_: weight.contiguous(),
    )
    after = "str post_op_name, Scalar?[] post_op_args, str post_op_algorithm) -> Tensor"
    conv_after = "str attr, Scalar?[] scalars, str? algorithm) -> Tensor"
    for overload, numbers in _NUMBERS.items():
        x, dot = _X.format(*numbers), overload and "." + overload
        binary = ".binary" + (overload and "_" + overload)
        _define(f"qlinear_pointwise{dot}({x}Tensor? bias, {_RESULT}{after}", _linear_unary)
        _define(
            f"qlinear_pointwise{binary}({x}Tensor? other, Tensor? bias, {_RESULT}float other_scale, int other_zp, "
            "str binary_post_op, float binary_alpha, str unary_post_op, Scalar?[] unary_post_op_args, "
            "str unary_post_op_algorithm) -> Tensor",
            _linear_binary,
        )
        for rank in ("", "2d") if overload else ("", "1d", "2d", "3d"):
            _define(f"qconv{rank}_pointwise{dot}({x}Tensor? bias, {_SIZES}{_RESULT}{conv_after}", _conv_unary)
        _define(
            f"qconv2d_pointwise{binary}({x}Tensor(a!) qaccum, Tensor? bias, {_SIZES}{_RESULT}float accum_scale, "
            "int accum_zero_point, str binary_attr, Scalar? alpha, str? unary_attr, Scalar?[] unary_scalars, "
            "str? unary_algorithm) -> Tensor",
            _conv_binary,
        )


_define_all()
