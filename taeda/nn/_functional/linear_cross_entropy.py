"""The cross entropy of a linear layer's outputs."""

from __future__ import annotations

from typing import Any

from taeda import Tensor
from taeda._C._nn import linear
from taeda.nn._functional.loss import cross_entropy

_NAME = "taeda.nn.functional.linear_cross_entropy"
_NO_CLASS = -100


def logits_of(input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """(..., C, d...) for a weight (C, d..., in)."""
    flat = linear(input, weight.flatten(0, -2), None if bias is None else bias.flatten())
    return flat.unflatten(-1, weight.shape[:-1])


def _check(input: Tensor, linear_weight: Tensor, linear_bias: Tensor | None) -> None:
    if input.dim() not in (1, 2):
        raise RuntimeError(f"{_NAME}: input must have 1 or 2 dimensions; got {input.dim()}")
    if linear_weight.dim() < 2:
        raise RuntimeError(f"{_NAME}: linear_weight must have at least 2 dimensions; got {linear_weight.dim()}")
    if linear_weight.dim() > 2 and input.dim() == 1:
        raise RuntimeError(
            f"{_NAME}: with linear_weight {tuple(linear_weight.shape)} the input must be a batch; got shape "
            f"{tuple(input.shape)}"
        )
    if linear_bias is not None and linear_bias.shape != linear_weight.shape[:-1]:
        raise RuntimeError(
            f"{_NAME}: linear_bias must be of shape {tuple(linear_weight.shape[:-1])}; got {tuple(linear_bias.shape)}"
        )


def _divisor(target: Tensor, weight: Tensor | None, ignore_index: int, dtype: Any) -> Any:
    """What a mean divides the sum by."""
    if target.is_floating_point():
        return target.numel() // target.size(1)
    counted = target != ignore_index
    if weight is None:
        return counted.sum()
    return weight[target.where(counted, 0)].where(counted, 0).sum().to(dtype)


def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: Any = None,
) -> Tensor:
    """`cross_entropy` of ``linear(input, linear_weight, linear_bias)``.

    Args:
        input: (N, in_features) or (in_features).
        linear_weight: (C, in_features), or for a batch (C, d..., in_features).
        target: class numbers (N, d...) or class probabilities (N, C, d...), without N for an input without it.
        linear_bias: (C, d...).
        ignore_index: a class number that counts for nothing; None for -100.
        options: `LinearCrossEntropyOptions`, to compute the logits a piece of the batch at a time.

    Raises:
        RuntimeError: shapes that do not fit, or ``ignore_index`` with class probabilities.
    """
    _check(input, linear_weight, linear_bias)
    if target.is_floating_point() and ignore_index is not None:
        raise RuntimeError(f"{_NAME}: ignore_index goes with class numbers, not with class probabilities")
    index = _NO_CLASS if ignore_index is None else ignore_index
    settings: dict[str, Any] = {"weight": weight, "ignore_index": index, "label_smoothing": label_smoothing}
    if options is None or input.dim() == 1 or target.requires_grad:  # pieces have no gradient for the target
        return cross_entropy(logits_of(input, linear_weight, linear_bias), target, reduction=reduction, **settings)
    from taeda.nn._functional._pieces import LossByPieces  # brings autograd's Python along

    rows = options.chunk_size(input.size(0), input.size(1), linear_weight.shape[:-1].numel())
    dtype = options.sum_dtype(linear_weight.dtype)
    losses = LossByPieces.apply(
        input, linear_weight, linear_bias, target, {**settings, "reduction": "none"}, rows, dtype
    )
    if reduction == "mean":
        return losses.sum() / _divisor(target, weight, index, losses.dtype)
    return losses.sum() if reduction == "sum" else losses
