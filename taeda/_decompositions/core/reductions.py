"""Reductions."""

from __future__ import annotations

import math
from typing import Any

from taeda import Tensor
from taeda._decompositions.core.table import aten, body_of, dims_of, number


@body_of("sum")
def _sum(self: Tensor, *, dtype: Any = None) -> Any:
    return aten.sum.dim_IntList(self, [], False, dtype=dtype)


@body_of("var")
def _var(self: Tensor, unbiased: bool = True) -> Any:
    return aten.var.correction(self, None, correction=int(unbiased))


@body_of("std")
def _std(self: Tensor, unbiased: bool = True) -> Any:
    return aten.sqrt.default(_var(self, unbiased))


@body_of("std.dim")
def _std_dim(self: Tensor, dim: Any, unbiased: bool = True, keepdim: bool = False) -> Any:
    return aten.sqrt.default(aten.var.correction(self, dim, correction=int(unbiased), keepdim=keepdim))


@body_of("std.correction")
def _std_correction(self: Tensor, dim: Any = None, *, correction: Any = None, keepdim: bool = False) -> Any:
    return aten.sqrt.default(aten.var.correction(self, dim, correction=correction, keepdim=keepdim))


@body_of("all")
def _all(self: Tensor) -> Any:
    return aten.logical_not.default(aten.any.default(aten.logical_not.default(self)))


@body_of("all.dim")
def _all_dim(self: Tensor, dim: int, keepdim: bool = False) -> Any:
    return aten.logical_not.default(aten.any.dim(aten.logical_not.default(self), dim, keepdim))


@body_of("all.dims")
def _all_dims(self: Tensor, dim: Any = None, keepdim: bool = False) -> Any:
    return aten.logical_not.default(aten.any.dims(aten.logical_not.default(self), dim, keepdim))


@body_of("logsumexp")
def _logsumexp(self: Tensor, dim: Any, keepdim: bool = False) -> Any:
    if not self.is_floating_point():
        return NotImplemented
    dims = dims_of(self, dim)
    highest = aten.amax.default(self, dims, True)
    endless = aten.eq.Scalar(aten.abs.default(highest), math.inf)
    highest = aten.where.self(endless, number(0, self), highest)
    total = aten.sum.dim_IntList(aten.exp.default(aten.sub.Tensor(self, highest)), dims, keepdim)
    return aten.add.Tensor(aten.log.default(total), highest if keepdim else aten.squeeze.dims(highest, dims))


@body_of("count_nonzero")
def _count_nonzero(self: Tensor, dim: int | None = None) -> Any:
    return _count_nonzero_in(self, [] if dim is None else [dim])


@body_of("count_nonzero.dim_IntList")
def _count_nonzero_in(self: Tensor, dim: list[int]) -> Any:
    return aten.sum.dim_IntList(aten.ne.Scalar(self, 0), dim)


@body_of("aminmax")
def _aminmax(self: Tensor, *, dim: int | None = None, keepdim: bool = False) -> Any:
    dims = [] if dim is None else [dim]
    return [aten.amin.default(self, dims, keepdim), aten.amax.default(self, dims, keepdim)]
