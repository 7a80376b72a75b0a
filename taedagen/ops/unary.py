"""Functions of one tensor."""

from taedagen.opdef import *
from taedagen.opdef.samples import S, f

EVERY = "function method inplace out"
ALL_FUNCTIONS = f"{EVERY} inplace_function"
FLOATING_AND_COMPLEX = (*FLOATING, *COMPLEX)

INFINITY = float("inf")
NAN = float("nan")


@pointwise("exp(Tensor self) -> Tensor", variants=ALL_FUNCTIONS, promote="int_to_float", dtypes=FLOATING_AND_COMPLEX)
def exp(self):
    """``e ** self``."""
    return exp(self)


@exp.backward
def _(grad, result):
    return {"self": grad * conj(result)}


@pointwise("exp2(Tensor self) -> Tensor", variants=ALL_FUNCTIONS, promote="int_to_float", dtypes=FLOATING_AND_COMPLEX)
def exp2(self):
    """``2 ** self``."""
    return exp2(self)


@exp2.backward
def _(grad, result):
    return {"self": grad * conj(result) * 0.6931471805599453}


@pointwise("expm1(Tensor self) -> Tensor", variants=ALL_FUNCTIONS, promote="int_to_float", dtypes=FLOATING_AND_COMPLEX)
def expm1(self):
    """``e ** self - 1``, exact near zero."""
    return expm1(self)


@expm1.backward
def _(grad, result):
    return {"self": grad * conj(result + 1)}


@pointwise(
    "log(Tensor self) -> Tensor",
    variants=ALL_FUNCTIONS,
    promote="int_to_float",
    dtypes=FLOATING_AND_COMPLEX,
    domain=(0.1, 3.0),
)
def log(self):
    """The natural logarithm."""
    return log(self)


@log.backward
def _(grad, self):
    return {"self": grad / conj(self)}


@pointwise("log2(Tensor self) -> Tensor", variants=ALL_FUNCTIONS, promote="int_to_float", dtypes=FLOATING_AND_COMPLEX,
           domain=(0.1, 3.0))  # fmt: skip
def log2(self):
    """The logarithm to base 2."""
    return log2(self)


@log2.backward
def _(grad, self):
    return {"self": grad / conj(self * 0.6931471805599453)}


@pointwise("log10(Tensor self) -> Tensor", variants=ALL_FUNCTIONS, promote="int_to_float", dtypes=FLOATING_AND_COMPLEX,
           domain=(0.1, 3.0))  # fmt: skip
def log10(self):
    """The logarithm to base 10."""
    return log10(self)


@log10.backward
def _(grad, self):
    return {"self": grad / conj(self * 2.302585092994046)}


@pointwise("log1p(Tensor self) -> Tensor", variants=ALL_FUNCTIONS, promote="int_to_float", dtypes=FLOATING_AND_COMPLEX,
           domain=(-0.5, 3.0))  # fmt: skip
def log1p(self):
    """``log(1 + self)``, exact near zero."""
    return log1p(self)


@log1p.backward
def _(grad, self):
    return {"self": grad / conj(self + 1)}


@pointwise("sqrt(Tensor self) -> Tensor", variants=ALL_FUNCTIONS, promote="int_to_float", dtypes=FLOATING_AND_COMPLEX,
           domain=(0.1, 3.0))  # fmt: skip
def sqrt(self):
    """The square root; NaN for negative numbers."""
    return sqrt(self)


@sqrt.backward
def _(grad, result):
    return {"self": grad / conj(2 * result)}


@pointwise("rsqrt(Tensor self) -> Tensor", variants=ALL_FUNCTIONS, promote="int_to_float", dtypes=FLOATING_AND_COMPLEX,
           domain=(0.1, 3.0))  # fmt: skip
def rsqrt(self):
    """``1 / sqrt(self)``."""
    return 1 / sqrt(self)


@rsqrt.backward
def _(grad, result):
    return {"self": grad * -0.5 * conj(result * result * result)}


@pointwise(
    "reciprocal(Tensor self) -> Tensor", variants=ALL_FUNCTIONS, promote="int_to_float", dtypes=FLOATING_AND_COMPLEX
)
def reciprocal(self):
    """``1 / self``."""
    return 1 / self


@reciprocal.backward
def _(grad, result):
    return {"self": -grad * conj(result * result)}


