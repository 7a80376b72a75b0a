"""Max pooling over windows that start at random places (Graham, 2014)."""

from taedagen.opdef import *
from taedagen.opdef.samples import S, f


@kernel(
    "fractional_max_pool2d(Tensor self, int[2] kernel_size, int[2] output_size, Tensor random_samples) "
    "-> (Tensor output, Tensor indices)",
    variants="function out",
    module="nn",
    shape="fractional_max_pool2d",
    files="fractional_pool",
    nondiff="indices",
    autocast="fp32",
    out_overload="output",
    flat="self",
)
def fractional_max_pool2d(self, kernel_size, output_size, random_samples):
    """The largest element of each window of ([N,] C, H, W), and where it stands in its plane, flattened.

    ``random_samples`` (N, C, 2) in [0, 1) shift the windows, those of the last dimension first.
    """


@fractional_max_pool2d.backward
def _(grad, self, indices):
    return {"self": op.max_pool_backward(grad, indices, self.sizes(), 2)}


fractional_max_pool2d.samples([
    S(f(2, 3, 8, 8), [2, 2], [4, 4], f(2, 3, 2, low=0, high=1)),
    S(f(1, 5, 6), [3, 2], [2, 4], f(1, 1, 2, low=0, high=1)), S(f(1, 5, 6), [3, 2], [5, 4], f(1, 1, 2)),
])  # fmt: skip


@kernel(
    "fractional_max_pool3d(Tensor self, int[3] kernel_size, int[3] output_size, Tensor random_samples) "
    "-> (Tensor output, Tensor indices)",
    variants="function out",
    module="nn",
    shape="fractional_max_pool3d",
    files="fractional_pool",
    nondiff="indices",
    autocast="fp32",
    out_overload="output",
    flat="self",
)
def fractional_max_pool3d(self, kernel_size, output_size, random_samples):
    """The largest element of each window of ([N,] C, T, H, W), and where it stands in its volume, flattened.

    ``random_samples`` (N, C, 3) in [0, 1) shift the windows, those of the first dimension first.
    """


@fractional_max_pool3d.backward
def _(grad, self, indices):
    return {"self": op.max_pool_backward(grad, indices, self.sizes(), 3)}


fractional_max_pool3d.samples([
    S(f(2, 3, 8, 8, 8), [2, 2, 2], [4, 4, 4], f(2, 3, 3, low=0, high=1)),
    S(f(1, 2, 4, 4, 3), [2, 2, 2], [2, 2, 1], f(1, 2, 3, low=0, high=1)),
    S(f(1, 2, 3, 3, 3), [2, 2, 2], [2, 2, 2], f(1, 2, 3)),
])  # fmt: skip
