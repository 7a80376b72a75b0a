"""Quantised tensors as the numbers they stand for, rounded as quantisation rounds, for graphs without such tensors.

While a program is recorded within `as_rounded_numbers`, an op that makes a quantised tensor makes one of floats that
are multiples of its scale, and ops on quantised tensors are those on floats with a rounding behind them. Weights stay
integers in the graph, with ``quantized_decomposed::dequantize_per_tensor`` or ``_per_channel`` behind.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import taeda
from taeda import Tensor
from taeda._control_flow import current_capture
from taeda.ao.quantization.fx import _decomposed as _decomposed  # the ops that graphs call
from taeda.export._capture import wishes
from taeda.nn import functional
from taeda.utils import _pytree as pytree

LIMITS = {taeda.quint8: (0, 255), taeda.qint8: (-128, 127), taeda.qint32: (-(2**31), 2**31 - 1)}
STAND_INS: dict[str, Callable[..., Any]] = {}
_MARK = "_rounded_as"


class Rounding(NamedTuple):
    """How a tensor is quantised: one scale and one zero point."""

    scale: Any
    zero_point: Any
    dtype: taeda.dtype


@contextlib.contextmanager
def as_rounded_numbers() -> Iterator[None]:
    """Programs that are recorded within have no quantised tensors."""
    before, wishes.rounding = wishes.rounding, sys.modules[__name__]
    try:
        yield
    finally:
        wishes.rounding = before


def stand_in(op: Any) -> Callable[..., Any] | None:
    """What is recorded in place of an op, if anything is."""
    return STAND_INS.get(op._qualified_name)


def rounding_of(value: Any) -> Rounding | None:
    """How the quantised tensor is rounded that a float tensor stands for; None if it stands for none."""
    return value.__dict__.get(_MARK) if isinstance(value, Tensor) else None


def rounding_among(args: Any) -> Rounding | None:
    """The first such rounding among an op's arguments."""
    return next((how for leaf in pytree.tree_leaves(args) if (how := rounding_of(leaf)) is not None), None)


def rounded(x: Tensor, scale: Any, zero_point: Any, dtype: taeda.dtype) -> Tensor:
    """``x`` as quantisation rounds it."""
    low, high = LIMITS[dtype]
    return marked(taeda.fake_quantize_per_tensor_affine(x, scale, zero_point, low, high), scale, zero_point, dtype)


def marked(x: Tensor, *how: Any) -> Tensor:
    """Notes that ``x`` stands for a quantised tensor."""
    x.__dict__[_MARK] = Rounding(*how)
    return x


# Ops of ATen whose results are among the numbers of their first argument, or views of it.
_KEPT = """
    relu relu_ max_pool1d max_pool2d max_pool3d flatten reshape view transpose permute squeeze unsqueeze slice select
    chunk split unbind contiguous clone flip index_select narrow dropout dropout_ t expand repeat sort topk max min amax
    amin squeeze_ unsqueeze_ movedim swapaxes channel_shuffle pixel_shuffle pixel_unshuffle
"""
_KEEP = frozenset(_KEPT.split())
_FIXED = {"sigmoid": (1 / 256, 0), "hardsigmoid": (1 / 256, 0), "tanh": (2 / 256, 128), "softmax": (1 / 256, 0)}


def after(op: Any, result: Any, how: Rounding) -> Any:
    """The result of an op of ATen on a quantised tensor, rounded as that op rounds."""
    if not isinstance(result, Tensor) or not result.is_floating_point():
        if isinstance(result, (tuple, list)):
            for part in result:
                after(op, part, how) if op._opname in _KEEP else None
        return result
    if op._opname in _KEEP:
        return marked(result, *how)
    scale, zero_point = _FIXED.get(op._opname, (how.scale, how.zero_point))
    return rounded(result, scale, zero_point, how.dtype)


# --- what ops are on floats


