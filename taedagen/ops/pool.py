"""Pooling over windows of the last one to three dimensions. Inputs are (N, C, ...) or (C, ...)."""

import math

from taedagen.opdef import *
from taedagen.opdef.samples import S, f, v

# --- maxima


def _flat(values, across):
    """(1, n) for n; an empty list stays one."""
    check(len(values) <= 1, f"one dimension is pooled: one number is wanted; got {values}")
    return [across, values[0]] if len(values) > 0 else values


def _with_row(self):
    """A line as a plane one row high."""
    check(
        self.dim() == 2 or self.dim() == 3,
        f"input must be (N, C, L) or (C, L); got shape {self.shape}",
    )
    return self.unsqueeze(-2)


@composite(
    "max_pool1d_with_indices(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, int[1] dilation=1, "
    "bool ceil_mode=False) -> (Tensor, Tensor)",
)
def max_pool1d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode):
    """The largest element of each window of the last dimension, and its position."""
    values, indices = op.max_pool2d_with_indices(
        _with_row(self),
        _flat(kernel_size, 1),
        _flat(stride, 1),
        _flat(padding, 0),
        _flat(dilation, 1),
        ceil_mode,
    )
    return values.squeeze(-2), indices.squeeze(-2)


max_pool1d_with_indices.samples([
    S(f(1, 3), [2]), S(f(2, 3, 7), [2]), S(f(2, 3, 7), [3], [2], [1]), S(f(3, 6), [2]), S(f(2, 3, 7), [2], [1]),
    S(f(2, 3, 7), [9]), S(f(2, 3, 7), [2], [2], [0], [2]), S(f(2, 3, 7), [2], [2], [0], [1], True),
])  # fmt: skip


@composite(
    "max_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, int[1] dilation=1, bool "
    "ceil_mode=False) -> Tensor",
    samples="max_pool1d_with_indices",
)
def max_pool1d(self, kernel_size, stride, padding, dilation, ceil_mode):
    """The largest element of each window of the last dimension."""
    return op.max_pool1d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode)[0]


@composite(
    "max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, bool "
    "ceil_mode=False) -> Tensor"
)
def max_pool2d(self, kernel_size, stride, padding, dilation, ceil_mode):
    """The largest element of each window of the last 2 dimensions."""
    return op.max_pool2d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode)[0]


max_pool2d.samples([
    S(f(1, 3, 3), [2, 2]), S(f(2, 3, 7, 7), [2, 2]), S(f(2, 3, 7, 7), [3, 3], [2, 2], [1, 1]),
    S(f(3, 6, 6), [2, 2]), S(f(2, 3, 7, 7), [2, 2], [1, 1]), S(f(2, 3, 7, 7), [9, 9]),
    S(f(2, 3, 7, 7), [2, 2], [2, 2], [0, 0], [2, 2]), S(f(2, 3, 7, 7), [2, 2], [2, 2], [0, 0], [1, 1], True),
])  # fmt: skip


@kernel(
    "max_pool2d_with_indices(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, "
    "bool ceil_mode=False) -> (Tensor, Tensor indices)",
    variants="function out",
    module="nn",
    shape="max_pool2d",
    files="max_pool",
    nondiff="indices",
    batch="folded",
    samples="max_pool2d",
    outs="out indices",
    flat="self",
)
def max_pool2d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode):
    """The largest element of each window of the last 2 dimensions, and where it stands among these, flattened."""


@max_pool2d_with_indices.backward
def _(grad, self, indices):
    return {"self": op.max_pool_backward(grad, indices, self.sizes(), 2)}


@composite(
    "max_pool2d_with_indices_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, int[2] "
    "padding, int[2] dilation, bool ceil_mode, Tensor indices) -> Tensor",
    unbound=True,
)
def max_pool2d_with_indices_backward(grad_output, self, kernel_size, stride, padding, dilation, ceil_mode, indices):
    """The gradient of ``max_pool2d_with_indices``."""
    return op.max_pool_backward(grad_output, indices, self.shape, 2)


