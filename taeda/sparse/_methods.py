"""What the methods of tensors for sparse layouts do (``taeda/_tensor/sparse_methods.py``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import taeda
from taeda import _C, Tensor
from taeda.sparse import _parts
from taeda.sparse._convert import compress, convert, dense_to_coo, to_coo
from taeda.sparse._parts import BLOCKED, COO, SPARSE, assign, build, is_sparse, pattern_of, values_at, values_of
from taeda.types import _layout

_COMPRESSED = {"csr": _parts.CSR, "csc": _parts.CSC, "bsr": _parts.BSR, "bsc": _parts.BSC}
_PARTS = {
    "crow_indices": (0, (_parts.CSR, _parts.BSR)), "col_indices": (1, (_parts.CSR, _parts.BSR)),
    "ccol_indices": (0, (_parts.CSC, _parts.BSC)), "row_indices": (1, (_parts.CSC, _parts.BSC)),
}  # fmt: skip


def _require(name: str, x: Any, *layouts: _layout) -> None:
    if not isinstance(x, Tensor) or x.layout not in layouts:
        got = x.layout if isinstance(x, Tensor) else type(x).__name__
        wanted = " or ".join(map(str, layouts))
        raise RuntimeError(f"taeda.Tensor.{name}: is for tensors of layout {wanted}; got {got}")


def coalesce(x: Tensor) -> Tensor:
    _require("coalesce", x, COO)
    return _parts.coalesce(x)


def is_coalesced(x: Tensor) -> bool:
    _require("is_coalesced", x, COO)
    return _C._sparse_is_coalesced(x)


def _coalesced(name: str, x: Tensor) -> None:
    if x.layout == COO and not _C._sparse_is_coalesced(x):
        raise RuntimeError(
            f"taeda.Tensor.{name}: the tensor is not coalesced, so indices may repeat: coalesce() it first, or take "
            f"_{name}() as they are"
        )


def indices(x: Tensor) -> Tensor:
    _require("indices", x, COO)
    _coalesced("indices", x)
    return _C._sparse_parts(x)[0]


def values(x: Tensor) -> Tensor:
    _require("values", x, *SPARSE)
    _coalesced("values", x)
    found = values_of(x)
    return found if found.requires_grad else found.view_as(found)


def _indices(x: Tensor) -> Tensor:
    _require("_indices", x, COO)
    return _C._sparse_parts(x)[0]


def _values(x: Tensor) -> Tensor:
    _require("_values", x, *SPARSE)
    return _C._sparse_parts(x)[2]


def _nnz(x: Tensor) -> int:
    _require("_nnz", x, *SPARSE)
    stored = _parts.stored(x)
    return stored


def _coalesced_(x: Tensor, coalesced: bool) -> Tensor:
    _require("_coalesced_", x, COO)
    return _C._sparse_set_coalesced(x, coalesced)


def compressed_part(x: Tensor, name: str) -> Tensor:
    which, layouts = _PARTS[name]
    _require(name, x, *layouts)
    part = _C._sparse_parts(x)[which]
    assert part is not None
    return part


# --- conversions


def to_sparse(x: Tensor, sparse_dim: int | None, layout: _layout | None, blocksize: Sequence[int] | None,
              dense_dim: int | None) -> Tensor:  # fmt: skip
    wanted = COO if layout is None else layout
    if wanted == taeda.strided and sparse_dim is None and blocksize is None and dense_dim is None:
        return convert(x, wanted)
    if wanted not in SPARSE:
        raise RuntimeError(f"taeda.Tensor.to_sparse: layout must be a sparse one; got {layout}")
    if sparse_dim is not None:
        if layout not in (None, COO) or blocksize is not None or dense_dim is not None:
            raise RuntimeError("taeda.Tensor.to_sparse: sparse_dim stands alone, for coordinates")
        if is_sparse(x):
            return _with_sparse_dim(x, sparse_dim)
        return dense_to_coo(x, _checked_sparse_dim(x, sparse_dim))
    if (blocksize is not None) != (wanted in BLOCKED):
        raise RuntimeError(
            f"taeda.Tensor.to_sparse: {'give' if blocksize is None else 'there is no'} blocksize for {wanted}"
        )
    if wanted == COO:
        if is_sparse(x):
            return to_coo(x)
        return dense_to_coo(x, x.dim() - _checked_dense_dim(x, dense_dim, 0))
    block = None if blocksize is None else _checked_block(blocksize)
    if is_sparse(x):
        if x.layout in (_parts.CSR, _parts.CSC) and block is not None and _parts.batch_dim(x):
            raise RuntimeError(
                f"taeda.Tensor.to_sparse: no blocks are made of a batch in layout {x.layout}: to_dense() first"
            )
        return convert(x, wanted, block)
    return compress(x, wanted, block, _checked_dense_dim(x, dense_dim, 2))


def _checked_sparse_dim(x: Tensor, sparse_dim: int) -> int:
    if not 0 <= sparse_dim <= x.dim() or (sparse_dim == 0 and x.dim() > 0):
        raise RuntimeError(f"taeda.Tensor.to_sparse: sparse_dim must be from 1 to {x.dim()}; got {sparse_dim}")
    return sparse_dim


def _checked_dense_dim(x: Tensor, dense_dim: int | None, least: int) -> int:
    dense = dense_dim or 0
    if not 0 <= dense <= x.dim() - least:
        raise RuntimeError(
            f"taeda.Tensor.to_sparse: dense_dim must leave {least or 'the'} sparse dimensions of {x.dim()}; got "
            f"{dense_dim}"
        )
    return dense


def _checked_block(blocksize: int | Sequence[int]) -> tuple[int, int]:
    if isinstance(blocksize, int):
        blocksize = (blocksize, blocksize)
    if not isinstance(blocksize, (tuple, list)):
        raise TypeError(f"taeda.Tensor.to_sparse: blocksize is two positive numbers; got {type(blocksize).__name__}")
    if len(blocksize) != 2 or min(blocksize) < 1:
        raise RuntimeError(f"taeda.Tensor.to_sparse: blocksize is two positive numbers; got {tuple(blocksize)}")
    return int(blocksize[0]), int(blocksize[1])


def _with_sparse_dim(x: Tensor, sparse_dim: int) -> Tensor:
    have = _parts.sparse_dim(x) if x.layout == COO else x.dim() - _parts.dense_dim(x)
    if sparse_dim != have:
        raise RuntimeError(
            f"taeda.Tensor.to_sparse: the tensor is sparse already, with {have} sparse dimensions; got "
            f"sparse_dim={sparse_dim}"
        )
    return to_coo(x)


def to_compressed(x: Tensor, name: str, blocksize: Sequence[int] | int | None, dense_dim: int | None) -> Tensor:
    if isinstance(blocksize, int):
        blocksize = (blocksize, blocksize)
    return to_sparse(x, None, _COMPRESSED[name], blocksize, dense_dim)


def new(x: Tensor, args: tuple[Any, ...]) -> Tensor:
    """``Tensor.new`` in coordinates: from sizes, or indices, values and perhaps sizes."""
    _require("new", x, COO)
    if len(args) in (2, 3) and isinstance(args[0], Tensor) and isinstance(args[1], Tensor):
        return taeda.sparse_coo_tensor(*args)
    sizes = tuple(args[0]) if len(args) == 1 and isinstance(args[0], taeda.Size) else args
    if not all(isinstance(size, int) for size in sizes):
        kinds = [type(a).__name__ for a in args]
        raise TypeError(f"taeda.Tensor.new: a sparse tensor takes sizes, or indices and values; got {kinds}")
    return x.new_empty(sizes or (0,))


# --- masks and sizes


def sparse_mask(x: Tensor, mask: Tensor) -> Tensor:
    if not is_sparse(mask):
        raise RuntimeError(
            f"taeda.Tensor.sparse_mask: mask must be sparse; got layout {getattr(mask, 'layout', type(mask))}"
        )
    if x.shape != mask.shape:
        raise RuntimeError(
            f"taeda.Tensor.sparse_mask: self and mask must have the same shape; got {tuple(x.shape)} and "
            f"{tuple(mask.shape)}"
        )
    pattern = pattern_of(mask)
    return build(pattern, values_at(x, pattern))


def _empty(size: Sequence[int], sparse: int, dense: int, like: Tensor) -> Tensor:
    indices = taeda.zeros((sparse, 0), dtype=taeda.int64, device=like.device)
    values = taeda.zeros((0, *tuple(size)[sparse:]), dtype=like.dtype, device=like.device)
    return _parts.coo(indices, values, size, True)


def sparse_resize_(x: Tensor, size: Sequence[int], sparse: int, dense: int, clear: bool) -> Tensor:
    name = "sparse_resize_and_clear_" if clear else "sparse_resize_"
    _require(name, x, COO)
    size = tuple(size)
    if sparse < 0 or dense < 0 or sparse + dense != len(size) or any(s < 0 for s in size):
        raise RuntimeError(
            f"taeda.Tensor.{name}: sparse_dim + dense_dim must be the number of sizes; got {sparse} + {dense} for "
            f"{size}"
        )
    if x.requires_grad:
        raise RuntimeError(f"taeda.Tensor.{name}: the tensor requires a gradient; detach() it first")
    if clear or not _parts.stored(x):
        return assign(x, _empty(size, sparse, dense, x))
    old = tuple(x.shape)
    fits = (sparse, dense) == (_parts.sparse_dim(x), _parts.dense_dim(x))
    if not fits or any(new < had for new, had in zip(size, old, strict=True)):
        raise RuntimeError(
            f"taeda.Tensor.{name}: what is stored must fit: sizes may grow only; from {old} with "
            f"{_parts.sparse_dim(x)} sparse dimensions to {size} with {sparse}"
        )
    indices, _, values = _C._sparse_parts(x)
    if size[sparse:] != old[sparse:]:  # the values keep their order in memory, as those of a dense tensor do
        longer = values.new_zeros((values.shape[0], *size[sparse:]))
        longer.view(-1)[: values.numel()] = values.reshape(-1)
        values = longer
    return assign(x, _parts.coo(indices, values, size, _C._sparse_is_coalesced(x)))


def resize_as_sparse_(x: Tensor, template: Tensor) -> Tensor:
    _require("resize_as_sparse_", template, *SPARSE)
    if x.layout != template.layout:
        raise RuntimeError(f"taeda.resize_as_sparse_: layouts must be equal; got {x.layout} and {template.layout}")
    if x.layout == COO:
        return sparse_resize_(x, template.shape, _parts.sparse_dim(template), _parts.dense_dim(template), False)
    pattern, values, dtype = pattern_of(template), _C._sparse_parts(template)[2], pattern_of(x).indices.dtype
    plain = None if pattern.plain is None else pattern.plain.to(dtype, copy=True)
    own = pattern._replace(indices=pattern.indices.to(dtype, copy=True), plain=plain)
    return assign(x, build(own, values.new_zeros(values.shape, dtype=x.dtype)))
