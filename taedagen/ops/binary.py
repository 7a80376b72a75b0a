"""Arithmetic of two tensors, or of a tensor and a number."""

from taedagen.opdef import *
from taedagen.opdef.samples import S, f

EVERY = "function method inplace out"
ALL_FUNCTIONS = f"{EVERY} inplace_function"
FLOATING_AND_COMPLEX = (*FLOATING, *COMPLEX)


@pointwise(
    "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", variants=EVERY, scalar="other", check="alpha",
    number="self", old_factor="alpha", constants={"alpha": (1,)},
)  # fmt: skip
def add(self, other, alpha):
    """``self + alpha * other``, element by element; for bool tensors the logical or."""
    return self + alpha * other


@add.formula(BOOL)
def _(self, other, alpha):
    return self | other & (alpha != 0)


@add.backward
def _(grad, alpha):
    return {"self": grad, "other": grad * conj(alpha)}


@pointwise("sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", variants=EVERY, scalar="other",
           dtypes=NUMERIC, check="subtraction", number="self", old_factor="alpha",
           constants={"alpha": (1,)})  # fmt: skip
def sub(self, other, alpha):
    """``self - alpha * other``, element by element. Not for bool tensors: ``^`` and ``logical_xor`` say what is
    meant."""
    return self - alpha * other


@sub.backward
def _(grad, alpha):
    return {"self": grad, "other": -grad * conj(alpha)}


@pointwise("rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", scalar="other", dtypes=NUMERIC,
           check="subtraction", domain=(-2.0, 2.0), node={"Scalar": 1})  # fmt: skip
def rsub(self, other, alpha):
    """``other - alpha * self``, element by element."""
    return other - alpha * self


@rsub.backward
def _(grad, alpha):
    return {"self": -grad * conj(alpha), "other": grad}


@pointwise("mul.Tensor(Tensor self, Tensor other) -> Tensor", variants=EVERY, scalar="other", number="self",
           dtypes=(*ALL, *UNSIGNED))  # fmt: skip
def mul(self, other):
    """The product, element by element; for bool tensors the logical and."""
    return self * other


@mul.formula(BOOL)
def _(self, other):
    return self & other


@mul.backward
def _(grad, self, other):
    return {"self": grad * conj(other), "other": grad * conj(self)}


@pointwise("div.Tensor(Tensor self, Tensor other) -> Tensor", variants=EVERY, scalar="other", promote="int_to_float",
           dtypes=FLOATING_AND_COMPLEX, number="self")  # fmt: skip
def div(self, other):
    """The quotient, element by element; integers are divided as floating-point numbers."""
    return self / other


@div.backward
def _(grad, self, other):
    return {"self": grad / conj(other), "other": -grad * conj(self / other / other)}


@composite(
    "div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor",
    variants=EVERY,
    scalar={"Scalar_mode": "other"},
    out_overload="out_mode",
)
def div(self, other, rounding_mode):
    """The quotient rounded towards zero (``"trunc"``), down (``"floor"``) or not at all (None)."""
    if rounding_mode is None:
        return op.div(self, other)
    check(
        rounding_mode in ("trunc", "floor"),
        f"rounding_mode must be None, 'trunc' or 'floor'; got {rounding_mode!r}",
    )
    return op._div_trunc(self, other) if rounding_mode == "trunc" else op.floor_divide(self, other)


div.samples([S(f(2, 3), f(3), rounding_mode=m) for m in (None, "floor", "trunc", "up")])


@pointwise(
    "_div_trunc.Tensor(Tensor self, Tensor other) -> Tensor",
    variants="function inplace out",
    scalar="other",
    dtypes=REAL,
    samples=[S(f(2, 3), f(3))],
)
def _div_trunc(self, other):
    """The quotient rounded towards zero; an integer divided by zero is an error."""
    return truncdiv(self, other)


@_div_trunc.backward
def _(grad):
    return {"self": op.zeros_like(grad), "other": op.zeros_like(grad)}


@pointwise("floor_divide(Tensor self, Tensor other) -> Tensor", variants=EVERY, scalar="other", dtypes=REAL,
           number="self", inplace_overload="Tensor")  # fmt: skip
def floor_divide(self, other):
    """The quotient rounded down, as Python's ``//``; an integer divided by zero is an error."""
    return floordiv(self, other)


@floor_divide.backward
def _(grad):
    return {"self": op.zeros_like(grad), "other": op.zeros_like(grad)}