@pointwise("sin(Tensor self) -> Tensor", variants=ALL_FUNCTIONS, promote="int_to_float", dtypes=FLOATING_AND_COMPLEX)
def sin(self):
    """The sine of an angle in radians."""
    return sin(self)


@sin.backward
def _(grad, self):
    return {"self": grad * conj(cos(self))}


@pointwise("cos(Tensor self) -> Tensor", variants=ALL_FUNCTIONS, promote="int_to_float", dtypes=FLOATING_AND_COMPLEX)
def cos(self):
    """The cosine of an angle in radians."""
    return cos(self)


@cos.backward
def _(grad, self):
    return {"self": grad * -conj(sin(self))}


@pointwise("tan(Tensor self) -> Tensor", variants=ALL_FUNCTIONS, promote="int_to_float", dtypes=FLOATING_AND_COMPLEX,
           domain=(-1.2, 1.2))  # fmt: skip
def tan(self):
    """The tangent of an angle in radians."""
    return tan(self)


@tan.backward
def _(grad, result):
    return {"self": grad * conj(1 + result * result)}


@pointwise("asin(Tensor self) -> Tensor", variants=ALL_FUNCTIONS, promote="int_to_float", dtypes=FLOATING_AND_COMPLEX,
           domain=(-0.9, 0.9))  # fmt: skip
def asin(self):
    """The angle in radians whose sine is ``self``; NaN outside -1 to 1."""
    return asin(self)


@asin.backward
def _(grad, self):
    return {"self": grad * conj(rsqrt(1 - self * self))}


@pointwise("acos(Tensor self) -> Tensor", variants=ALL_FUNCTIONS, promote="int_to_float", dtypes=FLOATING_AND_COMPLEX,
           domain=(-0.9, 0.9))  # fmt: skip
def acos(self):
    """The angle in radians whose cosine is ``self``; NaN outside -1 to 1."""
    return acos(self)


@acos.backward
def _(grad, self):
    return {"self": grad * -conj(rsqrt(1 - self * self))}


@pointwise("atan(Tensor self) -> Tensor", variants=ALL_FUNCTIONS, promote="int_to_float", dtypes=FLOATING_AND_COMPLEX)
def atan(self):
    """The angle in radians whose tangent is ``self``."""
    return atan(self)


@atan.backward
def _(grad, self):
    return {"self": grad / conj(1 + self * self)}


@pointwise("sinh(Tensor self) -> Tensor", variants=ALL_FUNCTIONS, promote="int_to_float", dtypes=FLOATING_AND_COMPLEX)
def sinh(self):
    """The hyperbolic sine."""
    return sinh(self)


@sinh.backward
def _(grad, self):
    return {"self": grad * conj(cosh(self))}


@pointwise("cosh(Tensor self) -> Tensor", variants=ALL_FUNCTIONS, promote="int_to_float", dtypes=FLOATING_AND_COMPLEX)
def cosh(self):
    """The hyperbolic cosine."""
    return cosh(self)


@cosh.backward
def _(grad, self):
    return {"self": grad * conj(sinh(self))}


@pointwise("tanh(Tensor self) -> Tensor", variants=ALL_FUNCTIONS, promote="int_to_float", dtypes=FLOATING_AND_COMPLEX)
def tanh(self):
    """The hyperbolic tangent."""
    return tanh(self)


@tanh.backward
def _(grad, result):
    return {"self": op.tanh_backward(grad, result)}


@pointwise(
    "tanh_backward(Tensor grad_output, Tensor output) -> Tensor",
    dtypes=FLOATING_AND_COMPLEX,
    unbound=True,
    outs="grad_input",
)
def tanh_backward(grad_output, output):
    """The gradient of ``tanh``, from its result."""
    return grad_output * conj(1 - output * output)


@tanh_backward.backward
def _(grad, grad_output, output):
    return {"grad_output": grad * (1 - output * output), "output": conj(grad) * grad_output * conj(-2 * output)}


@pointwise("asinh(Tensor self) -> Tensor", variants=ALL_FUNCTIONS, promote="int_to_float", dtypes=FLOATING_AND_COMPLEX)
def asinh(self):
    """The inverse of ``sinh``."""
    return asinh(self)


@asinh.backward
def _(grad, self):
    return {"self": grad * conj(rsqrt(self * self + 1))}


