"""Ops element by element."""

from __future__ import annotations

import math
from typing import Any

import taeda
from taeda.onnx.writer.builder import Builder, Value
from taeda.onnx.writer.table import translates


def same_dtype(g: Builder, *values: Any, dtype: Any = None) -> list[Value]:
    """Operands in one dtype: that given, else what promotion makes of theirs."""
    if dtype is None:
        tensors = [v for v in values if isinstance(v, Value)]
        kinds = [taeda.empty((1,) * min(len(v.shape or ()), 1), dtype=v.dtype) for v in tensors if v.dtype is not None]
        numbers = [v for v in values if not isinstance(v, Value)]
        if kinds:
            dtype = kinds[0].dtype
            for other in (*kinds[1:], *numbers):
                dtype = taeda.result_type(taeda.empty((1,), dtype=dtype), other)
    return [g.number(v, dtype) if not isinstance(v, Value) else g.cast(v, dtype) for v in values]


def _arithmetic(name: str, *aten: str) -> None:
    @translates(*aten)
    def translate(g: Builder, self: Any, other: Any, *, alpha: Any = 1, **_: Any) -> Value:
        if isinstance(alpha, Value) or alpha != 1:
            other = translate_mul(g, other, alpha)
        a, b = same_dtype(g, self, other, dtype=g.out_dtype)
        return logic(g, name, a, b)


def logic(g: Builder, name: str, a: Value, b: Value) -> Value:
    """Arithmetic of truth values is logic."""
    if a.dtype == taeda.bool and name in ("Add", "Mul"):
        return g.op("Or" if name == "Add" else "And", a, b)
    return g.op(name, a, b)


def translate_mul(g: Builder, a: Any, b: Any) -> Any:
    """A product of values and numbers."""
    if not isinstance(a, Value) and not isinstance(b, Value):
        return a * b
    x, y = same_dtype(g, a, b)
    return logic(g, "Mul", x, y)


_arithmetic("Add", "add", "add_.Tensor")
_arithmetic("Sub", "sub", "subtract")
_arithmetic("Mul", "mul", "multiply")


@translates("rsub")
def rsub(g: Builder, self: Value, other: Any, alpha: Any = 1) -> Value:
    if alpha != 1:
        self = translate_mul(g, self, alpha)
    a, b = same_dtype(g, other, self, dtype=g.out_dtype)
    return g.op("Sub", a, b)


@translates("div", "true_divide", "divide")
def div(g: Builder, self: Any, other: Any, *, rounding_mode: str | None = None) -> Value:
    a, b = same_dtype(g, self, other, dtype=g.out_dtype)
    if rounding_mode is None:
        return g.op("Div", a, b)
    if rounding_mode == "floor":
        return _floor_divide(g, a, b)
    quotient = g.op("Div", a, b)  # between whole numbers it rounds to zero by itself
    return trunc(g, quotient) if _is_float(a) else quotient


@translates("floor_divide")
def floor_divide(g: Builder, self: Any, other: Any) -> Value:
    return _floor_divide(g, *same_dtype(g, self, other, dtype=g.out_dtype))


def _floor_divide(g: Builder, a: Value, b: Value) -> Value:
    if _is_float(a):
        return g.op("Floor", g.op("Div", a, b))
    rest = g.op("Mod", a, b)
    return g.op("Div", g.op("Sub", a, rest), b)


def _is_float(x: Value) -> bool:
    return x.dtype is not None and x.dtype.is_floating_point


@translates("remainder")
def remainder(g: Builder, self: Any, other: Any) -> Value:
    a, b = same_dtype(g, self, other, dtype=g.out_dtype)
    if not _is_float(a):
        return g.op("Mod", a, b)
    return g.op("Sub", a, g.op("Mul", g.op("Floor", g.op("Div", a, b)), b))


@translates("fmod")
def fmod(g: Builder, self: Any, other: Any) -> Value:
    return g.op("Mod", *same_dtype(g, self, other, dtype=g.out_dtype), fmod_i=1)


@translates("pow")
def pow_(g: Builder, self: Any, exponent: Any) -> Value:
    if not isinstance(exponent, Value) and exponent == 2 and isinstance(self, Value):
        x = g.cast(self, g.out_dtype)
        return g.op("Mul", x, x)
    if not isinstance(exponent, Value) and exponent == 0.5 and isinstance(self, Value):
        return g.op("Sqrt", g.cast(self, g.out_dtype))
    return g.op("Pow", *same_dtype(g, self, exponent, dtype=g.out_dtype))


def _unary(name: str, aten: str, to_float: bool = True) -> None:
    @translates(aten)
    def translate(g: Builder, self: Value, *_: Any, **__: Any) -> Value:
        return g.op(name, g.cast(self, g.out_dtype) if to_float else self)


