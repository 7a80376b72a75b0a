"""Gradients of views: zeros with the gradient where the view looked."""

from taedagen.opdef import *
from taedagen.opdef.samples import S, f


@composite(
    "sum_to_size(Tensor self, SymInt[] size) -> Tensor",
    variants="method",
    files="view_gradients",
    samples=[S(f(2, 3), [1, 3]), S(f(2, 3), [3]), S(f(2, 3), [2])],
)
def sum_to_size(self, size):
    """Sums away the dimensions that broadcasting from ``size`` added."""


@composite(
    "as_strided_backward(Tensor grad_output, SymInt[] input_size, SymInt[] input_stride, SymInt input_offset, "
    "SymInt[] size, SymInt[] stride, SymInt? storage_offset) -> Tensor",
    files="view_gradients",
    unbound=True,
)
def as_strided_backward(grad_output, input_size, input_stride, input_offset, size, stride, storage_offset):
    """The gradient of ``as_strided``: summed where elements were shown more than once."""


@composite("permute_backward(Tensor grad_output, int[] dims) -> Tensor", files="view_gradients", unbound=True)
def permute_backward(grad_output, dims):
    """The inverse permutation."""


@composite(
    "select_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt index) -> Tensor",
    files="view_gradients",
    unbound=True,
    batch="backward",
)
def select_backward(grad_output, input_sizes, dim, index):
    """Zeros with the gradient at one position of a dimension."""


@select_backward.backward
def _(grad, dim, index):
    return {"grad_output": grad.select(dim, index)}


@composite(
    "slice_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt? start, SymInt? end, SymInt step) -> "
    "Tensor",
    files="view_gradients",
    unbound=True,
    batch="backward",
)
def slice_backward(grad_output, input_sizes, dim, start, end, step):
    """Zeros with the gradient in a slice of a dimension."""


@slice_backward.backward
def _(grad, dim, start, end, step):
    return {"grad_output": op.slice(grad, dim, start, end, step)}


@composite(
    "diagonal_backward(Tensor grad_output, SymInt[] input_sizes, int offset, int dim1, int dim2) -> Tensor",
    files="view_gradients",
    unbound=True,
    batch="backward",
)
def diagonal_backward(grad_output, input_sizes, offset, dim1, dim2):
    """Zeros with the gradient on a diagonal."""


@diagonal_backward.backward
def _(grad, offset, dim1, dim2):
    return {"grad_output": grad.diagonal(offset, dim1, dim2)}


@composite(
    "unfold_backward(Tensor grad_in, SymInt[] input_sizes, int dim, int size, int step) -> Tensor",
    files="view_gradients",
    unbound=True,
    batch="backward",
)
def unfold_backward(grad_in, input_sizes, dim, size, step):
    """The sum over all windows at the places that they showed."""


@unfold_backward.backward
def _(grad, dim, size, step):
    return {"grad_in": grad.unfold(dim, size, step)}
