"""Activation functions."""

from taedagen.opdef import *
from taedagen.opdef.samples import S, f

EVERY = "function inplace out"


@pointwise("relu(Tensor self) -> Tensor", variants="function method inplace out inplace_function", dtypes=REAL)
def relu(self):
    """``max(self, 0)``."""
    return maximum(self, 0)


@relu.backward
def _(grad, result):
    return {"self": threshold_backward(grad, result, 0)}


@pointwise(
    "threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor",
    variants="function inplace out inplace_function",
    dtypes=REAL,
    flat="self",
)
def threshold(self, threshold, value):
    """``self`` where it is above ``threshold``, else ``value``."""
    return where(self <= threshold, value, self)


@threshold.backward
def _(grad, self, threshold):
    return {"self": threshold_backward(grad, self, threshold)}


@pointwise(
    "threshold_backward(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor",
    variants="function out",
    module="nn",
    dtypes=REAL,
    outs="grad_input",
    out_overload="grad_input",
)
def threshold_backward(grad_output, self, threshold):
    """``grad_output`` where ``self`` is above ``threshold``."""
    return where(self <= threshold, 0, grad_output)


@threshold_backward.backward
def _(grad, self, threshold):
    return {"grad_output": threshold_backward(grad, self, threshold)}


@pointwise(
    "leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor",
    variants=EVERY,
    module="nn",
    dtypes=FLOATING,
    flat="self",
)
def leaky_relu(self, negative_slope):
    """``self`` where it is positive, else ``negative_slope * self``."""
    return where(self > 0, self, self * negative_slope)


@leaky_relu.backward
def _(grad, self, negative_slope):
    return {"self": where(self > 0, grad, grad * negative_slope)}


@pointwise(
    "elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor",
    variants=EVERY,
    module="nn",
    dtypes=FLOATING,
)
def elu(self, alpha, scale, input_scale):
    """``scale * self`` where it is positive, else ``scale * alpha * expm1(input_scale * self)``."""
    return where(self > 0, self * scale, expm1(self * input_scale) * (alpha * scale))


@elu.backward
def _(grad, self, alpha, scale, input_scale):
    return {
        "self": where(
            self > 0,
            grad * scale,
            grad * exp(self * input_scale) * (alpha * scale * input_scale),
        )
    }


@pointwise(
    "celu(Tensor self, Scalar alpha=1.0) -> Tensor",
    variants="function inplace inplace_function",
    dtypes=FLOATING,
)
def celu(self, alpha):
    """``self`` where it is positive, else ``alpha * expm1(self / alpha)``."""
    return where(self > 0, self, alpha * expm1(self / alpha))


@celu.backward
def _(grad, self, alpha):
    return {"self": where(self > 0, grad, grad * exp(self / alpha))}


@pointwise("selu(Tensor self) -> Tensor", variants="function inplace inplace_function", dtypes=FLOATING)
def selu(self):
    """The scaled ELU whose constants keep mean 0 and variance 1 (G. Klambauer and others, 2017)."""
    return where(self > 0, self * 1.0507009873554805, expm1(self) * 1.7580993408473766)


@selu.backward
def _(grad, self):
    return {"self": where(self > 0, grad * 1.0507009873554805, grad * exp(self) * 1.7580993408473766)}


@pointwise("gelu(Tensor self, *, str approximate='none') -> Tensor", variants=EVERY, module="nn", dtypes=FLOATING,
           choices={"approximate": ("none", "tanh")})  # fmt: skip
def gelu(self, approximate):
    """``self`` times the standard normal distribution function of it, or its approximation by ``tanh``."""
    if approximate == "tanh":
        return self * 0.5 * (1 + tanh(0.7978845608028654 * (self + 0.044715 * self * self * self)))
    return self * 0.5 * (1 + erf(self * 0.7071067811865476))


@gelu.backward
def _(grad, self, approximate):
    return {"self": gelu_backward(grad, self, approximate=approximate)}


@pointwise(
    "gelu_backward(Tensor grad_output, Tensor self, *, str approximate='none') -> Tensor",
    variants="function out",
    module="nn",
    dtypes=FLOATING,
    choices={"approximate": ("none", "tanh")},
    outs="grad_input",
    out_overload="grad_input",
)
def gelu_backward(grad_output, self, approximate):
    """The gradient of ``gelu``."""
    if approximate == "tanh":
        square = self * self
        t = tanh(0.7978845608028654 * self * (1 + 0.044715 * square))
        return grad_output * 0.5 * ((1 + t) + self * (1 - t * t) * 0.7978845608028654 * (1 + 0.134145 * square))
    return grad_output * (
        0.5 * (1 + erf(self * 0.7071067811865476)) + self * 0.3989422804014327 * exp(self * self * -0.5)
    )


@gelu_backward.backward
def _(grad, grad_output, self, approximate):
    return {
        "grad_output": gelu_backward(grad, self, approximate=approximate),
        "self": grad * grad_output * op.gelu_bend(self, approximate=approximate),
    }


@composite(
    "gelu_bend(Tensor self, *, str approximate) -> Tensor",
    unbound=True,
)
def gelu_bend(self, approximate):
    """The second derivative of ``gelu``."""
    inner = self * self
    if approximate != "tanh":
        return (2 - inner) * (exp(inner * -0.5) * 0.3989422804014327)
    # With t = tanh(u): (1 - t^2) (u' - x t u'^2 + x u'' / 2).
    slope = (inner * 0.134145 + 1) * 0.7978845608028654
    t = tanh(self * ((inner * 0.044715 + 1) * 0.7978845608028654))
    turned = slope * (1 - self * t * slope)
    return (1 - t * t) * (turned + inner * 0.10703222440890037)