@pointwise("acosh(Tensor self) -> Tensor", variants=ALL_FUNCTIONS, promote="int_to_float", dtypes=FLOATING_AND_COMPLEX,
           domain=(1.1, 3.0))  # fmt: skip
def acosh(self):
    """The inverse of ``cosh``; NaN below 1."""
    return acosh(self)


@acosh.backward
def _(grad, self):
    return {"self": grad * conj(rsqrt(self - 1) * rsqrt(self + 1))}


@pointwise("atanh(Tensor self) -> Tensor", variants=ALL_FUNCTIONS, promote="int_to_float", dtypes=FLOATING_AND_COMPLEX,
           domain=(-0.9, 0.9))  # fmt: skip
def atanh(self):
    """The inverse of ``tanh``; NaN outside -1 to 1."""
    return atanh(self)


@atanh.backward
def _(grad, self):
    return {"self": grad / conj(1 - self * self)}


@pointwise(
    "sigmoid(Tensor self) -> Tensor", variants=ALL_FUNCTIONS, promote="int_to_float", dtypes=FLOATING_AND_COMPLEX
)
def sigmoid(self):
    """The logistic function ``1 / (1 + exp(-self))``."""
    return 1 / (1 + exp(-self))


@sigmoid.backward
def _(grad, result):
    return {"self": op.sigmoid_backward(grad, result)}


@pointwise(
    "sigmoid_backward(Tensor grad_output, Tensor output) -> Tensor",
    dtypes=FLOATING_AND_COMPLEX,
    unbound=True,
    outs="grad_input",
)
def sigmoid_backward(grad_output, output):
    """The gradient of ``sigmoid``, from its result."""
    return grad_output * conj((1 - output) * output)


@sigmoid_backward.backward
def _(grad, grad_output, output):
    return {
        "grad_output": grad * ((1 - output) * output),
        "output": conj(grad) * grad_output * conj(1 - 2 * output),
    }


@composite("square(Tensor self) -> Tensor", variants=ALL_FUNCTIONS)
def square(self):
    """``self ** 2``."""
    return op.pow(self, 2)


@pointwise("erf(Tensor self) -> Tensor", variants=ALL_FUNCTIONS, promote="int_to_float", dtypes=FLOATING)
def erf(self):
    """The error function."""
    return erf(self)


@erf.backward
def _(grad, self):
    return {"self": grad * 1.1283791670955126 * exp(-self * self)}


@pointwise("erfc(Tensor self) -> Tensor", variants=ALL_FUNCTIONS, promote="int_to_float", dtypes=FLOATING)
def erfc(self):
    """``1 - erf(self)``, exact for large arguments."""
    return erfc(self)


@erfc.backward
def _(grad, self):
    return {"self": grad * -1.1283791670955126 * exp(-self * self)}


@pointwise("erfinv(Tensor self) -> Tensor", variants=EVERY, promote="int_to_float", dtypes=FLOATING, domain=(-0.9, 0.9))
def erfinv(self):
    """The inverse of ``erf``; NaN outside -1 to 1."""
    return erfinv(self)


@erfinv.backward
def _(grad, result):
    return {"self": grad * 0.886226925452758 * exp(result * result)}


@pointwise("lgamma(Tensor self) -> Tensor", variants=EVERY, promote="int_to_float", dtypes=FLOATING, domain=(0.5, 4.0))
def lgamma(self):
    """The logarithm of the size of the gamma function."""
    return lgamma(self)


@lgamma.backward
def _(grad, self):
    return {"self": grad * digamma(self)}


@pointwise("digamma(Tensor self) -> Tensor", variants=EVERY, promote="int_to_float", dtypes=FLOATING, domain=(0.5, 4.0))
def digamma(self):
    """The derivative of ``lgamma``."""
    return digamma(self)


@digamma.backward
def _(grad, self):
    return {"self": grad * op.polygamma(1, self)}


@pointwise("i0(Tensor self) -> Tensor", variants=ALL_FUNCTIONS, promote="int_to_float", dtypes=FLOATING)
def i0(self):
    """The modified Bessel function of the first kind, of order 0."""
    return i0(self)


@i0.backward
def _(grad, self):
    return {"self": grad * op.special_i1(self)}


