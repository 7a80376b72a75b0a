"""Copies, conversions, and what a tensor is asked about itself."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import _C, Tensor
from taeda.sparse import _parts
from taeda.sparse._convert import convert, to_dense
from taeda.sparse._kernels.registry import sparse
from taeda.sparse._parts import (
    BLOCKED,
    COO,
    Pattern,
    assign,
    block_of,
    build,
    coalesce,
    is_sparse,
    pattern_of,
    stored,
    values_of,
    with_values,
)
from taeda.types import _dtype, _layout


@sparse("clone")
def clone(self: Tensor, memory_format: Any = None) -> Tensor:
    pattern = pattern_of(self)
    plain = None if pattern.plain is None else pattern.plain.clone()
    return build(pattern._replace(indices=pattern.indices.clone(), plain=plain), values_of(self).clone())


@sparse("detach", "alias")
def detach(self: Tensor) -> Tensor:
    return _C._sparse_alias(self)


@sparse("contiguous", "resolve_conj", "resolve_neg")
def contiguous(self: Tensor, memory_format: Any = None) -> Tensor:
    return self


@sparse("_conj", "conj")
def conj(self: Tensor) -> Tensor:
    return with_values(self, values_of(self).conj().resolve_conj()) if self.is_complex() else self


@sparse("real")
def real(self: Tensor) -> Tensor:
    return with_values(self, values_of(self).real) if self.is_complex() else self


@sparse("imag")
def imag(self: Tensor) -> Tensor:
    return with_values(self, values_of(self).imag)


class _ToDense(taeda.autograd.Function):
    """The way whose gradient is not restricted to the pattern."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return to_dense(x.detach())

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        return grad


@sparse("to_dense")
def dense(self: Tensor, dtype: _dtype | None = None, masked_grad: bool | None = None) -> Tensor:
    made = _ToDense.apply(self) if masked_grad is False and self.requires_grad else to_dense(self)
    return made if dtype is None else made.to(dtype)


@sparse("_to_copy")
def to_copy(self: Tensor, dtype: _dtype | None = None, layout: _layout | None = None, device: Any = None,
            pin_memory: bool = False, non_blocking: bool = False, memory_format: Any = None) -> Tensor:  # fmt: skip
    if layout is not None and layout != self.layout:
        return convert(self, layout).to(dtype=dtype or self.dtype, device=device or self.device)
    if device is not None and taeda.device(device).type == "meta" and not self.is_meta:
        return build(empty_pattern(self, device), empty_values(self, dtype, device))
    pattern = pattern_of(self)
    values = values_of(self).to(device=device or self.device, dtype=dtype or self.dtype, copy=True)
    plain = None if pattern.plain is None else pattern.plain.to(values.device, copy=True)
    return build(pattern._replace(indices=pattern.indices.to(values.device, copy=True), plain=plain), values)


@sparse("copy_")
def copy_(self: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    if self.shape != src.shape:
        raise RuntimeError(
            f"taeda.Tensor.copy_: a sparse tensor is not broadcast; got shapes {tuple(self.shape)} and "
            f"{tuple(src.shape)}"
        )
    if not is_sparse(self):
        return self.copy_(src.to_dense())
    _check_same_kind(self, src)
    return assign(self, clone(src.to(dtype=self.dtype, device=self.device)))


def _check_same_kind(self: Tensor, src: Tensor) -> None:
    """Of one layout and, where that is compressed, with as many elements, in blocks of one shape."""
    if self.layout != src.layout:
        raise RuntimeError(
            f"taeda.Tensor.copy_: a sparse tensor is copied to one of its own layout; got {src.layout} for one of "
            f"{self.layout}: convert it first"
        )
    if self.layout == COO:
        return
    if self.layout in BLOCKED and block_of(self) != block_of(src):
        raise RuntimeError(
            f"taeda.Tensor.copy_: both must have blocks of one shape; got {block_of(src)} for {block_of(self)}"
        )
    if stored(self) != stored(src):
        raise RuntimeError(
            f"taeda.Tensor.copy_: both must store as many elements; got {stored(src)} for {stored(self)}"
        )


@sparse("sparse_dim")
def sparse_dim(self: Tensor) -> int:
    return _parts.sparse_dim(self)


@sparse("dense_dim")
def dense_dim(self: Tensor) -> int:
    return _parts.dense_dim(self)


@sparse("is_pinned")
def is_pinned(self: Tensor, device: Any = None) -> bool:
    return False


@sparse("_local_scalar_dense")
def item(self: Tensor) -> Any:
    if self.numel() != 1:
        raise RuntimeError(f"taeda.Tensor.item: only a tensor with one element is a number; got {self.numel()}")
    return to_dense(self.detach()).reshape(()).item()


@sparse("equal")
def equal(self: Tensor, other: Tensor) -> bool:
    """Whether both have the same layout, shape and elements."""
    if self.layout != other.layout or self.shape != other.shape:
        return False
    if self.layout == COO:
        self, other = coalesce(self), coalesce(other)
    for a, b in zip(_C._sparse_parts(self), _C._sparse_parts(other), strict=True):
        if a is not None and b is not None and not (a.shape == b.shape and taeda.equal(a, b)):
            return False
    return True


def empty_pattern(self: Tensor, device: Any = None) -> Pattern:
    """The pattern of a tensor of the same kind without elements."""
    pattern, device = pattern_of(self), device or self.device
    if pattern.layout == COO:
        indices = pattern.indices.new_empty((pattern.indices.shape[0], 0), device=device)
        return pattern._replace(indices=indices, coalesced=True)
    assert pattern.plain is not None
    pointers = taeda.zeros_like(pattern.indices, device=device)
    return pattern._replace(indices=pointers, plain=pointers.new_empty((*pattern.plain.shape[:-1], 0)))


def empty_values(self: Tensor, dtype: _dtype | None, device: Any = None) -> Tensor:
    """The values, none, of such a tensor."""
    values = _C._sparse_parts(self)[2]
    where = 0 if self.layout == COO else pattern_of(self).batch
    shape = (*values.shape[:where], 0, *values.shape[where + 1 :])
    return taeda.zeros(shape, dtype=dtype or self.dtype, device=device or self.device)
