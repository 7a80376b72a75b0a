"""New tensors, and a number where a mask says so: ``full``, ``full_like``, ``arange.start_step`` and ``where``."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda._decompositions.core.table import as_dtype, aten, body_of, number


def _give_value(value: int, *names: str) -> None:
    def like(self: Tensor, **kwargs: Any) -> Any:
        return aten.full_like.default(self, value, **kwargs)

    def sized(size: list[Any], *, dtype: Any = None, **kwargs: Any) -> Any:
        return aten.full.default(size, value, dtype=dtype or taeda.get_default_dtype(), **kwargs)

    def new(self: Tensor, size: list[Any], **kwargs: Any) -> Any:
        return _new_full(self, size, value, **kwargs)

    for name, function in zip(names, (like, sized, new)):
        body_of(name)(function)


_give_value(0, "zeros_like", "zeros", "new_zeros")
_give_value(1, "ones_like", "ones", "new_ones")


@body_of("new_full")
def _new_full(self: Tensor, size: list[Any], fill_value: Any, *, dtype: Any = None, device: Any = None,
              **kwargs: Any) -> Any:  # fmt: skip
    return aten.full.default(size, fill_value, dtype=dtype or self.dtype, device=device or self.device, **kwargs)


@body_of("arange")
def _arange(end: Any, **kwargs: Any) -> Any:
    return aten.arange.start_step(0, end, 1, **kwargs)


@body_of("arange.start")
def _arange_from(start: Any, end: Any, **kwargs: Any) -> Any:
    return aten.arange.start_step(start, end, 1, **kwargs)


@body_of("eye")
def _eye(n: Any, **kwargs: Any) -> Any:
    return _eye_of(n, n, **kwargs)


@body_of("eye.m")
def _eye_of(n: Any, m: Any, *, dtype: Any = None, device: Any = None, **kwargs: Any) -> Any:
    rows, columns = (aten.arange.start_step(0, count, 1, device=device) for count in (n, m))
    same = aten.eq.Tensor(aten.unsqueeze.default(rows, -1), columns)
    return as_dtype(same, dtype or taeda.get_default_dtype())


def _distance(x: Tensor) -> Tensor:
    """How far right of the diagonal each element of a matrix stands."""
    rows, columns = (aten.arange.start_step(0, size, 1, device=x.device) for size in x.shape[-2:])
    return aten.sub.Tensor(aten.unsqueeze.default(columns, -2), aten.unsqueeze.default(rows, -1))


def _kept(x: Tensor, kept: Tensor) -> Tensor:
    if x.dtype == taeda.bool:
        return aten.logical_and.default(kept, x)
    return aten.where.self(kept, x, number(0, x))


@body_of("tril")
def _tril(self: Tensor, diagonal: int = 0) -> Any:
    return _kept(self, aten.le.Scalar(_distance(self), diagonal))


@body_of("triu")
def _triu(self: Tensor, diagonal: int = 0) -> Any:
    return _kept(self, aten.ge.Scalar(_distance(self), diagonal))


@body_of("diag_embed")
def _diag_embed(self: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    rank = self.dim() + 1
    if offset or (dim1 % rank, dim2 % rank) != (rank - 2, rank - 1):
        return NotImplemented
    places = aten.arange.start_step(0, self.shape[-1], 1, device=self.device)
    same = aten.eq.Tensor(aten.unsqueeze.default(places, -1), places)
    return aten.where.self(same, aten.unsqueeze.default(self, -2), number(0, self))


@body_of("one_hot")
def _one_hot(self: Tensor, num_classes: int = -1) -> Any:
    if num_classes <= 0:
        return NotImplemented
    classes = aten.arange.start_step(0, num_classes, 1, dtype=taeda.int64, device=self.device)
    return as_dtype(aten.eq.Tensor(aten.unsqueeze.default(self, -1), classes), taeda.int64)


@body_of("masked_fill.Scalar")
def _masked_fill(self: Tensor, mask: Tensor, value: Any) -> Any:
    return aten.where.self(mask, number(value, self), self)


@body_of("masked_fill.Tensor")
def _masked_fill_by(self: Tensor, mask: Tensor, value: Tensor) -> Any:
    return aten.where.self(mask, as_dtype(value, self.dtype), self)


def _chosen(condition: Tensor, a: Any, b: Any) -> Any:
    """``where`` of tensors and numbers, in the dtype of both."""
    dtype = taeda.result_type(a, b)
    a, b = (as_dtype(x, dtype) if isinstance(x, Tensor) else number(x, condition, dtype) for x in (a, b))
    return aten.where.self(condition, a, b)


@body_of("where.ScalarOther", "where.ScalarSelf", "where.Scalar")
def _where(condition: Tensor, self: Any, other: Any) -> Any:
    return _chosen(condition, self, other)