@pointwise("sinc(Tensor self) -> Tensor", variants=ALL_FUNCTIONS, promote="int_to_float", dtypes=FLOATING_AND_COMPLEX)
def sinc(self):
    """``sin(pi self) / (pi self)``, 1 at zero."""
    return where(self == 0, 1, sin(self * 3.141592653589793) / (self * 3.141592653589793))


@sinc.backward
def _(grad, self, result):
    return {"self": grad * conj(where(self == 0, 0, (cos(self * 3.141592653589793) - result) / self))}


@pointwise("deg2rad(Tensor self) -> Tensor", variants=ALL_FUNCTIONS, promote="int_to_float", dtypes=FLOATING)
def deg2rad(self):
    """Degrees to radians."""
    return self * 0.017453292519943295


@deg2rad.backward
def _(grad):
    return {"self": grad * 0.017453292519943295}


@pointwise("rad2deg(Tensor self) -> Tensor", variants=ALL_FUNCTIONS, promote="int_to_float", dtypes=FLOATING)
def rad2deg(self):
    """Radians to degrees."""
    return self * 57.29577951308232


@rad2deg.backward
def _(grad):
    return {"self": grad * 57.29577951308232}


@pointwise("floor(Tensor self) -> Tensor", variants=ALL_FUNCTIONS, dtypes=FLOATING, out="same")
def floor(self):
    """The largest whole number that is not above."""
    return floor(self)


@floor.formula(INTEGRAL)
def _(self):
    return self + 0


@floor.backward
def _(grad):
    return {"self": op.zeros_like(grad)}


@pointwise("ceil(Tensor self) -> Tensor", variants=ALL_FUNCTIONS, dtypes=FLOATING, out="same")
def ceil(self):
    """The smallest whole number that is not below."""
    return ceil(self)


@ceil.formula(INTEGRAL)
def _(self):
    return self + 0


@ceil.backward
def _(grad):
    return {"self": op.zeros_like(grad)}


@pointwise("trunc(Tensor self) -> Tensor", variants=ALL_FUNCTIONS, dtypes=FLOATING)
def trunc(self):
    """The whole part, towards zero."""
    return trunc(self)


@trunc.formula(INTEGRAL)
def _(self):
    return self + 0


@trunc.backward
def _(grad):
    return {"self": op.zeros_like(grad)}


@pointwise("frac(Tensor self) -> Tensor", variants=ALL_FUNCTIONS, dtypes=FLOATING)
def frac(self):
    """What ``trunc`` takes off."""
    return self - trunc(self)


@frac.backward
def _(grad):
    return {"self": grad}


@pointwise("round(Tensor self) -> Tensor", variants=ALL_FUNCTIONS, dtypes=FLOATING)
def round(self):
    """The nearest whole number, halves to the even one."""
    return round(self)


@round.formula(INTEGRAL)
def _(self):
    return self + 0


@round.backward
def _(grad):
    return {"self": op.zeros_like(grad)}


@pointwise("round.decimals(Tensor self, *, int decimals) -> Tensor", variants=ALL_FUNCTIONS, dtypes=FLOATING,
           samples=[S(f(2, 3), decimals=0), S(f(2, 3), decimals=1), S(f(2, 3), decimals=-1)])  # fmt: skip
def round(self, decimals):
    """Rounded to ``decimals`` places after the point, before it where negative."""
    scale = 10.0 ** abs(decimals)
    return where(decimals >= 0, round(self * scale) / scale, round(self / scale) * scale)


@round.backward
def _(grad):
    return {"self": op.zeros_like(grad)}


@pointwise("neg(Tensor self) -> Tensor", variants=ALL_FUNCTIONS, dtypes=NUMERIC, out="same")
def neg(self):
    """``-self``."""
    return -self


@neg.backward
def _(grad):
    return {"self": -grad}


@pointwise("abs(Tensor self) -> Tensor", variants=ALL_FUNCTIONS, dtypes=NUMERIC, dtype_out="real")
def abs(self):
    """The size; real for a complex tensor."""
    return abs(self)


@abs.backward
def _(grad, self):
    return {"self": grad * sgn(self)}


@pointwise("sign(Tensor self) -> Tensor", variants=EVERY, dtypes=FLOATING)
def sign(self):
    """-1, 0 or 1 by the sign; 0 for NaN."""
    return where(self > 0, 1, 0) - where(self < 0, 1, 0)


@sign.formula(INTEGRAL)
def _(self):
    return where(self > 0, 1, where(self == 0, 0, -1))


