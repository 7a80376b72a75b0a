"""Losses."""

from __future__ import annotations

from typing import Any

from taeda import Tensor
from taeda._decompositions.core.table import as_dtype, aten, body_of, number


def _reduced(loss: Tensor, reduction: int) -> Tensor:
    return (lambda x: x, aten.mean.default, lambda x: aten.sum.dim_IntList(x, []))[reduction](loss)


@body_of("mse_loss")
def _mse_loss(self: Tensor, target: Tensor, reduction: int = 1) -> Any:
    return _reduced(aten.pow.Tensor_Scalar(aten.sub.Tensor(self, target), 2), reduction)


@body_of("cross_entropy_loss")
def _cross_entropy(self: Tensor, target: Tensor, weight: Any = None, reduction: int = 1, ignore_index: int = -100,
                   label_smoothing: float = 0.0) -> Any:  # fmt: skip
    if self.dim() != 2 or target.dim() != 1 or weight is not None or label_smoothing:
        return NotImplemented
    return _picked(aten._log_softmax.default(self, 1, False), target, reduction, ignore_index)


@body_of("nll_loss", "nll_loss_nd")
def _nll_loss(self: Tensor, target: Tensor, weight: Any = None, reduction: int = 1, ignore_index: int = -100) -> Any:
    if self.dim() != 2 or target.dim() != 1 or weight is not None:
        return NotImplemented
    return _picked(self, target, reduction, ignore_index)


def _picked(logs: Tensor, target: Tensor, reduction: int, ignore_index: int) -> Tensor:
    """The negative of each row at its label; rows with the ignored label give 0 and do not count."""
    counts = aten.ne.Scalar(target, ignore_index)
    safe = aten.where.self(counts, target, number(0, target))
    picked = aten.squeeze.dims(aten.gather.default(logs, 1, aten.unsqueeze.default(safe, 1)), [1])
    loss = aten.where.self(counts, aten.neg.default(picked), number(0, logs))
    if reduction == 0:
        return loss
    total = aten.sum.dim_IntList(loss, [])
    if reduction == 2:
        return total
    return aten.div.Tensor(total, as_dtype(aten.sum.dim_IntList(counts, []), logs.dtype))


@body_of("binary_cross_entropy_with_logits")
def _bce_with_logits(self: Tensor, target: Tensor, weight: Any = None, pos_weight: Any = None,
                     reduction: int = 1) -> Any:  # fmt: skip
    if weight is not None or pos_weight is not None:
        return NotImplemented
    zero = aten.full.default([], 0, dtype=self.dtype, device=self.device)
    log_sigmoid = aten.sub.Tensor(
        aten.minimum.default(zero, self), aten.log1p.default(aten.exp.default(aten.neg.default(aten.abs.default(self))))
    )
    loss = aten.sub.Tensor(aten.mul.Tensor(aten.add.Scalar(aten.neg.default(target), 1), self), log_sigmoid)
    return _reduced(loss, reduction)
