"""``sparse_coo_tensor`` and the constructors of compressed layouts, which check all invariants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import taeda
from taeda import _C, Tensor
from taeda.sparse._invariants import check_compressed, check_coordinates, check_sparse_tensor_invariants
from taeda.sparse._parts import (
    BLOCKED,
    BSC,
    BSR,
    BY_ROWS,
    COO,
    CSC,
    CSR,
    SPARSE,
    Pattern,
    build,
    coalesce,
    compressed,
    coo,
    values_of,
)
from taeda.types import _dtype, _layout

_Size = Sequence[int] | None


def _values(values: Any, dtype: _dtype | None, device: Any) -> Tensor:
    if isinstance(values, Tensor):
        return values.to(device=device or values.device, dtype=dtype or values.dtype)
    return taeda.tensor(values, dtype=dtype, device=device)


def _indices(name: str, indices: Any, device: Any, wanted: tuple[_dtype, ...]) -> Tensor:
    if isinstance(indices, Tensor):
        found = indices
    else:
        found = taeda.as_tensor(indices) if hasattr(indices, "dtype") else taeda.tensor(indices, dtype=taeda.int64)
    whole = not found.is_complex() and found.dtype != taeda.bool
    if found.is_floating_point() and whole:
        whole = bool((found == found.trunc()).all())
    if not whole:
        raise RuntimeError(f"taeda.{name}: indices must be integers; got {found.dtype}")
    if found.dtype not in wanted:
        found = found.to(taeda.int64)
    return found.detach().to(device) if device is not None else found.detach()


def _checks(asked: bool | None) -> bool:
    return asked if asked is not None else check_sparse_tensor_invariants._enabled is not False


def _finished(result: Tensor, requires_grad: bool) -> Tensor:
    if requires_grad and not result.requires_grad:
        result.requires_grad_()
    return result


@_C._overridable
def sparse_coo_tensor(indices: Any = None, values: Any = None, size: _Size = None, *, dtype: _dtype | None = None,
                      device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
                      check_invariants: bool | None = None, is_coalesced: bool | None = None) -> Tensor:  # fmt: skip
    """A tensor in coordinates: ``values[i]`` stands at ``indices[:, i]``, and those that share a place are summed.

    Args:
        indices: integers (sparse dimensions, stored elements). Given alone, the size of a tensor without elements.
        values: (stored elements, *dense sizes), a tensor, or nested lists of numbers. Gradients flow back to it.
        size: sparse sizes, then dense ones; the smallest that fits by default. Given alone, of no elements.
        dtype, device: of the result; those of ``values`` by default.
        check_invariants: False leaves the indices unread, which later calls then check as they use them; True also
            checks ``is_coalesced``.
        is_coalesced: that the indices rise, each there once; False by default.

    Raises:
        TypeError: only one of indices and values is given.
        RuntimeError: shapes do not fit together, an index is negative or outside of ``size``, or the indices of a
            tensor that is said to be coalesced do not rise, which is looked at where invariants are checked.
    """
    name = "sparse_coo_tensor"
    if values is None and (indices is None) != (size is None):
        return _without_elements(_sizes(name, indices if size is None else size), dtype, device, requires_grad)
    if values is None or indices is None:
        raise TypeError(f"taeda.{name}: takes indices and values, perhaps with size, or size alone")
    size = None if size is None else _sizes(name, size)
    value = _values(values, dtype, device)
    index = _indices(name, indices, value.device, (taeda.int64,)).to(taeda.int64)
    if index.dim() == 1 and not index.numel():
        index = index.reshape(0 if size is None else max(len(size) - value.dim() + 1, 0), 0)
    if index.dim() == 1 and value.dim() == 0:
        index, value = index.unsqueeze(1), value.unsqueeze(0)
    if index.dim() != 2:
        raise RuntimeError(
            f"taeda.{name}: indices must have shape (sparse dimensions, stored elements); got {tuple(index.shape)}"
        )
    if value.dim() == 0:
        value = value.expand(index.shape[1])
    if size is None:
        size = _smallest_size(name, index, value)
    if len(size) != index.shape[0] + value.dim() - 1:
        raise RuntimeError(
            f"taeda.{name}: {index.shape[0]} rows of indices and values of shape {tuple(value.shape)} make "
            f"{index.shape[0] + value.dim() - 1} dimensions; got size {tuple(size)}"
        )
    if _checks(check_invariants):
        strict = check_invariants or check_sparse_tensor_invariants.is_enabled()
        check_coordinates(name, index, size, is_coalesced and strict)
    in_order = index.shape[1] < 2 if is_coalesced is None else is_coalesced
    return _finished(build(Pattern(COO, index, None, tuple(size), in_order), value), requires_grad)


def _sizes(name: str, size: Any) -> tuple[int, ...]:
    """A size that is given; what is no tuple and no list is not asked for its items, which may never end."""
    if not isinstance(size, (tuple, list)):
        raise TypeError(f"taeda.{name}: size must be a tuple of integers; got {type(size).__name__}")
    return tuple(size)


def _without_elements(size: tuple[int, ...], dtype: _dtype | None, device: Any, requires_grad: bool) -> Tensor:
    indices = taeda.zeros((len(size), 0), dtype=taeda.int64, device=device)
    values = taeda.zeros(0, dtype=dtype, device=device)
    return _finished(build(Pattern(COO, indices, None, size, True), values), requires_grad)


def _smallest_size(name: str, indices: Tensor, values: Tensor) -> list[int]:
    if indices.shape[1] == 0:
        return [0] * indices.shape[0] + list(values.shape[1:])
    if int(indices.min()) < 0 if indices.numel() else False:
        raise RuntimeError(f"taeda.{name}: indices must not be negative; found {int(indices.min())}")
    return [int(row.max()) + 1 for row in indices] + list(values.shape[1:])


@_C._overridable
def sparse_compressed_tensor(compressed_indices: Any, plain_indices: Any, values: Any, size: _Size = None, *,
                             dtype: _dtype | None = None, layout: _layout | None = None, device: Any = None,
                             pin_memory: bool = False, requires_grad: bool = False,
                             check_invariants: bool | None = None) -> Tensor:  # fmt: skip
    """A tensor in one of the compressed layouts.

    Args:
        compressed_indices: (*batch, lines + 1), where each row (of CSR and BSR; else column), or line of blocks, begins
            and the last one ends.
        plain_indices: (*batch, elements), the other index of each element. Where lines of a matrix do not rise, or name
            a place again, the result has their elements in order and summed, unless invariants are to be checked.
        values: (*batch, elements, *block, *dense sizes), a tensor or nested lists. Gradients flow back to it.
        size: (*batch, rows, columns, *dense sizes); the smallest that fits by default.
        layout: ``torch.sparse_csr``, ``sparse_csc``, ``sparse_bsr`` or ``sparse_bsc``.
        check_invariants: False leaves the indices unread, which later calls then check as they use them.

    Raises:
        RuntimeError: shapes or dtypes do not fit together, or indices break what is said of them.
    """
    if layout is None or layout not in SPARSE or layout == COO:
        raise RuntimeError(f"taeda.sparse_compressed_tensor: layout must be a compressed one; got {layout}")
    return _compressed("sparse_compressed_tensor", layout, compressed_indices, plain_indices, values, size, dtype,
                       device, requires_grad, check_invariants)  # fmt: skip


def _compressed(name: str, layout: _layout, pointers: Any, plain: Any, values: Any, size: _Size,
                dtype: _dtype | None, device: Any, requires_grad: bool, check: bool | None) -> Tensor:  # fmt: skip
    value = _values(values, dtype, device)
    both = (taeda.int32, taeda.int64)
    pointer, other = (_indices(name, part, value.device, both) for part in (pointers, plain))
    if pointer.dtype != other.dtype and not check:
        pointer, other = pointer.long(), other.long()
    if pointer.dim() == 0 or pointer.dim() != other.dim() or value.dim() < pointer.dim() + 2 * (layout in BLOCKED):
        raise RuntimeError(
            f"taeda.{name}: compressed and plain indices must have the same dimensions, and values "
            f"{'three' if layout in BLOCKED else 'one'} more than their batch; got shapes {tuple(pointer.shape)}, "
            f"{tuple(other.shape)} and {tuple(value.shape)}"
        )
    block = (value.shape[pointer.dim()], value.shape[pointer.dim() + 1]) if layout in BLOCKED else None
    size = _smallest_matrix(layout, pointer, other, value, block) if size is None else _sizes(name, size)
    result = build(Pattern(layout, pointer, other, tuple(size), False, block), value)
    if _checks(check) and not check_compressed(name, layout, pointer, other, value, size):
        strict = check or (check is None and check_sparse_tensor_invariants.is_enabled())
        if strict or pointer.dim() > 1:
            line, index = ("row", "col_indices") if layout in BY_ROWS else ("column", "row_indices")
            raise RuntimeError(f"taeda.{name}: {index} must rise within each {line}, each there once")
        result = _in_order(layout, pointer, other, value, size)
    return _finished(result, requires_grad)


def _in_order(layout: _layout, pointers: Tensor, plain: Tensor, values: Tensor, size: Sequence[int]) -> Tensor:
    """With the elements, or blocks, of each line in their order, and those that share a place summed."""
    ops: Any = taeda.ops.aten
    lines = ops._convert_indices_from_csr_to_coo(pointers, plain)[0]
    extent = (pointers.shape[0] - 1, int(plain.max()) + 1)
    sorted = coalesce(coo(taeda.stack([lines, plain]).long(), values, (*extent, *values.shape[1:])))
    line, place = sorted.indices().to(plain.dtype)
    counts = ops._convert_indices_from_coo_to_csr(line, extent[0], out_int32=plain.dtype == taeda.int32)
    return compressed(layout, counts, place, values_of(sorted), tuple(size))


def _smallest_matrix(layout: _layout, pointers: Tensor, plain: Tensor, values: Tensor, block: tuple[int, int] | None
                     ) -> list[int]:  # fmt: skip
    lines, across = pointers.shape[-1] - 1, int(plain.max()) + 1 if plain.numel() else 0
    rows, columns = (lines, across) if layout in BY_ROWS else (across, lines)
    height, width = block or (1, 1)
    dense = values.shape[pointers.dim() + (2 if block else 0) :]
    return [*pointers.shape[:-1], rows * height, columns * width, *dense]


@_C._overridable
def sparse_csr_tensor(crow_indices: Any, col_indices: Any, values: Any, size: _Size = None, *,
                      dtype: _dtype | None = None, device: Any = None, pin_memory: bool = False,
                      requires_grad: bool = False, check_invariants: bool | None = None) -> Tensor:  # fmt: skip
    """A matrix, or a batch of them, in compressed rows; see ``sparse_compressed_tensor``."""
    return _compressed("sparse_csr_tensor", CSR, crow_indices, col_indices, values, size, dtype, device, requires_grad,
                       check_invariants)  # fmt: skip


@_C._overridable
def sparse_csc_tensor(ccol_indices: Any, row_indices: Any, values: Any, size: _Size = None, *,
                      dtype: _dtype | None = None, device: Any = None, pin_memory: bool = False,
                      requires_grad: bool = False, check_invariants: bool | None = None) -> Tensor:  # fmt: skip
    """A matrix, or a batch of them, in compressed columns; see ``sparse_compressed_tensor``."""
    return _compressed("sparse_csc_tensor", CSC, ccol_indices, row_indices, values, size, dtype, device, requires_grad,
                       check_invariants)  # fmt: skip


@_C._overridable
def sparse_bsr_tensor(crow_indices: Any, col_indices: Any, values: Any, size: _Size = None, *,
                      dtype: _dtype | None = None, device: Any = None, pin_memory: bool = False,
                      requires_grad: bool = False, check_invariants: bool | None = None) -> Tensor:  # fmt: skip
    """A matrix, or a batch of them, in compressed rows of blocks; see ``sparse_compressed_tensor``."""
    return _compressed("sparse_bsr_tensor", BSR, crow_indices, col_indices, values, size, dtype, device, requires_grad,
                       check_invariants)  # fmt: skip


@_C._overridable
def sparse_bsc_tensor(ccol_indices: Any, row_indices: Any, values: Any, size: _Size = None, *,
                      dtype: _dtype | None = None, device: Any = None, pin_memory: bool = False,
                      requires_grad: bool = False, check_invariants: bool | None = None) -> Tensor:  # fmt: skip
    """A matrix, or a batch of them, in compressed columns of blocks; see ``sparse_compressed_tensor``."""
    return _compressed("sparse_bsc_tensor", BSC, ccol_indices, row_indices, values, size, dtype, device, requires_grad,
                       check_invariants)  # fmt: skip


def _sparse_coo_tensor_unsafe(indices: Tensor, values: Tensor, size: Sequence[int], dtype: _dtype | None = None,
                              device: Any = None, requires_grad: bool = False, check_invariants: bool | None = None,
                              is_coalesced: bool | None = None) -> Tensor:  # fmt: skip
    """``sparse_coo_tensor`` that does not read the indices."""
    return sparse_coo_tensor(indices, values, size, dtype=dtype, device=device, requires_grad=requires_grad,
                             check_invariants=bool(check_invariants), is_coalesced=is_coalesced)  # fmt: skip


def _sparse_compressed_tensor_unsafe(compressed_indices: Tensor, plain_indices: Tensor, values: Tensor,
                                     size: Sequence[int], dtype: _dtype | None = None, layout: _layout | None = None,
                                     device: Any = None, requires_grad: bool = False,
                                     check_invariants: bool | None = None) -> Tensor:  # fmt: skip
    """``sparse_compressed_tensor`` that does not read the indices."""
    return sparse_compressed_tensor(compressed_indices, plain_indices, values, size, dtype=dtype, layout=layout,
                                    device=device, requires_grad=requires_grad,
                                    check_invariants=bool(check_invariants))  # fmt: skip


def _validate_sparse_coo_tensor_args(indices: Tensor, values: Tensor, size: Sequence[int],
                                     is_coalesced: bool | None = None, check_pinning: bool | None = None
                                     ) -> None:  # fmt: skip
    """RuntimeError where ``sparse_coo_tensor`` would raise."""
    sparse_coo_tensor(indices, values.detach(), size, is_coalesced=is_coalesced, check_invariants=True)


def _validate_compressed_sparse_indices(is_crow: bool, compressed_idx: Tensor, plain_idx: Tensor, cdim: int, dim: int,
                                        nnz: int) -> None:  # fmt: skip
    """RuntimeError unless the indices are those of ``cdim`` lines with ``nnz`` elements at places below ``dim``."""
    layout, size = (CSR, (cdim, dim)) if is_crow else (CSC, (dim, cdim))
    values = taeda.zeros((*plain_idx.shape[:-1], nnz), device=plain_idx.device)
    _validate_sparse_compressed_tensor_args(compressed_idx, plain_idx, values, (*plain_idx.shape[:-1], *size), layout)


def _validate_sparse_compressed_tensor_args(compressed_indices: Tensor, plain_indices: Tensor, values: Tensor,
                                            size: Sequence[int], layout: _layout,
                                            check_pinning: bool | None = None) -> None:  # fmt: skip
    """RuntimeError where ``sparse_compressed_tensor`` would raise, or would convert indices."""
    for indices in (compressed_indices, plain_indices):
        if indices.dtype not in (taeda.int32, taeda.int64) or (
            indices.dim() and indices.shape[-1] > 1 and indices.stride(-1) != 1
        ):
            raise RuntimeError(
                f"taeda: indices must be int32 or int64 and contiguous; got {indices.dtype} with strides "
                f"{indices.stride()}"
            )
    sparse_compressed_tensor(compressed_indices, plain_indices, values.detach(), size, layout=layout,
                             check_invariants=True)  # fmt: skip


def _validator(layout: _layout) -> Callable[..., None]:
    name = f"_validate_{str(layout).rpartition('.')[2]}_tensor_args"

    def validate(compressed: Tensor, plain: Tensor, values: Tensor, size: Sequence[int],
                 check_pinning: bool | None = None) -> None:  # fmt: skip
        _validate_sparse_compressed_tensor_args(compressed, plain, values, size, layout)

    validate.__name__ = validate.__qualname__ = name
    validate.__doc__ = f"RuntimeError where the constructor for ``{layout}`` would raise."
    return validate


_validate_sparse_csr_tensor_args, _validate_sparse_csc_tensor_args = _validator(CSR), _validator(CSC)
_validate_sparse_bsr_tensor_args, _validate_sparse_bsc_tensor_args = _validator(BSR), _validator(BSC)