@composite(
    "max_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] dilation=1, bool "
    "ceil_mode=False) -> Tensor",
    autocast="fp32",
)
def max_pool3d(self, kernel_size, stride, padding, dilation, ceil_mode):
    """The largest element of each window of the last 3 dimensions."""
    return op.max_pool3d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode)[0]


max_pool3d.samples([
    S(f(1, 3, 3, 3), [2, 2, 2]), S(f(2, 3, 7, 7, 7), [2, 2, 2]),
    S(f(2, 3, 7, 7, 7), [3, 3, 3], [2, 2, 2], [1, 1, 1]), S(f(3, 6, 6, 6), [2, 2, 2]),
    S(f(2, 3, 7, 7, 7), [2, 2, 2], [1, 1, 1]), S(f(2, 3, 7, 7, 7), [9, 9, 9]),
    S(f(2, 3, 7, 7, 7), [2, 2, 2], [2, 2, 2], [0, 0, 0], [2, 2, 2]),
    S(f(2, 3, 7, 7, 7), [2, 2, 2], [2, 2, 2], [0, 0, 0], [1, 1, 1], True),
])  # fmt: skip


@kernel(
    "max_pool3d_with_indices(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] dilation=1, "
    "bool ceil_mode=False) -> (Tensor, Tensor indices)",
    variants="function out",
    module="nn",
    shape="max_pool3d",
    files="max_pool",
    nondiff="indices",
    batch="folded",
    samples="max_pool3d",
    outs="out indices",
    flat="self",
)
def max_pool3d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode):
    """The largest element of each window of the last 3 dimensions, and where it stands among these, flattened."""


@max_pool3d_with_indices.backward
def _(grad, self, indices):
    return {"self": op.max_pool_backward(grad, indices, self.sizes(), 3)}


@kernel(
    "max_pool_backward(Tensor upper, Tensor indices, SymInt[] sizes, int rank) -> Tensor",
    shape="max_pool_backward",
    files="max_pool",
    unbound=True,
    batch="folded",
)
def max_pool_backward(upper, indices, sizes, rank):
    """A tensor of ``sizes`` where each number of ``upper`` is added at its index into the last ``rank`` dimensions."""


@max_pool_backward.backward
def _(grad, indices, rank):
    return {"upper": op.take_pooled(grad, indices, rank)}


@composite("take_pooled(Tensor self, Tensor indices, int rank) -> Tensor", unbound=True)
def take_pooled(self, indices, rank):
    """The elements of ``self`` at flat ``indices`` into its last ``rank`` dimensions."""
    check(1 <= rank <= 3, f"a window has 1 to 3 dimensions; got {rank}")
    return self.flatten(-rank).gather(-1, indices.flatten(-rank)).reshape(indices.shape)


# --- means


@composite(
    "avg_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, bool ceil_mode=False, "
    "bool count_include_pad=True) -> Tensor",
    variants="function out",
)
def avg_pool1d(self, kernel_size, stride, padding, ceil_mode, count_include_pad):
    """The mean of each window of the last dimension."""
    return op.avg_pool2d(
        _with_row(self),
        _flat(kernel_size, 1),
        _flat(stride, 1),
        _flat(padding, 0),
        ceil_mode,
        count_include_pad,
    ).squeeze(-2)


avg_pool1d.samples([
    S(f(1, 3), [2]), S(f(2, 3, 7), [2]), S(f(2, 3, 7), [3], [2], [1]), S(f(3, 6), [2]), S(f(2, 3, 7), [2], [1]),
    S(f(2, 3, 7), [9]),
])  # fmt: skip


