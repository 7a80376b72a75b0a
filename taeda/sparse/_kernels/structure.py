"""Rearranging, selecting and joining: what is done to places; values follow along."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import taeda
from taeda import _C, Tensor
from taeda.sparse._convert import like, to_coo
from taeda.sparse._kernels.registry import compressed, coordinates, sparse
from taeda.sparse._parts import (
    BSC,
    BSR,
    COO,
    CSC,
    CSR,
    assign,
    batch_dim,
    build,
    checked_below,
    coalesce,
    coo,
    dense_dim,
    flat_keys,
    is_sparse,
    marked,
    pattern_of,
    sparse_dim,
    unflatten,
    values_of,
)

_TURNED = {CSR: CSC, CSC: CSR, BSR: BSC, BSC: BSR}


def _indices(x: Tensor) -> Tensor:
    return _C._sparse_parts(x)[0]


def _wrap(name: str, dim: int, rank: int) -> int:
    if not -max(rank, 1) <= dim < max(rank, 1):
        raise IndexError(f"taeda.{name}: dimension {dim} is out of range for a tensor of {rank} dimensions")
    return dim % rank if rank else 0


# --- orders of dimensions


@coordinates("permute")
def permute(self: Tensor, dims: Sequence[int]) -> Tensor:
    """Sparse dimensions stay before dense ones."""
    rank, split = self.dim(), sparse_dim(self)
    order = [_wrap("permute", d, rank) for d in dims]
    if sorted(order) != list(range(rank)):
        raise RuntimeError(f"taeda.permute: dims must name each of the {rank} dimensions once; got {tuple(dims)}")
    if any(d >= split for d in order[:split]):
        raise RuntimeError(
            f"taeda.permute: sparse dimensions (the first {split}) and dense ones cannot change places; got "
            f"{tuple(dims)}"
        )
    values = values_of(self)
    if order[split:] != list(range(split, rank)):
        values = values.permute(0, *(d - split + 1 for d in order[split:]))
    same = order[:split] == list(range(split))
    indices = _indices(self) if same else _indices(self)[order[:split]]
    return coo(indices, values, [self.shape[d] for d in order], same and _C._sparse_is_coalesced(self))


@coordinates("transpose.int")
def transpose(self: Tensor, dim0: int, dim1: int) -> Tensor:
    order = list(range(self.dim()))
    a, b = (_wrap("transpose", d, self.dim()) for d in (dim0, dim1))
    if order:
        order[a], order[b] = order[b], order[a]
    return permute(self, order)


@coordinates("transpose_")
def transpose_(self: Tensor, dim0: int, dim1: int) -> Tensor:
    return assign(self, transpose(self, dim0, dim1))


@compressed("transpose.int")
def transpose_compressed(self: Tensor, dim0: int, dim1: int) -> Tensor:
    """Rows and columns change their names; other dimensions take the way of coordinates."""
    a, b = sorted(_wrap("transpose", d, self.dim()) for d in (dim0, dim1))
    batch = batch_dim(self)
    if dense_dim(self):
        raise RuntimeError(f"taeda.transpose: tensors of layout {self.layout} with dense dimensions are not transposed")
    if a == b:
        return _shown(self, _C._sparse_alias(self), a, b) if not self.requires_grad else self
    if (a, b) != (batch, batch + 1):
        if b >= batch:
            raise RuntimeError(
                f"taeda.transpose: of layout {self.layout} the batch's dimensions, or the matrix's, change places; got "
                f"dimensions {dim0} and {dim1}"
            )
        return _shown(self, _batch_transposed(self, a, b), a, b)
    pattern, values = pattern_of(self), values_of(self)
    size = list(self.shape)
    size[a], size[b] = size[b], size[a]
    block = None
    if pattern.block is not None:
        block = (pattern.block[1], pattern.block[0])
        values = values.transpose(batch + 1, batch + 2)
    turned = pattern._replace(layout=_TURNED[self.layout], size=tuple(size), block=block)
    return _shown(self, build(turned, values), a, b)


def _batch_transposed(self: Tensor, a: int, b: int) -> Tensor:
    """Two dimensions of the batch swapped: those of indices and values."""
    pattern, size = pattern_of(self), list(self.shape)
    assert pattern.plain is not None
    size[a], size[b] = size[b], size[a]
    indices, plain = (x.transpose(a, b).contiguous() for x in (pattern.indices, pattern.plain))
    return build(pattern._replace(indices=indices, plain=plain, size=tuple(size)), values_of(self).transpose(a, b))


def _shown(base: Tensor, view: Tensor, dim0: int, dim1: int) -> Tensor:
    """The transposed as a view, unless autograd records it as a result of its own."""
    return view if view.requires_grad else _C._sparse_mark_transposed(base, view, dim0, dim1)


@sparse("t")
def t(self: Tensor) -> Tensor:
    if self.dim() > 2:
        raise RuntimeError(f"taeda.t: takes at most two dimensions; got {self.dim()}")
    return self if self.dim() < 2 else self.transpose(0, 1)


@sparse("adjoint", "mH", "matrix_H")
def adjoint(self: Tensor) -> Tensor:
    turned = self.transpose(-2, -1)
    return turned.conj() if self.is_complex() else turned


@coordinates("unsqueeze")
def unsqueeze(self: Tensor, dim: int) -> Tensor:
    dim = _wrap("unsqueeze", dim, self.dim() + 1)
    split, indices, values = sparse_dim(self), _indices(self), values_of(self)
    size = (*self.shape[:dim], 1, *self.shape[dim:])
    if dim > split:
        return coo(indices, values.unsqueeze(dim - split + 1), size, _C._sparse_is_coalesced(self))
    zeros = indices.new_zeros((1, indices.shape[1]))
    indices = taeda.cat([indices[:dim], zeros, indices[dim:]])
    return coo(indices, values, size, _C._sparse_is_coalesced(self))


@coordinates("squeeze.dims")
def squeeze_dims(self: Tensor, dim: Sequence[int]) -> Tensor:
    split, indices, values = sparse_dim(self), _indices(self), values_of(self)
    gone = {d for d in (_wrap("squeeze", d, self.dim()) for d in dim) if self.dim() and self.shape[d] == 1}
    kept = [d for d in range(split) if d not in gone]
    values = values.squeeze([d - split + 1 for d in gone if d >= split]) if any(d >= split for d in gone) else values
    size = [extent for d, extent in enumerate(self.shape) if d not in gone]
    return coo(indices[kept], values, size, _C._sparse_is_coalesced(self))


@coordinates("squeeze")
def squeeze(self: Tensor) -> Tensor:
    return squeeze_dims(self, range(self.dim()))


@coordinates("squeeze.dim")
def squeeze_dim(self: Tensor, dim: int) -> Tensor:
    return squeeze_dims(self, (dim,))


@coordinates("reshape", "view")
def reshape(self: Tensor, size: Sequence[int]) -> Tensor:
    """Of sparse dimensions alone: the places of elements, counted through."""
    if dense_dim(self):
        raise RuntimeError("taeda.reshape: coordinates with dense dimensions cannot be reshaped; to_dense() first")
    known = math.prod(extent for extent in size if extent != -1)
    wanted = tuple((self.numel() // known if known else 0) if extent == -1 else extent for extent in size)
    if list(size).count(-1) > 1 or math.prod(wanted) != self.numel():
        raise RuntimeError(
            f"taeda.reshape: shape {tuple(size)} has not the {self.numel()} elements of {tuple(self.shape)}"
        )
    keys = flat_keys(checked_below(_indices(self), self.shape), self.shape)
    return coo(unflatten(keys, wanted), values_of(self), wanted, _C._sparse_is_coalesced(self))


# --- parts


def _kept(self: Tensor, places: Tensor, row: Tensor | None, dim: int, extent: int | None,
          in_order: bool = True) -> Tensor:  # fmt: skip
    """The elements at ``places``, with ``row`` in place of their indices of ``dim``; without ``extent`` that goes."""
    indices = _indices(self).index_select(1, places)
    values = values_of(self).index_select(0, places)
    size = list(self.shape)
    if extent is None:
        indices = taeda.cat([indices[:dim], indices[dim + 1 :]])
        del size[dim]
    else:
        assert row is not None
        indices = taeda.cat([indices[:dim], row.unsqueeze(0), indices[dim + 1 :]])
        size[dim] = extent
    return coo(indices, values, size, in_order and _C._sparse_is_coalesced(self))


@coordinates("select.int")
def select(self: Tensor, dim: int, index: int) -> Tensor:
    dim, extent = _wrap("select", dim, self.dim()), self.shape[dim] if self.dim() else 0
    if not self.dim() or not -extent <= index < extent:
        raise IndexError(f"taeda.select: index {index} is out of range for dimension {dim} of size {extent}")
    index, split = index % extent, sparse_dim(self)
    if dim >= split:
        values = values_of(self).select(dim - split + 1, index)
        return coo(_indices(self), values, [*self.shape[:dim], *self.shape[dim + 1 :]], _C._sparse_is_coalesced(self))
    places = marked(_indices(self)[dim] == index)[0]
    result = _kept(self, places, None, dim, None)
    if split == 1:  # no sparse dimension is left
        values = values_of(result)
        return values.sum(0, dtype=values.dtype)
    return result


@compressed("select.int")
def select_compressed(self: Tensor, dim: int, index: int) -> Tensor:
    dim, batch = _wrap("select", dim, self.dim()), batch_dim(self)
    if dim < batch:
        if not -self.shape[dim] <= index < self.shape[dim]:
            raise IndexError(
                f"taeda.select: index {index} is out of range for dimension {dim} of size {self.shape[dim]}"
            )
        pattern, values = pattern_of(self), values_of(self)
        assert pattern.plain is not None
        size = (*self.shape[:dim], *self.shape[dim + 1 :])
        return build(pattern._replace(indices=pattern.indices.select(dim, index).contiguous(), size=size,
                                      plain=pattern.plain.select(dim, index).contiguous()),
                     values.select(dim, index))  # fmt: skip
    if batch:
        raise RuntimeError(
            f"taeda.select: of a batch in layout {self.layout} whole matrices are selected; got dimension {dim} of "
            f"{self.dim()}"
        )
    return select(coalesce(to_coo(self)), dim, index)


@coordinates("slice.Tensor")
def slice_(self: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Tensor:
    dim = _wrap("slice", dim, self.dim())
    if step < 1:
        raise ValueError(f"taeda.slice: step must be positive; got {step}")
    extent, split = self.shape[dim], sparse_dim(self)
    begin, stop, _ = slice(start, end, step).indices(extent)
    count = len(range(begin, stop, step))
    size = (*self.shape[:dim], count, *self.shape[dim + 1 :])
    if dim >= split:
        values = values_of(self)[(slice(None),) * (dim - split + 1) + (slice(begin, stop, step),)]
        return coo(_indices(self), values, size, _C._sparse_is_coalesced(self))
    if count == extent:
        return self
    row = _indices(self)[dim]
    inside = (row >= begin) & (row < stop)
    if step > 1:
        inside &= (row - begin) % step == 0
    places = marked(inside)[0]
    return _kept(self, places, (row.index_select(0, places) - begin).div(step, rounding_mode="floor"), dim, count)


@sparse("split.Tensor", "unsafe_split.Tensor")
def split(self: Tensor, split_size: int, dim: int = 0) -> list[Tensor]:
    extent = self.shape[_wrap("split", dim, self.dim())]
    if split_size < 0 or (split_size == 0 and extent):
        raise RuntimeError(
            f"taeda.split: split_size must be positive for a dimension of size {extent}; got {split_size}"
        )
    starts = range(0, max(extent, 1), max(split_size, 1))
    return [self.narrow(dim, start, min(split_size, extent - start)) for start in starts]


@sparse("split_with_sizes", "unsafe_split_with_sizes")
def split_with_sizes(self: Tensor, split_sizes: Sequence[int], dim: int = 0) -> list[Tensor]:
    extent = self.shape[_wrap("split", dim, self.dim())]
    if sum(split_sizes) != extent or any(size < 0 for size in split_sizes):
        raise RuntimeError(f"taeda.split: sizes {tuple(split_sizes)} do not make up dimension {dim} of size {extent}")
    return [self.narrow(dim, end - size, size) for size, end in zip(split_sizes, itertools.accumulate(split_sizes))]


@coordinates("embedding")
def embedding(weight: Tensor, indices: Tensor, padding_idx: int = -1, scale_grad_by_freq: bool = False,
              sparse: bool = False) -> Tensor:  # fmt: skip
    """Rows of a sparse table."""
    if is_sparse(indices):
        raise RuntimeError("taeda.embedding: indices must be dense")
    rows = index_select(weight, 0, indices.reshape(-1))
    return rows if indices.dim() == 1 else reshape(rows, (*indices.shape, *weight.shape[1:]))


@coordinates("unbind.int")
def unbind(self: Tensor, dim: int = 0) -> list[Tensor]:
    dim = _wrap("unbind", dim, self.dim())
    return [select(self, dim, i) for i in range(self.shape[dim])]


@compressed("unbind.int")
def unbind_compressed(self: Tensor, dim: int = 0) -> list[Tensor]:
    dim = _wrap("unbind", dim, self.dim())
    if dim < batch_dim(self):
        return [select_compressed(self, dim, i) for i in range(self.shape[dim])]
    return unbind(coalesce(to_coo(self)), dim)


@coordinates("index_select")
def index_select(self: Tensor, dim: int, index: Tensor) -> Tensor:
    """Each element once for each time that its place is chosen."""
    if is_sparse(index):
        raise RuntimeError("taeda.index_select: index must be dense")
    dim, split = _wrap("index_select", dim, self.dim()), sparse_dim(self)
    if index.dim() > 1 or index.dtype not in (taeda.int64, taeda.int32):
        raise IndexError(
            f"taeda.index_select: index must be a vector of integers; got shape {tuple(index.shape)}, {index.dtype}"
        )
    index, extent = index.reshape(-1).long(), self.shape[dim]
    if index.numel() and not index.is_meta and (int(index.min()) < -extent or int(index.max()) >= extent):
        raise IndexError(
            f"taeda.index_select: index must be from {-extent} to {extent - 1}; got {int(index.min())} to "
            f"{int(index.max())}"
        )
    index = taeda.where(index < 0, index + extent, index)
    size = (*self.shape[:dim], index.shape[0], *self.shape[dim + 1 :])
    if dim >= split:
        return coo(
            _indices(self), values_of(self).index_select(dim - split + 1, index), size, _C._sparse_is_coalesced(self)
        )
    self = coalesce(self)
    if self.is_meta:  # nobody knows how often each element is chosen
        return _kept(self, index[:0], index[:0], dim, index.shape[0])
    row = checked_below(_indices(self), self.shape)[dim].contiguous()
    # The elements of each index, one after another, for each index that is chosen.
    order = taeda.argsort(row, stable=True)
    counts = taeda.bincount(row, minlength=extent)
    begins = counts.cumsum(0) - counts
    times = counts.index_select(0, index)
    which = taeda.repeat_interleave(taeda.arange(index.shape[0]), times)
    inside = taeda.arange(which.shape[0]) - (times.cumsum(0) - times).index_select(0, which)
    places = order.index_select(0, begins.index_select(0, index).index_select(0, which) + inside)
    return _kept(self, places, which, dim, index.shape[0], in_order=dim == 0)


@coordinates("index.Tensor")
def index(self: Tensor, indices: Sequence[Tensor | None]) -> Tensor:
    """One vector of indices, or of marks, in one dimension."""
    given = [(d, i) for d, i in enumerate(indices) if i is not None]
    if len(given) != 1 or given[0][1].dim() != 1 or is_sparse(given[0][1]):
        raise NotImplementedError(
            "taeda.Tensor.__getitem__: a sparse tensor is indexed by numbers, slices and one vector of indices or "
            "bools; "
            "call to_dense() for others"
        )
    dim, which = given[0]
    if which.dtype in (taeda.bool, taeda.uint8):
        which = marked(which)[0]
    return index_select(self, dim, taeda.where(which < 0, which + self.shape[dim], which))


# --- joining


@coordinates("cat")
def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    if not all(is_sparse(x) for x in tensors):
        raise RuntimeError("taeda.cat: tensors must be all sparse or all dense; got both")
    first = tensors[0]
    dim, split = _wrap("cat", dim, first.dim()), sparse_dim(first)
    others = [[extent for d, extent in enumerate(x.shape) if d != dim] for x in tensors]
    if any(
        x.dim() != first.dim() or sparse_dim(x) != split or o != others[0] for x, o in zip(tensors, others, strict=True)
    ):
        raise RuntimeError(
            f"taeda.cat: tensors must have the same sizes but along dimension {dim}, and as many sparse dimensions; "
            "got "
            f"{[tuple(x.shape) for x in tensors]}"
        )
    dtype = first.dtype
    for x in tensors:
        dtype = taeda.promote_types(dtype, x.dtype)
    size = [*first.shape]
    size[dim] = sum(x.shape[dim] for x in tensors)
    rows, parts, begin = [], [], 0
    for x in tensors:
        indices, values = _indices(x), values_of(x).to(dtype)
        if dim < split:
            indices = taeda.cat([indices[:dim], indices[dim : dim + 1] + begin, indices[dim + 1 :]])
        elif len(tensors) > 1:  # zeros before and after, along the dense dimension
            where = dim - split + 1
            before, after = [*values.shape], [*values.shape]
            before[where], after[where] = begin, size[dim] - begin - values.shape[where]
            values = taeda.cat([values.new_zeros(before), values, values.new_zeros(after)], where)
        rows.append(indices)
        parts.append(values)
        begin += x.shape[dim]
    rises = dim == 0 < split and all(_C._sparse_is_coalesced(x) for x in tensors)
    return coo(taeda.cat(rows, 1), taeda.cat(parts), size, rises)


@compressed("cat")
def cat_compressed(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    if not all(is_sparse(x) for x in tensors):
        raise RuntimeError("taeda.cat: tensors must be all sparse or all dense; got both")
    model = next(x for x in tensors if x.layout != COO)
    return like(coalesce(cat([coalesce(to_coo(x)) for x in tensors], dim)), model)


@sparse("stack")
def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    if not all(is_sparse(x) for x in tensors):
        raise RuntimeError("taeda.stack: tensors must be all sparse or all dense; got both")
    return cat([unsqueeze(coalesce(to_coo(x)), dim) for x in tensors], dim)


@sparse("block_diag")
def block_diag(tensors: Sequence[Tensor]) -> Tensor:
    """Matrices along the diagonal, in coordinates."""
    blocks = [coalesce(to_coo(x if is_sparse(x) else x.to_sparse())) for x in tensors]
    if any(x.dim() != 2 or dense_dim(x) for x in blocks):
        raise NotImplementedError("taeda.block_diag: takes sparse matrices; call to_dense() first for others")
    dtype, rows, columns = blocks[0].dtype, 0, 0
    places, values = [], []
    for x in blocks:
        dtype = taeda.promote_types(dtype, x.dtype)
        places.append(_indices(x) + taeda.tensor([[rows], [columns]], device=x.device))
        values.append(values_of(x))
        rows, columns = rows + x.shape[0], columns + x.shape[1]
    return coo(taeda.cat(places, 1), taeda.cat([v.to(dtype) for v in values]), (rows, columns), True)
