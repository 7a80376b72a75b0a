"""Functions of ``taeda.sparse``, and those of the main namespace for sparse tensors that are no op."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import taeda
from taeda import _C, Tensor
from taeda._main.listed import listed
from taeda.sparse._kernels import reductions
from taeda.sparse._kernels.pointwise import expanded
from taeda.sparse._parts import COO, coalesce, coo, is_sparse, marked, values_of
from taeda.types import _dtype, _layout


def sum(input: Tensor, dim: int | Sequence[int] | None = None, dtype: _dtype | None = None) -> Tensor:
    """The sum of a sparse tensor, over all dimensions or over ``dim``.

    Sparse unless all sparse dimensions go. The gradient of ``input`` has its pattern.
    """
    if dim is None:
        return values_of(input).sum(dtype=dtype) if is_sparse(input) else input.sum(dtype=dtype)
    dims = (dim,) if isinstance(dim, int) else tuple(listed("taeda.sparse.sum: dim", dim))
    if not dims:
        return input if dtype is None else input.to(dtype)
    input = coalesce(input) if is_sparse(input) and input.layout == COO else input
    return taeda.sum(input, dims, dtype=dtype) if dtype is not None else taeda.sum(input, dims)


def softmax(input: Tensor, dim: int, *, dtype: _dtype | None = None) -> Tensor:
    """Softmax along ``dim`` over the elements that are stored: those that are not count as minus infinity.

    The result has the pattern of ``input``, which is converted to ``dtype`` first if that is given.
    """
    return _normalised(input, dim, dtype, False)


def log_softmax(input: Tensor, dim: int, *, dtype: _dtype | None = None) -> Tensor:
    """The logarithm of ``softmax``."""
    return _normalised(input, dim, dtype, True)


def _normalised(input: Tensor, dim: int, dtype: _dtype | None, logarithm: bool) -> Tensor:
    if not is_sparse(input):
        raise RuntimeError("taeda.sparse.softmax: takes a sparse tensor; see taeda.softmax for dense ones")
    x = input if dtype is None else input.to(dtype)
    if not x.is_floating_point():
        raise NotImplementedError(f"taeda.sparse.softmax: is for floating-point tensors; got {x.dtype}: give a dtype")
    return reductions.softmax(x, dim, logarithm)


def spdiags(diagonals: Tensor, offsets: Tensor, shape: Sequence[int], layout: _layout | None = None) -> Tensor:
    """A matrix with the rows of ``diagonals`` on the diagonals at ``offsets``.

    Column ``j`` of the result has element ``j`` of each row, as far as it lies inside (SciPy's convention).

    Args:
        diagonals: (number, length) or (length).
        offsets: (number) or a number, int64, each once; positive ones lie above the main diagonal.
        layout: ``torch.sparse_coo`` (default), ``sparse_csr`` or ``sparse_csc``.

    Raises:
        RuntimeError: shapes do not fit together, an offset repeats, or the layout is another.
    """
    shape = listed("taeda.sparse.spdiags: shape", shape)
    rows = diagonals.unsqueeze(0) if diagonals.dim() == 1 else diagonals
    at = offsets.reshape(1) if offsets.dim() == 0 else offsets
    if rows.dim() != 2 or at.dim() != 1 or at.shape[0] != rows.shape[0] or len(shape) != 2:
        raise RuntimeError(
            f"taeda.sparse.spdiags: takes as many diagonals as offsets, and two sizes; got shapes "
            f"{tuple(diagonals.shape)} and {tuple(offsets.shape)}, and {tuple(shape)}"
        )
    if at.dtype != taeda.int64:
        raise RuntimeError(f"taeda.sparse.spdiags: offsets must be int64; got {at.dtype}")
    if not at.is_meta and at.unique().shape[0] != at.shape[0]:
        raise RuntimeError(f"taeda.sparse.spdiags: offsets must be different; got {at.tolist()}")
    wanted = COO if layout is None else layout
    if wanted not in (COO, taeda.sparse_csr, taeda.sparse_csc):
        raise RuntimeError(f"taeda.sparse.spdiags: layout must be sparse_coo, sparse_csr or sparse_csc; got {layout}")
    columns = taeda.arange(rows.shape[1], device=rows.device).expand(rows.shape)
    lines = columns - at.unsqueeze(1)
    inside = marked(((lines >= 0) & (lines < shape[0]) & (columns < shape[1])).reshape(-1))[0]
    indices = taeda.stack([lines.reshape(-1), columns.reshape(-1)]).index_select(1, inside)
    made = coo(indices, rows.reshape(-1).index_select(0, inside), shape)
    return made if wanted == COO else coalesce(made).to_sparse(layout=wanted)


def as_sparse_gradcheck(gradcheck: Callable[..., bool]) -> Callable[..., bool]:
    """A ``gradcheck`` that takes functions of sparse tensors, which it hands dense values in their place.

    With ``masked=True`` the derivative is that by the stored values; else by all elements, for which the inputs store
    zeros everywhere.
    """
    from taeda.sparse._gradcheck import by_values

    def check(func: Callable[..., Any], inputs: Any, *, masked: bool = False, **options: Any) -> bool:
        given = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
        return gradcheck(*by_values(func, given, masked), **options)

    return check


# --- of the main namespace


def _copy_of(name: str) -> Callable[[Tensor], Tensor]:
    def copy(input: Tensor) -> Tensor:
        made: Tensor = getattr(input, name)().clone()
        return made

    copy.__name__ = copy.__qualname__ = f"{name}_copy"
    copy.__doc__ = f"A copy of ``Tensor.{name}``."
    overridable: Callable[[Tensor], Tensor] = _C._overridable(copy)
    return overridable


indices_copy, values_copy = _copy_of("indices"), _copy_of("values")
crow_indices_copy, col_indices_copy = _copy_of("crow_indices"), _copy_of("col_indices")
ccol_indices_copy, row_indices_copy = _copy_of("ccol_indices"), _copy_of("row_indices")


def resize_as_sparse_(input: Tensor, the_template: Tensor) -> Tensor:
    """As ``Tensor.resize_as_sparse_``."""
    return input.resize_as_sparse_(the_template)


@_C._overridable
def native_norm(input: Tensor, p: float = 2, dim: Any = None, keepdim: bool = False, dtype: _dtype | None = None
                ) -> Tensor:  # fmt: skip
    """The ``p``-norm, as ``taeda.linalg.vector_norm``."""
    return taeda.linalg.vector_norm(input, p, dim, keepdim, dtype=dtype)


def _sparse_sum(input: Tensor, dim: Any = None, *, dtype: _dtype | None = None) -> Tensor:
    return sum(input, dim, dtype)


def _sparse_broadcast_to(input: Tensor, size: Sequence[int]) -> Tensor:
    """Coordinates expanded to a size: what is stored is stored at each place along a dimension of size 1."""
    shape = taeda.broadcast_shapes(input.shape, tuple(size))
    if tuple(shape) != tuple(size):
        raise RuntimeError(f"taeda._sparse_broadcast_to: {tuple(input.shape)} does not broadcast to {tuple(size)}")
    return expanded(input, shape)


def _sparse_softmax(input: Tensor, dim: int, dtype: Any = None) -> Tensor:
    return softmax(input, dim, dtype=None if isinstance(dtype, bool) else dtype)


def _sparse_log_softmax(input: Tensor, dim: int, dtype: Any = None) -> Tensor:
    return log_softmax(input, dim, dtype=None if isinstance(dtype, bool) else dtype)
