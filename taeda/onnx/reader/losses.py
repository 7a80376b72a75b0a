"""Losses over classes."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda.nn import functional as F
from taeda.onnx.reader.table import op


def _negative_log_likelihood(
    x: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int | None, reduction: str
) -> Tensor:
    shape = target.shape
    flat = x.reshape(x.shape[0], x.shape[1], -1).transpose(1, 2).reshape(-1, x.shape[1])
    given = target.to(taeda.int64).reshape(-1)
    none = -(2**62) if ignore_index is None else ignore_index
    loss = F.nll_loss(flat, given, weight, ignore_index=none, reduction=reduction)
    return loss.reshape(shape) if reduction == "none" else loss


@op("NegativeLogLikelihoodLoss")
def negative_log_likelihood_loss(
    x: Tensor, target: Tensor, weight: Tensor | None = None, *, ignore_index: int | None = None, reduction: str = "mean"
) -> Tensor:
    return _negative_log_likelihood(x, target, weight, ignore_index, reduction)


@op("SoftmaxCrossEntropyLoss")
def softmax_cross_entropy_loss(x: Tensor, target: Tensor, weight: Tensor | None = None, *, outputs: list[str],
                               ignore_index: int | None = None, reduction: str = "mean") -> Any:  # fmt: skip
    logarithms = taeda.log_softmax(x, 1)
    loss = _negative_log_likelihood(logarithms, target, weight, ignore_index, reduction)
    return (loss, logarithms) if len(outputs) > 1 else loss