for _name in (
    "Exp",
    "Log",
    "Sqrt",
    "Sin",
    "Cos",
    "Tan",
    "Asin",
    "Acos",
    "Atan",
    "Sinh",
    "Cosh",
    "Asinh",
    "Acosh",
    "Atanh",
    "Erf",
    "Sigmoid",
    "Tanh",
    "Reciprocal",
):
    _unary(_name, _name.lower())
for _name in ("Abs", "Neg", "Sign", "Relu"):
    _unary(_name, _name.lower(), to_float=False)


def _rounding(name: str, aten: str) -> None:
    @translates(aten)
    def translate(g: Builder, self: Value, *, decimals: int = 0) -> Value:
        if not _is_float(self):
            return self
        if decimals:
            factor = g.number(10.0**decimals, self.dtype)
            return g.op("Div", g.op(name, g.op("Mul", self, factor)), factor)
        return g.op(name, self)


_rounding("Floor", "floor")
_rounding("Ceil", "ceil")
_rounding("Round", "round")


@translates("trunc", "fix")
def trunc(g: Builder, self: Value) -> Value:
    if not _is_float(self):
        return self
    return g.op("Where", g.op("Less", self, g.number(0, self.dtype)), g.op("Ceil", self), g.op("Floor", self))


@translates("rsqrt")
def rsqrt(g: Builder, self: Value) -> Value:
    return g.op("Reciprocal", g.op("Sqrt", g.cast(self, g.out_dtype)))


@translates("log2", "log10", "log1p", "expm1")
def logarithms(g: Builder, self: Value) -> Value:
    x = g.cast(self, g.out_dtype)
    one = g.number(1, x.dtype)
    if "expm1" in g.current:
        return g.op("Sub", g.op("Exp", x), one)
    if "log1p" in g.current:
        return g.op("Log", g.op("Add", x, one))
    return g.op("Div", g.op("Log", x), g.number(math.log(2 if "log2" in g.current else 10), x.dtype))


@translates("erfc", "special_erfc")
def erfc(g: Builder, self: Value) -> Value:
    x = g.cast(self, g.out_dtype)
    return g.op("Sub", g.number(1, x.dtype), g.op("Erf", x))


@translates("leaky_relu")
def leaky_relu(g: Builder, self: Value, negative_slope: float = 0.01) -> Value:
    return g.op("LeakyRelu", self, alpha_f=negative_slope)


