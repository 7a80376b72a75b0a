"""Between sparse tensors and the dense ones that they are made of: indices and values.

Whatever is computed with the values is recorded by autograd as for any other tensor; so ``values_of`` and ``build`` are
all that needs a derivative of its own, and gradients keep the pattern of what they belong to.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import taeda
from taeda import _C, Tensor
from taeda.autograd import Function
from taeda.types import _layout

COO, CSR, CSC, BSR, BSC = _C.sparse_coo, _C.sparse_csr, _C.sparse_csc, _C.sparse_bsr, _C.sparse_bsc
SPARSE = (COO, CSR, CSC, BSR, BSC)
BLOCKED = (BSR, BSC)
BY_ROWS = (CSR, BSR)  # their compressed indices are of rows
_ops: Any = taeda.ops.aten


class Pattern(NamedTuple):
    """Where a tensor has elements."""

    layout: _layout
    indices: Tensor  # (sparse dims, n) of coordinates, else (*batch, rows + 1)
    plain: Tensor | None  # (*batch, n), None of coordinates
    size: tuple[int, ...]
    coalesced: bool = False
    block: tuple[int, int] | None = None  # the shape of a block, of blocked layouts

    @property
    def batch(self) -> int:
        """The number of batch dimensions, of a compressed pattern."""
        return self.indices.dim() - 1

    def is_same_memory(self, other: Pattern) -> bool:
        """Whether both read the same indices."""
        mine, others = (self.indices, self.plain), (other.indices, other.plain)
        return self.layout == other.layout and self.size == other.size and all(
            a is b or (a is not None and b is not None and a.data_ptr() == b.data_ptr() and a.shape == b.shape
                       and a.stride() == b.stride())
            for a, b in zip(mine, others, strict=True)
        )  # fmt: skip


def is_sparse(x: Any) -> bool:
    """Whether it is a tensor of a sparse layout."""
    return isinstance(x, Tensor) and x.layout in SPARSE


def pattern_of(x: Tensor) -> Pattern:
    indices, plain, values = _C._sparse_parts(x)
    block = _block(values, indices) if x.layout in BLOCKED else None
    return Pattern(x.layout, indices, plain, tuple(x.shape), _C._sparse_is_coalesced(x), block)


def _block(values: Tensor, pointers: Tensor) -> tuple[int, int]:
    first = pointers.dim()
    return values.shape[first], values.shape[first + 1]


def sparse_dim(x: Tensor) -> int:
    return _C._sparse_dims(x)[0]


def dense_dim(x: Tensor) -> int:
    return _C._sparse_dims(x)[1]


def stored(x: Tensor) -> int:
    """The number of elements, or of blocks, in each batch."""
    return _C._sparse_dims(x)[2]


def batch_dim(x: Tensor) -> int:
    """The number of batch dimensions, of a compressed tensor."""
    return 0 if x.layout == COO else x.dim() - 2 - dense_dim(x)


def block_of(x: Tensor) -> tuple[int, int]:
    """The shape of a block, of a blocked tensor."""
    indices, _, values = _C._sparse_parts(x)
    return _block(values, indices)


# --- the two ways


class _Values(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.pattern = pattern_of(x)
        return _C._sparse_parts(x)[2]

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        pattern = ctx.pattern
        if pattern.layout != COO or pattern.coalesced:
            return build(pattern, grad)
        # Elements that share an index have one gradient, which each of them was given.
        times = coalesce(build(pattern, taeda.ones_like(grad)))
        total = coalesce(build(pattern, grad))
        return with_values(total, values_of(total) / values_of(times))


class _Build(Function):
    @staticmethod
    def forward(ctx: Any, pattern: Pattern, values: Tensor) -> Tensor:
        ctx.pattern = pattern
        return _make(pattern, values)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[None, Tensor]:
        return None, values_at(grad, ctx.pattern)


class _Coalesce(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return _coalesced(x)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        return grad


def _records(x: Tensor) -> bool:
    return x.requires_grad and taeda.is_grad_enabled()


def values_of(x: Tensor) -> Tensor:
    """The values; a gradient of them is one of ``x`` that has its pattern."""
    return _Values.apply(x) if _records(x) else _C._sparse_parts(x)[2]


def build(pattern: Pattern, values: Tensor) -> Tensor:
    """The tensor of that pattern with ``values``, unchecked but for shapes."""
    return _Build.apply(pattern, values) if _records(values) else _make(pattern, values)


def _make(pattern: Pattern, values: Tensor) -> Tensor:
    return _C._sparse_make(pattern.layout, pattern.indices, pattern.plain, values.detach().resolve_conj().resolve_neg(),
                           pattern.size, pattern.coalesced)  # fmt: skip


def with_values(x: Tensor, values: Tensor) -> Tensor:
    """``x`` with other values, of the same number."""
    result = build(pattern_of(x), values)
    if x.layout == COO and (pointers := _C._sparse_row_pointers(x)) is not None:
        _C._sparse_set_row_pointers(result, pointers)
    return result


def coo(indices: Tensor, values: Tensor, size: Sequence[int], coalesced: bool = False) -> Tensor:
    return build(Pattern(COO, indices, None, tuple(size), coalesced or indices.shape[1] < 2), values)


def compressed(layout: _layout, pointers: Tensor, plain: Tensor, values: Tensor, size: Sequence[int]) -> Tensor:
    block = _block(values, pointers) if layout in BLOCKED else None
    return build(Pattern(layout, pointers, plain, tuple(size), False, block), values)


class _Assign(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, source: Tensor) -> Tensor:
        ctx.mark_dirty(x)
        _C._sparse_assign(x, source)
        return x

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[None, Tensor]:
        return None, grad


def assign(x: Tensor, source: Tensor) -> Tensor:
    """``x`` becomes what ``source``, of the same layout, is."""
    if taeda.is_grad_enabled() and (x.requires_grad or source.requires_grad):
        if x.requires_grad and x.is_leaf:
            raise RuntimeError(
                "a leaf that requires grad cannot be written to in place: do it under no_grad(), or on a clone"
            )
        return _Assign.apply(x, source)
    return _C._sparse_assign(x, source)


# --- coordinates


def coalesce(x: Tensor) -> Tensor:
    """Coordinates in rising order, each once."""
    if _C._sparse_is_coalesced(x):
        return x
    return _Coalesce.apply(x) if _records(x) else _coalesced(x)


def _coalesced(x: Tensor) -> Tensor:
    if _C._sparse_is_coalesced(x):
        return _C._sparse_alias(x)
    indices, _, values = _C._sparse_parts(x)
    indices, values = _ops._sparse_coalesce(indices, values, x.shape)
    return _C._sparse_make(COO, indices, None, values, x.shape, True)


def flat_keys(indices: Tensor, size: Sequence[int]) -> Tensor:
    """The place of each column of ``indices`` among all that ``size`` has."""
    keys = taeda.zeros(indices.shape[1], dtype=taeda.int64, device=indices.device)
    for row, extent in zip(indices, size, strict=False):
        keys = keys * extent + row
    return keys


def unflatten(keys: Tensor, size: Sequence[int]) -> Tensor:
    """The other way: (dims, n)."""
    rows = []
    for extent in reversed(tuple(size)):
        rows.append(keys % extent if extent else keys)
        keys = keys.div(extent, rounding_mode="floor") if extent else keys
    return taeda.stack(rows[::-1]) if rows else keys.new_empty((0, keys.shape[0]))


def places(extents: Sequence[int]) -> int:
    return math.prod(extents)


def checked_below(indices: Tensor, size: Sequence[int]) -> Tensor:
    """The indices (dims, n); RuntimeError if one is outside."""
    if indices.is_meta:
        return indices
    for d, row in enumerate(indices):
        if row.numel() and (int(row.min()) < 0 or int(row.max()) >= size[d]):
            raise RuntimeError(
                f"taeda: indices of dimension {d} of a sparse tensor must be from 0 to {size[d] - 1}; got "
                f"{int(row.min())} to {int(row.max())}"
            )
    return indices


def marked(marks: Tensor) -> Tensor:
    """The places (dims, n) of the marks that are set: none on the meta device, where nobody knows them."""
    found = marks.new_empty((0, marks.dim()), dtype=taeda.int64) if marks.is_meta else marks.nonzero()
    return found.t().contiguous()


def distinct(keys: Tensor) -> tuple[Tensor, Tensor]:
    """The different numbers, rising, and which of them each is; on the meta device as many as there are."""
    if keys.is_meta:
        return keys, keys
    found, which = taeda.unique(keys, return_inverse=True)
    return found, which


def values_at(grad: Tensor, pattern: Pattern) -> Tensor:
    """The elements of ``grad``, dense or sparse, at the places of a pattern, shaped as the pattern's values."""
    if is_sparse(grad):
        own = pattern_of(grad)
        if own.is_same_memory(pattern):
            return values_of(grad)
        return _values_of_sparse(grad, pattern)
    if pattern.layout == CSR and not pattern.batch:
        return _ops._sparse_pick(pattern.indices, pattern.plain, grad)
    if pattern.layout == COO:
        if not pattern.indices.shape[0]:
            return grad.expand(pattern.indices.shape[1], *grad.shape)
        return grad[tuple(checked_below(pattern.indices, pattern.size))]
    blocked = grad if pattern.block is None else in_blocks(grad, pattern.batch, pattern.block)
    size = blocked.shape[: pattern.batch + 2]
    return _batched(blocked[tuple(checked_below(element_places(pattern), size))], pattern)