@pointwise(
    "remainder.Tensor(Tensor self, Tensor other) -> Tensor",
    variants=EVERY,
    scalar={"Scalar": "other", "Scalar_Tensor": "self"},
    dtypes=REAL,
    out_overload="Tensor_out",
)
def remainder(self, other):
    """The remainder of the division rounded down, with the divisor's sign, as Python's ``%``."""
    return pymod(self, other)


@remainder.backward
def _(grad, self, other):
    return {"self": grad, "other": -grad * floor_divide(self, other)}


@pointwise(
    "fmod.Tensor(Tensor self, Tensor other) -> Tensor",
    variants=EVERY,
    scalar="other",
    dtypes=REAL,
    out_overload="Tensor_out",
)
def fmod(self, other):
    """The remainder of the division rounded towards zero, with the dividend's sign, as C's ``fmod``."""
    return fmod(self, other)


@fmod.backward
def _(grad, self, other):
    return {"self": grad, "other": -grad * op._div_trunc(self, other)}


@pointwise(
    "pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor",
    variants=EVERY,
    scalar={"Tensor_Scalar": "exponent", "Scalar": "self"},
    dtypes=NUMERIC,
    constants={"exponent": (2, 3, 0.5)},
    check="power",
    contiguous="number first",
    domain=(0.2, 2.0),
    node={"Tensor_Tensor": 1, "Tensor_Scalar": 0, "Scalar": 2},
)
def pow(self, exponent):
    """``self`` to the power of ``exponent``, element by element."""
    if isinstance(exponent, float):
        return sqrt(self)
    if isinstance(exponent, int):
        return self * self if exponent == 2 else self * self * self
    return self**exponent


@pow.formula(INTEGRAL)
def _(self, exponent):
    if isinstance(exponent, int):
        return self * self if exponent == 2 else self * self * self
    return self**exponent if not isinstance(exponent, float) else None


@pow.backward
def _(grad, self, exponent, result):
    return {
        "self": op.pow_backward_self(grad, self, exponent),
        "exponent": op.pow_backward_exponent(grad, self, exponent, result),
    }


@pointwise("pow_backward_self(Tensor grad_output, Tensor self, Tensor exponent) -> Tensor",
           scalar={"number": "exponent", "base": "self"}, dtypes=FLOATING_AND_COMPLEX, unbound=True)  # fmt: skip
def pow_backward_self(grad_output, self, exponent):
    """The gradient of a power for its base: nothing where the exponent is 0."""
    return where(exponent == 0, 0, grad_output * conj(exponent * self ** (exponent - 1)))


@pow_backward_self.backward
def _(grad, grad_output, self, exponent):
    slope = exponent * self ** (exponent - 1)
    outer = conj(grad) * grad_output
    return {
        "grad_output": where(exponent == 0, 0, grad * slope),
        "self": where(
            (exponent == 0) | (exponent == 1), 0, outer * conj(exponent * (exponent - 1) * self ** (exponent - 2))
        ),
        "exponent": where(self == 0, 0, outer * conj(self ** (exponent - 1) * (1 + exponent * log(self)))),
    }


@pointwise("pow_backward_exponent(Tensor grad_output, Tensor self, Tensor exponent, Tensor result) -> Tensor",
           scalar={"number": "exponent", "base": "self"}, dtypes=FLOATING_AND_COMPLEX, unbound=True)  # fmt: skip
def pow_backward_exponent(grad_output, self, exponent, result):
    """The gradient of a power for its exponent: nothing where the base is 0 and the exponent is not negative."""
    return where((self == 0) & ((result == 0) | (exponent == 0)), 0, grad_output * conj(result * log(self)))


@pow_backward_exponent.backward
def _(grad, grad_output, self, exponent, result):
    outer = conj(grad) * grad_output
    return {
        "grad_output": where((self == 0) & ((result == 0) | (exponent == 0)), 0, grad * (result * log(self))),
        "self": where(self == 0, 0, outer * conj(self ** (exponent - 1) * (1 + exponent * log(self)))),
        "exponent": where(self == 0, 0, outer * conj(result * log(self) * log(self))),
    }


@composite("float_power.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor", variants="function method out",
           scalar={"Tensor_Scalar": "exponent", "Scalar": "self"}, files="binary", domain=(0.2, 2.0),
           out="same")  # fmt: skip
def float_power(self, exponent):
    """A power computed in double precision, whatever the inputs."""


@composite("float_power_.Tensor(Tensor(a!) self, Tensor exponent) -> Tensor(a!)", variants="method",
           scalar={"Scalar": "exponent"}, files="binary")  # fmt: skip
