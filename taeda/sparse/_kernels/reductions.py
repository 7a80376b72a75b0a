"""Reductions: of stored values alone where a zero changes nothing, else with a zero for those that are not stored."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import taeda
from taeda import _C, Tensor
from taeda.sparse._convert import like, to_coo
from taeda.sparse._kernels.registry import sparse
from taeda.sparse._parts import (
    COO,
    CSC,
    CSR,
    checked_below,
    coalesce,
    coo,
    distinct,
    flat_keys,
    is_sparse,
    sparse_dim,
    values_of,
    with_values,
)
from taeda.types import _dtype

_Dims = int | Sequence[int] | None


def _wrapped(name: str, dim: _Dims, rank: int) -> list[int]:
    """The dimensions in order; none means all."""
    if dim is None or (not isinstance(dim, int) and not len(dim)):
        return list(range(rank))
    given = [dim] if isinstance(dim, int) else list(dim)
    for d in given:
        if not -max(rank, 1) <= d < max(rank, 1):
            raise IndexError(f"taeda.{name}: dimension {d} is out of range for a tensor of {rank} dimensions")
    found = sorted({d % rank for d in given} if rank else ())
    if rank and len(found) != len(given):
        raise RuntimeError(f"taeda.{name}: a dimension is named twice in {tuple(given)}")
    return found


class _SumAll(taeda.autograd.Function):
    """The gradient is one number everywhere, also where nothing is stored."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.shape = x.shape
        return _C._sparse_parts(x)[2].sum()

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        return grad.expand(ctx.shape)


@sparse("sum")
def sum_all(self: Tensor, dtype: _dtype | None = None) -> Tensor:
    if self.requires_grad and taeda.is_grad_enabled():
        return _SumAll.apply(self if dtype is None else self.to(dtype))
    return _C._sparse_parts(self)[2].sum(dtype=dtype)


@sparse("sum.dim_IntList")
def sum_dims(self: Tensor, dim: _Dims, keepdim: bool = False, dtype: _dtype | None = None) -> Tensor:
    """Sums along dimensions; sparse unless all sparse dimensions go."""
    dims = _wrapped("sum", dim, self.dim())
    made = _summed(self, dims, dtype)
    return _like_matrix(_kept(made, dims), self) if keepdim else made


def _like_matrix(x: Tensor, model: Tensor) -> Tensor:
    """In the layout of a matrix in compressed rows or columns; others give coordinates."""
    if model.layout not in (CSR, CSC) or x.dim() != 2:
        return x
    return like(x if is_sparse(x) else x.to_sparse(), model)


def _kept(x: Tensor, dims: list[int]) -> Tensor:
    for d in dims:
        x = x.unsqueeze(d)
    return x


def _result_dtype(self: Tensor, dtype: _dtype | None) -> _dtype:
    small = not (self.is_floating_point() or self.is_complex())
    return dtype or (taeda.int64 if small else self.dtype)


def _summed(self: Tensor, dims: list[int], dtype: _dtype | None) -> Tensor:
    wanted = _result_dtype(self, dtype)
    x = to_coo(self)
    split = sparse_dim(x)
    values = values_of(x).to(wanted)
    dense = [d - split + 1 for d in dims if d >= split]
    if dense:
        values = values.sum(dense)
    kept = [d for d in range(split) if d not in dims]
    if not kept:
        return values.sum(0)
    size = [extent for d, extent in enumerate(x.shape) if d not in dims]
    if len(kept) == split:
        return coo(_C._sparse_parts(x)[0], values, size, _C._sparse_is_coalesced(x))
    result = coalesce(coo(_C._sparse_parts(x)[0][kept], values, size))
    keeps_layout = self.layout != COO and len(size) == self.dim()
    return like(result, self) if keeps_layout else result


@sparse("mean")
def mean_all(self: Tensor, dtype: _dtype | None = None) -> Tensor:
    return _divided(sum_all(self, dtype), self.numel())


@sparse("mean.dim")
def mean_dims(self: Tensor, dim: _Dims, keepdim: bool = False, dtype: _dtype | None = None) -> Tensor:
    dims = _wrapped("mean", dim, self.dim())
    return _divided(sum_dims(self, dims, keepdim, dtype), math.prod(self.shape[d] for d in dims))


def _divided(total: Tensor, count: int) -> Tensor:
    if not (total.is_floating_point() or total.is_complex()):
        raise RuntimeError(f"taeda.mean: is for floating-point and complex tensors; got {total.dtype}: give a dtype")
    return total / count


@sparse("any")
def any_all(self: Tensor) -> Tensor:
    return values_of(_each_once(self)).any()


@sparse("count_nonzero", "count_nonzero.dim_IntList")
def count_nonzero(self: Tensor, dim: _Dims = None) -> Tensor:
    marks = _of_values(self, lambda v: (v != 0).long())
    dims = _wrapped("count_nonzero", dim, self.dim())
    return _summed(marks, dims, taeda.int64)