@translates("elu")
def elu(g: Builder, self: Value, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> Value:
    result = g.op("Elu", self if input_scale == 1 else translate_mul(g, self, input_scale), alpha_f=alpha)
    if input_scale != 1:
        result = g.op("Where", g.op("Greater", self, g.number(0, self.dtype)), self, result)
    return result if scale == 1 else translate_mul(g, result, scale)


@translates("celu")
def celu(g: Builder, self: Value, alpha: float = 1.0) -> Value:
    return (
        g.op("Celu", self, alpha_f=alpha)
        if g.opset >= 12 and self.dtype == taeda.float32
        else elu(g, self, alpha, 1, 1 / alpha)
    )


@translates("selu")
def selu(g: Builder, self: Value) -> Value:
    return g.op("Selu", self)


@translates("gelu")
def gelu(g: Builder, self: Value, *, approximate: str = "none") -> Value:
    if g.opset >= 20:
        return g.op("Gelu", self, approximate_s=approximate)
    half = translate_mul(g, self, 0.5)
    if approximate == "tanh":
        cube = g.op("Mul", self, g.op("Mul", self, self))
        inner = g.op("Add", self, translate_mul(g, cube, 0.044715))
        shape = g.op("Tanh", translate_mul(g, inner, math.sqrt(2 / math.pi)))
    else:
        shape = g.op("Erf", translate_mul(g, self, math.sqrt(0.5)))
    return g.op("Mul", half, g.op("Add", shape, g.number(1, self.dtype)))


@translates("silu")
def silu(g: Builder, self: Value) -> Value:
    return g.op("Mul", self, g.op("Sigmoid", self))


@translates("mish")
def mish(g: Builder, self: Value) -> Value:
    return g.op("Mish", self) if g.opset >= 18 else g.op("Mul", self, g.op("Tanh", g.op("Softplus", self)))


@translates("softplus")
def softplus(g: Builder, self: Value, beta: float = 1, threshold: float = 20) -> Value:
    if beta == 1:
        return g.op("Softplus", self)
    return translate_mul(g, g.op("Softplus", translate_mul(g, self, beta)), 1 / beta)


@translates("hardswish")
def hardswish(g: Builder, self: Value) -> Value:
    if g.opset >= 14:
        return g.op("HardSwish", self)
    return g.op("Mul", self, g.op("HardSigmoid", self, alpha_f=1 / 6, beta_f=0.5))


@translates("hardsigmoid")
def hardsigmoid(g: Builder, self: Value) -> Value:
    return g.op("HardSigmoid", self, alpha_f=1 / 6, beta_f=0.5)


@translates("prelu", "_prelu_kernel")
def prelu(g: Builder, self: Value, weight: Value) -> Value:
    if weight.rank == 1 and self.rank > 2:
        weight = g.reshape(weight, [-1, *[1] * (self.rank - 2)])
    return g.op("PRelu", self, weight)


@translates("clamp", "clip", "hardtanh", "relu6", "clamp_min", "clamp_max")
def clamp(g: Builder, self: Value, min: Any = None, max: Any = None, **given: Any) -> Value:
    current = g.current
    low, high = given.get("min_val", min), given.get("max_val", max)
    if "relu6" in current:
        low, high = 0, 6
    elif "hardtanh" in current:
        low, high = -1 if low is None else low, 1 if high is None else high
    elif "clamp_max" in current:
        low, high = None, high if high is not None else low
    x = g.cast(self, g.out_dtype)
    plain = all(b is None or not isinstance(b, Value) or b.shape == () for b in (low, high))
    if plain and (g.opset >= 12 or _is_float(x)):
        return g.op(
            "Clip",
            x,
            None if low is None else g.number(low, x.dtype),
            None if high is None else g.number(high, x.dtype),
        )
    for bound, name in ((low, "Max"), (high, "Min")):
        if bound is not None:
            x = _extreme(g, name, x, g.number(bound, x.dtype))
    return x


def _extreme(g: Builder, name: str, a: Value, b: Value) -> Value:
    return g.op(name, a, b)


@translates("maximum", "max.other", "fmax")
def maximum(g: Builder, self: Any, other: Any) -> Value:
    return g.op("Max", *same_dtype(g, self, other, dtype=g.out_dtype))


@translates("minimum", "min.other", "fmin")
def minimum(g: Builder, self: Any, other: Any) -> Value:
    return g.op("Min", *same_dtype(g, self, other, dtype=g.out_dtype))


def _comparison(name: str, aten: str, negated: bool = False) -> None:
    @translates(aten)
    def translate(g: Builder, self: Any, other: Any) -> Value:
        a, b = same_dtype(g, self, other)
        plain = name
        if a.dtype == taeda.bool and name != "Equal":
            a, b = g.cast(a, taeda.int32), g.cast(b, taeda.int32)
        if g.opset < 12 and name in ("GreaterOrEqual", "LessOrEqual"):
            return g.op("Not", g.op("Less" if name == "GreaterOrEqual" else "Greater", a, b))
        result = g.op(plain, a, b)
        return g.op("Not", result) if negated else result


for _name, _aten in (
    ("Equal", "eq"),
    ("Greater", "gt"),
    ("GreaterOrEqual", "ge"),
    ("Less", "lt"),
    ("LessOrEqual", "le"),
):
    _comparison(_name, _aten)
_comparison("Equal", "ne", negated=True)


def _logical(name: str, aten: str) -> None:
    @translates(f"logical_{aten}")
    def translate(g: Builder, self: Value, other: Value) -> Value:
        return g.op(name, truth(g, self), truth(g, other))

    @translates(f"bitwise_{aten}", f"__{aten}__")
    def bitwise(g: Builder, self: Any, other: Any) -> Value:
        a, b = same_dtype(g, self, other, dtype=g.out_dtype)
        return g.op(name if a.dtype == taeda.bool else f"Bitwise{name}", a, b)


for _name in ("And", "Or", "Xor"):
    _logical(_name, _name.lower())


def truth(g: Builder, x: Value) -> Value:
    """Whether the elements are not zero."""
    return x if x.dtype == taeda.bool else g.op("Not", g.op("Equal", x, g.number(0, x.dtype)))


@translates("logical_not")
def logical_not(g: Builder, self: Value) -> Value:
    return g.op("Not", truth(g, self))


@translates("bitwise_not")
def bitwise_not(g: Builder, self: Value) -> Value:
    return g.op("Not" if self.dtype == taeda.bool else "BitwiseNot", self)


@translates("bitwise_left_shift", "bitwise_right_shift", "__lshift__", "__rshift__")
def shift(g: Builder, self: Any, other: Any) -> Value:
    a, b = same_dtype(g, self, other, dtype=g.out_dtype)
    left = "left" in g.current or "lshift" in g.current
    shifted = lambda b: g.op("Mul", a, _power(g, b)) if left else _floor_divide(g, a, _power(g, b))
    most = a.dtype.itemsize * 8 - (0 if left else 1)  # type: ignore[union-attr]
    if b.const is not None and (b.const >= 0).all() and (b.const < most).all():
        return shifted(b)
    zero = g.number(0, a.dtype)
    outside = g.op("Or", g.op("Less", b, zero), g.op("GreaterOrEqual", b, g.number(most, b.dtype)))
    rest = zero if left else g.op("Where", g.op("Less", a, zero), g.number(-1, a.dtype), zero)
    return g.op("Where", outside, rest, shifted(g.op("Where", outside, zero, b)))


def _power(g: Builder, b: Value) -> Value:
    return g.op("Pow", g.number(2, b.dtype), b)


@translates("isnan")
def isnan(g: Builder, self: Value) -> Value:
    return g.op("IsNaN", self) if _is_float(self) else g.op("Not", g.op("Equal", self, self))


@translates("isinf")
def isinf(g: Builder, self: Value) -> Value:
    if not _is_float(self):
        return g.op("Not", g.op("Equal", self, self))
    return g.op("IsInf", g.cast(self, taeda.float32) if self.dtype == taeda.float16 and g.opset < 20 else self)


@translates("masked_fill")
def masked_fill(g: Builder, self: Value, mask: Value, value: Any) -> Value:
    return g.op("Where", mask, g.number(value, self.dtype), self)


@translates(
    "clone",
    "contiguous",
    "detach",
    "alias",
    "lift_fresh",
    "lift_fresh_copy",
    "lift",
    "positive",
    "resolve_conj",
    "resolve_neg",
    "_lazy_clone",
)
def same(g: Builder, self: Value, **_: Any) -> Value:
    return self


@translates("copy")
def copy(g: Builder, self: Value, src: Value, non_blocking: bool = False) -> Value:
    value = g.cast(src, self.dtype)
    if src.shape == self.shape and src.shape is not None and None not in src.shape:
        return value
    return g.op("Expand", value, g.ints(g.sizes_of(self)))


@translates("to", "_to_copy", "type_as", "float", "double", "half", "int", "long", "bool", "to_copy")
def to(g: Builder, self: Value, *_: Any, **__: Any) -> Value:
    if g.out_dtype == taeda.bool:
        return truth(g, self)
    return g.cast(self, g.out_dtype)


@translates("dropout", "feature_dropout", "alpha_dropout", "native_dropout")
def dropout(g: Builder, input: Value, p: float, train: bool) -> Any:
    if not train or p == 0:
        return input
    result = g.op("Dropout", input, g.number(p, taeda.float32), g.constant(True))
    return result


@translates("exp2", "special_exp2")
def exp2(g: Builder, self: Value) -> Value:
    return g.op("Pow", g.number(2, g.out_dtype), g.cast(self, g.out_dtype))


@translates("isfinite")
def isfinite(g: Builder, self: Value) -> Value:
    if not _is_float(self):
        return g.op("Equal", self, self)
    return g.op("Not", g.op("Or", isinf(g, self), g.op("IsNaN", self)))


@translates("signbit")
def signbit(g: Builder, self: Value) -> Value:
    if not _is_float(self):
        return g.op("Less", self, g.number(0, self.dtype))
    negative = g.op("Less", self, g.number(0, self.dtype))
    inverse = g.op("Less", g.op("Reciprocal", self), g.number(0, self.dtype))  # of a negative zero
    return g.op("Or", negative, inverse)


@translates("hypot")
def hypot(g: Builder, self: Value, other: Value) -> Value:
    a, b = same_dtype(g, self, other, dtype=g.out_dtype)
    return g.op("Sqrt", g.op("Add", g.op("Mul", a, a), g.op("Mul", b, b)))


@translates("copysign")
def copysign(g: Builder, self: Any, other: Any) -> Value:
    a, b = same_dtype(g, self, other, dtype=g.out_dtype)
    size = g.op("Abs", a)
    return g.op("Where", signbit(g, b), g.op("Neg", size), size)


@translates("atan2", "arctan2")
def atan2(g: Builder, self: Any, other: Any) -> Value:
    y, x = same_dtype(g, self, other, dtype=g.out_dtype)
    zero, half, whole = (g.number(v, y.dtype) for v in (0, math.pi / 2, math.pi))
    slope = g.op("Atan", g.op("Div", y, x))
    left = g.op("Where", g.op("Less", y, zero), g.op("Sub", slope, whole), g.op("Add", slope, whole))
    result = g.op("Where", g.op("Less", x, zero), left, slope)
    upright = g.op("Mul", g.op("Sign", y), half)
    return g.op("Where", g.op("Equal", x, zero), upright, result)


@translates("float_power")
def float_power(g: Builder, self: Any, exponent: Any) -> Value:
    return g.op("Pow", *same_dtype(g, self, exponent, dtype=taeda.float64))