def float_power_(self, exponent):
    """The same in place, for a tensor in double precision."""


@pointwise("atan2(Tensor self, Tensor other) -> Tensor", variants=EVERY, promote="int_to_float", dtypes=FLOATING)
def atan2(self, other):
    """The angle of the point ``(other, self)``, in radians from -pi to pi."""
    return atan2(self, other)


@atan2.backward
def _(grad, self, other):
    square = self * self + other * other
    scaled = where(square == 0, 0, grad / square)  # the angle of the origin counts as constant
    return {"self": scaled * other, "other": -scaled * self}


@pointwise("hypot(Tensor self, Tensor other) -> Tensor", variants=EVERY, dtypes=FLOATING)
def hypot(self, other):
    """``sqrt(self**2 + other**2)`` without overflow on the way."""
    return hypot(self, other)


@hypot.backward
def _(grad, self, other, result):
    return {"self": grad * self / result, "other": grad * other / result}


@pointwise(
    "copysign.Tensor(Tensor self, Tensor other) -> Tensor",
    variants=EVERY,
    scalar="other",
    promote="int_to_float",
    dtypes=FLOATING,
)
def copysign(self, other):
    """The size of ``self`` with the sign of ``other``, that of a zero included."""
    return copysign(self, other)


@copysign.backward
def _(grad, self, result):
    return {"self": where(self == 0, 0, grad * result / self), "other": op.zeros_like(grad)}


@composite("nextafter(Tensor self, Tensor other) -> Tensor", variants=EVERY)
def nextafter(self, other):
    """The number next to ``self`` on the way to ``other``, of those that their dtype holds."""
    dtype = result_type(self, other)
    if dtype in (float16, bfloat16):
        return op._nextafter_half(self, other, 11 if dtype == float16 else 8)
    return op._nextafter(self, other)


@pointwise("_nextafter(Tensor self, Tensor other) -> Tensor", dtypes=("float32", "float64"), unbound=True)
def _nextafter(self, other):
    """``nextafter`` of numbers that formulas compute in."""
    return nextafter(self, other)


@_nextafter.backward
def _(grad, self, other):
    return {"self": where(self == other, 0, grad), "other": 0 * grad}


@pointwise("_nextafter_half(Tensor self, Tensor other, int digits) -> Tensor", dtypes=HALF, unbound=True)
def _nextafter_half(self, other, digits):
    """``nextafter`` among numbers of ``digits`` binary digits: 11 of float16, 8 of bfloat16."""
    return next_half(self, other, digits)


@_nextafter_half.backward
def _(grad, self, other):
    return {"self": where(self == other, 0, grad), "other": 0 * grad}


@pointwise("maximum(Tensor self, Tensor other) -> Tensor", variants="function method out", dtypes=(*REAL, *BOOL))
def maximum(self, other):
    """The larger of the two, NaN if either is; equal ones share the gradient."""
    return maximum(self, other)


@maximum.backward
def _(grad, self, other):
    half = where(self == other, grad / 2, grad)
    return {"self": where(self < other, 0, half), "other": where(self > other, 0, half)}


@pointwise("minimum(Tensor self, Tensor other) -> Tensor", variants="function method out", dtypes=(*REAL, *BOOL))
def minimum(self, other):
    """The smaller of the two, NaN if either is; equal ones share the gradient."""
    return minimum(self, other)


@minimum.backward
def _(grad, self, other):
    half = where(self == other, grad / 2, grad)
    return {"self": where(self > other, 0, half), "other": where(self < other, 0, half)}


@pointwise("fmax(Tensor self, Tensor other) -> Tensor", variants="function method out", dtypes=(*REAL, *BOOL))
def fmax(self, other):
    """The larger of the two; a number is preferred to NaN."""
    return fmax(self, other)


@fmax.backward
def _(grad, self, other):
    first = (self >= other) | isnan(other)
    return {"self": where(first, grad, 0), "other": where(first, 0, grad)}


@pointwise("fmin(Tensor self, Tensor other) -> Tensor", variants="function method out", dtypes=(*REAL, *BOOL))
def fmin(self, other):
    """The smaller of the two; a number is preferred to NaN."""
    return fmin(self, other)


@fmin.backward
def _(grad, self, other):
    first = (self <= other) | isnan(other)
    return {"self": where(first, grad, 0), "other": where(first, 0, grad)}


@pointwise("logaddexp(Tensor self, Tensor other) -> Tensor", variants="function method out", dtypes=FLOATING)
def logaddexp(self, other):
    """``log(exp(self) + exp(other))`` without overflow on the way."""
    top = maximum(self, other)
    return where(isinf(self) & (self == other), self, top + log1p(exp(-abs(self - other))))


