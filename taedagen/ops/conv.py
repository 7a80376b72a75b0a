"""Convolutions. Transposed ones are the same op with a flag: each is the gradient of the other."""

from taedagen.opdef import *
from taedagen.opdef.samples import S, f


@kernel(
    "convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, SymInt[] dilation, "
    "bool transposed, SymInt[] output_padding, SymInt groups) -> Tensor",
    variants="function out",
    shape="convolution",
    files="conv",
    batch="convolution",
    flops="2 * prod(weight) * input[0] * prod((input if transposed else result)[2:])",
)
def convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    """Cross-correlation of ``input`` (N, C, ...) with ``weight`` over one to three spatial dimensions.

    ``weight`` is (C_out, C / groups, ...), or with ``transposed`` (C, C_out / groups, ...).
    """


@convolution.backward
def _(grad, input, weight, stride, padding, dilation, transposed, output_padding, groups, needs):
    g = op.convolution_backward(
        grad, input, weight, None, stride, padding, dilation, transposed, output_padding, groups, needs
    )
    return {"input": g[0], "weight": g[1], "bias": g[2]}


convolution.samples([
    S(f(2, 3, 6, 6), f(4, 3, 3, 3), f(4), [1, 1], [1, 1], [1, 1], False, [0, 0], 1),
    S(f(1, 2, 4, 3), f(2, 1, 2, 2), f(2), [2, 1], [0, 1], [1, 1], False, [0, 0], 2),
    S(f(1, 2, 3, 2), f(2, 2, 2, 2), f(2), [2, 1], [0, 1], [1, 1], True, [1, 0], 1),
])  # fmt: skip


@composite(
    "_convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, SymInt[] dilation, "
    "bool transposed, SymInt[] output_padding, SymInt groups, bool benchmark, bool deterministic, bool cudnn_enabled, "
    "bool allow_tf32) -> Tensor",
)
def _convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups, benchmark,
                 deterministic, cudnn_enabled, allow_tf32):  # fmt: skip
    """``convolution``; how a GPU is to do it is for the CPU nothing to ask."""
    return op.convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)


_convolution.samples([S(f(2, 3, 5, 5), f(4, 3, 3, 3), f(4), [2, 1], [1, 1], [1, 1], False, [0, 0], 1, *[False] * 4)])


@composite(
    "convolution_backward(Tensor grad_output, Tensor input, Tensor weight, SymInt[]? bias_sizes, SymInt[] stride, "
    "SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups, "
    "bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
    files="conv",
    unbound=True,
)
def convolution_backward(*_):
    """The gradients of ``convolution`` for input, weight and bias, where ``output_mask`` asks for them."""


@kernel(
    "convolution_weight_grad(Tensor features, Tensor input, SymInt[] kernel_size, SymInt[] stride, SymInt[] padding, "
    "SymInt[] dilation, SymInt groups) -> Tensor",
    variants="function",
    shape="convolution_weight_grad",
    files="conv",
    unbound=True,
    batch="convolution_weight_grad",
    flops="2 * prod(result) * features[0] * prod(features[2:])",
)
def convolution_weight_grad(features, input, kernel_size, stride, padding, dilation, groups):
    """The gradient (C_out, C / groups, *kernel_size) of a convolution's weight, where that of its result is
    ``features``."""


@convolution_weight_grad.backward
def _(grad, features, input, stride, padding, dilation, groups, needs):
    g = op.convolution_weight_grad_backward(grad, features, input, stride, padding, dilation, groups, needs)
    return {"features": g[0], "input": g[1]}


@composite(
    "convolution_weight_grad_backward(Tensor grad, Tensor features, Tensor input, SymInt[] stride, SymInt[] padding, "
    "SymInt[] dilation, SymInt groups, bool[2] output_mask) -> (Tensor, Tensor)",
    files="conv",
    unbound=True,
)
def convolution_weight_grad_backward(grad, features, input, stride, padding, dilation, groups, output_mask):
    """The gradients of ``convolution_weight_grad``: two convolutions with ``grad`` in the weight's place."""


@composite(
    "conv1d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=1, SymInt[1] padding=0, "
    "SymInt[1] dilation=1, SymInt groups=1) -> Tensor",
    files="conv",
    autocast="lower",
)
def conv1d(input, weight, bias, stride, padding, dilation, groups):
    """Cross-correlation of ``input`` ([N,] C, L) with ``weight`` (C_out, C / groups, K)."""


