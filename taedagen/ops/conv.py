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


@composite(
    "_convolution_double_backward(Tensor? ggI, Tensor? ggW, Tensor? ggb, Tensor gO, Tensor weight, Tensor self, "
    "SymInt[] stride, SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups, "
    "bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
    variants="function",
    files="conv",
    unbound=True,
)
def _convolution_double_backward(*_):
    """The gradients of ``convolution_backward`` for the result's gradient, the input and the weight, where ``ggI``,
    ``ggW`` and ``ggb`` are those of what it gave; what none of them leads to is undefined."""


_convolution_double_backward.samples([
    S(f(2, 3, 6), f(3, 3, 3), f(3), f(2, 3, 3), f(3, 3, 3), f(2, 3, 6), [2], [1], [1], False, [0], 1, [True] * 3),
    S(f(1, 2, 3), f(2, 1, 2), f(2), f(1, 2, 6), f(2, 1, 2), f(1, 2, 3), [2], [0], [1], True, [0], 2, [True] * 3),
])  # fmt: skip


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


def _check_rank(input, weight, rank):
    """Wants an input of ``rank`` spatial dimensions, with a batch or not, and a weight for it."""
    check(
        input.dim() == rank + 1 or input.dim() == rank + 2,
        f"input must have a channel and {rank} spatial dimensions, with a batch before them or not; got shape "
        f"{input.shape}",
    )
    check(
        weight.dim() == rank + 2,
        f"weight must have {rank + 2} dimensions; got shape {weight.shape}",
    )


def _convolved(input, weight, bias, stride, padding, dilation, groups, rank):
    """A convolution, to which a batch is added where there is none."""
    _check_rank(input, weight, rank)
    if input.dim() == rank + 2:
        return op.convolution(input, weight, bias, stride, padding, dilation, False, [0], groups)
    one = input.unsqueeze(0)
    return op.convolution(one, weight, bias, stride, padding, dilation, False, [0], groups).squeeze(0)


def _transposed(input, weight, bias, stride, padding, output_padding, groups, dilation, rank):
    """A transposed convolution, likewise."""
    _check_rank(input, weight, rank)
    if input.dim() == rank + 2:
        return op.convolution(input, weight, bias, stride, padding, dilation, True, output_padding, groups)
    one = input.unsqueeze(0)
    return op.convolution(one, weight, bias, stride, padding, dilation, True, output_padding, groups).squeeze(0)