@kernel(
    "avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, bool ceil_mode=False, bool "
    "count_include_pad=True, "
    "int? divisor_override=None) -> Tensor",
    variants="function out",
    module="nn",
    shape="avg_pool2d",
    files="avg_pool",
    batch="folded",
    flat="self",
)
def avg_pool2d(self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
    """The sum of each window of the last 2 dimensions, divided by its size or by ``divisor_override``."""


@avg_pool2d.backward
def _(grad, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
    return {
        "self": op.avg_pool2d_gradient(
            grad, self.sizes(), kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
        )
    }


avg_pool2d.samples([
    S(f(1, 3, 3), [2, 2]), S(f(2, 3, 7, 7), [2, 2]), S(f(2, 3, 7, 7), [3, 3], [2, 2], [1, 1]),
    S(f(3, 6, 6), [2, 2]), S(f(2, 3, 7, 7), [2, 2], [1, 1]), S(f(2, 3, 7, 7), [9, 9]),
])  # fmt: skip


@kernel(
    "avg_pool2d_gradient(Tensor upper, SymInt[] sizes, int[2] kernel_size, int[2] stride, int[2] padding, bool "
    "ceil_mode, "
    "bool count_include_pad, int? divisor_override) -> Tensor",
    shape="avg_pool2d_gradient",
    files="avg_pool",
    unbound=True,
    batch="folded",
)
def avg_pool2d_gradient(upper, sizes, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
    """The gradient of ``avg_pool2d`` for an input of ``sizes``."""


@avg_pool2d_gradient.backward
def _(grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
    return {"upper": op.avg_pool2d(grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)}


@composite(
    "avg_pool2d_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, int[2] padding, bool "
    "ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor",
    unbound=True,
)
def avg_pool2d_backward(
    grad_output, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
):
    """The gradient of ``avg_pool2d`` for ``self``."""
    return op.avg_pool2d_gradient(
        grad_output, self.shape, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )


@kernel(
    "avg_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, bool ceil_mode=False, bool "
    "count_include_pad=True, "
    "int? divisor_override=None) -> Tensor",
    variants="function out",
    module="nn",
    shape="avg_pool3d",
    files="avg_pool",
    autocast="fp32",
    batch="folded",
    flat="self",
)
def avg_pool3d(self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
    """The sum of each window of the last 3 dimensions, divided by its size or by ``divisor_override``."""


@avg_pool3d.backward
def _(grad, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
    return {
        "self": op.avg_pool3d_gradient(
            grad, self.sizes(), kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
        )
    }


avg_pool3d.samples([
    S(f(1, 3, 3, 3), [2, 2, 2]), S(f(2, 3, 7, 7, 7), [2, 2, 2]),
    S(f(2, 3, 7, 7, 7), [3, 3, 3], [2, 2, 2], [1, 1, 1]), S(f(3, 6, 6, 6), [2, 2, 2]),
    S(f(2, 3, 7, 7, 7), [2, 2, 2], [1, 1, 1]), S(f(2, 3, 7, 7, 7), [9, 9, 9]),
])  # fmt: skip


@kernel(
    "avg_pool3d_gradient(Tensor upper, SymInt[] sizes, int[3] kernel_size, int[3] stride, int[3] padding, bool "
    "ceil_mode, "
    "bool count_include_pad, int? divisor_override) -> Tensor",
    shape="avg_pool3d_gradient",
    files="avg_pool",
    unbound=True,
    batch="folded",
)
def avg_pool3d_gradient(upper, sizes, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
    """The gradient of ``avg_pool3d`` for an input of ``sizes``."""


@avg_pool3d_gradient.backward
def _(grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
    return {"upper": op.avg_pool3d(grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)}


@composite(
    "avg_pool3d_backward(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] stride, int[3] padding, bool "
    "ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor",
    unbound=True,
)
def avg_pool3d_backward(
    grad_output, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
):
    """The gradient of ``avg_pool3d`` for ``self``."""
    return op.avg_pool3d_gradient(
        grad_output, self.shape, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )


# --- windows chosen to give an output size: window i of n over a dimension of size m is floor(i m / n) to ceil((i + 1)
# m / n)


@composite("adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor", variants="function out")
def adaptive_avg_pool1d(self, output_size):
    """The means of windows of the last dimension that are chosen to give ``output_size``."""
    return op.adaptive_avg_pool2d(_with_row(self), _flat(output_size, 1)).squeeze(-2)


adaptive_avg_pool1d.samples([
    S(f(1, 3), [2]), S(f(2, 3, 7), [1]), S(f(2, 3, 7), [3]), S(f(2, 3, 7), [7]), S(f(2, 3, 7), [9]),
    S(f(3, 5), [2]),
])  # fmt: skip


@composite(
    "adaptive_max_pool1d(Tensor self, int[1] output_size) -> (Tensor, Tensor)",
    samples="adaptive_avg_pool1d",
)
def adaptive_max_pool1d(self, output_size):
    """The largest elements of windows of the last dimension that are chosen to give ``output_size``, and their
    positions."""
    values, indices = op.adaptive_max_pool2d(_with_row(self), _flat(output_size, 1))
    return values.squeeze(-2), indices.squeeze(-2)


@composite(
    "adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor",
    variants="function out",
    module="nn",
)
def adaptive_avg_pool2d(self, output_size):
    """The means of windows of the last 2 dimensions that are chosen to give ``output_size``."""
    # The mean is linear: that of complex numbers is of their parts.
    if self.is_complex():
        real, imag = op.real(self), op.imag(self)
        return op.complex(
            op._adaptive_avg_pool2d(real, output_size),
            op._adaptive_avg_pool2d(imag, output_size),
        )
    return op._adaptive_avg_pool2d(self, output_size)


adaptive_avg_pool2d.samples([
    S(f(1, 3, 3), [2, 2]), S(f(2, 3, 7, 7), [1, 1]), S(f(2, 3, 7, 7), [3, 3]), S(f(2, 3, 7, 7), [7, 7]),
    S(f(2, 3, 7, 7), [9, 9]), S(f(3, 5, 5), [2, 2]),
])  # fmt: skip


@kernel(
    "_adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor",
    shape="adaptive_avg_pool2d",
    files="adaptive_pool",
    batch="folded",
    samples="adaptive_avg_pool2d",
    flat="self",
)
def _adaptive_avg_pool2d(self, output_size):
    """``adaptive_avg_pool2d``."""


@_adaptive_avg_pool2d.backward
def _(grad, self):
    return {"self": op.adaptive_avg_pool_backward(grad, self.sizes(), 2)}


@kernel(
    "adaptive_max_pool2d(Tensor self, int[2] output_size) -> (Tensor output, Tensor indices)",
    variants="function out",
    module="nn",
    shape="adaptive_max_pool2d",
    files="adaptive_pool",
    nondiff="indices",
    batch="folded",
    samples="adaptive_avg_pool2d",
    outs="out indices",
    flat="self",
)
def adaptive_max_pool2d(self, output_size):
    """Max pooling whose windows are chosen to give ``output_size``."""


@adaptive_max_pool2d.backward
def _(grad, self, indices):
    return {"self": op.max_pool_backward(grad, indices, self.sizes(), 2)}


@composite(
    "adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor",
    variants="function out",
    module="nn",
    autocast="fp32",
)
def adaptive_avg_pool3d(self, output_size):
    """The means of windows of the last 3 dimensions that are chosen to give ``output_size``."""
    if self.is_complex():
        real, imag = op.real(self), op.imag(self)
        return op.complex(
            op._adaptive_avg_pool3d(real, output_size),
            op._adaptive_avg_pool3d(imag, output_size),
        )
    return op._adaptive_avg_pool3d(self, output_size)


adaptive_avg_pool3d.samples([
    S(f(1, 3, 3, 3), [2, 2, 2]), S(f(2, 3, 7, 7, 7), [1, 1, 1]), S(f(2, 3, 7, 7, 7), [3, 3, 3]),
    S(f(2, 3, 7, 7, 7), [7, 7, 7]), S(f(2, 3, 7, 7, 7), [9, 9, 9]), S(f(3, 5, 5, 5), [2, 2, 2]),
])  # fmt: skip


@kernel(
    "_adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor",
    shape="adaptive_avg_pool3d",
    files="adaptive_pool",
    batch="folded",
    samples="adaptive_avg_pool3d",
    flat="self",
)
def _adaptive_avg_pool3d(self, output_size):
    """``adaptive_avg_pool3d``."""


@_adaptive_avg_pool3d.backward
def _(grad, self):
    return {"self": op.adaptive_avg_pool_backward(grad, self.sizes(), 3)}


@kernel(
    "adaptive_max_pool3d(Tensor self, int[3] output_size) -> (Tensor output, Tensor indices)",
    variants="function out",
    module="nn",
    shape="adaptive_max_pool3d",
    files="adaptive_pool",
    nondiff="indices",
    autocast="fp32",
    batch="folded",
    samples="adaptive_avg_pool3d",
    outs="out indices",
    flat="self",
)
def adaptive_max_pool3d(self, output_size):
    """Max pooling whose windows are chosen to give ``output_size``."""


@adaptive_max_pool3d.backward
def _(grad, self, indices):
    return {"self": op.max_pool_backward(grad, indices, self.sizes(), 3)}


@kernel(
    "adaptive_avg_pool_backward(Tensor upper, SymInt[] sizes, int rank) -> Tensor",
    shape="adaptive_avg_pool_backward",
    files="adaptive_pool",
    unbound=True,
    batch="folded",
)
def adaptive_avg_pool_backward(upper, sizes, rank):
    """The gradient of adaptive average pooling of the last ``rank`` dimensions for an input of ``sizes``."""


@adaptive_avg_pool_backward.backward
def _(grad, upper, rank):
    return {"upper": op.adaptive_avg_pool_again(grad, upper.sizes(), rank)}


@composite("adaptive_avg_pool_again(Tensor self, SymInt[] sizes, int rank) -> Tensor", unbound=True)
def adaptive_avg_pool_again(self, sizes, rank):
    """Adaptive average pooling of the last ``rank`` dimensions to those of ``sizes``."""
    check(
        (rank == 2 or rank == 3) and len(sizes) >= rank,
        f"2 or 3 dimensions are pooled to the last of the sizes; got {rank} and {sizes}",
    )
    return op._adaptive_avg_pool2d(self, sizes[-2:]) if rank == 2 else op._adaptive_avg_pool3d(self, sizes[-3:])


# --- the way back


def _unpooled(self, indices, output_size, rank):
    """Zeros but for the pooled values, where they were found."""
    check(
        self.dim() == rank + 1 or self.dim() == rank + 2,
        f"input must have a channel and {rank} spatial dimensions, with a batch before them or not; got shape "
        f"{self.shape}",
    )
    check(
        len(output_size) == rank,
        f"output_size must have {rank} sizes; got {output_size}",
    )
    check(
        indices.dtype == int64 and indices.shape == self.shape,
        f"indices must be int64 of the input's shape {self.shape}; got {indices.dtype} of shape {indices.shape}",
    )
    alert_open_result("which of several values for one place stays is left open")
    outer = self.shape[: self.dim() - rank]
    zeros = self.new_zeros([*outer, math.prod(output_size)])
    result = op.scatter(zeros, -1, indices.flatten(-rank), self.flatten(-rank)).reshape([*outer, *output_size])
    return result.contiguous(memory_format=suggested_format(self)) if rank == 2 else result


@composite(
    "max_unpool2d(Tensor self, Tensor indices, SymInt[2] output_size) -> Tensor",
    variants="function out",
    module="nn",
    autocast="fp32",
    samples=[S(f(1, 1, 2, 2), v([[[[0, 3], [8, 15]]]]), [4, 4])],
)
def max_unpool2d(self, indices, output_size):
    """Zeros (..., *output_size) but for the elements of ``self``, which stand at flat ``indices`` into the last 2
    dimensions."""
    return _unpooled(self, indices, output_size, 2)


@composite(
    "max_unpool3d(Tensor self, Tensor indices, SymInt[3] output_size, int[3] stride, int[3] padding) -> Tensor",
    variants="function out",
    module="nn",
    autocast="fp32",
    samples=[S(f(1, 1, 1, 2, 2), v([[[[[0, 3], [8, 15]]]]]), [1, 4, 4], [1, 2, 2], [0, 0, 0])],
)
def max_unpool3d(self, indices, output_size, stride, padding):
    """Zeros (..., *output_size) but for the elements of ``self``, which stand at flat ``indices`` into the last 3
    dimensions."""
    return _unpooled(self, indices, output_size, 3)
