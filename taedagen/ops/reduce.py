"""Reductions over dimensions."""

from taedagen.opdef import *
from taedagen.opdef.samples import Name, S, f, v

EVERY = "function method out"
ORDERED = (*REAL, *BOOL)
FLOATING_AND_COMPLEX = (*FLOATING, *COMPLEX)

# --- sums and products


@reduction(
    "sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    variants=EVERY,
    result="long",
    out_overload="IntList_out",
    node=1,
)
class sum:
    """The sum of the elements along ``dim`` (all without it); integers and bools are added as int64."""

    identity = "zero"

    def combine(a, b):
        return a + b


@sum.backward
def _(grad, self, dim, keepdim):
    return {"self": op.unreduce(grad, self.sizes(), dim, keepdim)}


@reduction("sum(Tensor self, *, ScalarType? dtype=None) -> Tensor", variants="function method", result="long",
           same_as="sum.dim_IntList", batch="reduction over=sum.dim_IntList", node=0)  # fmt: skip
class sum:
    """The sum of all elements; integers and bools are added as int64."""


@sum.backward
def _(grad, self):
    return {"self": op.expand(grad, self.sizes())}


@reduction(
    "nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    variants=EVERY,
    result="long",
    dtypes=(*REAL, *BOOL),
)
class nansum:
    """The sum along ``dim``, NaN counting as 0."""

    identity = "zero"

    def load(x):
        return where(isnan(x), 0, x)

    def combine(a, b):
        return a + b


@nansum.backward
def _(grad, self, dim, keepdim):
    return {"self": where(isnan(self), 0, op.unreduce(grad, self.sizes(), dim, keepdim))}


@reduction(
    "mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    variants=EVERY,
    result="float",
    dtypes=FLOATING_AND_COMPLEX,
    out_overload="out",
    node=1,
)
class mean:
    """The mean of the elements along ``dim`` (all without it); NaN of none."""

    identity = "zero"

    def combine(a, b):
        return a + b

    def finish(acc, n):
        return acc / n


@mean.backward
def _(grad, self, dim, keepdim):
    return {"self": op.unreduce(grad * (grad.numel() / self.numel()), self.sizes(), dim, keepdim)}


@reduction("mean(Tensor self, *, ScalarType? dtype=None) -> Tensor", variants="function method out", result="float",
           dtypes=FLOATING_AND_COMPLEX, same_as="mean.dim", out_overload="dtype_out",
           batch="reduction over=mean.dim", node=0)  # fmt: skip
class mean:
    """The mean of all elements; NaN of none."""


@mean.backward
def _(grad, self):
    return {"self": op.expand(grad / self.numel(), self.sizes())}


@composite(
    "nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor", variants=EVERY
)
def nanmean(self, dim, keepdim, dtype):
    """The mean along ``dim`` of the elements that are numbers."""
    check(self.is_floating_point() or self.is_complex(), f"takes floating-point or complex numbers; got {self.dtype}")
    return op.nansum(self, dim, keepdim, dtype=dtype) / op.sum(~isnan(self), dim, keepdim)


@reduction(
    "prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    variants=EVERY,
    result="long",
    autocast="fp32",
    out_overload="int_out",
    node=1,
)
class prod:
    """The product of the elements along ``dim``; integers and bools are multiplied as int64."""

    identity = "one"

    def combine(a, b):
        return a * b


@prod.backward
def _(grad, self, dim, keepdim):
    zero = self == 0
    rest = where(zero, 1, self)
    others, zeros = op.prod(rest, dim, True), op.sum(zero, dim, True)
    nought = op.sum(where(zero, self, 0), dim, True)  # 0, with the gradient of the factors that are
    single = where(zero, others, nought * others / rest)
    slope = where(
        zeros == 0, others / rest, where(zeros == 1, single, where(zero & (zeros == 2), (nought - self) * others, 0))
    )
    return {"self": op.unreduce(grad, self.sizes(), [dim], keepdim) * conj(slope)}


@reduction("prod(Tensor self, *, ScalarType? dtype=None) -> Tensor", variants="function method", result="long",
           same_as="prod.dim_int", autocast="fp32", batch="reduction over=prod.dim_int", node=0)  # fmt: skip
class prod:
    """The product of all elements; integers and bools are multiplied as int64."""


