"""Ops element by element that have attributes, or a meaning of their own."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

import taeda
from taeda import Tensor
from taeda.nn import functional as F
from taeda.onnx.reader.table import op
from taeda.onnx.reader.values import DTYPES, NUMBERS, from_numpy, is_unsigned, onnx_package, to_numpy


def _along(a: Tensor, b: Tensor, axis: int | None, broadcast: int | None) -> Tensor:
    """The second operand where old versions say which dimension it begins at."""
    if not broadcast or axis is None:
        return b
    return b.reshape((*b.shape, *[1] * (a.dim() - axis % a.dim() - b.dim())))


def _wide(function: Any, *tensors: Tensor) -> Any:
    dtype = tensors[0].dtype
    if is_unsigned(dtype):
        return function(*(t.to(taeda.int64) for t in tensors)).to(dtype)
    return function(*tensors)


@op("Add")
def add(a: Tensor, b: Tensor, *, axis: int | None = None, broadcast: int = 0, **_: Any) -> Tensor:
    return _wide(taeda.add, a, _along(a, b, axis, broadcast))


@op("Sub")
def sub(a: Tensor, b: Tensor, *, axis: int | None = None, broadcast: int = 0, **_: Any) -> Tensor:
    return _wide(taeda.sub, a, _along(a, b, axis, broadcast))


@op("Mul")
def mul(a: Tensor, b: Tensor, *, axis: int | None = None, broadcast: int = 0, **_: Any) -> Tensor:
    return _wide(taeda.mul, a, _along(a, b, axis, broadcast))


@op("Div")
def div(a: Tensor, b: Tensor, *, axis: int | None = None, broadcast: int = 0, **_: Any) -> Tensor:
    b = _along(a, b, axis, broadcast)
    whole = not (a.is_floating_point() or a.is_complex())
    return _wide(lambda x, y: taeda.div(x, y, rounding_mode="trunc" if whole else None), a, b)


@op("Mod")
def mod(a: Tensor, b: Tensor, *, fmod: int = 0) -> Tensor:
    return _wide(taeda.fmod if fmod else taeda.remainder, a, b)


@op("Pow")
def pow_(a: Tensor, b: Tensor, *, axis: int | None = None, broadcast: int = 0) -> Tensor:
    b = _along(a, b, axis, broadcast)
    if is_unsigned(b.dtype):
        b = b.to(taeda.int64)
    if not a.is_floating_point() and (b.is_floating_point() or bool((b < 0).any())):
        return taeda.pow(a.to(taeda.float64), b.to(taeda.float64)).to(a.dtype)
    return taeda.pow(a, b).to(a.dtype)


def _fold(function: Any, tensors: tuple[Tensor, ...]) -> Tensor:
    return _wide(lambda *t: functools.reduce(function, t), *tensors)


@op("Max")
def max_(*tensors: Tensor) -> Tensor:
    return _fold(taeda.maximum, tensors)


@op("Min")
def min_(*tensors: Tensor) -> Tensor:
    return _fold(taeda.minimum, tensors)


@op("Sum")
def sum_(*tensors: Tensor) -> Tensor:
    return _fold(taeda.add, tensors)


@op("Mean")
def mean(*tensors: Tensor) -> Tensor:
    return _fold(taeda.add, tensors) / len(tensors)


@op("Clip")
def clip(
    x: Tensor, least: Tensor | None = None, most: Tensor | None = None, *, min: Any = None, max: Any = None
) -> Tensor:
    low, high = least if least is not None else min, most if most is not None else max
    if low is None and high is None:
        return x

    def limited(t: Tensor) -> Tensor:
        for bound, function in ((low, taeda.maximum), (high, taeda.minimum)):
            if bound is not None:
                t = function(t, taeda.as_tensor(bound, dtype=t.dtype, device=t.device))
        return t

    return _wide(limited, x)


@op("Identity")
def identity(x: Any) -> Any:
    return x


@op("LeakyRelu")
def leaky_relu(x: Tensor, *, alpha: float = 0.01, **_: Any) -> Tensor:
    return F.leaky_relu(x, alpha)


@op("PRelu")
def prelu(x: Tensor, slope: Tensor, *, opset: int, **_: Any) -> Tensor:
    if opset < 7 and slope.dim() == 1 and slope.numel() > 1:
        slope = slope.reshape((-1, *[1] * (x.dim() - 2)))
    return taeda.where(x < 0, slope * x, x)


@op("Elu")
def elu(x: Tensor, *, alpha: float = 1.0, **_: Any) -> Tensor:
    return F.elu(x, alpha)


@op("Celu")
def celu(x: Tensor, *, alpha: float = 1.0) -> Tensor:
    return F.celu(x, alpha)


@op("Selu")
def selu(
    x: Tensor, *, alpha: float = 1.67326319217681884765625, gamma: float = 1.05070102214813232421875, **_: Any
) -> Tensor:
    return gamma * F.elu(x, alpha)


@op("ThresholdedRelu")
def thresholded_relu(x: Tensor, *, alpha: float = 1.0) -> Tensor:
    return taeda.where(x > alpha, x, taeda.zeros_like(x))


@op("HardSigmoid")
def hard_sigmoid(x: Tensor, *, alpha: float = 0.2, beta: float = 0.5, **_: Any) -> Tensor:
    return (alpha * x + beta).clamp(0, 1)


@op("HardSwish")
def hard_swish(x: Tensor) -> Tensor:
    return F.hardswish(x)


@op("Swish")
def swish(x: Tensor, *, alpha: float = 1.0) -> Tensor:
    return x * taeda.sigmoid(alpha * x)


@op("Gelu")
def gelu(x: Tensor, *, approximate: str = "none") -> Tensor:
    return F.gelu(x, approximate=approximate)


@op("Shrink")
def shrink(x: Tensor, *, bias: float = 0.0, lambd: float = 0.5) -> Tensor:
    zero = taeda.zeros_like(x)
    return taeda.where(x < -lambd, x + bias, taeda.where(x > lambd, x - bias, zero)).to(x.dtype)


@op("Softsign")
def softsign(x: Tensor) -> Tensor:
    return F.softsign(x)


@op("IsInf")
def is_inf(x: Tensor, *, detect_negative: int = 1, detect_positive: int = 1) -> Tensor:
    found = taeda.isinf(x)
    if not detect_negative:
        found = found & (x > 0)
    return found if detect_positive else found & (x < 0)


@op("Where")
def where(condition: Tensor, a: Any, b: Any) -> Any:
    if not isinstance(a, Tensor):
        return np.where(to_numpy(condition), a, b)
    return taeda.where(condition, a, b)


@op("Equal")
def equal(a: Any, b: Any, *, axis: int | None = None, broadcast: int = 0) -> Any:
    if not isinstance(a, Tensor):
        return from_numpy(a == b)
    b = _along(a, b, axis, broadcast)
    return a.to(taeda.int64) == b.to(taeda.int64) if is_unsigned(a.dtype) else a == b


@op("BitShift")
def bit_shift(x: Tensor, by: Tensor, *, direction: str) -> Tensor:
    if x.dtype == taeda.uint64:  # the sign bit counts
        array, amount = to_numpy(x), to_numpy(by)
        return from_numpy(array << amount if direction == "LEFT" else array >> amount)
    shift = taeda.bitwise_left_shift if direction == "LEFT" else taeda.bitwise_right_shift
    return _wide(shift, x, by)


@op("BitCast")
def bit_cast(x: Any, *, to: int) -> Any:
    return from_numpy(to_numpy(x).view(_numpy_dtype(to)))


def _numpy_dtype(number: int) -> Any:
    return onnx_package().helper.tensor_dtype_to_np_dtype(number)


@op("Cast")
def cast(x: Any, *, to: Any, saturate: int = 1, round_mode: str = "up", **_: Any) -> Any:
    if isinstance(to, str):  # as in the first versions
        to = onnx_package().TensorProto.DataType.Value(to)
    wanted = DTYPES.get(to)
    narrow = wanted is None or wanted.itemsize == 1 and wanted.is_floating_point
    if not isinstance(x, Tensor) or narrow:
        return _cast_array(x, to, saturate, round_mode)
    if x.dtype == wanted:
        return x
    if x.is_floating_point() and is_unsigned(wanted):
        return x.to(taeda.int64).to(wanted)
    return x.to(wanted)


def _cast_array(x: Any, to: int, saturate: int, round_mode: str) -> Any:
    """Between types that have no dtype here: texts, 4 bits; and to 8 bits, where what is too large has its rules."""
    array = to_numpy(x)
    if to == 8:
        texts = [str(v) if not isinstance(v, (float, np.floating)) else _float_text(v) for v in array.ravel()]
        return np.array(texts, dtype=object).reshape(array.shape)
    if array.dtype.kind in "OUS":
        parsed = [_number(v) for v in array.ravel()]
        return cast(from_numpy(np.array(parsed).reshape(array.shape)), to=to, saturate=saturate)
    target = _numpy_dtype(to)
    if target.name == "float8_e8m0fnu":
        return from_numpy(
            onnx_package().numpy_helper.to_float8e8m0(array.astype(np.float32), bool(saturate), round_mode)
        )
    if target.name.startswith("float8") and saturate:
        return from_numpy(onnx_package().numpy_helper.saturate_cast(array.astype(np.float32), target))
    if target.name in ("int4", "uint4", "int2", "uint2") and array.dtype.kind == "f":
        array = array.astype(np.int32)
    return from_numpy(array.astype(target))


def _float_text(value: Any) -> str:
    return str(value)


def _number(text: Any) -> float | int:
    text = text.decode() if isinstance(text, bytes) else str(text)
    try:
        return int(text)
    except ValueError:
        return float(text)


@op("CastLike")
def cast_like(x: Any, like: Any, *, saturate: int = 1, round_mode: str = "up") -> Any:
    if isinstance(like, Tensor):
        number = NUMBERS[like.dtype]
    else:
        number = 8 if like.dtype.kind in "OUS" else onnx_package().helper.np_dtype_to_tensor_dtype(like.dtype)
    return cast(x, to=number, saturate=saturate, round_mode=round_mode)


@op("Dropout")
def dropout(x: Tensor, ratio: Tensor | None = None, training: Tensor | None = None, *, seed: int | None = None,
            opset: int, outputs: list[str], is_test: int = 1, **attributes: Any) -> Any:  # fmt: skip
    amount = float(ratio) if ratio is not None else attributes.get("ratio", 0.5)
    active = bool(training) if training is not None else opset < 7 and not is_test
    if not active or amount == 0:
        mask = taeda.ones_like(x, dtype=taeda.bool)
        return (x, mask) if len(outputs) > 1 else x
    if seed is None:
        mask = taeda.rand_like(x.float()) >= amount
    else:
        mask = from_numpy(np.random.RandomState(seed).uniform(0, 1.0, tuple(x.shape)) >= amount)
    result = x * mask.to(x.dtype) / (1 - amount)
    return (result, mask) if len(outputs) > 1 else result