@logaddexp.formula(COMPLEX)
def _(self, other):
    larger = real(other) <= real(self)
    top = where(larger, self, other)
    rest = where(larger, other, self)
    return where(isinf(self) & (self == other), self, top + log1p(exp(rest - top)))


@logaddexp.backward
def _(grad, self, other):
    larger = real(other) <= real(self)
    ratio = exp(where(larger, other - self, self - other))
    most = 1 / (1 + ratio)
    rest = ratio * most
    return {"self": grad * conj(where(larger, most, rest)), "other": grad * conj(where(larger, rest, most))}


@pointwise("logaddexp2(Tensor self, Tensor other) -> Tensor", variants="function method out", dtypes=FLOATING)
def logaddexp2(self, other):
    """``log2(2**self + 2**other)`` without overflow on the way."""
    top = maximum(self, other)
    return where(isinf(self) & (self == other), self, top + log1p(exp2(-abs(self - other))) * 1.4426950408889634)


@logaddexp2.backward
def _(grad, self, other):
    ratio = exp2(-abs(self - other))
    most = 1 / (1 + ratio)
    rest = ratio * most
    return {"self": grad * where(other <= self, most, rest), "other": grad * where(other <= self, rest, most)}


@pointwise(
    "xlogy.Tensor(Tensor self, Tensor other) -> Tensor",
    variants=ALL_FUNCTIONS,
    scalar={"Scalar_Other": "other", "Scalar_Self": "self"},
    promote="int_to_float",
    dtypes=FLOATING,
    domain=(0.2, 2.0),
    out_overload={"Tensor": "OutTensor", "Scalar_Other": "OutScalar_Other", "Scalar_Self": "OutScalar_Self"},
)
def xlogy(self, other):
    """``self * log(other)``, zero where ``self`` is 0 (unless ``other`` is NaN)."""
    return where(isnan(other), other, where(self == 0, 0, self * log(other)))


@xlogy.backward
def _(grad, self, other):
    return {"self": where((self == 0) & (other <= 0), 0, grad * log(other)), "other": grad * self / other}


@pointwise(
    "special_xlog1py(Tensor self, Tensor other) -> Tensor",
    variants="function out",
    module="special",
    scalar={"other_scalar": "other", "self_scalar": "self"},
    promote="int_to_float",
    dtypes=FLOATING,
    domain=(0.2, 2.0),
)
def special_xlog1py(self, other):
    """``self * log1p(other)``, zero where ``self`` is 0 (unless ``other`` is NaN)."""
    return where(isnan(other), other, where(self == 0, 0, self * log1p(other)))


@special_xlog1py.backward
def _(grad, self, other):
    return {"self": where((self == 0) & (other <= -1), 0, grad * log1p(other)), "other": grad * self / (other + 1)}


@pointwise(
    "special_zeta(Tensor self, Tensor other) -> Tensor",
    variants="function out",
    module="special",
    scalar={"other_scalar": "other", "self_scalar": "self"},
    promote="int_to_float",
    dtypes=("float32", "float64"),
    domain=(1.5, 4.0),
)
def special_zeta(self, other):
    """Hurwitz's zeta function: the sum of ``(k + other) ** -self`` over k >= 0."""
    return zeta(self, other)


@special_zeta.backward
def _(grad, self, other):
    return {
        "self": op.no_derivative("special.zeta for self"),
        "other": grad * -self * op.special_zeta(self + 1, other),
    }


@pointwise(
    "polygamma(int n, Tensor self) -> Tensor",
    variants="function method out",
    promote="int_to_float",
    dtypes=FLOATING,
    check="order",
)
def polygamma(n, self):
    """The ``n``-th derivative of the digamma function."""
    return polygamma(n, self)


@polygamma.backward
def _(grad, n, self):
    return {"self": grad * op.polygamma(n + 1, self)}


polygamma.samples([S(n, f(2, 3, low=0.5, high=4)) for n in (0, 1, 2, -1)])


@composite("polygamma_(Tensor(a!) self, int n) -> Tensor(a!)", variants="method", files="binary")
def polygamma_(self, n):
    """``polygamma`` in place."""


polygamma_.samples([S(f(2, 3, low=0.5, high=4), n) for n in (0, 1, 2, -1)])


@pointwise("igamma(Tensor self, Tensor other) -> Tensor", variants=EVERY, dtypes=FLOATING, domain=(0.5, 4.0))
def igamma(self, other):
    """The lower regularised incomplete gamma function of order ``self`` at ``other``."""
    return igamma(self, other)