@prod.backward
def _(grad, self):
    zero = self == 0
    rest = where(zero, 1, self)
    others, zeros = op.prod(rest), op.sum(zero)
    nought = op.sum(where(zero, self, 0))  # 0, with the gradient of the factors that are
    single = where(zero, others, nought * others / rest)
    slope = where(
        zeros == 0, others / rest, where(zeros == 1, single, where(zero & (zeros == 2), (nought - self) * others, 0))
    )
    return {"self": grad * conj(slope)}


# --- extrema


@reduction(
    "amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", variants=EVERY, dtypes=ORDERED, nonempty=True
)
class amax:
    """The largest value along ``dim`` (all without it), NaN if there is one; equal ones share the gradient."""

    identity = "lowest"

    def combine(a, b):
        return maximum(a, b)


@amax.backward
def _(grad, self, dim, keepdim, result):
    chosen = self == op.unreduce(result, self.sizes(), dim, keepdim)
    return {"self": where(chosen, op.unreduce(grad, self.sizes(), dim, keepdim) / op.sum(chosen, dim, True), 0)}


@reduction(
    "amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", variants=EVERY, dtypes=ORDERED, nonempty=True
)
class amin:
    """The smallest value along ``dim`` (all without it), NaN if there is one; equal ones share the gradient."""

    identity = "highest"

    def combine(a, b):
        return minimum(a, b)


@amin.backward
def _(grad, self, dim, keepdim, result):
    chosen = self == op.unreduce(result, self.sizes(), dim, keepdim)
    return {"self": where(chosen, op.unreduce(grad, self.sizes(), dim, keepdim) / op.sum(chosen, dim, True), 0)}


@reduction("max(Tensor self) -> Tensor", variants="function method out", dtypes=ORDERED, nonempty=True, same_as="amax",
           out_overload="unary_out", out_widens=True, batch="reduction over=amax", node=1)  # fmt: skip
class max:
    """The largest element, NaN if there is one; equal ones share the gradient."""


@max.backward
def _(grad, self, result):
    return {"self": op.share_evenly(grad, self, result)}


@reduction("min(Tensor self) -> Tensor", variants="function method out", dtypes=ORDERED, nonempty=True, same_as="amin",
           out_overload="unary_out", out_widens=True, batch="reduction over=amin", node=1)  # fmt: skip
class min:
    """The smallest element, NaN if there is one; equal ones share the gradient."""


@min.backward
def _(grad, self, result):
    return {"self": op.share_evenly(grad, self, result)}


@composite("max.other(Tensor self, Tensor other) -> Tensor", variants=EVERY, out_overload="out")
def max(self, other):
    """The larger of the two, element by element; see ``maximum``."""
    return maximum(self, other)


@composite("min.other(Tensor self, Tensor other) -> Tensor", variants=EVERY, out_overload="out")
def min(self, other):
    """The smaller of the two, element by element; see ``minimum``."""
    return minimum(self, other)


@reduction("max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", variants=EVERY,
           result=("same", "index"), dtypes=ORDERED, outs="max max_values", out_overload="dim_max", node=0)  # fmt: skip
class max:
    """The largest value along ``dim`` and its index, the first of equal ones; NaN counts as largest."""

    state = "index"

    def better(a, b):
        return (a > b) | (isnan(a) & ~isnan(b))


@max.backward
def _(grad, self, dim, keepdim, indices):
    return {"self": op.value_at_index_backward(grad, dim, indices, self.sizes(), keepdim)}


@reduction("min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", variants=EVERY,
           result=("same", "index"), dtypes=ORDERED, outs="min min_indices", out_overload="dim_min",
           node=0)  # fmt: skip
class min:
    """The smallest value along ``dim`` and its index, the first of equal ones; NaN counts as smallest."""

    state = "index"

    def better(a, b):
        return (a < b) | (isnan(a) & ~isnan(b))


@min.backward
def _(grad, self, dim, keepdim, indices):
    return {"self": op.value_at_index_backward(grad, dim, indices, self.sizes(), keepdim)}


@composite(
    "value_at_index_backward(Tensor grad, int dim, Tensor indices, SymInt[] sizes, bool keepdim) -> Tensor",
    files="reduce",
    unbound=True,
)
def value_at_index_backward(grad, dim, indices, sizes, keepdim):
    """Zeros of ``sizes`` with ``grad`` where along ``dim`` the values stood."""