@sign.formula(BOOL)
def _(self):
    return self & self


@sign.backward
def _(grad):
    return {"self": op.zeros_like(grad)}


@pointwise("sgn(Tensor self) -> Tensor", variants=EVERY, dtypes=FLOATING)
def sgn(self):
    """``sign`` for real tensors; for complex ones ``self / abs(self)``, 0 at zero."""
    return where(self > 0, 1, 0) - where(self < 0, 1, 0)


@sgn.formula(COMPLEX)
def _(self):
    return where(self == 0, 0, self / abs(self))


@sgn.formula(INTEGRAL)
def _(self):
    return where(self > 0, 1, where(self == 0, 0, -1))


@sgn.formula(BOOL)
def _(self):
    return self & self


@sgn.backward
def _(grad, self, result):
    return {"self": op.sgn_backward(grad, self, result)}


@composite("sgn_backward(Tensor grad, Tensor self, Tensor result) -> Tensor", unbound=True)
def sgn_backward(grad, self, result):
    """The gradient of ``sgn``: of a complex number only the angle changes it."""
    if not self.is_complex():
        return grad * 0
    is_zero = self == 0
    along = op.real(grad.conj() * result) * result
    return op.masked_fill((grad - along) / abs(op.masked_fill(self, is_zero, 1)), is_zero, 0)


@pointwise("logit(Tensor self, float? eps=None) -> Tensor", variants=ALL_FUNCTIONS, promote="int_to_float",
           dtypes=FLOATING,
           domain=(0.1, 0.9))  # fmt: skip
def logit(self, eps):
    """``log(self / (1 - self))``; ``eps`` first limits ``self`` to the range from ``eps`` to ``1 - eps``."""
    x = self if eps is None else minimum(maximum(self, eps), 1 - eps)
    return log(x / (1 - x))


@logit.backward
def _(grad, self, eps):
    return {"self": op.logit_backward(grad, self, eps)}


@pointwise("logit_backward(Tensor grad_output, Tensor self, float? eps=None) -> Tensor", module="nn", dtypes=FLOATING,
           domain=(0.1, 0.9), outs="grad_input")  # fmt: skip
def logit_backward(grad_output, self, eps):
    """The gradient of ``logit``: nothing outside its limits, NaN outside 0 to 1 without any."""
    slope = grad_output / (self * (1 - self))
    if eps is None:
        return where((self < 0) | (self > 1), NAN, slope)
    return where((self < eps) | (self > 1 - eps), 0, slope)


@logit_backward.backward
def _(grad, grad_output, self, eps):
    slope = op.logit_backward(grad, self, eps)
    return {"grad_output": slope, "self": slope * grad_output * (2 * self - 1) / (self * (1 - self))}


def _largest(dtype):
    """The largest finite number."""
    if dtype == float16:
        return 65504.0
    if dtype == bfloat16:
        return 3.3895313892515355e38
    return 3.4028234663852886e38 if dtype == float32 else 1.7976931348623157e308


@composite(
    "nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor",
    variants=ALL_FUNCTIONS,
)
def nan_to_num(self, nan, posinf, neginf):
    """NaN replaced by ``nan`` (0) and infinities by ``posinf`` and ``neginf`` (the ends of the dtype's range); in
    complex numbers each part."""
    if self.is_complex():
        parts = op.view_as_real(op.resolve_conj(self))
        return op.view_as_complex(op.nan_to_num(parts, nan, posinf, neginf))
    if not self.is_floating_point():
        return self.clone()
    end = _largest(self.dtype)
    return op._nan_to_num(
        self,
        nan if nan is not None else 0.0,
        posinf if posinf is not None else end,
        neginf if neginf is not None else -end,
    )


@pointwise("_nan_to_num(Tensor self, float nan, float posinf, float neginf) -> Tensor", dtypes=FLOATING, unbound=True)
def _nan_to_num(self, nan, posinf, neginf):
    """``nan_to_num`` of real numbers, the ends of the range given."""
    return where(isnan(self), nan, where(isinf(self), where(self > 0, posinf, neginf), self))


@_nan_to_num.backward
def _(grad, self):
    return {"self": where(isfinite(self), grad, 0)}


