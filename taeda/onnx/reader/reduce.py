"""Reductions. The dimensions are an attribute in old versions, an input in new ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor
from taeda.onnx.reader.table import op
from taeda.onnx.reader.values import ints


def _reduction(name: str, function: Callable[[Tensor, list[int], bool], Tensor]) -> None:
    @op(name)
    def reduce(x: Tensor, given: Tensor | None = None, *, axes: Any = None, keepdims: int = 1,
               noop_with_empty_axes: int = 0) -> Tensor:  # fmt: skip
        dims = ints(given) if given is not None else list(axes or [])
        if not dims:
            if noop_with_empty_axes:
                return function(x.unsqueeze(-1), [-1], False) if name not in ("ReduceMax", "ReduceMin") else x
            dims = list(range(x.dim()))
        if not dims:
            return function(x.unsqueeze(0), [0], False)
        return function(x, dims, bool(keepdims)).to(x.dtype)

    reduce.__name__ = name


def _empty(x: Tensor, dims: list[int]) -> bool:
    return any(x.shape[d] == 0 for d in dims)


def _extreme(x: Tensor, dims: list[int], keep: bool, largest: bool) -> Tensor:
    if _empty(x, dims):
        shape = [1 if d in [k % x.dim() for k in dims] else s for d, s in enumerate(x.shape)]
        if x.dtype == taeda.bool:
            limit: Any = not largest
        elif x.is_floating_point():
            limit = float("-inf") if largest else float("inf")
        else:
            limit = taeda.iinfo(x.dtype).min if largest else taeda.iinfo(x.dtype).max
        full = taeda.full(shape, limit, dtype=x.dtype)
        return (
            full if keep else full.reshape([s for d, s in enumerate(x.shape) if d not in [k % x.dim() for k in dims]])
        )
    return taeda.amax(x, dims, keep) if largest else taeda.amin(x, dims, keep)


def _product(x: Tensor, dims: list[int], keep: bool) -> Tensor:
    for dim in sorted((d % x.dim() for d in dims), reverse=True):
        x = x.prod(dim, keepdim=keep)
    return x


_reduction("ReduceSum", lambda x, d, k: x.sum(d, k))
_reduction("ReduceMean", lambda x, d, k: x.mean(d, k) if x.is_floating_point() else x.double().mean(d, k))
_reduction("ReduceMax", lambda x, d, k: _extreme(x, d, k, True))
_reduction("ReduceMin", lambda x, d, k: _extreme(x, d, k, False))
_reduction("ReduceProd", _product)
_reduction("ReduceL1", lambda x, d, k: x.abs().sum(d, k))
_reduction("ReduceL2", lambda x, d, k: (x.double() if not x.is_floating_point() else x).square().sum(d, k).sqrt())
_reduction("ReduceLogSum", lambda x, d, k: x.sum(d, k).log())
_reduction("ReduceLogSumExp", lambda x, d, k: taeda.logsumexp(x, d, k) if not _empty(x, d) else x.exp().sum(d, k).log())
_reduction("ReduceSumSquare", lambda x, d, k: x.square().sum(d, k))


def _arg(x: Tensor, axis: int, keepdims: int, last: int, largest: bool) -> Tensor:
    function = taeda.argmax if largest else taeda.argmin
    if not last:
        return function(x, axis, bool(keepdims))
    return x.shape[axis] - 1 - function(x.flip(axis), axis, bool(keepdims))


@op("ArgMax")
def argmax(x: Tensor, *, axis: int = 0, keepdims: int = 1, select_last_index: int = 0) -> Tensor:
    return _arg(x, axis, keepdims, select_last_index, True)


@op("ArgMin")
def argmin(x: Tensor, *, axis: int = 0, keepdims: int = 1, select_last_index: int = 0) -> Tensor:
    return _arg(x, axis, keepdims, select_last_index, False)


def _flat(x: Tensor, axis: int, opset: int, function: Callable[[Tensor, int], Tensor]) -> Tensor:
    """Before version 13 the dimensions from ``axis`` on are one."""
    if opset >= 13:
        return function(x, axis)
    rows = 1
    for size in x.shape[: axis % x.dim() if axis < 0 else axis]:
        rows *= size
    return function(x.reshape(rows, -1), 1).reshape(x.shape)


@op("Softmax")
def softmax(x: Tensor, *, opset: int, axis: int | None = None) -> Tensor:
    axis = (-1 if opset >= 13 else 1) if axis is None else axis
    return _flat(x, axis, opset, taeda.softmax)


@op("LogSoftmax")
def log_softmax(x: Tensor, *, opset: int, axis: int | None = None) -> Tensor:
    axis = (-1 if opset >= 13 else 1) if axis is None else axis
    return _flat(x, axis, opset, taeda.log_softmax)


@op("Hardmax")
def hardmax(x: Tensor, *, opset: int, axis: int | None = None) -> Tensor:
    axis = (-1 if opset >= 13 else 1) if axis is None else axis

    def one(t: Tensor, dim: int) -> Tensor:
        return taeda.zeros_like(t).scatter(dim, t.argmax(dim, keepdim=True), 1)

    return _flat(x, axis, opset, one)


def _running(
    function: Callable[[Tensor, int], Tensor], x: Tensor, axis: int, exclusive: int, reverse: int, first: int
) -> Tensor:
    x = x.flip(axis) if reverse else x
    if exclusive:
        start = taeda.full_like(x.narrow(axis, 0, 1), first)
        x = taeda.cat([start, x.narrow(axis, 0, x.shape[axis] - 1)], axis)
    result = function(x, axis).to(x.dtype)
    return result.flip(axis) if reverse else result


@op("CumSum")
def cumsum(x: Tensor, axis: Tensor, *, exclusive: int = 0, reverse: int = 0) -> Tensor:
    return _running(taeda.cumsum, x, int(axis), exclusive, reverse, 0)


@op("CumProd")
def cumprod(x: Tensor, axis: Tensor, *, exclusive: int = 0, reverse: int = 0) -> Tensor:
    return _running(taeda.cumprod, x, int(axis), exclusive, reverse, 1)


@op("LpNormalization")
def lp_normalization(x: Tensor, *, axis: int = -1, p: int = 2) -> Tensor:
    norm = x.abs().sum(axis, True) if p == 1 else x.square().sum(axis, True).sqrt()
    return taeda.where(norm == 0, taeda.zeros_like(x), x / norm)


@op("MeanVarianceNormalization")
def mean_variance_normalization(x: Tensor, *, axes: Any = (0, 2, 3), **_: Any) -> Tensor:
    dims = list(axes)
    mean = x.mean(dims, True)
    return (x - mean) / ((x * x).mean(dims, True) - mean * mean + 1e-9).sqrt()