conv1d.samples([
    S(f(2, 3, 6), f(4, 3, 3)), S(f(3, 6), f(4, 3, 3), f(4)), S(f(2, 3, 6), f(4, 3, 3), f(4), stride=2, padding=1),
    S(f(1, 4, 6), f(6, 2, 3), f(6), groups=2), S(f(2, 3, 6), f(4, 3, 3), None, dilation=2),
    S(f(2, 5, 6), f(4, 3, 3)),
])  # fmt: skip


@composite(
    'conv1d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=1, str padding="valid", '
    "SymInt[1] dilation=1, SymInt groups=1) -> Tensor",
    files="conv",
    autocast="lower",
)
def conv1d(input, weight, bias, stride, padding, dilation, groups):
    """The same with ``padding`` 'valid' (none) or 'same' (as many positions as the input has; stride 1 only)."""


conv1d.samples([
    S(f(2, 3, 6), f(4, 3, 3), None, [1], "same"), S(f(2, 3, 6), f(4, 3, 3), None, [1], "valid"),
    S(f(2, 3, 6), f(4, 3, 3), None, [1], "no"),
])  # fmt: skip


@composite(
    "conv2d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=1, SymInt[2] padding=0, "
    "SymInt[2] dilation=1, SymInt groups=1) -> Tensor",
    files="conv",
    autocast="lower",
)
def conv2d(input, weight, bias, stride, padding, dilation, groups):
    """Cross-correlation of ``input`` ([N,] C, H, W) with ``weight`` (C_out, C / groups, K, K)."""


conv2d.samples([
    S(f(2, 3, 6, 6), f(4, 3, 3, 3)), S(f(3, 6, 6), f(4, 3, 3, 3), f(4)),
    S(f(2, 3, 6, 6), f(4, 3, 3, 3), f(4), stride=2, padding=1), S(f(1, 4, 6, 6), f(6, 2, 3, 3), f(6), groups=2),
    S(f(2, 3, 6, 6), f(4, 3, 3, 3), None, dilation=2), S(f(2, 5, 6, 6), f(4, 3, 3, 3)),
])  # fmt: skip


@composite(
    'conv2d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=1, str padding="valid", '
    "SymInt[2] dilation=1, SymInt groups=1) -> Tensor",
    files="conv",
    autocast="lower",
)
def conv2d(input, weight, bias, stride, padding, dilation, groups):
    """The same with ``padding`` 'valid' (none) or 'same' (as many positions as the input has; stride 1 only)."""


conv2d.samples([
    S(f(2, 3, 6, 6), f(4, 3, 3, 3), None, [1, 1], "same"), S(f(2, 3, 6, 6), f(4, 3, 3, 3), None, [1, 1], "valid"),
    S(f(2, 3, 6, 6), f(4, 3, 3, 3), None, [1, 1], "no"),
])  # fmt: skip


@composite(
    "conv3d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=1, SymInt[3] padding=0, "
    "SymInt[3] dilation=1, SymInt groups=1) -> Tensor",
    files="conv",
    autocast="lower",
)
def conv3d(input, weight, bias, stride, padding, dilation, groups):
    """Cross-correlation of ``input`` ([N,] C, D, H, W) with ``weight`` (C_out, C / groups, K, K, K)."""


conv3d.samples([
    S(f(2, 3, 6, 6, 6), f(4, 3, 3, 3, 3)), S(f(3, 6, 6, 6), f(4, 3, 3, 3, 3), f(4)),
    S(f(2, 3, 6, 6, 6), f(4, 3, 3, 3, 3), f(4), stride=2, padding=1),
])  # fmt: skip


@composite(
    'conv3d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=1, str padding="valid", '
    "SymInt[3] dilation=1, SymInt groups=1) -> Tensor",
    files="conv",
    autocast="lower",
)
def conv3d(input, weight, bias, stride, padding, dilation, groups):
    """The same with ``padding`` 'valid' (none) or 'same' (as many positions as the input has; stride 1 only)."""


conv3d.samples([
    S(f(2, 3, 6, 6, 6), f(4, 3, 3, 3, 3), None, [1, 1, 1], "same"),
    S(f(2, 3, 6, 6, 6), f(4, 3, 3, 3, 3), None, [1, 1, 1], "valid"),
    S(f(2, 3, 6, 6, 6), f(4, 3, 3, 3, 3), None, [1, 1, 1], "no"),
])  # fmt: skip


@composite(
    "conv_transpose1d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=1, SymInt[1] padding=0, "
    "SymInt[1] output_padding=0, SymInt groups=1, SymInt[1] dilation=1) -> Tensor",
    files="conv",
    autocast="lower",
)
def conv_transpose1d(input, weight, bias, stride, padding, output_padding, groups, dilation):
    """The gradient of ``conv1d`` as an operation: ``weight`` is (C, C_out / groups, K)."""


