"""A loss computed a piece of the batch at a time."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda.autograd import Function
from taeda.autograd._transforms import leaf_of
from taeda.nn._functional.linear_cross_entropy import logits_of
from taeda.nn._functional.loss import cross_entropy


class LossByPieces(Function):
    """The loss of each row, a piece of the batch at a time; backward computes each piece's logits again."""

    @staticmethod
    def forward(ctx: Any, input: Any, weight: Any, bias: Any, target: Any, settings: Any, rows: int, dtype: Any) -> Any:
        ctx.save_for_backward(input, weight, bias, target)
        ctx.settings, ctx.rows, ctx.dtype = settings, rows, dtype
        pieces = zip(input.split(rows), target.split(rows), strict=True)
        return taeda.cat([cross_entropy(logits_of(x, weight, bias), t, **settings) for x, t in pieces])

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        input, weight, bias, target = ctx.saved_tensors
        shared = [leaf_of(t) for t in (weight, bias) if t is not None]
        sums = [taeda.zeros_like(t, dtype=ctx.dtype, requires_grad=False) for t in shared]
        to_input = []
        for x, t, g in zip(*(every.split(ctx.rows) for every in (input, target, grad)), strict=True):
            x = leaf_of(x)
            with taeda.enable_grad():
                loss = cross_entropy(logits_of(x, shared[0], shared[1] if len(shared) > 1 else None), t, **ctx.settings)
            piece, *others = taeda.autograd.grad(loss, [x, *shared], g)
            to_input.append(piece)
            for total, part in zip(sums, others, strict=True):
                total += part
        grads = [total.to(t.dtype) for total, t in zip(sums, shared, strict=True)]
        return taeda.cat(to_input), grads[0], grads[1] if bias is not None else None, None, None, None, None