@sparse("any.dim", "any.dims")
def any_dims(self: Tensor, dim: _Dims = None, keepdim: bool = False) -> Tensor:
    counts = count_nonzero(self, dim)
    made = counts != 0
    return _kept(made, _wrapped("any", dim, self.dim())) if keepdim else made


@sparse("all.dim", "all.dims")
def all_dims(self: Tensor, dim: _Dims = None, keepdim: bool = False) -> Tensor:
    """Where as many elements are not zero as there are."""
    dims = _wrapped("all", dim, self.dim())
    counts, whole = count_nonzero(self, dims), math.prod(self.shape[d] for d in dims)
    made = (
        with_values(counts, values_of(counts) == whole) if is_sparse(counts) and whole else counts.to_dense() == whole
    )
    return _kept(made, dims) if keepdim else made


@sparse("all")
def all_all(self: Tensor) -> Tensor:
    x = _each_once(self)
    return (values_of(x) != 0).all() & (values_of(x).numel() == x.numel())


def _each_once(x: Tensor) -> Tensor:
    return coalesce(x) if x.layout == COO else x


def _of_values(x: Tensor, function: Any) -> Tensor:
    x = _each_once(x)
    return with_values(x, function(values_of(x)))


# --- the largest and the smallest, among which zero is unless all are stored


def _extreme(self: Tensor, name: str) -> Tensor:
    x = _each_once(self)
    values = values_of(x)
    if x.numel() == 0:
        raise RuntimeError(f"taeda.{name}: a tensor without elements has no {name}")
    if values.numel() < x.numel():
        values = taeda.cat([values.reshape(-1), values.new_zeros(1)])
    return getattr(values, name)()


@sparse("max")
def max_all(self: Tensor) -> Tensor:
    return _extreme(self, "max")


@sparse("min")
def min_all(self: Tensor) -> Tensor:
    return _extreme(self, "min")


# --- norms


@sparse("linalg_vector_norm")
def vector_norm(self: Tensor, ord: float = 2, dim: _Dims = None, keepdim: bool = False, dtype: _dtype | None = None
                ) -> Tensor:  # fmt: skip
    dims = _wrapped("norm", dim, self.dim())
    x = _each_once(self)
    whole = len(dims) == self.dim() and not keepdim
    if ord < 0 and values_of(x).numel() < x.numel():
        raise NotImplementedError(f"taeda.norm: order {ord} counts zeros, so a sparse tensor needs to_dense() first")
    if whole:
        return taeda.linalg.vector_norm(values_of(x).reshape(-1), ord, dtype=dtype)
    if ord in (0, math.inf):
        raise NotImplementedError(f"taeda.norm: order {ord} along dimensions of a sparse tensor needs to_dense() first")
    powers = _of_values(x, lambda v: (v if dtype is None else v.to(dtype)).abs() ** ord)
    return sum_dims(powers, dims, keepdim) ** (1 / ord)


# --- softmax over what is stored


def softmax(x: Tensor, dim: int, logarithm: bool) -> Tensor:
    """Softmax along ``dim`` over the stored elements of each line; those that are not stored count as -inf."""
    source = coalesce(to_coo(x))
    (dim,) = _wrapped("softmax", dim, x.dim())
    split, values = sparse_dim(source), values_of(source)
    if dim >= split:
        function = taeda.log_softmax if logarithm else taeda.softmax
        made = function(values, dim - split + 1)
    else:
        made = _over_lines(source, values, dim, logarithm)
    result = coo(_C._sparse_parts(source)[0], made, x.shape, True)
    return result if x.layout == COO else like(result, x)


def _over_lines(source: Tensor, values: Tensor, dim: int, logarithm: bool) -> Tensor:
    indices = checked_below(_C._sparse_parts(source)[0], source.shape)
    kept = [d for d in range(indices.shape[0]) if d != dim]
    keys = flat_keys(indices[kept], [source.shape[d] for d in kept])
    lines, line = distinct(keys)
    shape = (lines.shape[0], *values.shape[1:])
    at = line.reshape(line.shape[0], *[1] * (values.dim() - 1)).expand(values.shape)
    top = values.new_full(shape, -math.inf).scatter_reduce(0, at, values.detach(), "amax")
    moved = values - top.index_select(0, line)
    powers = moved.exp()
    totals = powers.new_zeros(shape).index_add(0, line, powers).index_select(0, line)
    return moved - totals.log() if logarithm else powers / totals


@sparse("_softmax")
def _softmax(self: Tensor, dim: int, half_to_float: bool) -> Tensor:
    return softmax(self, dim, False)


@sparse("_log_softmax")
def _log_softmax(self: Tensor, dim: int, half_to_float: bool) -> Tensor:
    return softmax(self, dim, True)
