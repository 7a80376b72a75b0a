"""A few declarations of each kind, for the golden files beside this folder."""

from taedagen.opdef import *


@pointwise("twice(Tensor self) -> Tensor", variants="function method inplace out", dtypes=("float32", "int64"))
def twice(self):
    """``2 * self``, of any shape."""
    return self + self


@twice.backward
def _(grad):
    return {"self": grad.twice()}


@view("turned(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", variants="function method", shape="transpose")
def turned(self, dim0, dim1):
    """A view with two dimensions swapped."""


@turned.backward
def _(grad, dim0, dim1):
    return {"self": grad.turned(dim0, dim1)}


@kernel("stretch(Tensor self, float by=1.5, *, int? power=None) -> Tensor", shape="triangle", not_differentiable=True)
def stretch(self, by, power):
    """A kernel that somebody writes by hand."""


@composite("four_times(Tensor self) -> Tensor")
def four_times(self):
    """Made of another op."""
    return op.twice(op.twice(self))
