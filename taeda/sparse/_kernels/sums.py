"""Addition and subtraction, which alone among pointwise ops also take a dense operand: the sum is dense then."""

from __future__ import annotations

import math
from typing import Any

import taeda
from taeda import _C, Tensor
from taeda.sparse._convert import to_coo
from taeda.sparse._kernels import pointwise
from taeda.sparse._kernels.factories import zeros_like
from taeda.sparse._kernels.fallback import fallback
from taeda.sparse._kernels.registry import sparse
from taeda.sparse._kernels.rules import rules
from taeda.sparse._parts import (
    COO,
    checked_below,
    coalesce,
    coo,
    flat_keys,
    is_sparse,
    sparse_dim,
    stored,
    values_of,
    with_values,
)

_aten: Any = taeda.ops.aten


@sparse("add.Tensor")
def add(self: Tensor, other: Tensor, alpha: Any = 1) -> Tensor:
    return _sum(_aten.add.Tensor, self, other, alpha, alpha)


@sparse("sub.Tensor")
def sub(self: Tensor, other: Tensor, alpha: Any = 1) -> Tensor:
    return _sum(_aten.sub.Tensor, self, other, alpha, -alpha)


def _sum(op: Any, self: Tensor, other: Tensor, alpha: Any, factor: Any) -> Tensor:
    if is_sparse(self) and is_sparse(other):
        self, other = _split_as(self, other), _split_as(other, self)
        if self.layout == other.layout == COO and not _are_coalesced(self, other) and _fit(self, other):
            return _joined(self, other, factor)
        given = {"self": self, "other": other, "alpha": alpha}
        return pointwise.run(op, given, ["self", "other"], rules()["add.Tensor"])
    one = next(x for x in (self, other) if not is_sparse(x))
    if one.dim() == 0:
        given = {"self": self, "other": other, "alpha": alpha}
        return pointwise.run(op, given, ["self", "other"], rules()["add.Tensor"])
    dtype = taeda.result_type(self, other)
    if is_sparse(other):
        return _added(self.to(dtype), other, factor)
    return _added((other * factor if factor != 1 else other).to(dtype), self, 1)


def _split_as(x: Tensor, model: Tensor) -> Tensor:
    """Coordinates without elements, with as many sparse dimensions as others have: zero, whatever is dense of it."""
    if x.layout != COO or model.layout != COO or x.shape != model.shape or stored(x) or not stored(model):
        return x
    return x if sparse_dim(x) == sparse_dim(model) else zeros_like(model, x.dtype)


def _are_coalesced(*tensors: Tensor) -> bool:
    return all(_C._sparse_is_coalesced(x) or not stored(x) for x in tensors)


def _fit(a: Tensor, b: Tensor) -> bool:
    return a.shape == b.shape and sparse_dim(a) == sparse_dim(b)


def _joined(a: Tensor, b: Tensor, factor: Any) -> Tensor:
    """The elements of both, as they are: whoever coalesces the sum sums them."""
    dtype = taeda.result_type(a, b)
    second = values_of(b) if factor == 1 else values_of(b) * factor
    indices = taeda.cat([_C._sparse_parts(a)[0], _C._sparse_parts(b)[0]], 1)
    return coo(indices, taeda.cat([values_of(a).to(dtype), second.to(dtype)]), a.shape)


def _scaled(x: Tensor, shape: taeda.Size, factor: Any, dtype: taeda.dtype) -> tuple[Tensor, Tensor, int]:
    """Where the elements of ``x`` belong in a dense tensor whose sparse dimensions are one, what to add there, and how
    many dimensions are sparse."""
    if x.shape != shape:
        raise RuntimeError(
            f"taeda.add: a sparse operand is not broadcast; got shapes {tuple(shape)} and {tuple(x.shape)}"
        )
    x = to_coo(x, keep_order=True)
    values = values_of(x).to(dtype)
    size = x.shape[: sparse_dim(x)]
    return (
        flat_keys(checked_below(_C._sparse_parts(x)[0], size), size),
        values if factor == 1 else values * factor,
        len(size),
    )


def _added(dense: Tensor, x: Tensor, factor: Any) -> Tensor:
    shape = taeda.broadcast_shapes(dense.shape, x.shape)
    places, values, dims = _scaled(x, shape, factor, dense.dtype)
    whole = dense.expand(shape).reshape(math.prod(shape[:dims]), *shape[dims:])
    return whole.index_add(0, places, values).reshape(shape)


@sparse("add_.Tensor")
def add_(self: Tensor, other: Tensor, alpha: Any = 1) -> Tensor:
    return _add_to(_aten.add_.Tensor, self, other, alpha, alpha)


@sparse("sub_.Tensor")
def sub_(self: Tensor, other: Tensor, alpha: Any = 1) -> Tensor:
    return _add_to(_aten.sub_.Tensor, self, other, alpha, -alpha)


def _add_to(op: Any, self: Tensor, other: Tensor, alpha: Any, factor: Any) -> Tensor:
    if is_sparse(self):
        return fallback(op, self, other, alpha=alpha)
    if not taeda.can_cast(other.dtype, self.dtype):
        raise RuntimeError(
            f"taeda.add_: the result of dtype {other.dtype} cannot be written into a tensor of {self.dtype}"
        )
    places, values, dims = _scaled(other, self.shape, factor, self.dtype)
    if not self.is_contiguous():
        return self.copy_(_added(self, other, factor))
    self.view(math.prod(self.shape[:dims]), *self.shape[dims:]).index_add_(0, places, values)
    return self


@sparse("angle")
def angle(self: Tensor) -> Tensor:
    x = coalesce(self) if self.layout == COO else self
    return with_values(x, taeda.angle(values_of(x)))


@sparse("clamp")
def clamp(self: Tensor, min: Any = None, max: Any = None) -> Tensor:
    low = self if min is None else taeda.clamp_min(self, min)
    return low if max is None else taeda.clamp_max(low, max)
