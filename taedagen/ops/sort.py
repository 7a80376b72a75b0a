"""Order: sorting, selecting by rank, the most frequent value. NaN counts as the largest number."""

from taedagen.opdef import *
from taedagen.opdef.samples import Fill, S, f, i, v


@kernel(
    "sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)",
    variants="function method out",
    shape="sort",
    files="sort",
    nondiff="indices",
    batch="along",
    samples=[S(f(3, 5), stable=True), S(i(3, 9), stable=True, dim=0, descending=True)],
    out_overload="values_stable",
)
def sort_stable(self, stable, dim, descending):
    """The elements in rising order along ``dim``, and where they were. Equal ones keep their order if ``stable``."""


@sort_stable.backward
def _(grad, self, dim, indices):
    return {"self": op.value_selecting_reduction_backward(grad, dim, indices, self.sizes(), True)}


@composite(
    "sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)",
    variants="function method out",
    files="sort",
    samples=[S(f(7)), S(f(3, 5)), S(f(0)), S(f())],
    out_overload="values",
)
def sort(self, dim, descending):
    """The elements in rising order along ``dim``, and where they were."""


@composite(
    "value_selecting_reduction_backward(Tensor grad, int dim, Tensor indices, SymInt[] sizes, bool keepdim) -> Tensor",
    files="sort",
    unbound=True,
)
def value_selecting_reduction_backward(grad, dim, indices, sizes, keepdim):
    """Zeros of shape ``sizes`` with ``grad`` added where the elements were taken from."""


@composite(
    "argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor", variants="function method", samples="sort"
)
def argsort(self, dim, descending):
    """The indices that sort ``self`` along ``dim``."""
    return op.sort(self, dim, descending)[1]


@composite(
    "argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> Tensor",
    variants="function method out",
    samples=[S(i(3, 9), stable=True)],
)
def argsort_stable(self, stable, dim, descending):
    """The indices that sort ``self`` along ``dim``; equal elements keep their order if ``stable``."""
    return op.sort(self, stable=stable, dim=dim, descending=descending)[1]


@composite("msort(Tensor self) -> Tensor", variants="function method out", samples="sort")
def msort(self):
    """``self`` sorted along its first dimension."""
    return op.sort(self, 0)[0]


@kernel(
    "topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor indices)",
    variants="function method out",
    shape="topk",
    files="sort",
    nondiff="indices",
    batch="along",
    samples=[S(Fill((7,), values=[3, 7, 1, 5, 2, 6, 4]), 3), S(f(3, 5), 2, 0), S(f(3, 5), 2, 1, False), S(f(3), 4)],
    out_overload="values",
)
def topk(self, k, dim, largest, sorted):
    """The ``k`` largest (or smallest) elements along ``dim``, best first, and where they were."""


@topk.backward
def _(grad, self, dim, indices):
    return {"self": op.value_selecting_reduction_backward(grad, dim, indices, self.sizes(), True)}


@kernel(
    "kthvalue(Tensor self, SymInt k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
    variants="function method out",
    shape="kthvalue",
    files="sort",
    own_out=True,
    nondiff="indices",
    batch="along",
    samples=[S(Fill((7,), values=[3, 7, 1, 5, 2, 6, 4]), 3), S(f(3, 5), 1, 0, True), S(f(3), 4)],
    out_overload="values",
)
def kthvalue(self, k, dim, keepdim):
    """The ``k``-th smallest element along ``dim``, counted from 1, and where it was."""


@kthvalue.backward
def _(grad, self, dim, keepdim, indices):
    return {"self": op.value_selecting_reduction_backward(grad, dim, indices, self.sizes(), keepdim)}


@kernel(
    "median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
    variants="function method out",
    shape="select_along",
    files="sort",
    nondiff="indices",
    batch="along",
    samples=[S(f(3, 5), 0), S(f(3, 4), 1, True), S(f(), 0), S(f(3), 2)],
    out_overload="dim_values",
    node=1,
)
def median_dim(self, dim, keepdim):
    """The median along ``dim`` (the lower one of two), and where it was; NaN if there is one."""


