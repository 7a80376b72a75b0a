"""Pointwise declarations with derivatives that fuse, and with some that do not."""

from taedagen.opdef import *


@pointwise("mul.Tensor(Tensor self, Tensor other) -> Tensor", scalar="other", dtypes=FLOATING)
def mul(self, other):
    """The product: each gradient is one op, both together are one kernel."""
    return self * other


@mul.backward
def _(grad, self, other):
    return {"self": grad * other, "other": grad * self}


@pointwise("cubed(Tensor self) -> Tensor", variants="function inplace", dtypes=("float32", "float64", "complex64"))
def cubed(self):
    """The gradient reads the result of ``mul`` twice."""
    return self * self * self


@cubed.backward
def _(grad, self):
    return {"self": grad * (op.mul(self, self) * 3)}


@pointwise("weighed(Tensor self, Tensor other, *, Scalar weight=1) -> Tensor", dtypes=FLOATING)
def weighed(self, other, weight):
    """The first gradient is one op but for the weight, which counts for none; the second is two ops."""
    return self * other * other * weight


@weighed.backward
def _(grad, self, other, weight):
    scaled = grad * weight
    return {"self": scaled * other, "other": scaled * other * self}


@kernel("widen(Tensor self) -> Tensor", shape="triangle", not_differentiable=True)
def widen(self):
    """A kernel that somebody writes by hand."""


@pointwise("smooth(Tensor self, *, str how='') -> Tensor", dtypes=FLOATING, choices={"how": ("", "much")})
def smooth(self, how):
    """Not fused: the gradient calls a kernel."""
    return self


@smooth.backward
def _(grad, self):
    return {"self": op.widen(grad * self) * self}


@pointwise("counted(Tensor self) -> Tensor", dtypes=("int64",))
def counted(self):
    """Not fused: there is nothing to differentiate."""
    return self * self


@counted.backward
def _(grad, self):
    return {"self": grad * self * 2}
