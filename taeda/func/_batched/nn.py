"""Rules of layers and losses. Where weights differ by example, channels of all examples lie side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda._library.ops import OpOverload
from taeda.func._batched.batches import fold, unfolded
from taeda.func._batched.general import one_by_one
from taeda.func._batched.tensor import Batch, Unbatchable, bound

# --- convolution


def _beside(batch: Batch, x: Tensor) -> Tensor:
    """(n, batch * channels, ...) from (batch, n, channels, ...)."""
    return batch.whole(x).movedim(0, 1).flatten(1, 2)  # type: ignore[no-any-return]


def _apart(batch: Batch, x: Tensor) -> Any:
    """(batch, n, channels, ...) from (n, batch * channels, ...)."""
    return batch.wrap(x.unflatten(1, (batch.size, -1)).movedim(1, 0))


def convolution(batch: Batch, op: OpOverload, input: Tensor, weight: Tensor, bias: Tensor | None, stride: Any,
                padding: Any, dilation: Any, transposed: bool, output_padding: Any, groups: int) -> Any:  # fmt: skip
    options = stride, padding, dilation, transposed, output_padding
    if not batch.holds(weight):
        own = None if batch.holds(bias) else bias
        result = unfolded(batch, op(fold(batch, input), weight, own, *options, groups), input.shape[0])
    elif not batch.holds(input) and groups == 1 and not transposed:
        own, result = None, _apart(batch, op(input, batch.whole(weight).flatten(0, 1), None, *options, 1))
    else:
        own, weights = None, batch.whole(weight).flatten(0, 1)
        result = _apart(batch, op(_beside(batch, input), weights, None, *options, groups * batch.size))
    if bias is None or own is not None:
        return result
    return batch.wrap(result.value + batch.whole(bias).reshape(batch.size, 1, -1, *[1] * (input.dim() - 2)))


def convolution_weight_grad(batch: Batch, op: OpOverload, features: Tensor, input: Tensor, kernel_size: Any,
                            stride: Any, padding: Any, dilation: Any, groups: int) -> Any:  # fmt: skip
    given = kernel_size, stride, padding, dilation, groups * batch.size
    return batch.wrap(op(_beside(batch, features), _beside(batch, input), *given).unflatten(0, (batch.size, -1)))


# --- normalization


def layer_norm(batch: Batch, op: OpOverload, input: Tensor, normalized_shape: Any, weight: Tensor | None,
               bias: Tensor | None, eps: float) -> Any:  # fmt: skip
    if any(f is not None and list(f.shape) != list(normalized_shape) for f in (weight, bias)):
        raise Unbatchable("a scale or shift of another shape than what is normalized")
    x = batch.whole(input)
    if not batch.holds(weight) and not batch.holds(bias):
        return batch.wrap_all(op(x, normalized_shape, weight, bias, eps))
    result, mean, rstd = op(x, normalized_shape, None, None, eps)
    for factor, combine in ((weight, taeda.mul), (bias, taeda.add)):
        result = result if factor is None else combine(result, batch.padded(factor, input.dim()))
    return batch.wrap(result), batch.wrap(mean), batch.wrap(rstd)


def layer_norm_grads(batch: Batch, op: OpOverload, grad: Tensor, input: Tensor, normalized_shape: Any,
                     mean: Tensor | None, rstd: Tensor, weight: Tensor | None, output_mask: Any) -> Any:  # fmt: skip
    values = [batch.whole(x) for x in (grad, input, mean, rstd)]
    upper, x, centre, scale = values
    scaled = upper if weight is None else upper * batch.padded(weight, input.dim())
    to_input = op(scaled, x, normalized_shape, centre, scale, None, [output_mask[0], False, False])[0]
    outer = list(range(1, 1 + input.dim() - len(normalized_shape)))
    if centre is not None and output_mask[1]:
        x = x - centre.reshape(*centre.shape[: len(outer) + 1], *[1] * len(normalized_shape))
    weighted = upper * x * scale.reshape(*scale.shape[: len(outer) + 1], *[1] * len(normalized_shape))
    grads = [to_input, *((_sum(v, outer) if is_wanted else None)
                         for v, is_wanted in zip((weighted, upper), output_mask[1:], strict=True))]  # fmt: skip
    return tuple(g if g is None else batch.wrap(g) for g in grads)


def _sum(x: Tensor, dims: Sequence[int]) -> Tensor:
    return x.sum(tuple(dims)) if dims else x


def group_norm(batch: Batch, op: OpOverload, input: Tensor, weight: Tensor | None, bias: Tensor | None, N: int, C: int,
               HxW: int, group: int, eps: float) -> Any:  # fmt: skip
    own = (None, None) if batch.holds(weight) or batch.holds(bias) else (weight, bias)
    results = op(fold(batch, input), *own, N * batch.size, C, HxW, group, eps)
    result, mean, rstd = unfolded(batch, results, N)
    if own == (weight, bias):
        return result, mean, rstd
    shape = batch.size, 1, C, *[1] * (input.dim() - 2)
    value = result.value
    for factor, combine in ((weight, taeda.mul), (bias, taeda.add)):
        value = value if factor is None else combine(value, batch.whole(factor).reshape(shape))
    return batch.wrap(value), mean, rstd


def group_norm_grads(batch: Batch, op: OpOverload, grad: Tensor, input: Tensor, mean: Tensor, rstd: Tensor,
                     weight: Tensor | None, group: int, output_mask: Any) -> Any:  # fmt: skip
    n, channels = input.shape[:2]
    upper, x = batch.whole(grad), batch.whole(input)
    shape = batch.size, 1, channels, *[1] * (input.dim() - 2)
    scaled = upper if weight is None else upper * batch.whole(weight).reshape(shape)
    folded = [fold(batch, batch.wrap(v)) for v in (scaled, x)]
    to_input = op(*folded, fold(batch, mean), fold(batch, rstd), None, group, [output_mask[0], False, False])[0]
    grads: list[Any] = [None if to_input is None else unfolded(batch, to_input, n), None, None]
    outer = [1, *range(3, upper.dim())]
    if output_mask[1]:
        centre, scale = (batch.whole(v).reshape(batch.size, n, group, 1) for v in (mean, rstd))
        normal = ((x.reshape(batch.size, n, group, -1) - centre) * scale).reshape(x.shape)
        grads[1] = batch.wrap((upper * normal).sum(outer))
    if output_mask[2]:
        grads[2] = batch.wrap(upper.sum(outer))
    return tuple(grads)


def _channels(batch: Batch, x: Tensor | None) -> Any:
    return None if x is None else batch.whole(x).reshape(-1)


def batch_norm(batch: Batch, op: OpOverload, input: Tensor, weight: Tensor | None, bias: Tensor | None,
               running_mean: Tensor | None, running_var: Tensor | None, training: bool, momentum: float,
               eps: float) -> Any:  # fmt: skip
    statistics = [x for x in (running_mean, running_var) if x is not None]
    if training and not all(batch.holds(x) and batch.whole(x).is_contiguous() for x in statistics):
        raise Unbatchable("all examples share the running statistics that are written to")
    given = [_channels(batch, x) for x in (weight, bias, running_mean, running_var)]
    result, mean, rstd = op(_beside(batch, input), *given, training, momentum, eps)
    return _apart(batch, result), *(batch.wrap(x.reshape(batch.size, -1)) for x in (mean, rstd))


def batch_norm_grads(batch: Batch, op: OpOverload, grad: Tensor, input: Tensor, weight: Tensor | None, mean: Tensor,
                     rstd: Tensor, training: bool, output_mask: Any) -> Any:  # fmt: skip
    given = [_channels(batch, x) for x in (weight, mean, rstd)]
    results = op(_beside(batch, grad), _beside(batch, input), *given, training, output_mask)
    to_input, *others = [r if is_wanted else None for r, is_wanted in zip(results, output_mask, strict=True)]
    shaped = [None if r is None else batch.wrap(r.reshape(batch.size, -1)) for r in others]
    return None if to_input is None else _apart(batch, to_input), *shaped


# --- losses by class: a row's own loss first, and then what each example makes of its rows

_NONE, _MEAN = 0, 1


def nll_loss(batch: Batch, op: OpOverload, self: Tensor, target: Tensor, weight: Tensor | None, reduction: int,
             ignore_index: int) -> Any:  # fmt: skip
    shared, scores, classes = batch.shared(weight), batch.whole(self), batch.whole(target)
    rows = scores if self.dim() == 1 else scores.flatten(0, 1)
    losses = op(rows, classes if self.dim() == 1 else classes.flatten(0, 1), shared, _NONE, ignore_index)[0]
    fixed = None if shared is None else shared.detach()  # as for the op
    weights = _class_weights(classes, fixed, ignore_index, scores.dtype)
    total = weights.reshape(batch.size, -1).sum(1)
    if reduction == _NONE:
        return batch.wrap(losses.reshape(classes.shape)), batch.wrap(taeda.zeros_like(total))
    result = losses.reshape(batch.size, -1).sum(1)
    return batch.wrap(result / total if reduction == _MEAN else result), batch.wrap(total)


def _class_weights(classes: Tensor, weight: Tensor | None, ignore_index: int, dtype: taeda.dtype) -> Tensor:
    is_used = classes != ignore_index
    if weight is None:
        return is_used.to(dtype)
    return taeda.where(is_used, weight[taeda.where(is_used, classes, 0)], 0)  # type: ignore[no-any-return]


def nll_loss_backward(batch: Batch, op: OpOverload, grad_output: Tensor, self: Tensor, target: Tensor,
                      weight: Tensor | None, reduction: int, ignore_index: int,
                      total_weight: Tensor) -> Any:  # fmt: skip
    classes = batch.whole(target)
    upper = _upper(batch, grad_output, classes, reduction, total_weight)
    shared, scores = batch.shared(weight), batch.whole(self)
    if self.dim() > 1:
        upper, scores, classes = upper.flatten(0, 1), scores.flatten(0, 1), classes.flatten(0, 1)
    result = op(upper.contiguous(), scores, classes, shared, _NONE, ignore_index, scores.new_zeros(()))
    return batch.wrap(result.reshape(batch.size, *self.shape))


def _upper(batch: Batch, grad: Tensor, classes: Tensor, reduction: int, total: Tensor) -> Tensor:
    """The gradients of the rows' own losses, (batch, *rows)."""
    upper = batch.whole(grad)
    if reduction == _NONE:
        return upper  # type: ignore[no-any-return]
    upper = upper / batch.whole(total) if reduction == _MEAN else upper
    return upper.reshape(batch.size, *[1] * (classes.dim() - 1)).expand(classes.shape)  # type: ignore[no-any-return]