def _for(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        STAND_INS.update(dict.fromkeys(names, function))
        return function

    return decorate


@_for("aten::quantize_per_tensor")
def _quantize(x: Tensor, scale: Any, zero_point: Any, dtype: taeda.dtype) -> Tensor:
    if isinstance(zero_point, Tensor):
        zero_point = zero_point.to(taeda.int32)
    return rounded(x, scale, zero_point, dtype)


@_for("aten::quantize_per_channel")
def _quantize_by_channel(x: Tensor, scales: Tensor, zero_points: Tensor, axis: int, dtype: taeda.dtype) -> Tensor:
    return taeda.fake_quantize_per_channel_affine(x, scales, zero_points.to(taeda.int32), axis, *LIMITS[dtype])


@_for("aten::dequantize")
def _dequantize(x: Tensor) -> Tensor:
    return x if rounding_of(x) is None else x.detach()  # another tensor, which is not marked


def _weight(w: Tensor) -> Tensor:
    """A quantised weight: its integers, and the op that makes numbers of them."""
    ops: Any = taeda.ops.quantized_decomposed
    with _constant():
        integers = w.int_repr()
        if w.qscheme() in (taeda.per_tensor_affine, taeda.per_tensor_symmetric):
            how: tuple[Any, ...] = w.q_scale(), w.q_zero_point()
            run = ops.dequantize_per_tensor
        else:
            scales, zeros = w.q_per_channel_scales().float(), w.q_per_channel_zero_points().to(integers.dtype)
            how, run = (scales, zeros, w.q_per_channel_axis()), ops.dequantize_per_channel
    return run(integers, *how, *LIMITS[w.dtype], integers.dtype)


def _constant() -> Any:
    """What is made within is a constant of the graph."""
    capture = current_capture()
    return contextlib.nullcontext() if capture is None else capture.quiet()


def _linear(then: Callable[[Tensor], Tensor]) -> Callable[..., Any]:
    def run(x: Tensor, packed: Any, scale: float, zero_point: int, *more: Any) -> Tensor:
        with _constant():
            weight, bias = taeda.ops.quantized.linear_unpack(packed)
        result = then(functional.linear(x, _weight(weight), bias), *more)
        return rounded(result, scale, zero_point, _dtype(x))

    return run


def _linear_dynamic(then: Callable[[Tensor], Tensor]) -> Callable[..., Any]:
    def run(x: Tensor, packed: Any, reduce_range: bool = False) -> Tensor:
        with _constant():
            weight, bias = taeda.ops.quantized.linear_unpack(packed)
        high = 127 if reduce_range else 255
        least, most = x.amin().clamp(max=0), x.amax().clamp(min=0)
        scale = ((most - least) / high).clamp(min=1e-10)
        zero_point = (-least / scale).round().to(taeda.int32)
        x = taeda.fake_quantize_per_tensor_affine(x, scale, zero_point, 0, high)
        return then(functional.linear(x, _weight(weight), bias))

    return run


def _convolution(kind: str, dims: int, then: Callable[[Tensor], Tensor]) -> Callable[..., Any]:
    def run(x: Tensor, packed: Any, *rest: Any) -> Tensor:
        quantized: Any = taeda.ops.quantized
        asked = kind if dims > 1 else kind.replace("1d", "2d")  # convolutions of one dimension are packed as of two
        with _constant():
            weight, bias = getattr(quantized, f"{kind}_unpack")(packed)
            stride, padding, dilation, more = (
                list(getattr(quantized, f"{asked}_{what}")(packed))[-dims:]
                for what in ("stride", "padding", "dilation", "output_padding")
            )
            groups = getattr(quantized, f"{asked}_groups")(packed)
        if "transpose" in kind:
            result = getattr(functional, kind)(x, _weight(weight), bias, stride, padding, more, groups, dilation)
        else:
            result = getattr(functional, kind)(x, _weight(weight), bias, stride, padding, dilation, groups)
        return rounded(then(result), rest[-2], rest[-1], _dtype(x))

    return run


def _dtype(x: Tensor) -> taeda.dtype:
    how = rounding_of(x)
    return taeda.quint8 if how is None else how.dtype


def _as_is(x: Tensor) -> Tensor:
    return x


STAND_INS["quantized::linear"] = _linear(_as_is)
STAND_INS["quantized::linear_relu"] = _linear(functional.relu)
STAND_INS["quantized::linear_tanh"] = _linear(taeda.tanh)
STAND_INS["quantized::linear_leaky_relu"] = _linear(functional.leaky_relu)
STAND_INS["quantized::linear_dynamic"] = _linear_dynamic(_as_is)
STAND_INS["quantized::linear_relu_dynamic"] = _linear_dynamic(functional.relu)
for _d in (1, 2, 3):
    STAND_INS[f"quantized::conv{_d}d"] = _convolution(f"conv{_d}d", _d, _as_is)
    STAND_INS[f"quantized::conv{_d}d_relu"] = _convolution(f"conv{_d}d", _d, functional.relu)
    STAND_INS[f"quantized::conv_transpose{_d}d"] = _convolution(f"conv_transpose{_d}d", _d, _as_is)


def _arithmetic(function: Callable[..., Tensor], then: Callable[[Tensor], Tensor]) -> Callable[..., Any]:
    def run(a: Any, b: Any, scale: Any = None, zero_point: Any = None) -> Tensor:
        if scale is None:
            raise NotImplementedError("quantised arithmetic with a number chooses a scale of its own")
        return rounded(then(function(a, b)), scale, zero_point, _dtype(a))

    return run


for _name, _function in (("add", taeda.add), ("mul", taeda.mul)):
    STAND_INS[f"quantized::{_name}"] = _arithmetic(_function, _as_is)
    STAND_INS[f"quantized::{_name}_relu"] = _arithmetic(_function, functional.relu)
STAND_INS["quantized::matmul"] = _arithmetic(taeda.matmul, _as_is)


@_for("quantized::cat")
def _cat(xs: list[Tensor], dim: int, scale: float | None = None, zero_point: int | None = None) -> Tensor:
    first = rounding_of(xs[0])
    if scale is None or zero_point is None:
        scale, zero_point = (first.scale, first.zero_point) if first is not None else (1.0, 0)
    return rounded(taeda.cat(xs, dim), scale, zero_point, _dtype(xs[0]))


@_for("quantized::batch_norm1d", "quantized::batch_norm2d", "quantized::batch_norm3d", "quantized::batch_norm")
def _batch_norm(x: Tensor, weight: Any, bias: Any, mean: Tensor, var: Tensor, eps: float, scale: float,
                zero_point: int) -> Tensor:  # fmt: skip
    return rounded(functional.batch_norm(x, mean, var, weight, bias, False, 0.0, eps), scale, zero_point, _dtype(x))


@_for("quantized::layer_norm")
def _layer_norm(x: Tensor, shape: list[int], weight: Any, bias: Any, eps: float, scale: float, zero: int) -> Tensor:
    return rounded(functional.layer_norm(x, shape, weight, bias, eps), scale, zero, _dtype(x))


def _activation(function: Callable[..., Tensor], numbers: int = 0) -> Callable[..., Any]:
    """An op ``(x, numbers..., ..., scale, zero_point)``."""

    def run(x: Tensor, *rest: Any) -> Tensor:
        return rounded(function(x, *rest[:numbers]), rest[-2], rest[-1], _dtype(x))

    return run


STAND_INS["quantized::hardswish"] = _activation(functional.hardswish)
STAND_INS["quantized::sigmoid"] = _activation(taeda.sigmoid)
STAND_INS["quantized::softmax"] = _activation(functional.softmax, 1)
STAND_INS["quantized::leaky_relu"] = _activation(functional.leaky_relu, 1)
STAND_INS["quantized::prelu"] = _activation(functional.prelu, 1)