@pointwise(
    "silu(Tensor self) -> Tensor",
    variants=EVERY,
    module="nn",
    dtypes=(*FLOATING, *COMPLEX),
)
def silu(self):
    """The sigmoid-weighted linear unit, ``self * sigmoid(self)``."""
    return self / (1 + exp(-self))


@silu.backward
def _(grad, self):
    return {"self": silu_backward(grad, conj(self))}


@pointwise(
    "silu_backward(Tensor grad_output, Tensor self) -> Tensor",
    variants="function out",
    module="nn",
    dtypes=(*FLOATING, *COMPLEX),
    outs="grad_input",
    out_overload="grad_input",
)
def silu_backward(grad_output, self):
    """``grad_output`` times the slope of ``silu``."""
    s = 1 / (1 + exp(-self))
    return grad_output * (s * (1 + self * (1 - s)))


@silu_backward.backward
def _(grad, grad_output, self):
    s = op.sigmoid(self)
    bend = s * (1 - s) * (2 + self * (1 - 2 * s))
    return {
        "grad_output": silu_backward(grad, conj(self)),
        "self": grad * conj(grad_output * bend),
    }


@pointwise("mish(Tensor self) -> Tensor", variants=EVERY, module="nn", dtypes=FLOATING)
def mish(self):
    """``self * tanh(softplus(self))``."""
    return self * tanh(maximum(self, 0) + log1p(exp(-abs(self))))


@mish.backward
def _(grad, self):
    t = tanh(op.softplus(self))
    return {"self": grad * (t + self * op.sigmoid(self) * (1 - t * t))}


@pointwise(
    "softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor",
    variants="function out",
    module="nn",
    dtypes=FLOATING,
)
def softplus(self, beta, threshold):
    """``log(1 + exp(beta * self)) / beta``, and ``self`` itself where ``beta * self`` is above ``threshold``."""
    return where(self * beta > threshold, self, log1p(exp(self * beta)) / beta)


@softplus.backward
def _(grad, self, beta, threshold):
    return {"self": where(self * beta > threshold, grad, grad * op.sigmoid(self * beta))}


@pointwise(
    "log_sigmoid(Tensor self) -> Tensor",
    variants="function out",
    module="nn",
    dtypes=FLOATING,
    contiguous="always",
)
def log_sigmoid(self):
    """``log(sigmoid(self))`` without underflow on the way."""
    return minimum(self, 0) - log1p(exp(-abs(self)))


@log_sigmoid.backward
def _(grad, self):
    return {"self": grad * op.sigmoid(-self)}


@pointwise("hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor", variants=EVERY, module="nn",
           dtypes=REAL, check="limits", flat="self")  # fmt: skip
def hardtanh(self, min_val, max_val):
    """``self`` limited to the range from ``min_val`` to ``max_val``."""
    return minimum(maximum(self, min_val), max_val)


@hardtanh.backward
def _(grad, self, min_val, max_val):
    return {"self": where((self > min_val) & (self < max_val), grad, 0)}


@pointwise(
    "relu6(Tensor self) -> Tensor",
    variants="function inplace",
    module="nn",
    dtypes=REAL,
    flat="self",
)
def relu6(self):
    """``self`` limited to the range from 0 to 6."""
    return minimum(maximum(self, 0), 6)


@relu6.backward
def _(grad, self):
    return {"self": where((self > 0) & (self < 6), grad, 0)}


@pointwise("hardsigmoid(Tensor self) -> Tensor", variants=EVERY, module="nn", dtypes=FLOATING, flat="self")
def hardsigmoid(self):
    """``self / 6 + 1 / 2`` limited to the range from 0 to 1."""
    return minimum(maximum(self + 3, 0), 6) / 6


@hardsigmoid.backward
def _(grad, self):
    return {"self": where((self > -3) & (self < 3), grad / 6, 0)}


@pointwise("hardswish(Tensor self) -> Tensor", variants=EVERY, module="nn", dtypes=FLOATING)
def hardswish(self):
    """``self * hardsigmoid(self)``."""
    return self * minimum(maximum(self + 3, 0), 6) / 6


@hardswish.backward
def _(grad, self):
    return {"self": where(self <= -3, 0, where(self < 3, grad * (self * (1 / 3) + 0.5), grad))}


@pointwise(
    "hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor",
    variants="function method out",
    dtypes=FLOATING,
    flat="self",
)
def hardshrink(self, lambd):
    """``self`` outside the range from ``-lambd`` to ``lambd``, 0 inside."""
    return where((self >= -lambd) & (self <= lambd), 0, self)


@hardshrink.backward
def _(grad, self, lambd):
    return {"self": where((self >= -lambd) & (self <= lambd), 0, grad)}


@pointwise("softshrink(Tensor self, Scalar lambd=0.5) -> Tensor", variants="function out", module="nn", dtypes=FLOATING,
           check="step", flat="self")  # fmt: skip
def softshrink(self, lambd):
    """``self`` moved towards 0 by ``lambd``, 0 where it would pass it."""
    return where(self > lambd, self - lambd, where(self < -lambd, self + lambd, self * 0))


@softshrink.backward
def _(grad, self, lambd):
    return {"self": where((self >= -lambd) & (self <= lambd), 0, grad)}


@pointwise(
    "_prelu_kernel(Tensor self, Tensor weight) -> Tensor", dtypes=FLOATING, samples=[S(f(2, 3), f(1, 3))], flat="self"
)
def _prelu_kernel(self, weight):
    """``self`` where it is positive, else ``weight * self``."""
    return where(self > 0, self, weight * self)


@_prelu_kernel.backward
def _(grad, self, weight):
    return {
        "self": where(self > 0, grad, weight * grad),
        "weight": where(self > 0, 0, self * grad),
    }
