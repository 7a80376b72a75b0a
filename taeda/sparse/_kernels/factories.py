"""New tensors after the model of a sparse one, and clearing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import taeda
from taeda import _C, Tensor
from taeda.sparse._kernels.copies import empty_pattern, empty_values
from taeda.sparse._kernels.registry import compressed, coordinates, sparse
from taeda.sparse._parts import (
    BLOCKED,
    BY_ROWS,
    COO,
    Pattern,
    assign,
    block_of,
    build,
    dense_dim,
    is_sparse,
    marked,
    pattern_of,
    stored,
)
from taeda.types import _dtype, _layout


@sparse("zeros_like")
def zeros_like(self: Tensor, dtype: _dtype | None = None, layout: _layout | None = None, device: Any = None,
               pin_memory: bool = False, memory_format: Any = None) -> Tensor:  # fmt: skip
    if layout == taeda.strided:
        like = taeda.empty(self.shape, dtype=dtype or self.dtype, device=device or self.device)
        return taeda.zeros_like(like, memory_format=memory_format or taeda.contiguous_format)
    _check_format(memory_format)
    if layout is not None and layout != self.layout:
        block = block_of(self) if self.layout in BLOCKED and layout in BLOCKED else None
        return without_elements(layout, self.shape, dtype or self.dtype, device or self.device, dense_dim(self), block)
    return build(empty_pattern(self, device), empty_values(self, dtype, device))


@coordinates("empty_like")
def empty_like(self: Tensor, dtype: _dtype | None = None, layout: _layout | None = None, device: Any = None,
               pin_memory: bool = False, memory_format: Any = None) -> Tensor:  # fmt: skip
    return zeros_like(self, dtype, layout, device, pin_memory, memory_format)


def _check_format(memory_format: Any) -> None:
    if memory_format is not None:
        raise RuntimeError(
            f"taeda.zeros_like, empty_like: a memory format is of strided tensors; got {memory_format} for a sparse one"
        )


@compressed("empty_like")
def empty_like_compressed(self: Tensor, dtype: _dtype | None = None, layout: _layout | None = None, device: Any = None,
                          pin_memory: bool = False, memory_format: Any = None) -> Tensor:  # fmt: skip
    """The same pattern, with values that nobody has written yet."""
    _check_format(memory_format)
    if layout is not None and layout != self.layout:
        raise RuntimeError(f"taeda.empty_like: the result has the layout of self, {self.layout}; got layout={layout}")
    values = taeda.empty_like(_C._sparse_parts(self)[2], dtype=dtype, device=device)
    return build(_own(pattern_of(self)), values)


def _own(pattern: Pattern) -> Pattern:
    plain = None if pattern.plain is None else pattern.plain.clone()
    return pattern._replace(indices=pattern.indices.clone(), plain=plain)


def _like(name: str) -> None:
    """A kernel for a function whose result has no zeros: dense if that is asked for; of compressed tensors, the values
    with the pattern of ``self``."""

    @sparse(name)
    def like(self: Tensor, *args: Any, layout: _layout | None = None, **kwargs: Any) -> Tensor:
        function = getattr(taeda, name)
        if layout == taeda.strided:
            return function(taeda.empty(self.shape, dtype=self.dtype, device=self.device), *args, **kwargs)
        if self.layout == COO or layout not in (None, self.layout):
            raise NotImplementedError(
                f"taeda.{name}: a tensor without zeros is not sparse; give layout=torch.strided, or take "
                f"torch.{name}(x.values()) as the values of one with this pattern"
            )
        return build(_own(pattern_of(self)), function(_C._sparse_parts(self)[2], *args, **kwargs))


for _name in ("ones_like", "full_like", "rand_like", "randn_like", "randint_like"):
    _like(_name)


@sparse("new_zeros", "new_empty")
def new_zeros(self: Tensor, size: Sequence[int], dtype: _dtype | None = None, layout: _layout | None = None,
              device: Any = None, pin_memory: bool = False) -> Tensor:  # fmt: skip
    return without_elements(layout or self.layout, size, dtype or self.dtype, device or self.device)


@sparse("zero_")
def zero_(self: Tensor) -> Tensor:
    """Nothing is stored any more."""
    return assign(self, zeros_like(self))


@compressed("fill.Scalar")
def fill(self: Tensor, value: Any) -> Tensor:
    """The stored elements set to a number."""
    if self.numel() and not stored(self):
        raise NotImplementedError("taeda.fill: a sparse tensor without elements has none to fill; to_dense() first")
    return build(_own(pattern_of(self)), taeda.full_like(_C._sparse_parts(self)[2], value))


@compressed("normal_")
def normal_(self: Tensor, mean: float = 0, std: float = 1, generator: Any = None) -> Tensor:
    """The stored elements drawn anew."""
    values = taeda.empty_like(_C._sparse_parts(self)[2]).normal_(mean, std, generator=generator)
    return assign(self, build(pattern_of(self), values))


@sparse("resize_as_")
def resize_as_(self: Tensor, the_template: Tensor, memory_format: Any = None) -> Tensor:
    if memory_format is not None or not is_sparse(self) or not is_sparse(the_template):
        raise NotImplementedError(
            "taeda.Tensor.resize_as_: a sparse tensor is resized as another one, without a memory format; got "
            f"{self.layout} and {the_template.layout}"
        )
    return self.resize_as_sparse_(the_template) if self.layout == COO else resize_(self, the_template.shape)


@compressed("resize_")
def resize_(self: Tensor, size: Sequence[int], memory_format: Any = None) -> Tensor:
    """A matrix with fewer or more rows, and more columns, that holds the elements which fit."""
    if len(size) != self.dim() or pattern_of(self).batch or dense_dim(self):
        raise RuntimeError(
            f"taeda.Tensor.resize_: takes a plain matrix and two sizes; got {tuple(self.shape)} and {tuple(size)}"
        )
    if size[1] < self.shape[1]:
        raise RuntimeError(
            f"taeda.Tensor.resize_: a sparse matrix keeps its columns; got {size[1]} for {self.shape[1]}: slice it"
        )
    from taeda.sparse._convert import from_coo, to_coo

    whole = to_coo(self)
    indices, _, values = _C._sparse_parts(whole)
    kept = marked((indices[0] < size[0]) & (indices[1] < size[1]))[0]
    block = pattern_of(self).block
    part = build(Pattern(COO, indices[:, kept], None, tuple(size), True), values[kept])
    return assign(self, from_coo(part, self.layout, 0, block))


@sparse("empty.memory_format", "zeros")
def zeros(size: Sequence[int], dtype: _dtype | None = None, layout: _layout | None = None, device: Any = None,
          pin_memory: bool = False, memory_format: Any = None) -> Tensor:  # fmt: skip
    return without_elements(taeda.strided if layout is None else layout, size, dtype, device)


@sparse("zeros.out", "empty.out")
def zeros_out(size: Sequence[int], memory_format: Any = None, *, out: Tensor, dtype: _dtype | None = None,
              layout: _layout | None = None, device: Any = None, pin_memory: bool = False) -> Tensor:  # fmt: skip
    if dtype not in (None, out.dtype) or layout not in (None, out.layout):
        raise RuntimeError(
            f"taeda.zeros: out is a {out.layout} tensor of {out.dtype}; got dtype={dtype} and layout={layout}"
        )
    return assign(out, without_elements(out.layout, size, out.dtype, out.device))


@sparse("_sparse_compressed_tensor_with_dims")
def with_dims(*args: Any, device: Any = None, **kwargs: Any) -> Tensor:
    """As C++ makes it, which dispatches by the device alone."""
    key = "Meta" if device is not None and _C.device(device).type == "meta" else "CPU"
    kernel = taeda.library.get_kernel("aten::_sparse_compressed_tensor_with_dims", key)
    made: Tensor = kernel.call_boxed(_C.DispatchKeySet(key), *args, device=device, **kwargs)
    return made


def without_elements(layout: _layout, size: Sequence[int], dtype: _dtype | None = None, device: Any = None,
                     dense: int = 0, block: tuple[int, int] | None = None) -> Tensor:  # fmt: skip
    """A tensor without elements, whose last ``dense`` dimensions are dense; of a blocked layout with ``block``."""
    size = tuple(size)
    if any(extent < 0 for extent in size):
        raise RuntimeError(f"taeda: sizes must not be negative; got {size}")
    if layout == taeda.strided:
        return taeda.zeros(size, dtype=dtype, device=device)
    if layout == COO:
        split = len(size) - dense
        indices = taeda.zeros((split, 0), dtype=taeda.int64, device=device)
        return build(
            Pattern(COO, indices, None, size, True), taeda.zeros((0, *size[split:]), dtype=dtype, device=device)
        )
    if len(size) < 2 + dense:
        raise RuntimeError(f"taeda: a compressed layout needs two dimensions; got size {size}")
    if layout in BLOCKED and block is None:
        raise RuntimeError(
            f"taeda: a tensor of layout {layout} needs the shape of its blocks; use the constructor for it"
        )
    batch, matrix, rest = size[: -2 - dense], size[len(size) - 2 - dense :][:2], size[len(size) - dense :]
    across = 0 if layout in BY_ROWS else 1
    lines = matrix[across] // (block[across] if block else 1)
    pointers = taeda.zeros((*batch, lines + 1), dtype=taeda.int64, device=device)
    plain = taeda.zeros((*batch, 0), dtype=taeda.int64, device=device)
    values = taeda.zeros((*batch, 0, *(block or ()), *rest), dtype=dtype, device=device)
    return build(Pattern(layout, pointers, plain, size, False, block), values)
