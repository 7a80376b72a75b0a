"""Finding indices among sorted numbers, counting, membership and distinct values."""

from taedagen.opdef import *
from taedagen.opdef.samples import S, f, i, v


@kernel(
    "searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool right=False, str? "
    "side=None, "
    "Tensor? sorter=None) -> Tensor",
    variants="function out",
    shape="searchsorted",
    files="search",
    out="same",
    not_differentiable=True,
    batch="searchsorted",
)
def searchsorted(sorted_sequence, self, out_int32, right, side, sorter):
    """How many elements of the last dimension of ``sorted_sequence`` are less than each value (``right``: or equal)."""


searchsorted.samples([
    S(f(5, of="sorted"), f(2, 3)), S(f(2, 5, of="sorted"), f(2, 3), right=True),
    S(f(5, of="sorted"), f(3), out_int32=True),
])  # fmt: skip


@composite(
    "searchsorted.Scalar(Tensor sorted_sequence, Scalar self, *, bool out_int32=False, bool right=False, "
    "str? side=None, Tensor? sorter=None) -> Tensor",
    variants="function out",
    files="search",
    out="same",
    samples=[S(f(5, of="sorted"), 0.5)],
)
def searchsorted_number(sorted_sequence, self, out_int32, right, side, sorter):
    """The same for one number."""


@composite(
    "bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor",
    variants="function out",
    files="search",
    out="same",
    samples=[S(f(2, 3), f(5, of="sorted")), S(f(3), f(5, of="sorted"), right=True)],
)
def bucketize(self, boundaries, out_int32, right):
    """Between which of the rising ``boundaries`` (a vector) each element lies."""


@composite(
    "bucketize.Scalar(Scalar self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor",
    variants="function out",
    files="search",
    out="same",
    samples=[S(0.5, f(5, of="sorted"))],
)
def bucketize_number(self, boundaries, out_int32, right):
    """The same for one number."""


@kernel(
    "bincount(Tensor self, Tensor? weights=None, SymInt minlength=0) -> Tensor",
    variants="function method out",
    shape="dynamic",
    files="search",
    samples=[S(i(6)), S(i(6), f(6)), S(i(6), None, 9), S(v([-1]))],
)
def bincount(self, weights, minlength):
    """How often each of 0, 1, 2, ... stands in a vector of integers, or the sum of its ``weights``."""


@kernel(
    "histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor",
    variants="function method out",
    shape="histc",
    files="search",
    out="same",
    not_differentiable=True,
    samples=[S(f(10)), S(f(10), 4, -1, 1)],
)
def histc(self, bins, min, max):
    """How many elements lie in each of ``bins`` equal parts of [min, max]; of their own range if both are equal."""


@composite(
    "histogram.bins_tensor(Tensor self, Tensor bins, *, Tensor? weight=None, bool density=False) "
    "-> (Tensor hist, Tensor bin_edges)",
    variants="function method out",
    files="search",
    out="same",
    explicit=True,
    samples=[S(f(10), f(4, of="sorted"))],  # their results have no derivative, and say so
)
def histogram(self, bins, weight, density):
    """How many elements (or how much ``weight``) lie between the rising edges ``bins``; as a density if asked."""


@histogram.backward
def _(grads):
    return {name: op.no_derivative("histogram") for name in ("self", "bins", "weight")}


@composite(
    "histogram.bin_ct(Tensor self, int bins=100, *, float[]? range=None, Tensor? weight=None, bool density=False) "
    "-> (Tensor hist, Tensor bin_edges)",
    variants="function method out",
    files="search",
    out="same",
    explicit=True,
    samples=[S(f(10), 4), S(f(10), 4, density=True)],  # their results have no derivative, and say so
)
def histogram_equal(self, bins, range, weight, density):
    """The same for ``bins`` equal parts of ``range``, or of the elements' own."""


@histogram_equal.backward
def _(grads):
    return {name: op.no_derivative("histogram") for name in ("self", "weight")}


@composite(
    "isin.Tensor_Tensor(Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool invert=False) -> "
    "Tensor",
    variants="function out",
    files="search",
    samples=[S(i(2, 3), v([1, 2])), S(i(3), v([1]), invert=True)],
)
def isin(elements, test_elements, assume_unique, invert):
    """Whether each element is among ``test_elements``."""