@igamma.backward
def _(grad, self, other):
    return {
        "self": op.no_derivative("igamma for self"),
        "other": grad * exp((self - 1) * log(other) - other - lgamma(self)),
    }


@pointwise("igammac(Tensor self, Tensor other) -> Tensor", variants=EVERY, dtypes=FLOATING, domain=(0.5, 4.0))
def igammac(self, other):
    """The upper regularised incomplete gamma function of order ``self`` at ``other``."""
    return igammac(self, other)


@igammac.backward
def _(grad, self, other):
    return {
        "self": op.no_derivative("igammac for self"),
        "other": -grad * exp((self - 1) * log(other) - other - lgamma(self)),
    }


@composite(
    "ldexp.Tensor(Tensor self, Tensor other) -> Tensor", variants=ALL_FUNCTIONS, out_overload="out", inplace_overload=""
)
def ldexp(self, other):
    """``self * 2**other``; integers for ``other`` leave a floating ``self`` its dtype."""
    if not self.is_floating_point() or not is_integral(other.dtype):
        return self * op.exp2(other)
    # Two factors in double precision, as one power may be out of range where the product is not.
    exponent = other.to(float64)
    first = exponent.clamp(-1022, 1023)
    rest = (exponent - first).clamp(-1074, 1023)
    return (self.to(float64) * op.exp2(first) * op.exp2(rest)).to(self.dtype)


@pointwise("gcd(Tensor self, Tensor other) -> Tensor", variants=ALL_FUNCTIONS, dtypes=INTEGRAL, not_differentiable=True)
def gcd(self, other):
    """The greatest common divisor, never negative."""
    return gcd(self, other)


@pointwise("lcm(Tensor self, Tensor other) -> Tensor", variants=ALL_FUNCTIONS, dtypes=INTEGRAL, not_differentiable=True)
def lcm(self, other):
    """The least common multiple, never negative."""
    divisor = gcd(self, other)
    return where(divisor == 0, 0, abs(truncdiv(self, where(divisor == 0, 1, divisor)) * other))


@pointwise(
    "lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor",
    variants=EVERY,
    dtypes=FLOATING_AND_COMPLEX,
    promote="same",
)
def lerp(self, end, weight):
    """``self + weight * (end - self)``."""
    return self + weight * (end - self)


@lerp.backward
def _(grad, weight):
    return {"self": grad * conj(1 - weight), "end": grad * conj(weight)}


@pointwise(
    "lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor",
    variants=EVERY,
    out_overload="Tensor_out",
    dtypes=FLOATING_AND_COMPLEX,
    promote="same",
    samples=[S(f(2, 3), f(2, 3), f(3)), S(f(3), f(2, 3), f())],
)
def lerp(self, end, weight):
    """``self + weight * (end - self)``."""
    return self + weight * (end - self)


@lerp.backward
def _(grad, self, end, weight):
    return {"self": grad * conj(1 - weight), "end": grad * conj(weight), "weight": grad * conj(end - self)}


@pointwise(
    "addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor", variants=EVERY, dtypes=NUMERIC,
    old_factor="value",
)  # fmt: skip
def addcmul(self, tensor1, tensor2, value):
    """``self + value * tensor1 * tensor2``."""
    return self + value * tensor1 * tensor2


@addcmul.backward
def _(grad, tensor1, tensor2, value):
    scaled = grad * conj(value)
    return {"self": grad, "tensor1": scaled * conj(tensor2), "tensor2": scaled * conj(tensor1)}


@pointwise("addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor", variants=EVERY,
           dtypes=FLOATING_AND_COMPLEX, check="quotient", old_factor="value")  # fmt: skip
def addcdiv(self, tensor1, tensor2, value):
    """``self + value * tensor1 / tensor2``."""
    return self + value * (tensor1 / tensor2)


@addcdiv.backward
def _(grad, tensor1, tensor2, value):
    return {
        "self": grad,
        "tensor1": grad * conj(value / tensor2),
        "tensor2": -grad * conj(value * tensor1 / (tensor2 * tensor2)),
    }


@pointwise("heaviside(Tensor self, Tensor values) -> Tensor", variants=EVERY, dtypes=(*REAL, *BOOL), promote="same",
           out="same")  # fmt: skip
def heaviside(self, values):
    """0 below zero, 1 above, ``values`` at zero; NaN gives 0."""
    return where(self == 0, values, where(self > 0, 1, 0))
