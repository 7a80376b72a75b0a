"""Running totals along a dimension, differences, and the areas that they give."""

import math

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


@composite("reverse_cumsum(Tensor self, int dim) -> Tensor", unbound=True)
def reverse_cumsum(self, dim):
    """The sum of each element and those after it."""
    if self.dim() == 0 or self.numel() == 0:
        return op.alias(self)
    return self.flip([dim]).cumsum(dim).flip([dim])


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


def _weighted(grad, totals, dim):
    """The gradient through all the totals that an element is in."""
    return op.reverse_cumsum(grad * totals.conj(), dim)


def _by_leaving_out(grad, input, dim):
    """The gradient by products without one factor, for every total that holds this factor: exact for zeros and
    differentiable to any order, at the cost of a pass per element."""
    gradients: list[Tensor] = []
    length = input.size(dim)
    for k in range(length):
        before = op.slice(input, dim, 0, k).prod(dim, True)
        rest = op.ones_like(before)
        if k + 1 < length:
            rest = op.cat([rest, op.slice(input, dim, k + 1).cumprod(dim)], dim)
        gradients.append((op.slice(grad, dim, k) * (before * rest)).sum([dim], True))
    return op.cat(gradients, dim)


@composite("cumprod_backward(Tensor grad, Tensor input, int dim, Tensor output) -> Tensor", unbound=True)
def cumprod_backward(grad, input, dim, output):
    """The gradient of ``cumprod``, also where elements are zero."""
    # Before the first zero the totals divided by the element are the products of the others. The first zero has the
    # totals with a one in its place; whatever follows it has none.
    if input.dim() == 0 or input.numel() == 0:
        return op.alias(grad)
    along = wrap_dim(dim, input.dim())
    factors = input if input.dtype == grad.dtype else op._to_copy(input, dtype=grad.dtype)
    zero = factors == 0
    if not op.is_nonzero(op.any_anywhere(zero)):
        return _weighted(grad, output, along) / factors.conj()
    if may_record(factors, grad):
        return _by_leaving_out(grad, factors.conj(), along)
    zeros_so_far = zero.cumsum(along)
    first = op.logical_and(zero, zeros_so_far == 1)
    before = _weighted(grad, output, along) / op.masked_fill(factors, zero, 1).conj()
    at_first = _weighted(grad, op.masked_fill(factors, first, 1).cumprod(along), along)
    beyond = op.logical_and(zeros_so_far > 0, op.logical_not(first))
    return op.masked_fill(where(first, at_first, before), beyond, 0)


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


def _signed_part(amount, has_sign, self, divisor, some, dim):
    """What gradients of one sign make, as exponentials of sums of logarithms."""
    chosen = op.logical_and(has_sign, some)
    logs = where(
        chosen,
        log(where(chosen, amount, op.ones_like(amount))),
        op.full_like(amount, -math.inf),
    )
    return exp((logs - divisor).flip([dim]).logcumsumexp(dim).flip([dim]) + self)


@composite("logcumsumexp_backward(Tensor grad, Tensor self, Tensor result, int dim) -> Tensor", unbound=True)
def logcumsumexp_backward(grad, self, result, dim):
    """The gradient of ``logcumsumexp``, computed in logarithms for each sign of ``grad``."""
    if grad.dim() == 0 or grad.numel() == 0:
        return op.alias(grad)
    if grad.is_complex():  # whose logarithm has no need of a sign
        amount = log(grad.conj()) - result
        return exp(amount.flip([dim]).logcumsumexp(dim).flip([dim]) + self).conj()
    # Where all elements so far are minus infinity the total is no divisor: nothing comes from there.
    none = result == -math.inf
    divisor, some = op.masked_fill(result, none, 0), op.logical_not(none)
    rising = _signed_part(grad, grad > 0, self, divisor, some, dim)
    return rising - _signed_part(-grad, grad < 0, self, divisor, some, dim)


