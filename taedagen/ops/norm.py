"""Normalisation. Statistics of half types are kept in float."""

import math

from taedagen.opdef import *
from taedagen.opdef.samples import S, f

# The gradients are composites: fused where nobody differentiates them again, else written with differentiable ops.


@composite(
    "layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, "
    "bool cudnn_enable=True) -> Tensor",
    samples=[S(f(2, 5), [5]), S(f(2, 3, 5), [3, 5], f(3, 5), f(3, 5)), S(f(2, 5), [5], f(5)), S(f(2, 5), [4])],
)
def layer_norm(input, normalized_shape, weight, bias, eps, cudnn_enable):
    """Normalises ``input`` over its last dimensions, of sizes ``normalized_shape``, then scales and shifts each
    element."""
    return op._native_layer_norm(input, normalized_shape, weight, bias, eps)[0]


def _as_input(statistic, input, is_plain):
    """A statistic in the dtype of the input, as PyTorch keeps it unless a parameter is wider."""
    return statistic.to(input.dtype) if is_plain and statistic.dtype != input.dtype else statistic


def _has_dtype(tensor, dtype):
    """Whether an optional tensor is absent or of a dtype."""
    return tensor is None or tensor.dtype == dtype


@composite(
    "native_layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias, float eps) -> (Tensor, "
    "Tensor, Tensor)",
    samples=[S(f(2, 5), [5], f(5), f(5), 1e-05)],
)
def native_layer_norm(input, normalized_shape, weight, bias, eps):
    """``layer_norm`` with the mean and the reciprocal standard deviation of each row, of shape (..., 1)."""
    result, mean, rstd = op._native_layer_norm(input, normalized_shape, weight, bias, eps)
    is_plain = _has_dtype(weight, input.dtype) and _has_dtype(bias, input.dtype)
    return result, _as_input(mean, input, is_plain), _as_input(rstd, input, is_plain)


@kernel(
    "_native_layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias, float eps) -> (Tensor, "
    "Tensor mean, Tensor rstd)",
    shape="layer_norm",
    files="norm",
    unbound=True,
    nondiff="mean rstd",
    batch="layer_norm",
)
def _native_layer_norm(input, normalized_shape, weight, bias, eps):
    """``native_layer_norm`` with statistics in the type that the rows are computed in."""


@_native_layer_norm.backward
def _(grad, input, normalized_shape, weight, mean, rstd, eps, needs):
    g = op.layer_norm_backward(grad, input, normalized_shape, mean, rstd, weight, eps, needs)
    return {"input": g[0], "weight": g[1], "bias": g[2]}


@composite(
    "layer_norm_backward(Tensor grad, Tensor input, SymInt[] normalized_shape, Tensor mean, Tensor rstd, Tensor? "
    "weight, float eps, "
    "bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
    files="norm_gradients",
    unbound=True,
)
def layer_norm_backward(grad, input, normalized_shape, mean, rstd, weight, eps, output_mask):
    """The gradients of ``layer_norm`` for input, weight and bias, where ``output_mask`` asks for them."""


@kernel(
    "layer_norm_grads(Tensor grad, Tensor input, SymInt[] normalized_shape, Tensor? mean, Tensor rstd, Tensor? weight, "
    "bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
    shape="layer_norm_grads",
    files="norm",
    unbound=True,
    not_differentiable=True,
    batch="layer_norm_grads",
)
def layer_norm_grads(grad, input, normalized_shape, mean, rstd, weight, output_mask):
    """The fused form of ``layer_norm_backward``; without ``mean`` that of ``rms_norm``."""


@composite(
    "rms_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor",
    samples=[S(f(2, 5), [5]), S(f(2, 5), [5], f(5), 1e-05)],
)
def rms_norm(input, normalized_shape, weight, eps):
    """Divides ``input`` by the root of the mean of squares over its last dimensions; ``eps`` defaults to the
    dtype's."""
    return op._fused_rms_norm(input, normalized_shape, weight, eps)[0]


@kernel(
    "_fused_rms_norm(Tensor input, int[] normalized_shape, Tensor? weight, float? eps) -> (Tensor, Tensor rstd)",
    shape="fused_rms_norm",
    files="norm",
    optional_grads=True,
    samples=[S(f(2, 5), [5], None, None), S(f(2, 5), [5], f(5), 1e-05)],
)
def _fused_rms_norm(input, normalized_shape, weight, eps):
    """``rms_norm`` with the reciprocal root mean square of each row, of shape (..., 1)."""


@_fused_rms_norm.backward
def _(grads, input, normalized_shape, weight, rstd, eps, needs):
    g = op.rms_norm_backward(grads[0], grads[1], input, normalized_shape, rstd, weight, eps, needs)
    return {"input": g[0], "weight": g[1]}


