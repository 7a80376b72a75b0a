"""Conversions between all layouts. Coordinates are in the middle; what is common has a way of its own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import taeda
from taeda import _C, Tensor
from taeda.sparse._parts import (
    BLOCKED,
    BSC,
    BSR,
    BY_ROWS,
    COO,
    CSC,
    CSR,
    batch_dim,
    block_of,
    checked_below,
    coalesce,
    compressed,
    coo,
    dense_dim,
    distinct,
    element_places,
    flat_keys,
    in_blocks,
    is_sparse,
    marked,
    pattern_of,
    sparse_dim,
    unflatten,
    values_of,
)
from taeda.types import _dtype, _layout

_ops: Any = taeda.ops.aten


# --- to dense


def to_dense(x: Tensor) -> Tensor:
    """All elements; those that are not stored are zero."""
    if is_matrix(x):
        pointers, columns, values = csr_parts(x)
        return _ops._sparse_spread(pointers, columns, values, x.shape[1])
    if x.layout == COO:
        return _coordinates_to_dense(x)
    pattern, values = pattern_of(x), values_of(x)
    places = element_places(pattern)
    values = values.reshape(places.shape[1], *values.shape[pattern.batch + 1 :])
    size, block = list(x.shape[: pattern.batch + 2]), pattern.block
    if block is None:
        return _placed(checked_below(places, size), values, size)
    size[-2], size[-1] = size[-2] // block[0], size[-1] // block[1]
    blocks = _placed(checked_below(places, size), values, size)
    return blocks.transpose(pattern.batch + 1, pattern.batch + 2).reshape(x.shape)


def is_matrix(x: Tensor) -> bool:
    """Whether its rows are at hand: one matrix, without blocks, whose rows rise if it is said to be coalesced."""
    if x.layout == COO:
        return sparse_dim(x) == 2 and _C._sparse_is_coalesced(x) and _rows_rise(x)
    return x.layout == CSR and batch_dim(x) == 0


def _rows_rise(x: Tensor) -> bool:
    indices = _C._sparse_parts(x)[0]
    return indices.is_meta or _C._sparse_row_pointers(x) is not None or not bool((indices[0].diff() < 0).any())


def _coordinates_to_dense(x: Tensor) -> Tensor:
    if x.dtype == taeda.bool:
        x = coalesce(x)
    indices, size = _C._sparse_parts(x)[0], x.shape[: sparse_dim(x)]
    return _placed(checked_below(indices, size), values_of(x), size)


def _placed(indices: Tensor, values: Tensor, size: Sequence[int]) -> Tensor:
    """Zeros of that size, with dense dimensions behind it, to which the values are added."""
    if values.dtype == taeda.complex32:
        return _placed(indices, values.to(taeda.complex64), size).to(values.dtype)
    dense = values.shape[1:]
    zeros = taeda.zeros((math.prod(size), *dense), dtype=values.dtype, device=values.device)
    if values.dtype == taeda.bool:
        filled = zeros.index_copy(0, flat_keys(indices, size), values)
    else:
        filled = zeros.index_add(0, flat_keys(indices, size), values)
    return filled.reshape((*size, *dense))


# --- to coordinates


def to_coo(x: Tensor, keep_order: bool = False) -> Tensor:
    """Coordinates of any layout; coalesced unless they were not, or are wanted in the order of what is stored."""
    if x.layout == COO:
        return x
    pattern, values = pattern_of(x), values_of(x)
    places = element_places(pattern)
    values = values.reshape(places.shape[1], *values.shape[pattern.batch + 1 :])
    in_order = pattern.layout == CSR
    if pattern.block is not None:
        places, values = _elements_of_blocks(places, values, pattern.block)
    result = coo(places, values, x.shape, in_order)
    return result if in_order or keep_order else coalesce(result)


def _elements_of_blocks(places: Tensor, values: Tensor, block: tuple[int, int]) -> tuple[Tensor, Tensor]:
    """Of blocks at places: the places of their elements, and these one by one."""
    rows = taeda.arange(block[0], device=places.device).reshape(1, -1, 1)
    columns = taeda.arange(block[1], device=places.device).reshape(1, 1, -1)
    grid = (places.shape[1], *block)
    row = (places[-2].reshape(places.shape[1], 1, 1) * block[0] + rows).expand(grid).reshape(-1)
    column = (places[-1].reshape(places.shape[1], 1, 1) * block[1] + columns).expand(grid).reshape(-1)
    batch = [place.reshape(places.shape[1], 1, 1).expand(grid).reshape(-1) for place in places[:-2]]
    return taeda.stack([*batch, row, column]), values.reshape(row.shape[0], *values.shape[3:])


def dense_to_coo(x: Tensor, sparse: int) -> Tensor:
    """The elements, or slices along the dimensions behind the first ``sparse``, that are not all zero."""
    size = x.shape[:sparse]
    if sparse == x.dim() and sparse > 0 and not x.requires_grad:
        width = size[-1]
        rows, columns, values = _ops._sparse_nonzero(x.reshape(math.prod(size[:-1]), width))
        places = [*unflatten(rows, size[:-1]), columns] if sparse != 2 else [rows, columns]
        return coo(taeda.stack(places), values, x.shape, True)
    marks = x != 0
    if sparse < x.dim():
        marks = marks.flatten(sparse).any(-1) if x.numel() else marks.new_zeros(size)
    indices = marked(marks if sparse else marks.unsqueeze(0))[:sparse]
    values = x[tuple(indices)] if sparse else x.unsqueeze(0)[: indices.shape[1]]
    return coo(indices, values, x.shape, True)


# --- to compressed layouts


def compress(x: Tensor, layout: _layout, block: tuple[int, int] | None = None, dense: int | None = None) -> Tensor:
    """Any tensor, dense or sparse, in a compressed layout.

    Args:
        block: of BSR and BSC.
        dense: the number of trailing dense dimensions, of a strided tensor.
    """
    if is_sparse(x) and x.layout != COO:
        if x.layout == layout and (block is None or block_of(x) == block):
            return x
        # Coordinates are int64: the indices get their dtype back.
        return with_indices_as(_compress(x, layout, block, dense), _C._sparse_parts(x)[0].dtype)
    return _compress(x, layout, block, dense)


def with_indices_as(x: Tensor, dtype: _dtype) -> Tensor:
    """A compressed tensor with indices of that dtype."""
    pointers, plain, _ = _C._sparse_parts(x)
    assert plain is not None
    if pointers.dtype == dtype:
        return x
    return compressed(x.layout, pointers.to(dtype), plain.to(dtype), values_of(x), x.shape)


def _compress(x: Tensor, layout: _layout, block: tuple[int, int] | None, dense: int | None) -> Tensor:
    if is_sparse(x):
        if (x.layout, layout) in ((CSR, CSC), (CSC, CSR)):
            return _other_compression(x, layout)
        batch = batch_dim(x)
        whole = coalesce(to_coo(x))
        dense_dims = dense_dim(whole)
        if x.layout == COO and sparse_dim(x) != 2:
            raise RuntimeError(
                f"taeda: only a tensor with two sparse dimensions can be converted from coordinates to a compressed "
                f"layout; got {sparse_dim(x)}: to_dense() it first"
            )
    else:
        dense_dims = dense or 0
        if x.dim() - dense_dims < 2:
            raise RuntimeError(
                f"taeda: a compressed layout needs two sparse dimensions; got {x.dim()} dimensions of which "
                f"{dense_dims} are dense"
            )
        if block is not None:
            return _dense_to_blocks(x, layout, block, dense_dims)
        batch = x.dim() - dense_dims - 2
        whole = dense_to_coo(x, x.dim() - dense_dims)
    return from_coo(whole, layout, batch, block)


def from_coo(x: Tensor, layout: _layout, batch: int = 0, block: tuple[int, int] | None = None) -> Tensor:
    """Coalesced coordinates of which the first ``batch`` dimensions are a batch, compressed.

    RuntimeError unless each of the batch has as many elements.
    """
    indices, values = _C._sparse_parts(x)[0], values_of(x)
    size: Sequence[int] = x.shape[: batch + 2]
    if block is not None:
        indices, values, size = _blocks_of_elements(indices, values, size, block)
    if layout in BY_ROWS:
        line, plain = indices[-2], indices[-1]
        lines = size[-2]
        if not batch and block is None:
            pointers = row_pointers(x)
            return compressed(layout, pointers, plain.contiguous(), values, x.shape)
    else:
        order = _order_by_columns(indices, size)
        indices, values = indices.index_select(1, order), values.index_select(0, order)
        line, plain = indices[-1], indices[-2]
        lines = size[-1]
    outer = flat_keys(indices[:-2], size[:-2])
    count = math.prod(size[:-2])
    flat = _ops._convert_indices_from_coo_to_csr(outer * lines + line, count * lines)
    return _split_batch(layout, flat, plain, values, x.shape, batch, lines)


def _split_batch(layout: _layout, flat: Tensor, plain: Tensor, values: Tensor, size: Sequence[int], batch: int,
                 lines: int) -> Tensor:  # fmt: skip
    """One long list of lines, cut into those of each of the batch."""
    if not batch:
        return compressed(layout, flat, plain, values, size)
    heads = tuple(size[:batch])
    count = math.prod(heads)
    if not count:
        raise RuntimeError(
            f"taeda: a batch in a compressed layout must not be empty; got a tensor of size {tuple(size)}"
        )
    starts = flat[::lines] if lines else flat.new_zeros(count + 1)
    counts = starts.diff()
    if not flat.is_meta and bool((counts != counts[0]).any()):
        raise RuntimeError(
            "taeda: each matrix of a batch in a compressed layout must have the same number of elements; got "
            f"{counts.tolist()[:8]}"
        )
    each = plain.shape[0] // max(count, 1)
    ends = taeda.cat([flat[:-1].reshape(count, lines) - starts[:-1].unsqueeze(1), counts.unsqueeze(1)], 1)
    return compressed(layout, ends.reshape(*heads, lines + 1), plain.reshape(*heads, each),
                      values.reshape(*heads, each, *values.shape[1:]), size)  # fmt: skip


def row_pointers(x: Tensor) -> Tensor:
    """Where each row of a coalesced matrix in coordinates begins; computed once."""
    kept = _C._sparse_row_pointers(x)
    if kept is None:
        rows = checked_below(_C._sparse_parts(x)[0], x.shape)[0]
        kept = _ops._convert_indices_from_coo_to_csr(rows.contiguous(), x.shape[0])
        _C._sparse_set_row_pointers(x, kept)
    return kept


def _order_by_columns(indices: Tensor, size: Sequence[int]) -> Tensor:
    swapped = taeda.cat([indices[:-2], indices[-1:], indices[-2:-1]])
    return taeda.argsort(flat_keys(swapped, (*size[:-2], size[-1], size[-2])), stable=True)


def _other_compression(x: Tensor, layout: _layout) -> Tensor:
    """CSR as CSC, and the reverse."""
    batch = batch_dim(x)
    if batch:
        return from_coo(coalesce(to_coo(x)), layout, batch)
    pointers, plain, _ = _C._sparse_parts(x)
    assert plain is not None
    lines = x.shape[1] if layout == CSC else x.shape[0]
    turned, others, order = _ops._sparse_transpose(pointers, plain, lines)
    kind = pointers.dtype
    return compressed(layout, turned.to(kind), others.to(kind), values_of(x).index_select(0, order), x.shape)


def _blocks_of_elements(indices: Tensor, values: Tensor, size: Sequence[int], block: tuple[int, int]
                        ) -> tuple[Tensor, Tensor, tuple[int, ...]]:  # fmt: skip
    """The places of all blocks that hold an element, in order, and the blocks."""
    _check_block(size, block)
    grid = (*size[:-2], size[-2] // block[0], size[-1] // block[1])
    row, column = indices[-2], indices[-1]
    outer = [row.div(block[0], rounding_mode="floor"), column.div(block[1], rounding_mode="floor")]
    keys = flat_keys(taeda.cat([indices[:-2], taeda.stack(outer)]), grid)
    places, which = distinct(keys)
    inside = (row % block[0]) * block[1] + column % block[1]
    area = block[0] * block[1]
    empty = values.new_zeros((places.shape[0] * area, *values.shape[1:]))
    blocks = empty.index_copy(0, which * area + inside, values)
    return unflatten(places, grid), blocks.reshape(places.shape[0], *block, *values.shape[1:]), grid


def _check_block(size: Sequence[int], block: tuple[int, int]) -> None:
    if len(block) != 2 or min(block) < 1 or size[-2] % block[0] or size[-1] % block[1]:
        raise RuntimeError(
            f"taeda: blocks of shape {tuple(block)} must divide a matrix of shape {tuple(size[-2:])} evenly"
        )


def _dense_to_blocks(x: Tensor, layout: _layout, block: tuple[int, int], dense: int) -> Tensor:
    batch = x.dim() - dense - 2
    _check_block(x.shape[: batch + 2], block)
    blocks = in_blocks(x, batch, block)
    marks = (
        (blocks != 0).flatten(batch + 2).any(-1)
        if x.numel()
        else blocks.new_zeros(blocks.shape[: batch + 2], dtype=taeda.bool)
    )
    places = marked(marks)
    grid = marks.shape
    if layout == BSC:
        places = places.index_select(1, _order_by_columns(places, grid))
    line, plain, lines = (places[-2], places[-1], grid[-2]) if layout == BSR else (places[-1], places[-2], grid[-1])
    flat = _ops._convert_indices_from_coo_to_csr(flat_keys(places[:-2], grid[:-2]) * lines + line,
                                                 math.prod(grid[:-2]) * lines)  # fmt: skip
    return _split_batch(layout, flat, plain, blocks[tuple(places)], x.shape, batch, lines)


# --- to what another tensor is


def convert(x: Tensor, layout: _layout, block: tuple[int, int] | None = None) -> Tensor:
    """``x`` in a layout, strided or sparse."""
    if layout == taeda.strided:
        return to_dense(x) if is_sparse(x) else x
    if layout == COO:
        return to_coo(x) if is_sparse(x) else dense_to_coo(x, x.dim())
    if layout in BLOCKED and block is None:
        if not is_sparse(x) or x.layout not in BLOCKED:
            raise RuntimeError(f"taeda: the conversion to {layout} needs a block size: to_sparse(layout=, blocksize=)")
        block = block_of(x)
    return compress(x, layout, block)


def like(x: Tensor, model: Tensor) -> Tensor:
    """A sparse tensor in the layout of ``model``, and with its blocks."""
    return convert(x, model.layout, block_of(model) if model.layout in BLOCKED else None)


def csr_parts(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """A matrix of any sparse layout in rows: pointers, columns and values (differentiable)."""
    if x.layout != CSR:
        if x.layout == COO:
            x = coalesce(x)
            return row_pointers(x), _C._sparse_parts(x)[0][1], values_of(x)
        x = compress(x, CSR)
    pointers, plain, _ = _C._sparse_parts(x)
    assert plain is not None
    return pointers, plain, values_of(x)