@reduction(
    "argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
    variants=EVERY,
    result="index",
    dtypes=REAL,
    same_as="max.dim",
    not_differentiable=True,
)
class argmax:
    """The index of the largest value along ``dim``, the first of equal ones; without ``dim``, in the flattened
    tensor."""


@reduction(
    "argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
    variants=EVERY,
    result="index",
    dtypes=REAL,
    same_as="min.dim",
    not_differentiable=True,
)
class argmin:
    """The index of the smallest value along ``dim``, the first of equal ones; without ``dim``, in the flattened
    tensor."""


@reduction("aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)", variants=EVERY,
           result=("same", "same"), dtypes=ORDERED, nonempty=True)  # fmt: skip
class aminmax:
    """The smallest and the largest value along ``dim`` (of all without it), found in one pass."""

    identity = ("highest", "lowest")

    def load(x):
        return x, x

    def combine(a, b):
        return minimum(a[0], b[0]), maximum(a[1], b[1])


@aminmax.backward
def _(grads, self, dim, keepdim, min, max):
    return {"self": op.aminmax_backward(grads[0], grads[1], self, dim, keepdim, min, max)}


@composite(
    "aminmax_backward(Tensor grad_min, Tensor grad_max, Tensor self, int? dim, bool keepdim, Tensor min, Tensor max) "
    "-> Tensor",
    files="reduce",
    unbound=True,
)
def aminmax_backward(grad_min, grad_max, self, dim, keepdim, min, max):
    """The gradients of both extrema, each shared by the elements that equal it."""


# --- truth


@reduction(
    "any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor", variants=EVERY, result="bool", via="bool"
)
class any:
    """Whether some element along ``dim`` (any at all without it) is nonzero."""

    identity = "zero"

    def combine(a, b):
        return a | b


@reduction(
    "any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor",
    variants=EVERY,
    result="bool",
    via="bool",
    same_as="any.dims",
    out_overload="out",
)
class any:
    """Whether some element along ``dim`` is nonzero."""


@reduction("any(Tensor self) -> Tensor", variants=EVERY, result="bool", via="bool", same_as="any.dims",
           batch="reduction over=any.dim", out_overload="all_out")  # fmt: skip
class any:
    """Whether some element is nonzero."""


@reduction(
    "all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor", variants=EVERY, result="bool", via="bool"
)
class all:
    """Whether all elements along ``dim`` (all of them without it) are nonzero."""

    identity = "one"

    def combine(a, b):
        return a & b


@reduction(
    "all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor",
    variants=EVERY,
    result="bool",
    via="bool",
    same_as="all.dims",
    out_overload="out",
)
class all:
    """Whether all elements along ``dim`` are nonzero."""


@reduction("all(Tensor self) -> Tensor", variants=EVERY, result="bool", via="bool", same_as="all.dims",
           batch="reduction over=all.dim", out_overload="all_out")  # fmt: skip
class all:
    """Whether all elements are nonzero."""


@reduction(
    "count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor",
    variants="function method out",
    result="index",
    via="bool",
)
class count_nonzero:
    """The number of nonzero elements along ``dim``."""

    identity = "zero"

    def combine(a, b):
        return a + b


@reduction("count_nonzero(Tensor self, int? dim=None) -> Tensor", variants=EVERY, result="index", via="bool",
           same_as="count_nonzero.dim_IntList", batch="reduction over=count_nonzero.dim_IntList")  # fmt: skip
class count_nonzero:
    """The number of nonzero elements along ``dim`` (of all without it)."""


# --- bits


@reduction(
    "_xor_of_all(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor",
    dtypes=("int64",),
    nonempty=True,
    unbound=True,
    not_differentiable=True,
)
class _xor_of_all:
    """The exclusive or of the elements along ``dim`` (of all without it)."""

    identity = "zero"

    def combine(a, b):
        return a ^ b


@composite(
    "hash_tensor(Tensor self, int[1] dim=[], *, bool keepdim=False, int mode=0) -> Tensor",
    variants=EVERY,
    dtypes=(*FLOATING, "uint8", "int8", "int16", "int32", "int64", *BOOL),
    files="reduce",
    out="same",
    not_differentiable=True,
)
def hash_tensor(self, dim, keepdim, mode):
    """The exclusive or along ``dim`` (of all without it) of the elements' bits as float64 or int64, as uint64.

    0 is the only ``mode``.
    """