@composite(
    "rms_norm_backward(Tensor? grad, Tensor? grad_rstd, Tensor input, int[] normalized_shape, Tensor rstd, "
    "Tensor? weight, float? eps, bool[2] output_mask) -> (Tensor, Tensor)",
    files="norm_gradients",
    unbound=True,
)
def rms_norm_backward(grad, grad_rstd, input, normalized_shape, rstd, weight, eps, output_mask):
    """The gradients of ``_fused_rms_norm`` for input and weight, where ``output_mask`` asks for them."""


@composite(
    "group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, bool "
    "cudnn_enabled=True) -> Tensor",
    samples=[S(f(2, 6, 4), 3), S(f(2, 6, 4), 2, f(6), f(6)), S(f(2, 6), 4)],
)
def group_norm(input, num_groups, weight, bias, eps, cudnn_enabled):
    """Normalises each of ``num_groups`` groups of channels of each sample of (N, C, ...), then scales and shifts
    channels."""
    check(
        input.dim() >= 2,
        f"input must have a batch and a channel dimension; got shape {input.shape}",
    )
    check(num_groups > 0, f"num_groups must be positive; got {num_groups}")
    area = math.prod(input.shape[2:])
    return op._native_group_norm(input, weight, bias, input.size(0), input.size(1), area, num_groups, eps)[0]


@composite(
    "native_group_norm(Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, SymInt HxW, int group, float "
    "eps) -> (Tensor, Tensor, Tensor)",
    samples=[S(f(2, 6, 4), f(6), f(6), 2, 6, 4, 3, 1e-05)],
)
def native_group_norm(input, weight, bias, N, C, HxW, group, eps):
    """``group_norm`` with the mean and the reciprocal standard deviation of each group, of shape (N, group)."""
    result, mean, rstd = op._native_group_norm(input, weight, bias, N, C, HxW, group, eps)
    is_plain = _has_dtype(weight, input.dtype) and _has_dtype(bias, input.dtype)
    return result, _as_input(mean, input, is_plain), _as_input(rstd, input, is_plain)


@kernel(
    "_native_group_norm(Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, SymInt HxW, int group, float "
    "eps) -> (Tensor, Tensor mean, Tensor rstd)",
    shape="group_norm",
    files="norm_channels",
    unbound=True,
    optional_grads=True,
    batch="group_norm",
)
def _native_group_norm(input, weight, bias, N, C, HxW, group, eps):
    """``native_group_norm`` with statistics in the type that the groups are computed in."""


@_native_group_norm.backward
def _(grads, input, weight, mean, rstd, group, eps, needs):
    g = op.group_norm_backward(grads[0], grads[1], grads[2], input, mean, rstd, weight, group, eps, needs)
    return {"input": g[0], "weight": g[1], "bias": g[2]}


@composite(
    "group_norm_backward(Tensor? grad, Tensor? grad_mean, Tensor? grad_rstd, Tensor input, Tensor mean, Tensor rstd, "
    "Tensor? weight, int group, float eps, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
    files="norm_gradients",
    unbound=True,
)
def group_norm_backward(grad, grad_mean, grad_rstd, input, mean, rstd, weight, group, eps, output_mask):
    """The gradients of ``_native_group_norm`` for input, weight and bias, where ``output_mask`` asks for them."""


@kernel(
    "group_norm_grads(Tensor grad, Tensor input, Tensor mean, Tensor rstd, Tensor? weight, int group, bool[3] "
    "output_mask) "
    "-> (Tensor, Tensor, Tensor)",
    shape="group_norm_grads",
    files="norm_channels",
    unbound=True,
    not_differentiable=True,
    batch="group_norm_grads",
)
def group_norm_grads(grad, input, mean, rstd, weight, group, output_mask):
    """The fused form of ``group_norm_backward``."""


@composite(
    "batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, "
    "float momentum, "
    "float eps, bool cudnn_enabled) -> Tensor",
)
def batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled):
    """Normalises each channel of (N, C, ...) over the batch, or by the running statistics unless ``training``."""
    if input.dim() == 1 and input.numel() == 0:  # no samples, of however many channels
        return input.clone()
    result = op._native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)[0]
    if training and running_mean is not None:
        written(running_mean)
    if training and running_var is not None:
        written(running_var)
    return result


batch_norm.samples(
    [S(f(4, 3, 5), f(3), f(3), f(3), f(3, low=0.5), t, 0.1, 1e-5, False) for t in (True, False)]
    + [S(f(4, 3), None, None, None, None, True, 0.1, 1e-5, False)]
)


