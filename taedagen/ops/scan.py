"""Running totals along a dimension, differences, and the areas that they give."""

from taedagen.opdef import *
from taedagen.opdef.samples import S, f

EVERY = "function method inplace out"


@kernel(
    "cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
    variants=EVERY,
    shape="running_total",
    files="scan",
    batch="along inplace",
    samples=[S(f(4), 0), S(f(3, 5), -1), S(f(3, 5), 0), S(f(), 0), S(f(0), 0), S(f(3), 1)],
)
def cumsum(self, dim, dtype):
    """The sum of the elements up to each along ``dim``; integers and bool become int64 without ``dtype``."""


@cumsum.backward
def _(grad, dim):
    return {"self": op.reverse_cumsum(grad, dim)}


@composite("reverse_cumsum(Tensor self, int dim) -> Tensor", files="scan", unbound=True)
def reverse_cumsum(self, dim):
    """The sum of each element and those after it."""


@kernel(
    "cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
    variants=EVERY,
    shape="running_total",
    files="scan",
    batch="along inplace",
    samples="cumsum",
)
def cumprod(self, dim, dtype):
    """The product of the elements up to each along ``dim``; integers and bool become int64 without ``dtype``."""


@cumprod.backward
def _(grad, self, dim, result):
    return {"self": op.cumprod_backward(grad, self, dim, result)}


@composite("cumprod_backward(Tensor grad, Tensor input, int dim, Tensor output) -> Tensor", files="scan", unbound=True)
def cumprod_backward(grad, input, dim, output):
    """The gradient of ``cumprod``, also where elements are zero."""


@kernel(
    "cummax(Tensor self, int dim) -> (Tensor values, Tensor indices)",
    variants="function method out",
    shape="running_extreme",
    files="scan",
    nondiff="indices",
    out="same",
    batch="along",
    samples="cumsum",
)
def cummax(self, dim):
    """The largest element up to each along ``dim``, and where it stood (the last of equal ones); NaN counts as
    largest."""


@cummax.backward
def _(grad, self, dim, indices):
    return {"self": op.value_selecting_reduction_backward(grad, dim, indices, self.sizes(), True)}


@kernel(
    "cummin(Tensor self, int dim) -> (Tensor values, Tensor indices)",
    variants="function method out",
    shape="running_extreme",
    files="scan",
    nondiff="indices",
    out="same",
    batch="along",
    samples="cumsum",
)
def cummin(self, dim):
    """The smallest element up to each along ``dim``, and where it stood (the last of equal ones); NaN counts as
    smallest."""


@cummin.backward
def _(grad, self, dim, indices):
    return {"self": op.value_selecting_reduction_backward(grad, dim, indices, self.sizes(), True)}


@kernel(
    "logcumsumexp(Tensor self, int dim) -> Tensor",
    variants="function method out",
    shape="logcumsumexp",
    files="scan",
    out="same",
    batch="along",
    samples="cumsum",
)
def logcumsumexp(self, dim):
    """``log(cumsum(exp(self), dim))`` without overflow on the way."""


@logcumsumexp.backward
def _(grad, self, dim, result):
    return {"self": op.logcumsumexp_backward(grad, self, result, dim)}


@composite(
    "logcumsumexp_backward(Tensor grad, Tensor self, Tensor result, int dim) -> Tensor", files="scan", unbound=True
)
def logcumsumexp_backward(grad, self, result, dim):
    """The gradient of ``logcumsumexp``, computed in logarithms for each sign of ``grad``."""


@composite(
    "diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor",
    variants="function method out",
    files="scan",
    samples=[S(f(5)), S(f(3, 5), 2), S(f(3, 5), 1, 0), S(f(5), 1, -1, f(2), f(1))],
)
def diff(self, n, dim, prepend, append):
    """The ``n``-th differences of neighbours along ``dim``, after joining ``prepend`` and ``append`` to the ends."""


@composite(
    "trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor",
    files="scan",
    samples=[S(f(5), f(5, of="sorted")), S(f(2, 5), f(5, of="sorted")), S(f(3, 4), f(3, 4), dim=0)],
)
def trapezoid(y, x, dim):
    """The area under ``y`` along ``dim`` at the places ``x``, by the trapezoidal rule."""


@composite(
    "trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor",
    files="scan",
    samples=[S(f(5)), S(f(2, 5), dx=0.5), S(f(3, 4), dim=0)],
)
def trapezoid_spaced(y, dx, dim):
    """The same for places ``dx`` apart."""


@composite("trapz.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor", samples="trapezoid.x")
def trapz(y, x, dim):
    """The same as ``trapezoid``."""
    return op.trapezoid(y, x, dim=dim)


@composite("trapz.dx(Tensor y, *, float dx=1., int dim=-1) -> Tensor", samples="trapezoid.dx")
def trapz_spaced(y, dx, dim):
    """The same as ``trapezoid``."""
    return op.trapezoid(y, dx=dx, dim=dim)


@composite("cumulative_trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor", files="scan", samples="trapezoid.x")
def cumulative_trapezoid(y, x, dim):
    """The area under ``y`` up to each place ``x`` but the first."""


@composite(
    "cumulative_trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor", files="scan", samples="trapezoid.dx"
)
def cumulative_trapezoid_spaced(y, dx, dim):
    """The same for places ``dx`` apart."""