conv_transpose1d.samples([
    S(f(2, 3, 6), f(3, 4, 3)), S(f(3, 6), f(3, 4, 3), f(4)), S(f(2, 3, 6), f(3, 4, 3), f(4), stride=2, padding=1),
    S(f(1, 4, 6), f(4, 3, 3), f(6), groups=2), S(f(2, 3, 6), f(3, 4, 3), None, dilation=2),
    S(f(2, 5, 6), f(3, 4, 3)),
])  # fmt: skip


@composite(
    "conv_transpose2d.input(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=1, SymInt[2] padding=0, "
    "SymInt[2] output_padding=0, SymInt groups=1, SymInt[2] dilation=1) -> Tensor",
    files="conv",
    autocast="lower",
)
def conv_transpose2d(input, weight, bias, stride, padding, output_padding, groups, dilation):
    """The gradient of ``conv2d`` as an operation: ``weight`` is (C, C_out / groups, K, K)."""


conv_transpose2d.samples([
    S(f(2, 3, 6, 6), f(3, 4, 3, 3)), S(f(3, 6, 6), f(3, 4, 3, 3), f(4)),
    S(f(2, 3, 6, 6), f(3, 4, 3, 3), f(4), stride=2, padding=1), S(f(1, 4, 6, 6), f(4, 3, 3, 3), f(6), groups=2),
    S(f(2, 3, 6, 6), f(3, 4, 3, 3), None, dilation=2), S(f(2, 5, 6, 6), f(3, 4, 3, 3)),
])  # fmt: skip


@composite(
    "conv_transpose3d.input(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=1, SymInt[3] padding=0, "
    "SymInt[3] output_padding=0, SymInt groups=1, SymInt[3] dilation=1) -> Tensor",
    files="conv",
    autocast="lower",
    samples=[S(f(2, 3, 6, 6, 6), f(3, 4, 3, 3, 3)), S(f(3, 6, 6, 6), f(3, 4, 3, 3, 3), f(4))],
)
def conv_transpose3d(input, weight, bias, stride, padding, output_padding, groups, dilation):
    """The gradient of ``conv3d`` as an operation: ``weight`` is (C, C_out / groups, K, K, K)."""


@composite(
    "conv_tbc(Tensor self, Tensor weight, Tensor bias, int pad=0) -> Tensor",
    files="conv",
    autocast="lower",
    samples=[S(f(5, 2, 3), f(3, 3, 4), f(4), 1)],
)
def conv_tbc(self, weight, bias, pad):
    """``conv1d`` with time first: ``self`` (T, N, C), ``weight`` (K, C, C_out), ``bias`` (C_out,)."""


@kernel(
    "im2col(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor",
    variants="function out",
    module="nn",
    shape="im2col",
    files="columns",
    batch="folded image=3",
    samples=[S(f(2, 3, 6, 5), [2, 3], [1, 1], [0, 1], [1, 2])],
)
def im2col(self, kernel_size, dilation, padding, stride):
    """The windows of ``self`` ([N,] C, H, W) as columns: ([N,] C * K * K, windows)."""


@im2col.backward
def _(grad, self, kernel_size, dilation, padding, stride):
    return {"self": op.im2col_backward(grad, self.sizes(), kernel_size, dilation, padding, stride)}


@composite(
    "im2col_backward(Tensor grad, SymInt[] input_sizes, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] "
    "stride) "
    "-> Tensor",
    files="conv",
    unbound=True,
)
def im2col_backward(grad, input_sizes, kernel_size, dilation, padding, stride):
    """``col2im`` onto an image of ``input_sizes``."""


@kernel(
    "col2im(Tensor self, SymInt[2] output_size, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) "
    "-> Tensor",
    variants="function out",
    module="nn",
    shape="col2im",
    files="columns",
    batch="folded image=2",
)
def col2im(self, output_size, kernel_size, dilation, padding, stride):
    """The sum of columns of windows, as ``im2col`` lays them out, at their places in ([N,] C, H, W)."""


@col2im.backward
def _(grad, kernel_size, dilation, padding, stride):
    return {"self": op.im2col(grad, kernel_size, dilation, padding, stride)}


col2im.samples([
    S(f(2, 12, 20), [5, 6], [2, 2], [1, 1], [0, 0], [1, 1]), S(f(4, 4), [3, 3], [2, 2], [1, 1], [0, 0], [1, 1]),
])  # fmt: skip