@composite(
    "native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool "
    "training, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
    variants="function out",
)
def native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps):
    """``batch_norm`` with the mean and reciprocal standard deviation, (C), of the batch; empty unless ``training``."""
    check(
        not training or input.numel() > 0,
        f"training needs at least one element; got shape {input.shape}",
    )
    result, mean, rstd = op._native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)
    if not training:
        mean = mean.new_empty([0])
        rstd = rstd.new_empty([0])
    is_plain = _has_dtype(weight, input.dtype) and _has_dtype(bias, input.dtype)
    is_plain = is_plain and _has_dtype(running_mean, input.dtype) and _has_dtype(running_var, input.dtype)
    return result, _as_input(mean, input, is_plain), _as_input(rstd, input, is_plain)


native_batch_norm.samples([S(f(4, 3, 5), f(3), f(3), f(3), f(3, low=0.5), t, 0.1, 1e-5) for t in (True, False)])


@composite(
    "_native_batch_norm_legit(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean, Tensor(b!) "
    "running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
    variants="function out",
    samples="native_batch_norm",
)
def _native_batch_norm_legit(input, weight, bias, running_mean, running_var, training, momentum, eps):
    """``native_batch_norm`` whose running statistics are arguments that it writes."""
    return op.native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)


@composite(
    "_native_batch_norm_legit.no_stats(Tensor input, Tensor? weight, Tensor? bias, bool training, float momentum, "
    "float eps) -> (Tensor, Tensor, Tensor)",
    variants="function out",
    samples=[S(f(4, 3, 5), f(3), f(3), True, 0.1, 1e-05)],
)
def _native_batch_norm_legit(input, weight, bias, training, momentum, eps):
    """``native_batch_norm`` without running statistics."""
    return op.native_batch_norm(input, weight, bias, None, None, training, momentum, eps)


@composite(
    "_batch_norm_with_update(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean, Tensor(b!) "
    "running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor)",
    variants="function out",
    unbound=True,
)
def _batch_norm_with_update(input, weight, bias, running_mean, running_var, momentum, eps):
    """``native_batch_norm`` in training, and bytes that some devices reserve: none here."""
    result, mean, rstd = op.native_batch_norm(input, weight, bias, running_mean, running_var, True, momentum, eps)
    return result, mean, rstd, input.new_empty([0], dtype=uint8)


def _move(statistic, batch, momentum, factor, dtype):
    """Moves a running statistic towards that of a batch; half types are rounded once, at the end."""
    if statistic is not None:
        statistic.copy_(op.add(statistic.to(dtype) * (1 - momentum), batch, alpha=momentum * factor))


@composite(
    "batch_norm_update_stats(Tensor input, Tensor? running_mean, Tensor? running_var, float momentum) -> (Tensor, "
    "Tensor)",
    variants="function out",
)
def batch_norm_update_stats(input, running_mean, running_var, momentum):
    """The mean and the biased variance, (C), of each channel of the batch; the running statistics move there."""
    channel = wrap_dim(1, input.dim())
    check(
        input.numel() > 0,
        f"input must have at least one element; got shape {input.shape}",
    )
    others = [d for d in range(input.dim()) if d != channel]
    running = running_mean if running_mean is not None else running_var
    dtype = running.dtype if running is not None else input.dtype
    wide = promote_types(dtype, float32)
    var, mean = op.var_mean(input.to(wide), others, correction=0)
    count = float(input.numel() // input.size(channel))
    with no_grad():
        _move(running_mean, mean, momentum, 1.0, wide)
        _move(running_var, var, momentum, count / (count - 1), wide)
    return mean.to(dtype), var.to(dtype)


@kernel(
    "_native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool "
    "training, float momentum, float eps) -> (Tensor, Tensor mean, Tensor rstd)",
    shape="batch_norm",
    files="norm_batch",
    unbound=True,
    nondiff="mean rstd",
    batch="batch_norm",
)
def _native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps):
    """``batch_norm`` with the mean and reciprocal standard deviation, (C), that it used; in training the running
    statistics move."""


@_native_batch_norm.backward
def _(grad, input, weight, mean, rstd, training, eps, needs):
    g = op.batch_norm_gradients(grad, input, weight, mean, rstd, training, eps, needs)
    return {"input": g[0], "weight": g[1], "bias": g[2]}


@composite(
    "batch_norm_gradients(Tensor grad, Tensor input, Tensor? weight, Tensor mean, Tensor rstd, bool training, float "
    "eps, "
    "bool[5] output_mask) -> (Tensor, Tensor, Tensor)",
    files="norm_gradients",
    unbound=True,
)
def batch_norm_gradients(grad, input, weight, mean, rstd, training, eps, output_mask):
    """The gradients of ``batch_norm`` for input, weight and bias, where ``output_mask`` asks for them."""