@composite(
    "isin.Tensor_Scalar(Tensor elements, Scalar test_element, *, bool assume_unique=False, bool invert=False) -> "
    "Tensor",
    variants="function out",
    files="search",
    samples=[S(i(2, 3), 1)],
)
def isin_number(elements, test_element, assume_unique, invert):
    """Whether each element is ``test_element``."""


@composite(
    "isin.Scalar_Tensor(Scalar element, Tensor test_elements, *, bool assume_unique=False, bool invert=False) -> "
    "Tensor",
    variants="function out",
    files="search",
    samples=[S(1, i(3))],
)
def is_number_in(element, test_elements, assume_unique, invert):
    """Whether ``element`` is among ``test_elements``."""


# --- distinct values


@kernel(
    "_unique2(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> (Tensor, Tensor, "
    "Tensor)",
    shape="dynamic",
    files="unique",
    samples=[S(i(8)), S(i(2, 4)), S(f(0))],
)
def _unique2(self, sorted, return_inverse, return_counts):
    """The distinct elements in rising order, which of them each element is, and how often each stands in ``self``.

    What is not asked for is empty.
    """


@_unique2.backward
def _(grads):
    return {"self": op.no_derivative("_unique2")}


@composite(
    "_unique(Tensor self, bool sorted=True, bool return_inverse=False) -> (Tensor, Tensor)",
    files="search",
    samples="_unique2",
)
def _unique(self, sorted, return_inverse):
    """``_unique2`` without counts."""


@kernel(
    "unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False, int? dim=None) "
    "-> (Tensor, Tensor, Tensor)",
    shape="dynamic",
    files="unique",
    samples="_unique2",
)
def unique_consecutive(self, return_inverse, return_counts, dim):
    """The elements (or slices along ``dim``) without those that repeat the one before."""


@unique_consecutive.backward
def _(grads):
    return {"self": op.no_derivative("unique_consecutive")}


@kernel(
    "unique_dim(Tensor self, int dim, bool sorted=True, bool return_inverse=False, bool return_counts=False) "
    "-> (Tensor, Tensor, Tensor)",
    shape="dynamic",
    files="unique",
    samples=[S(v([[1, 2], [1, 2], [0, 5]]), 0), S(v([[1, 1], [2, 2]]), 1)],
)
def unique_dim(self, dim, sorted, return_inverse, return_counts):
    """The distinct slices along ``dim``, in the order of their elements."""


@unique_dim.backward
def _(grads):
    return {"self": op.no_derivative("unique_dim")}


@composite(
    "unique_dim_consecutive(Tensor self, int dim, bool return_inverse=False, bool return_counts=False) "
    "-> (Tensor, Tensor, Tensor)",
    files="search",
    samples="unique_dim",
)
def unique_dim_consecutive(self, dim, return_inverse, return_counts):
    """``unique_consecutive`` along ``dim``."""


@composite(
    "one_hot(Tensor self, int num_classes=-1) -> Tensor", module="nn", files="search", samples=[S(i(2, 3)), S(i(4), 5)]
)
def one_hot(self, num_classes):
    """Vectors of zeros with a one at each class; as many classes as the largest asks for if ``num_classes`` is -1."""


@composite(
    "_convert_indices_from_coo_to_csr(Tensor self, int size, *, bool out_int32=False) -> Tensor",
    variants="function out",
    files="search",
    explicit=True,
    not_differentiable=True,
    samples=[S(v([0, 0, 1, 3]), 4), S(v([1, 2]), 3, out_int32=True)],
)
def _convert_indices_from_coo_to_csr(self, size, out_int32):
    """Where each of ``size`` rows begins among rising row numbers, and where the last one ends."""


@composite(
    "_convert_indices_from_csr_to_coo(Tensor crow_indices, Tensor col_indices, *, bool out_int32=False, "
    "bool transpose=False) -> Tensor",
    variants="function out",
    files="search",
    explicit=True,
    not_differentiable=True,
    samples=[S(v([0, 2, 2, 3]), v([1, 0, 2])), S(v([0, 1]), v([3]), transpose=True)],
)
def _convert_indices_from_csr_to_coo(crow_indices, col_indices, out_int32, transpose):
    """The rows of elements, told where each row begins, above their columns (``transpose``: below)."""
