"""Gradients of views: zeros with the gradient where the view looked."""

from taedagen.opdef import *
from taedagen.opdef.samples import S, f


@composite(
    "sum_to_size(Tensor self, SymInt[] size) -> Tensor",
    variants="method",
    samples=[S(f(2, 3), [1, 3]), S(f(2, 3), [3]), S(f(2, 3), [2])],
)
def sum_to_size(self, size):
    """Sums away the dimensions that broadcasting from ``size`` added."""
    extra = self.dim() - len(size)
    check(
        extra >= 0,
        f"size {size} has more dimensions than the tensor of shape {self.shape}",
    )
    dims = [d for d in range(extra)]
    for d in range(extra, self.dim()):
        check(
            size[d - extra] == 1 or size[d - extra] == self.size(d),
            f"size {size} does not broadcast to {self.shape}",
        )
        if size[d - extra] == 1 and self.size(d) != 1:
            dims.append(d)
    if len(size) == 0:
        return self.sum()
    if len(dims) == 0:
        return self
    total = self.sum(dims, True)
    return total.reshape(size) if extra > 0 else total


@composite(
    "as_strided_backward(Tensor grad_output, SymInt[] input_size, SymInt[] input_stride, SymInt input_offset, "
    "SymInt[] size, SymInt[] stride, SymInt? storage_offset) -> Tensor",
    files="view_gradients",
    unbound=True,
)
def as_strided_backward(grad_output, input_size, input_stride, input_offset, size, stride, storage_offset):
    """The gradient of ``as_strided``: summed where elements were shown more than once."""


@composite("permute_backward(Tensor grad_output, int[] dims) -> Tensor", unbound=True)
def permute_backward(grad_output, dims):
    """The inverse permutation."""
    rank = len(dims)
    inverse = [0] * rank
    for i, d in enumerate(dims):
        inverse[wrap_dim(d, rank)] = i
    return grad_output.permute(inverse)


@composite(
    "select_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt index) -> Tensor",
    unbound=True,
    batch="backward",
)
def select_backward(grad_output, input_sizes, dim, index):
    """Zeros with the gradient at one position of a dimension."""
    result = grad_output.new_zeros(input_sizes)
    result.select(dim, index).copy_(grad_output)
    return result


@select_backward.backward
def _(grad, dim, index):
    return {"grad_output": grad.select(dim, index)}


@composite(
    "slice_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt? start, SymInt? end, SymInt step) -> "
    "Tensor",
    unbound=True,
    batch="backward",
)
def slice_backward(grad_output, input_sizes, dim, start, end, step):
    """Zeros with the gradient in a slice of a dimension."""
    result = grad_output.new_zeros(input_sizes)
    op.slice(result, dim, start, end, step).copy_(grad_output)
    return result


@slice_backward.backward
def _(grad, dim, start, end, step):
    return {"grad_output": op.slice(grad, dim, start, end, step)}


@composite(
    "diagonal_backward(Tensor grad_output, SymInt[] input_sizes, int offset, int dim1, int dim2) -> Tensor",
    unbound=True,
    batch="backward",
)
def diagonal_backward(grad_output, input_sizes, offset, dim1, dim2):
    """Zeros with the gradient on a diagonal."""
    result = grad_output.new_zeros(input_sizes)
    result.diagonal(offset, dim1, dim2).copy_(grad_output)
    return result


@diagonal_backward.backward
def _(grad, offset, dim1, dim2):
    return {"grad_output": grad.diagonal(offset, dim1, dim2)}


@composite(
    "unfold_backward(Tensor grad_in, SymInt[] input_sizes, int dim, int size, int step) -> Tensor",
    unbound=True,
    batch="backward",
)
def unfold_backward(grad_in, input_sizes, dim, size, step):
    """The sum over all windows at the places that they showed."""
    # Windows that overlap are added in as few calls as there are elements in a window, or windows.
    result = grad_in.new_zeros(input_sizes)
    if len(input_sizes) == 0:
        return result + grad_in.reshape([])
    along = wrap_dim(dim, len(input_sizes))
    windows = grad_in.size(along)
    if step >= size:
        result.unfold(along, size, step).copy_(grad_in)
    elif size <= windows:
        for i in range(size):
            op.slice(result, along, i, i + (windows - 1) * step + 1, step).add_(grad_in.select(-1, i))
    else:
        for w in range(windows):
            op.slice(result, along, w * step, w * step + size).add_(grad_in.select(along, w).movedim(-1, along))
    return result


@unfold_backward.backward
def _(grad, dim, size, step):
    return {"grad_in": grad.unfold(dim, size, step)}
