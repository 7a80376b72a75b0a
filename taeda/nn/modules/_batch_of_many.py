"""Batch normalisation over a batch whose parts are on several processes."""

from __future__ import annotations

import sys
from typing import Any

import taeda
from taeda import Tensor
from taeda.autograd import Function

__all__ = ["group_of", "normalise"]


def group_of(wanted: Any) -> Any:
    """The process group of that name or of all processes, if it has several; None else."""
    world = sys.modules.get("taeda.distributed")  # unless somebody imported it there is no group
    if world is None or not world.is_initialized():
        return None
    group = world.group.WORLD if wanted is None else wanted
    return group if world.get_world_size(group) > 1 else None


def _gathered(own: Tensor, group: Any) -> Tensor:
    """Everybody's vector as the rows of a matrix."""
    world: Any = sys.modules["taeda.distributed"]
    rows = own.new_empty(group.size(), own.numel())
    world.all_gather_into_tensor(rows, own, group=group)
    return rows


def _wide(tensor: Tensor) -> Any:
    """The dtype to calculate in."""
    return taeda.float32 if tensor.dtype in (taeda.float16, taeda.bfloat16) else tensor.dtype


class _Normalise(Function):
    @staticmethod
    def forward(ctx: Any, input: Tensor, weight: Any, bias: Any, mean: Tensor, scale: Tensor, count: Tensor,
                group: Any) -> Tensor:  # fmt: skip
        shape = [1, -1] + [1] * (input.dim() - 2)
        ctx.group, ctx.shape = group, shape
        ctx.save_for_backward(input, weight, mean, scale, count)
        result = (input - mean.view(shape)) * scale.view(shape)
        if weight is not None:
            result = result * weight.view(shape)
        if bias is not None:
            result = result + bias.view(shape)
        return result.to(input.dtype)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        input, weight, mean, scale, count = ctx.saved_tensors
        shape, dims = ctx.shape, [0, *range(2, input.dim())]
        grad_wide = grad.to(mean.dtype)
        centred = input.to(mean.dtype) - mean.view(shape)
        grads = grad_wide.sum(dims)
        products = (grad_wide * centred).sum(dims)
        result = None
        if ctx.needs_input_grad[0]:
            channels = mean.numel()
            both = _gathered(taeda.cat([grads, products]), ctx.group).sum(0) / count
            slope = (both[channels:] * scale * scale).view(shape)
            factor = scale if weight is None else scale * weight
            result = (grad_wide - both[:channels].view(shape) - centred * slope) * factor.view(shape)
            result = result.to(input.dtype)
        by_weight = (products * scale).to(weight.dtype) if weight is not None and ctx.needs_input_grad[1] else None
        by_bias = grads.to(weight.dtype if weight is not None else grads.dtype) if ctx.needs_input_grad[2] else None
        return result, by_weight, by_bias, None, None, None, None


def normalise(input: Tensor, weight: Any, bias: Any, running: Any, momentum: float, eps: float, group: Any) -> Tensor:
    """(N, C, ...) normalised by mean and variance over all processes' batches.

    Args:
        running: running mean and variance, which move by ``momentum``; or None.

    Raises:
        ValueError: there is one value for each channel, over all processes.
    """
    dims = [0, *range(2, input.dim())]
    with taeda.no_grad():
        wide = input.detach().to(_wide(input))
        own_count = input.numel() // input.size(1)
        count = wide.new_full((1,), own_count)
        if own_count:
            own_mean = wide.mean(dims)
            spread = wide.var(dims, correction=0) * own_count
        else:  # this process has no data: it takes part with nothing
            own_mean, spread = wide.new_zeros(input.size(1)), wide.new_zeros(input.size(1))
        rows = _gathered(taeda.cat([own_mean, spread, count]), group)
        channels = input.size(1)
        means, spreads, counts = rows[:, :channels], rows[:, channels:-1], rows[:, -1:]
        total = counts.sum()
        if total < 2:
            raise ValueError(
                "taeda.nn.SyncBatchNorm: more than one value for each channel is wanted over all processes; got "
                f"{int(total)}"
            )
        mean = (means * counts).sum(0) / total
        spread = spreads.sum(0) + (counts * (means - mean).square()).sum(0)
        if running is not None:
            running[0].lerp_(mean.to(running[0].dtype), momentum)
            running[1].lerp_((spread / (total - 1)).to(running[1].dtype), momentum)
        scale = (spread / total + eps).rsqrt()
    result: Tensor = _Normalise.apply(input, weight, bias, mean, scale, total, group)
    return result