@kernel(
    "batch_norm_grads(Tensor grad, Tensor input, Tensor? weight, Tensor mean, Tensor rstd, bool training, bool[3] "
    "output_mask) "
    "-> (Tensor, Tensor, Tensor)",
    shape="batch_norm_grads",
    files="norm_batch",
    unbound=True,
    not_differentiable=True,
    batch="batch_norm_grads",
)
def batch_norm_grads(grad, input, weight, mean, rstd, training, output_mask):
    """The fused form of ``batch_norm_gradients``, from the statistics (C) that were used."""


def _spread(tensor, count):
    """A copy of an optional parameter for each sample."""
    return tensor.repeat([count]) if tensor is not None else None


def _gather(running, spread, count):
    """The mean over samples, back into a running statistic."""
    if running is not None:
        running.copy_(spread.view([count, -1]).mean([0]))


@composite(
    "instance_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool "
    "use_input_stats, "
    "float momentum, float eps, bool cudnn_enabled) -> Tensor",
    samples=[S(f(4, 3, 5), f(3), f(3), None, None, True, 0.1, 1e-05, False)],
)
def instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled):
    """Normalises each channel of each sample of (N, C, ...) over its positions, or by the running statistics."""
    # Samples become channels of one sample, each with its copy of the running statistics.
    check(
        input.dim() >= 2,
        f"input must have a batch and a channel dimension; got shape {input.shape}",
    )
    check(
        use_input_stats or (running_mean is not None and running_var is not None),
        "without use_input_stats, running_mean and running_var are needed",
    )
    n, c = input.size(0), input.size(1)
    if use_input_stats and running_mean is None and running_var is None:
        return op.group_norm(input.contiguous(), c, weight, bias, eps)
    mean, var = _spread(running_mean, n), _spread(running_var, n)
    flat = input.reshape([1, n * c, *input.shape[2:]])
    result = op.batch_norm(
        flat,
        _spread(weight, n),
        _spread(bias, n),
        mean,
        var,
        use_input_stats,
        momentum,
        eps,
        cudnn_enabled,
    )
    if use_input_stats:
        with no_grad():
            _gather(running_mean, mean, n)
            _gather(running_var, var, n)
    return result.reshape(input.shape)


@composite(
    "renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor",
    variants="function method inplace out",
    samples=[S(f(3, 4), 2, 0, 1.0)],
)
def renorm(self, p, dim, maxnorm):
    """Scales each slice along ``dim`` whose ``p``-norm exceeds ``maxnorm`` down to it."""
    check(p > 0, f"the norm's order must be positive; got p={p}")
    check(maxnorm >= 0, f"maxnorm must not be negative; got {maxnorm}")
    check(
        self.dim() >= 2,
        f"the tensor must have at least 2 dimensions; got shape {self.shape}",
    )
    along = wrap_dim(dim, self.dim())
    norm = op.linalg_vector_norm(self, p, [d for d in range(self.dim()) if d != along], True)
    factor = op.reciprocal(norm + 1e-7) * maxnorm
    return (self * where(norm > maxnorm, factor, 1.0)).contiguous()


@composite(
    "cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor",
    samples=[S(f(2, 3), f(2, 3)), S(f(2, 3), f(3), 1)],
)
def cosine_similarity(x1, x2, dim, eps):
    """The cosine of the angle between ``x1`` and ``x2`` along ``dim``; norms count as at least ``eps``."""
    dtype = promote_types(x1.dtype, x2.dtype)
    check(
        is_differentiable(dtype),
        f"is for floating-point tensors; got {x1.dtype} and {x2.dtype}",
    )
    a, b = x1.to(dtype), x2.to(dtype)
    sizes = broadcast_shapes(a.shape, b.shape)
    a, b = a.expand(sizes), b.expand(sizes)
    unit_a = a / op.clamp_min(op.linalg_vector_norm(a, 2, [dim], True), eps)
    unit_b = b / op.clamp_min(op.linalg_vector_norm(b, 2, [dim], True), eps)
    return (unit_a * unit_b).sum([dim])


@composite(
    "pairwise_distance(Tensor x1, Tensor x2, float p=2.0, float eps=1e-06, bool keepdim=False) -> Tensor",
    samples="cosine_similarity",
)
def pairwise_distance(x1, x2, p, eps, keepdim):
    """The ``p``-norm of ``x1 - x2 + eps`` along the last dimension."""
    return op.linalg_vector_norm(x1 - x2 + eps, p, [-1], keepdim)