@pointwise(
    "angle(Tensor self) -> Tensor",
    variants="function method out",
    promote="int_to_float",
    dtypes=FLOATING_AND_COMPLEX,
    dtype_out="real",
)
def angle(self):
    """The angle in radians: 0 or pi for real numbers, the argument of complex ones."""
    return angle(self)


@angle.backward
def _(grad, self):
    return {"self": op.angle_backward(grad, self)}


@composite("angle_backward(Tensor grad, Tensor self) -> Tensor", unbound=True)
def angle_backward(grad, self):
    """The gradient of ``angle``: along the circle, nothing for real numbers."""
    # The angle of z moves by Re(i / conj(z) * conj(dz)).
    if not self.is_complex():
        return grad * 0
    is_zero = self == 0
    inward = op.reciprocal(op.masked_fill(self, is_zero, 1).conj())
    return op.masked_fill(grad * inward * 1j, is_zero, 0)


@pointwise("special_i0e(Tensor self) -> Tensor", variants="function out", promote="int_to_float", dtypes=FLOATING,
           module="special")  # fmt: skip
def special_i0e(self):
    """``exp(-abs(self)) * i0(self)``."""
    return i0e(self)


@special_i0e.backward
def _(grad, self, result):
    return {"self": grad * (op.special_i1e(self) - sgn(self) * result)}


@pointwise("special_i1(Tensor self) -> Tensor", variants="function out", promote="int_to_float", dtypes=FLOATING,
           module="special")  # fmt: skip
def special_i1(self):
    """The modified Bessel function of the first kind, of order 1."""
    return i1(self)


@special_i1.backward
def _(grad, self, result):
    return {"self": grad * where(self == 0, 0.5, i0(self) - result / where(self == 0, 1, self))}


@pointwise("special_i1e(Tensor self) -> Tensor", variants="function out", promote="int_to_float", dtypes=FLOATING,
           module="special")  # fmt: skip
def special_i1e(self):
    """``exp(-abs(self)) * i1(self)``."""
    return i1e(self)


@special_i1e.backward
def _(grad, self, result):
    slope = op.special_i0e(self) - result * sgn(self) - result / where(self == 0, 1, self)
    return {"self": grad * where(self == 0, 0.5, slope)}


@pointwise("special_ndtri(Tensor self) -> Tensor", variants="function out", promote="int_to_float", dtypes=FLOATING,
           module="special", domain=(0.1, 0.9))  # fmt: skip
def special_ndtri(self):
    """The number below which a standard normal variable falls with probability ``self``."""
    return ndtri(self)


@special_ndtri.backward
def _(grad, self, result):
    return {"self": grad * 2.5066282746310002 * exp(result * result / 2)}


@pointwise("special_log_ndtr(Tensor self) -> Tensor", variants="function out", promote="int_to_float",
           dtypes=FLOATING, module="special")  # fmt: skip
def special_log_ndtr(self):
    """The logarithm of the standard normal distribution function."""
    return log_ndtr(self)


@special_log_ndtr.backward
def _(grad, self, result):
    return {"self": grad * 0.7978845608028654 / op.special_erfcx(self * -0.7071067811865476)}


@pointwise("special_erfcx(Tensor self) -> Tensor", variants="function out", promote="int_to_float", dtypes=FLOATING,
           module="special")  # fmt: skip
def special_erfcx(self):
    """``exp(self**2) * erfc(self)``."""
    return erfcx(self)


@special_erfcx.backward
def _(grad, self, result):
    return {"self": grad * (2 * self * result - 1.1283791670955126)}


@pointwise("special_ndtr(Tensor self) -> Tensor", variants="function out", promote="int_to_float", dtypes=FLOATING,
           module="special")  # fmt: skip
def special_ndtr(self):
    """The standard normal distribution function."""
    return erfc(self * -0.7071067811865476) * 0.5


@special_ndtr.backward
def _(grad, self):
    return {"self": grad * 0.3989422804014327 * exp(self * self * -0.5)}


@pointwise("special_entr(Tensor self) -> Tensor", variants="function out", promote="int_to_float", dtypes=FLOATING,
           module="special", domain=(0.2, 2.0))  # fmt: skip
def special_entr(self):
    """The entropy term ``-self * log(self)``: 0 at zero, minus infinity below."""
    return where(self > 0, -self * log(self), where(self == 0, 0, where(isnan(self), self, -INFINITY)))


@special_entr.backward
def _(grad, self):
    return {"self": grad * (-log(self) - 1)}