@composite(
    "diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor",
    variants="function method out",
    samples=[S(f(5)), S(f(3, 5), 2), S(f(3, 5), 1, 0), S(f(5), 1, -1, f(2), f(1))],
)
def diff(self, n, dim, prepend, append):
    """The ``n``-th differences of neighbours along ``dim``, after joining ``prepend`` and ``append`` to the ends."""
    check(self.dim() > 0, "takes a tensor of one dimension or more; got a number")
    check(n >= 0, f"n must not be negative; got {n}")
    along = wrap_dim(dim, self.dim())
    parts: list[Tensor] = []
    for part in (prepend, self, append):
        if part is not None:
            check(
                part.dim() == self.dim(),
                f"what is joined must have {self.dim()} dimensions; got shape {part.shape}",
            )
            parts.append(part)
    if n == 0:  # nothing is joined either
        return self.clone()
    result = op.cat(parts, along) if len(parts) > 1 else self
    for _ in range(min(n, result.size(along))):
        later, earlier = (
            op.slice(result, along, 1),
            op.slice(result, along, 0, max(result.size(along) - 1, 0)),
        )
        result = op.logical_xor(later, earlier) if self.dtype == bool_ else later - earlier
    return result


def _neighbours(y, dim):
    """Sums of neighbours along ``dim``."""
    check(y.dim() > 0, "y must have a dimension to integrate along; got a number", IndexError)
    return op.slice(y, dim, 1) + op.slice(y, dim, 0, max(y.size(dim) - 1, 0))


def _widths(y, x, dim):
    """The widths between places, in a shape that broadcasts with sums of neighbours in ``y``."""
    check(
        1 <= x.dim() <= y.dim(),
        f"x must have from 1 to {y.dim()} dimensions, as y has; got shape {x.shape}",
    )
    if x.dim() == 1:
        check(x.numel() == y.size(dim), f"x must have {y.size(dim)} places along dimension {dim}; got {x.numel()}")
        sizes = [1] * y.dim()
        steps = x.diff()
        sizes[wrap_dim(dim, y.dim())] = steps.numel()
        return steps.view(sizes)
    padded = x
    while padded.dim() < y.dim():
        padded = padded.unsqueeze(0)
    return padded.diff(1, dim)


@composite(
    "trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor",
    samples=[S(f(5), f(5, of="sorted")), S(f(2, 5), f(5, of="sorted")), S(f(3, 4), f(3, 4), dim=0)],
)
def trapezoid(y, x, dim):
    """The area under ``y`` along ``dim`` at the places ``x``, by the trapezoidal rule."""
    sums = _neighbours(y, dim)
    return (sums * _widths(y, x, dim) * 0.5).sum([dim])


@composite(
    "trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor",
    samples=[S(f(5)), S(f(2, 5), dx=0.5), S(f(3, 4), dim=0)],
)
def trapezoid_spaced(y, dx, dim):
    """The same for places ``dx`` apart."""
    return _neighbours(y, dim).sum([dim]) * dx * 0.5


@composite("trapz.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor", samples="trapezoid.x")
def trapz(y, x, dim):
    """The same as ``trapezoid``."""
    return op.trapezoid(y, x, dim=dim)


@composite("trapz.dx(Tensor y, *, float dx=1., int dim=-1) -> Tensor", samples="trapezoid.dx")
def trapz_spaced(y, dx, dim):
    """The same as ``trapezoid``."""
    return op.trapezoid(y, dx=dx, dim=dim)


@composite("cumulative_trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor", samples="trapezoid.x")
def cumulative_trapezoid(y, x, dim):
    """The area under ``y`` up to each place ``x`` but the first."""
    sums = _neighbours(y, dim)
    return (sums * _widths(y, x, dim) * 0.5).cumsum(dim)


@composite("cumulative_trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor", samples="trapezoid.dx")
def cumulative_trapezoid_spaced(y, dx, dim):
    """The same for places ``dx`` apart."""
    check(not natural_dtype(dx).is_complex, f"dx must be real; got {dx}")
    return (_neighbours(y, dim) * (dx * 0.5)).cumsum(dim)
