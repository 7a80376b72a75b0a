"""Ops of a namespace of their own."""

from taedagen.opdef import *


@pointwise("demo::bell(Tensor self, Tensor width, *, Scalar height=1) -> Tensor", variants="function inplace out",
           dtypes=FLOATING)  # fmt: skip
def bell(self, width, height):
    """``height * exp(-self * self * width)``."""
    return height * exp(-self * self * width)


@bell.backward
def _(grad, self, width, result):
    slope = grad * result * self
    return {"self": -2 * slope * width, "width": -slope * self}


@bell.kernel("Sparse")
def _(self, width, height):
    return op.demo.tall(self)


@composite("demo::tall(Tensor self) -> Tensor")
def tall(self):
    """A bell that is its own width."""
    return op.demo.bell(self, self, height=3)