def _batched(values: Tensor, pattern: Pattern) -> Tensor:
    """Elements (all, ...) as values (*batch, n, ...)."""
    assert pattern.plain is not None
    return values.reshape(*pattern.plain.shape, *values.shape[1:])


def in_blocks(dense: Tensor, batch: int, block: tuple[int, int]) -> Tensor:
    """(*batch, rows, columns, ...) as (*batch, rows of blocks, columns of blocks, *block, ...)."""
    rows, columns = dense.shape[batch], dense.shape[batch + 1]
    split = dense.reshape(*dense.shape[:batch], rows // block[0], block[0], columns // block[1], block[1],
                          *dense.shape[batch + 2 :])  # fmt: skip
    return split.transpose(batch + 1, batch + 2)


def _values_of_sparse(grad: Tensor, pattern: Pattern) -> Tensor:
    from taeda.sparse._convert import to_coo

    shape = _make(pattern, _empty_values(grad, pattern))
    wanted = to_coo(shape, keep_order=True)
    source = coalesce(to_coo(grad))
    if sparse_dim(source) != sparse_dim(wanted):
        raise RuntimeError(
            f"taeda: a gradient with {sparse_dim(source)} sparse dimensions does not fit a tensor with "
            f"{sparse_dim(wanted)}"
        )
    size = source.shape[: sparse_dim(source)]
    have, want = (flat_keys(_C._sparse_parts(t)[0], size) for t in (source, wanted))
    values = values_of(source)
    if have.numel() == 0:
        found = values.new_zeros((want.shape[0], *values.shape[1:]))
    else:
        place = taeda.searchsorted(have, want).clamp(max=have.numel() - 1)
        hit = (have[place] == want).reshape(want.shape[0], *[1] * (values.dim() - 1))
        found = taeda.where(hit, values.index_select(0, place), taeda.zeros((), dtype=values.dtype))
    return found.reshape(_C._sparse_parts(shape)[2].shape)