def cross_entropy(batch: Batch, op: OpOverload, self: Tensor, target: Tensor, reduction: int, ignore_index: int) -> Any:
    n = target.shape[0]
    losses, logsumexp, all_count = op(fold(batch, self), fold(batch, target), _NONE, ignore_index)
    count = (batch.whole(target) != ignore_index).sum(1).to(all_count.dtype)
    result = losses.reshape(batch.size, n)
    if reduction != _NONE:
        result = result.sum(1) / count if reduction == _MEAN else result.sum(1)
    return batch.wrap(result), unfolded(batch, logsumexp, n), batch.wrap(count)


def cross_entropy_backward(batch: Batch, op: OpOverload, grad_output: Tensor, self: Tensor, target: Tensor,
                           logsumexp: Tensor, count: Tensor, reduction: int, ignore_index: int) -> Any:  # fmt: skip
    upper = _upper(batch, grad_output, batch.whole(target), reduction, count).flatten(0, 1).contiguous()
    rows = [fold(batch, x) for x in (self, target, logsumexp)]
    result = op(upper, *rows, batch.whole(count)[0], _NONE, ignore_index)
    return unfolded(batch, result, self.shape[0])


# --- attention


def attention(batch: Batch, op: OpOverload, *args: Any) -> Any:
    tensors = [x for x in args if isinstance(x, Tensor)]
    if bound(op, args, {})["bias"] is not None or tensors[0].dim() < 3 or len({t.shape[0] for t in tensors}) > 1:
        return one_by_one(batch, op, *args)
    return unfolded(batch, op(*(fold(batch, x) for x in args)), tensors[0].shape[0])