def _padded_same(input, weight, bias, stride, dilation, groups, rank):
    """A convolution whose result has the input's sizes. It may need one more element after than before: padding both
    sides by the larger half makes one position too many at the start of that dimension."""
    for s in stride:
        check(s == 1, f"padding='same' is for stride 1; got stride {stride}")
    for d in dilation:
        check(0 < d <= 2147483647, f"dilation must be from 1 to 2147483647; got {dilation}")
    for n in weight.shape[2:]:
        check(n <= 2147483647, f"a kernel has at most 2147483647 positions along a dimension; got {weight.shape[2:]}")
    reach = [dilation[0 if len(dilation) == 1 else i] * (weight.size(i + 2) - 1) for i in range(rank)]
    result = _convolved(
        input,
        weight,
        bias,
        stride,
        [(n + 1) // 2 for n in reach],
        dilation,
        groups,
        rank,
    )
    memory_format = suggested_format(result)
    for d in range(-rank, 0):
        result = op.slice(result, d, result.size(d) - input.size(d))
    if result.is_contiguous(memory_format=memory_format):
        return result
    return result.clone(memory_format=memory_format if input.dim() == rank + 2 else contiguous_format)


def _with_named_padding(input, weight, bias, stride, padding, dilation, groups, rank):
    """A convolution with ``padding`` 'same' or 'valid'."""
    check(
        padding in ("same", "valid"),
        f"padding must be 'same', 'valid' or numbers; got {padding!r}",
    )
    check(
        weight.dim() == rank + 2,
        f"weight must have {rank + 2} dimensions; got shape {weight.shape}",
    )
    if padding == "same":
        return _padded_same(input, weight, bias, stride, dilation, groups, rank)
    return _convolved(input, weight, bias, stride, [0], dilation, groups, rank)


@composite(
    "conv1d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=1, SymInt[1] padding=0, "
    "SymInt[1] dilation=1, SymInt groups=1) -> Tensor",
    autocast="lower",
)
def conv1d(input, weight, bias, stride, padding, dilation, groups):
    """Cross-correlation of ``input`` ([N,] C, L) with ``weight`` (C_out, C / groups, K)."""
    return _convolved(input, weight, bias, stride, padding, dilation, groups, 1)


conv1d.samples([
    S(f(2, 3, 6), f(4, 3, 3)), S(f(3, 6), f(4, 3, 3), f(4)), S(f(2, 3, 6), f(4, 3, 3), f(4), stride=2, padding=1),
    S(f(1, 4, 6), f(6, 2, 3), f(6), groups=2), S(f(2, 3, 6), f(4, 3, 3), None, dilation=2),
    S(f(2, 5, 6), f(4, 3, 3)),
])  # fmt: skip


@composite(
    'conv1d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=1, str padding="valid", '
    "SymInt[1] dilation=1, SymInt groups=1) -> Tensor",
    autocast="lower",
)
def conv1d(input, weight, bias, stride, padding, dilation, groups):
    """The same with ``padding`` 'valid' (none) or 'same' (as many positions as the input has; stride 1 only)."""
    return _with_named_padding(input, weight, bias, stride, padding, dilation, groups, 1)


conv1d.samples([
    S(f(2, 3, 6), f(4, 3, 3), None, [1], "same"), S(f(2, 3, 6), f(4, 3, 3), None, [1], "valid"),
    S(f(2, 3, 6), f(4, 3, 3), None, [1], "no"),
])  # fmt: skip


@composite(
    "conv2d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=1, SymInt[2] padding=0, "
    "SymInt[2] dilation=1, SymInt groups=1) -> Tensor",
    autocast="lower",
)
def conv2d(input, weight, bias, stride, padding, dilation, groups):
    """Cross-correlation of ``input`` ([N,] C, H, W) with ``weight`` (C_out, C / groups, K, K)."""
    return _convolved(input, weight, bias, stride, padding, dilation, groups, 2)


conv2d.samples([
    S(f(2, 3, 6, 6), f(4, 3, 3, 3)), S(f(3, 6, 6), f(4, 3, 3, 3), f(4)),
    S(f(2, 3, 6, 6), f(4, 3, 3, 3), f(4), stride=2, padding=1), S(f(1, 4, 6, 6), f(6, 2, 3, 3), f(6), groups=2),
    S(f(2, 3, 6, 6), f(4, 3, 3, 3), None, dilation=2), S(f(2, 5, 6, 6), f(4, 3, 3, 3)),
])  # fmt: skip


@composite(
    'conv2d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=1, str padding="valid", '
    "SymInt[2] dilation=1, SymInt groups=1) -> Tensor",
    autocast="lower",
)
def conv2d(input, weight, bias, stride, padding, dilation, groups):
    """The same with ``padding`` 'valid' (none) or 'same' (as many positions as the input has; stride 1 only)."""
    return _with_named_padding(input, weight, bias, stride, padding, dilation, groups, 2)


conv2d.samples([
    S(f(2, 3, 6, 6), f(4, 3, 3, 3), None, [1, 1], "same"), S(f(2, 3, 6, 6), f(4, 3, 3, 3), None, [1, 1], "valid"),
    S(f(2, 3, 6, 6), f(4, 3, 3, 3), None, [1, 1], "no"),
])  # fmt: skip


@composite(
    "conv3d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=1, SymInt[3] padding=0, "
    "SymInt[3] dilation=1, SymInt groups=1) -> Tensor",
    autocast="lower",
)
def conv3d(input, weight, bias, stride, padding, dilation, groups):
    """Cross-correlation of ``input`` ([N,] C, D, H, W) with ``weight`` (C_out, C / groups, K, K, K)."""
    return _convolved(input, weight, bias, stride, padding, dilation, groups, 3)


conv3d.samples([
    S(f(2, 3, 6, 6, 6), f(4, 3, 3, 3, 3)), S(f(3, 6, 6, 6), f(4, 3, 3, 3, 3), f(4)),
    S(f(2, 3, 6, 6, 6), f(4, 3, 3, 3, 3), f(4), stride=2, padding=1),
])  # fmt: skip


@composite(
    'conv3d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=1, str padding="valid", '
    "SymInt[3] dilation=1, SymInt groups=1) -> Tensor",
    autocast="lower",
)
def conv3d(input, weight, bias, stride, padding, dilation, groups):
    """The same with ``padding`` 'valid' (none) or 'same' (as many positions as the input has; stride 1 only)."""
    return _with_named_padding(input, weight, bias, stride, padding, dilation, groups, 3)


conv3d.samples([
    S(f(2, 3, 6, 6, 6), f(4, 3, 3, 3, 3), None, [1, 1, 1], "same"),
    S(f(2, 3, 6, 6, 6), f(4, 3, 3, 3, 3), None, [1, 1, 1], "valid"),
    S(f(2, 3, 6, 6, 6), f(4, 3, 3, 3, 3), None, [1, 1, 1], "no"),
])  # fmt: skip


@composite(
    "conv_transpose1d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=1, SymInt[1] padding=0, "
    "SymInt[1] output_padding=0, SymInt groups=1, SymInt[1] dilation=1) -> Tensor",
    autocast="lower",
)
def conv_transpose1d(input, weight, bias, stride, padding, output_padding, groups, dilation):
    """The gradient of ``conv1d`` as an operation: ``weight`` is (C, C_out / groups, K)."""
    return _transposed(input, weight, bias, stride, padding, output_padding, groups, dilation, 1)


conv_transpose1d.samples([
    S(f(2, 3, 6), f(3, 4, 3)), S(f(3, 6), f(3, 4, 3), f(4)), S(f(2, 3, 6), f(3, 4, 3), f(4), stride=2, padding=1),
    S(f(1, 4, 6), f(4, 3, 3), f(6), groups=2), S(f(2, 3, 6), f(3, 4, 3), None, dilation=2),
    S(f(2, 5, 6), f(3, 4, 3)),
])  # fmt: skip


@composite(
    "conv_transpose2d.input(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=1, SymInt[2] padding=0, "
    "SymInt[2] output_padding=0, SymInt groups=1, SymInt[2] dilation=1) -> Tensor",
    autocast="lower",
)
def conv_transpose2d(input, weight, bias, stride, padding, output_padding, groups, dilation):
    """The gradient of ``conv2d`` as an operation: ``weight`` is (C, C_out / groups, K, K)."""
    return _transposed(input, weight, bias, stride, padding, output_padding, groups, dilation, 2)


conv_transpose2d.samples([
    S(f(2, 3, 6, 6), f(3, 4, 3, 3)), S(f(3, 6, 6), f(3, 4, 3, 3), f(4)),
    S(f(2, 3, 6, 6), f(3, 4, 3, 3), f(4), stride=2, padding=1), S(f(1, 4, 6, 6), f(4, 3, 3, 3), f(6), groups=2),
    S(f(2, 3, 6, 6), f(3, 4, 3, 3), None, dilation=2), S(f(2, 5, 6, 6), f(3, 4, 3, 3)),
])  # fmt: skip


@composite(
    "conv_transpose3d.input(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=1, SymInt[3] padding=0, "
    "SymInt[3] output_padding=0, SymInt groups=1, SymInt[3] dilation=1) -> Tensor",
    autocast="lower",
    samples=[S(f(2, 3, 6, 6, 6), f(3, 4, 3, 3, 3)), S(f(3, 6, 6, 6), f(3, 4, 3, 3, 3), f(4))],
)
def conv_transpose3d(input, weight, bias, stride, padding, output_padding, groups, dilation):
    """The gradient of ``conv3d`` as an operation: ``weight`` is (C, C_out / groups, K, K, K)."""
    return _transposed(input, weight, bias, stride, padding, output_padding, groups, dilation, 3)


@composite(
    "conv_tbc(Tensor self, Tensor weight, Tensor bias, int pad=0) -> Tensor",
    autocast="lower",
    samples=[S(f(5, 2, 3), f(3, 3, 4), f(4), 1)],
)
def conv_tbc(self, weight, bias, pad):
    """``conv1d`` with time first: ``self`` (T, N, C), ``weight`` (K, C, C_out), ``bias`` (C_out,)."""
    check(
        self.dim() == 3 and weight.dim() == 3,
        f"input must be (T, N, C) and weight (K, C, C_out); got shapes {self.shape} and {weight.shape}",
    )
    moved = op.convolution(
        self.permute([1, 2, 0]),
        weight.permute([2, 1, 0]),
        bias,
        [1],
        [pad],
        [1],
        False,
        [0],
        1,
    )
    return moved.permute([2, 0, 1]).contiguous()


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
    unbound=True,
)
def im2col_backward(grad, input_sizes, kernel_size, dilation, padding, stride):
    """``col2im`` onto an image of ``input_sizes``."""
    check(
        len(input_sizes) >= 2,
        f"the input must have at least 2 dimensions; got {input_sizes}",
    )
    return op.col2im(grad, input_sizes[-2:], kernel_size, dilation, padding, stride)


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