# --- moments


_MOMENTS = "Tensor self, int[1]? dim, Scalar? correction, bool keepdim"
_OF_REAL = dict(dtypes=FLOATING, absent={"correction": 1}, unbound=True, not_differentiable=True)


@reduction(f"_var_of_real({_MOMENTS}) -> Tensor", result="float", **_OF_REAL)
class _var_of_real:
    """The squared deviations from the mean along ``dim``, over the count less ``correction``."""

    state = "moments"

    def finish(acc, n, correction):
        return acc[1] / maximum(n - correction, 0)


@reduction(f"_std_of_real({_MOMENTS}) -> Tensor", result="float", **_OF_REAL)
class _std_of_real:
    """The root of ``_var_of_real``."""

    state = "moments"

    def finish(acc, n, correction):
        return sqrt(acc[1] / maximum(n - correction, 0))


@reduction(f"_var_mean_of_real({_MOMENTS}) -> (Tensor var, Tensor mean)", result=("float", "float"), **_OF_REAL)
class _var_mean_of_real:
    """``_var_of_real`` and the mean, in one pass."""

    state = "moments"

    def finish(acc, n, correction):
        return acc[1] / maximum(n - correction, 0), acc[0]


@reduction(f"_std_mean_of_real({_MOMENTS}) -> (Tensor std, Tensor mean)", result=("float", "float"), **_OF_REAL)
class _std_mean_of_real:
    """``_std_of_real`` and the mean, in one pass."""

    state = "moments"

    def finish(acc, n, correction):
        return sqrt(acc[1] / maximum(n - correction, 0)), acc[0]


_CORRECTED = "Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False"


@composite(
    f"var.correction({_CORRECTED}) -> Tensor",
    variants=EVERY,
    files="moments",
    batch="along empty=all",
    samples=[S(f(2, 3)), S(f(2, 3), [1], correction=2), S(f(2, 3), None, correction=0, keepdim=True)],
)
def var(self, dim, correction, keepdim):
    """The variance along ``dim``: squared deviations from the mean over the count less ``correction`` (1).

    That of complex numbers is real: the variances of both parts added.
    """


@var.backward
def _(grad, self, dim, correction, keepdim):
    return {"self": op.var_backward(grad, self, dim, correction, keepdim)}


@composite(f"std.correction({_CORRECTED}) -> Tensor", variants=EVERY, files="moments", batch="along empty=all",
           samples="var.correction")  # fmt: skip
def std(self, dim, correction, keepdim):
    """The standard deviation along ``dim``, the root of ``var``."""


@std.backward
def _(grad, self, dim, correction, keepdim, result):
    return {"self": op.var_backward(where(result == 0, 0, grad / (result * 2)), self, dim, correction, keepdim)}


@composite(f"var_mean.correction({_CORRECTED}) -> (Tensor, Tensor)", variants="function out", files="moments",
           batch="along empty=all", samples="var.correction")  # fmt: skip
def var_mean(self, dim, correction, keepdim):
    """The variance and the mean along ``dim``, in one pass."""


@var_mean.backward
def _(grads, self, dim, correction, keepdim):
    spread = op.var_backward(grads[0], self, dim, correction, keepdim)
    centre = grads[1] * (grads[1].numel() / self.numel())
    return {"self": spread + op.unreduce(centre, self.sizes(), dim, keepdim)}


@composite(f"std_mean.correction({_CORRECTED}) -> (Tensor, Tensor)", variants="function out", files="moments",
           batch="along empty=all", samples="var.correction")  # fmt: skip
def std_mean(self, dim, correction, keepdim):
    """The standard deviation and the mean along ``dim``, in one pass."""


@std_mean.backward
def _(grads, self, dim, correction, keepdim, result0):
    spread = op.var_backward(where(result0 == 0, 0, grads[0] / (result0 * 2)), self, dim, correction, keepdim)
    centre = grads[1] * (grads[1].numel() / self.numel())
    return {"self": spread + op.unreduce(centre, self.sizes(), dim, keepdim)}