@median_dim.backward
def _(grad, self, dim, keepdim, indices):
    return {"self": op.value_selecting_reduction_backward(grad, dim, indices, self.sizes(), keepdim)}


@kernel(
    "nanmedian.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
    variants="function method out",
    shape="select_along",
    files="sort",
    nondiff="indices",
    batch="along",
    samples="median.dim",
    out_overload="dim_values",
    node=1,
)
def nanmedian_dim(self, dim, keepdim):
    """The median along ``dim`` of what is not NaN."""


@nanmedian_dim.backward
def _(grad, self, dim, keepdim, indices):
    return {"self": op.value_selecting_reduction_backward(grad, dim, indices, self.sizes(), keepdim)}


@composite(
    "median(Tensor self) -> Tensor",
    variants="function method out",
    files="sort",
    samples=[S(f(7)), S(f(2, 3)), S(f(0))],
    node=0,
)
def median(self):
    """The median of all elements (the lower one of two); NaN if there is one, or if there are no elements."""


@median.backward
def _(grad, self, result):
    return {"self": op.share_evenly(grad, self, result)}


@composite("nanmedian(Tensor self) -> Tensor", variants="function method out", files="sort", samples="median", node=0)
def nanmedian(self):
    """The median of all elements that are not NaN."""


@nanmedian.backward
def _(grad, self, result):
    return {"self": op.share_evenly(grad, self, result)}


@composite("share_evenly(Tensor grad, Tensor self, Tensor result) -> Tensor", files="sort", unbound=True)
def share_evenly(grad, self, result):
    """``grad`` divided among the elements of ``self`` that equal ``result``."""


@kernel(
    "mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
    variants="function method out",
    out_overload="values",
    shape="select_along",
    files="sort",
    out="same",
    nondiff="indices",
    batch="along",
    samples="median.dim",
)
def mode(self, dim, keepdim):
    """The most frequent value along ``dim``, the smallest of several, and where it stood last."""


@mode.backward
def _(grad, self, dim, keepdim, indices):
    return {"self": op.value_selecting_reduction_backward(grad, dim, indices, self.sizes(), keepdim)}


@composite(
    'quantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation="linear") -> Tensor',
    variants="function method out",
    files="quantile",
    autocast="fp32",
    samples=[S(f(5, 3), v([0.1, 0.5], "float64")), S(f(5, 3), v([0.3], "float64"), 0, True)],
)
def quantile(self, q, dim, keepdim, interpolation):
    """The ``q``-th quantiles along ``dim``, or of all elements; NaN where there is one. Several ``q`` come first."""


@composite(
    'quantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str interpolation="linear") -> Tensor',
    variants="function method out",
    files="quantile",
    autocast="fp32",
)
def quantile_number(self, q, dim, keepdim, interpolation):
    """The ``q``-th quantile along ``dim``, or of all elements."""


quantile_number.samples([
    S(f(6, 3), 0.3, 0, interpolation="linear"), S(f(6, 3), 0.3, 0, interpolation="lower"),
    S(f(6, 3), 0.3, 0, interpolation="higher"), S(f(6, 3), 0.3, 0, interpolation="nearest"),
    S(f(6, 3), 0.3, 0, interpolation="midpoint"), S(f(3), 1.5),
])  # fmt: skip


@composite(
    'nanquantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation="linear") -> Tensor',
    variants="function method out",
    files="quantile",
    autocast="fp32",
    samples="quantile",
)
def nanquantile(self, q, dim, keepdim, interpolation):
    """The ``q``-th quantiles along ``dim`` of what is not NaN."""


@composite(
    "nanquantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, "
    'str interpolation="linear") -> Tensor',
    variants="function method out",
    files="quantile",
    autocast="fp32",
    samples="quantile.scalar",
)
def nanquantile_number(self, q, dim, keepdim, interpolation):
    """The ``q``-th quantile along ``dim`` of what is not NaN."""