def _empty_values(grad: Tensor, pattern: Pattern) -> Tensor:
    """Values of the pattern's shape, which nobody reads."""
    if pattern.layout == COO:
        dense = pattern.size[pattern.indices.shape[0] :]
        return taeda.zeros((pattern.indices.shape[1], *dense), dtype=grad.dtype, device=grad.device)
    assert pattern.plain is not None
    dense = pattern.size[pattern.batch + 2 :]
    shape = (*pattern.plain.shape, *(pattern.block or ()), *dense)
    return taeda.zeros(shape, dtype=grad.dtype, device=grad.device)


def element_places(pattern: Pattern) -> Tensor:
    """The places (batch dims + 2, all elements, or blocks) of a compressed pattern, in stored order."""
    pointers, plain = pattern.indices.long(), pattern.plain
    assert plain is not None
    batch = pattern.size[: pointers.dim() - 1]
    lines = pointers.shape[-1] - 1  # rows, or columns, of each batch
    flat, each = plain.reshape(-1).long(), plain.shape[-1]
    count = math.prod(batch)
    starts = (
        pointers[..., :-1].reshape(count, lines) + taeda.arange(count, device=plain.device).unsqueeze(1) * each
    ).reshape(-1)
    ends = taeda.cat([starts, taeda.tensor([flat.shape[0]], device=plain.device)])
    falls = pointers[..., 1:] < pointers[..., :-1]  # differences of what anybody wrote could overflow
    if not plain.is_meta and bool((pointers[..., 0] != 0).any() | (pointers[..., -1] != each).any() | falls.any()):
        raise RuntimeError("taeda: compressed indices must rise from 0 to the number of elements")
    line = _ops._convert_indices_from_csr_to_coo(ends, flat)[0]
    head = unflatten(line, (*batch, lines))
    rows, columns = (head[-1], flat) if pattern.layout in BY_ROWS else (flat, head[-1])
    return taeda.cat([head[:-1], rows.unsqueeze(0), columns.unsqueeze(0)])