@composite(
    "cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> Tensor",
    variants="function method",
    files="moments",
)
def cov(self, correction, fweights, aweights):
    """The covariances of the rows of a matrix, whose columns are observations.

    ``fweights`` says how often each was made (integers), ``aweights`` how much each counts.
    """


cov.samples([
    S(f(3, 5)), S(f(5), correction=0), S(f(3, 5), fweights=v([1, 2, 0, 1, 1])),
    S(f(3, 3), aweights=v([0.5, 1.5, 1.0], "float64")), S(f(2, 2, 2)),
])  # fmt: skip


@composite("corrcoef(Tensor self) -> Tensor", variants="function method", files="moments",
           samples=[S(f(3, 5)), S(f(5)), S(f(2, 2, 2))])  # fmt: skip
def corrcoef(self):
    """The correlations of the rows of a matrix: covariances over both deviations."""


@composite(
    "var_backward(Tensor grad, Tensor self, int[1]? dim, Scalar? correction, bool keepdim) -> Tensor",
    files="moments",
    unbound=True,
)
def var_backward(grad, self, dim, correction, keepdim):
    """The gradient of a variance: twice the deviation from the mean over the count less ``correction``."""


@composite("var(Tensor self, bool unbiased=True) -> Tensor", variants="function method",
           samples=[S(f(2, 3)), S(f(4), False), S(f(0))])  # fmt: skip
def var(self, unbiased):
    """The variance of all elements, over the count less one if ``unbiased``."""
    return op.var(self, None, correction=1 if unbiased else 0)


@composite("var.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor", variants=EVERY,
           samples=[S(f(2, 3), 0), S(f(2, 3), [0, 1], False, True), S(f(2, 3), None)], out_overload="out")  # fmt: skip
def var(self, dim, unbiased, keepdim):
    """The variance along ``dim``, over the count less one if ``unbiased``."""
    return op.var(self, dim, correction=1 if unbiased else 0, keepdim=keepdim)


@composite("std(Tensor self, bool unbiased=True) -> Tensor", variants="function method", samples="var")
def std(self, unbiased):
    """The standard deviation of all elements, over the count less one if ``unbiased``."""
    return op.std(self, None, correction=1 if unbiased else 0)


@composite("std.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor", variants=EVERY,
           samples="var.dim", out_overload="out")  # fmt: skip
def std(self, dim, unbiased, keepdim):
    """The standard deviation along ``dim``, over the count less one if ``unbiased``."""
    return op.std(self, dim, correction=1 if unbiased else 0, keepdim=keepdim)


@composite("var_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)", variants="function", samples="var")
def var_mean(self, unbiased):
    """The variance of all elements, over the count less one if ``unbiased``, and their mean."""
    return op.var_mean(self, None, correction=1 if unbiased else 0)


@composite("var_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor)",
           variants="function", samples="var.dim")  # fmt: skip
def var_mean(self, dim, unbiased, keepdim):
    """The variance along ``dim``, over the count less one if ``unbiased``, and the mean."""
    return op.var_mean(self, dim, correction=1 if unbiased else 0, keepdim=keepdim)


@composite("std_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)", variants="function", samples="var")
def std_mean(self, unbiased):
    """The standard deviation of all elements, over the count less one if ``unbiased``, and their mean."""
    return op.std_mean(self, None, correction=1 if unbiased else 0)


@composite("std_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor)",
           variants="function", samples="var.dim")  # fmt: skip
def std_mean(self, dim, unbiased, keepdim):
    """The standard deviation along ``dim``, over the count less one if ``unbiased``, and the mean."""
    return op.std_mean(self, dim, correction=1 if unbiased else 0, keepdim=keepdim)


# --- norms


@reduction(
    "_norm_two(Tensor self, int[1]? dim, bool keepdim, *, ScalarType? dtype=None) -> Tensor",
    result="real",
    dtypes=FLOATING_AND_COMPLEX,
    unbound=True,
)
class _norm_two:
    """The root of the sum of squared sizes."""

    identity = "zero"

    def load(x):
        return real(x * conj(x))

    def combine(a, b):
        return a + b

    def finish(acc):
        return sqrt(acc)


