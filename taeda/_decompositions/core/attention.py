"""Attention, as two products and a softmax."""

from __future__ import annotations

import math
from typing import Any

import taeda
from taeda import Tensor
from taeda._decompositions.core.table import aten, body_of, number, varies


@body_of("scaled_dot_product_attention")
def _attention(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, dropout_p: float = 0.0,
               is_causal: bool = False, *, scale: float | None = None, enable_gqa: bool = False) -> Any:  # fmt: skip
    if varies(query.shape[-1]) and scale is None:
        return NotImplemented
    if enable_gqa:
        if any(varies(x.shape[-3]) for x in (query, key, value)):
            return NotImplemented
        key, value = (_shared(x, query.shape[-3]) for x in (key, value))
    factor = math.sqrt(1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    turned = aten.transpose.int(aten.mul.Scalar(key, factor), -2, -1)
    scores = aten.matmul.default(aten.mul.Scalar(query, factor), turned)
    bias = _causal(query, key) if is_causal else attn_mask
    weights = _softmax(scores) if bias is None else _safe_softmax(_biased(scores, bias))
    if dropout_p > 0:
        weights = aten.native_dropout.default(weights, dropout_p, True)[0]
    return aten.matmul.default(weights, value)


def _shared(x: Tensor, heads: int) -> Tensor:
    """Each head of keys or values for the several heads of queries that it serves."""
    *batch, own, length, width = x.shape
    wide = aten.expand.default(aten.unsqueeze.default(x, -3), [*batch, own, heads // own, length, width])
    return aten.reshape.default(wide, [*batch, heads, length, width])


def _causal(query: Tensor, key: Tensor) -> Tensor:
    seen = aten.full.default([query.shape[-2], key.shape[-2]], True, dtype=taeda.bool, device=query.device)
    return aten.tril.default(seen)


def _biased(scores: Tensor, bias: Tensor) -> Tensor:
    if bias.dtype == taeda.bool:
        bias = aten.where.self(bias, number(0.0, scores), number(-math.inf, scores))
    return aten.add.Tensor(scores, bias)


def _softmax(scores: Tensor) -> Tensor:
    return aten._softmax.default(scores, -1, False)


@body_of("_safe_softmax")
def _safe_softmax_of(self: Tensor, dim: int, dtype: Any = None) -> Any:
    return _safe_softmax(self) if dim % self.dim() == self.dim() - 1 and dtype is None else NotImplemented


def _safe_softmax(scores: Tensor) -> Tensor:
    """Rows that are masked altogether give zeros."""
    weights = _softmax(scores)
    seen = aten.logical_not.default(aten.eq.Scalar(scores, -math.inf))
    nothing = aten.logical_not.default(aten.any.dim(seen, -1, True))
    return aten.where.self(nothing, aten.full_like.default(weights, 0), weights)