@_norm_two.backward
def _(grad, self, dim, keepdim, result):
    length = op.unreduce(result, self.sizes(), dim, keepdim)
    slope = where(length == 0, 0, self / length)
    return {"self": op.unreduce(grad, self.sizes(), dim, keepdim) * slope}


@reduction(
    "_norm_one(Tensor self, int[1]? dim, bool keepdim, *, ScalarType? dtype=None) -> Tensor",
    result="real",
    dtypes=FLOATING_AND_COMPLEX,
    unbound=True,
)
class _norm_one:
    """The sum of sizes."""

    identity = "zero"

    def load(x):
        return abs(x)

    def combine(a, b):
        return a + b


@_norm_one.backward
def _(grad, self, dim, keepdim):
    return {"self": op.unreduce(grad, self.sizes(), dim, keepdim) * op.sgn(self)}


@reduction(
    "_norm_p(Tensor self, Scalar p, int[1]? dim, bool keepdim, *, ScalarType? dtype=None) -> Tensor",
    result="real",
    dtypes=FLOATING_AND_COMPLEX,
    unbound=True,
)
class _norm_p:
    """The ``p``-th root of the sum of sizes to the power of ``p``."""

    identity = "zero"

    def load(x, p):
        return abs(x) ** p

    def combine(a, b):
        return a + b

    def finish(acc, p):
        return acc ** (1 / p)


@_norm_p.backward
def _(grad, self, p, dim, keepdim, result):
    length, size = op.unreduce(result, self.sizes(), dim, keepdim), op.abs(self)
    slope = where((length == 0) | (size == 0), 0, op.sgn(self) * op.pow(size / length, p - 1))
    return {"self": op.unreduce(grad, self.sizes(), dim, keepdim) * slope}


@composite(
    "linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) "
    "-> Tensor",
    variants="function out",
    module="linalg",
    files="reduce",
    out="same",
)
def linalg_vector_norm(self, ord, dim, keepdim, dtype):
    """The norm of order ``ord`` along ``dim``; inf, -inf and 0 give the largest size, the smallest and the nonzero
    count."""


linalg_vector_norm.samples(
    [S(f(2, 3), p) for p in (2, 1, 0, 3, float("inf"), -float("inf"), 0.5)] + [S(f(2, 3), 2, [1], True)]
)


@composite("norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) -> Tensor",
           variants="out function", out_overload="out", files="reduce", unbound=True, out="same",
           samples=[S(f(2, 3), 2, [0]), S(f(2, 3), None, [1], True)])  # fmt: skip
def norm(self, p, dim, keepdim):
    """The norm of order ``p`` (2) along ``dim``."""


@composite(
    "norm.ScalarOpt_dim_dtype(Tensor self, Scalar? p, int[1] dim, bool keepdim, *, ScalarType dtype) -> Tensor",
    variants="out function",
    out_overload="dtype_out",
    files="reduce",
    unbound=True,
    out="same",
)
def norm(self, p, dim, keepdim, dtype):
    """The norm of order ``p`` (2) along ``dim``, of ``self`` in ``dtype``."""


@composite("norm.ScalarOpt_dtype(Tensor self, Scalar? p, *, ScalarType dtype) -> Tensor", variants="out function",
           files="reduce", unbound=True, out="same", samples=[S(f(2, 3), None, dtype=Name("float64"))])  # fmt: skip
def norm(self, p, dtype):
    """The norm of order ``p`` (2) of all elements in ``dtype``."""


@composite("norm.Scalar(Tensor self, Scalar p=2) -> Tensor", unbound=True, samples=[S(f(2, 3)), S(f(2, 3), 1)])
def norm(self, p):
    """The norm of order ``p`` of all elements."""
    return op.linalg_vector_norm(self, p)


@composite("logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor", variants=EVERY, files="moments",
           batch="along empty=all", samples=[S(f(2, 3), 0), S(f(2, 3), [0, 1]), S(f(2, 3), [-1], True)])  # fmt: skip
def logsumexp(self, dim, keepdim):
    """The logarithm of the sum of exponentials along ``dim``, without overflow on the way."""


@logsumexp.backward
def _(grad, self, dim, keepdim, result):
    return {
        "self": op.unreduce(grad, self.sizes(), dim, keepdim)
        * conj(exp(self - op.unreduce(result, self.sizes(), dim, keepdim)))
    }
