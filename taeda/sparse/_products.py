"""Products with sparse matrices, over the kernels for their parts (``taedagen/ops/sparse.py``).

Any layout is brought to rows first (``csr_parts``); what is recorded are the kernels on indices and values, so that a
gradient has the pattern of its matrix and none is ever dense behind a sparse one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import taeda
from taeda import _C, Tensor
from taeda.sparse._convert import csr_parts, like, to_coo
from taeda.sparse._parts import (
    BLOCKED,
    COO,
    CSC,
    CSR,
    assign,
    coalesce,
    compressed,
    coo,
    dense_dim,
    is_sparse,
    pattern_of,
    stored,
    values_at,
    values_of,
    with_values,
)

_ops: Any = taeda.ops.aten
_NATIVE = (taeda.float32, taeda.float64, taeda.float16, taeda.bfloat16, taeda.int64, taeda.complex64, taeda.complex128)
_REDUCTIONS = ("sum", "mean", "amax", "amin")


def _check_matrices(name: str, a: Tensor, b: Tensor) -> None:
    for which, x in (("self", a), ("mat2", b)):
        if x.dim() != 2 or (is_sparse(x) and dense_dim(x)):
            raise RuntimeError(
                f"taeda.{name}: {which} must be a matrix without dense dimensions; got shape {tuple(x.shape)}"
            )
    if a.shape[1] != b.shape[0]:
        raise RuntimeError(
            f"taeda.{name}: the columns of self must be as many as the rows of mat2; got shapes {tuple(a.shape)} and "
            f"{tuple(b.shape)}"
        )
    if a.dtype != b.dtype:
        raise RuntimeError(f"taeda.{name}: both factors must have the same dtype; got {a.dtype} and {b.dtype}")
    if a.dtype == taeda.bool:
        raise RuntimeError(f"taeda.{name}: products are not for bool tensors; convert both to integers")


def _native(x: Tensor) -> Tensor:
    """In a dtype that the kernels compute in."""
    return x if x.dtype in _NATIVE else x.long()


def product(a: Tensor, b: Tensor, name: str = "mm") -> Tensor:
    """``a @ b`` of two matrices of which at least one is sparse: sparse if both are, else dense."""
    _check_matrices(name, a, b)
    if is_sparse(a) and is_sparse(b):
        return _sparse_product(a, b)
    if is_sparse(a):
        return _from_left(a, b)
    # b is sparse: (b.T @ a.T).T, and the transposed of compressed columns is compressed rows
    turned = b.transpose(0, 1) if b.layout != COO else None
    if turned is not None and turned.layout == CSR:
        return _from_left(turned, a.t()).t()
    pointers, columns, values = csr_parts(b)
    made = _ops._sparse_mm_transposed.default(pointers, columns, _native(values), _native(a).t(), b.shape[1])
    return made.t().to(a.dtype)


def _from_left(a: Tensor, b: Tensor) -> Tensor:
    if a.layout == CSC:
        pointers, rows, _ = _C._sparse_parts(a)
        parts = pointers, rows, _native(values_of(a))
        return _ops._sparse_mm_transposed.default(*parts, _native(b), a.shape[0]).to(b.dtype)
    pointers, columns, values = csr_parts(a)
    return _ops._csr_mm.default(pointers, columns, _native(values), _native(b)).to(b.dtype)


def _sparse_product(a: Tensor, b: Tensor) -> Tensor:
    """In the layout of the first, but in rows of one in columns; columns of the result rise."""
    left, right = csr_parts(a), csr_parts(b)
    pointers, columns, values = _ops._sparse_matmul.default(
        *left[:2], _native(left[2]), *right[:2], _native(right[2]), b.shape[1]
    )
    values, size = values.to(a.dtype), (a.shape[0], b.shape[1])
    if a.layout == COO:
        result = coo(_ops._convert_indices_from_csr_to_coo(pointers, columns), values, size, True)
        _C._sparse_set_row_pointers(result, pointers)
        return result
    kind = _C._sparse_parts(a)[0].dtype
    made = compressed(CSR, pointers.to(kind), columns.to(kind), values, size)
    if a.layout in BLOCKED:
        block = pattern_of(a).block
        assert block is not None
        return like(made, a) if size[1] % block[1] == 0 else made
    return made if a.layout == CSC else like(made, a)


def addition(self: Tensor, mat1: Tensor, mat2: Tensor, beta: Any = 1, alpha: Any = 1, name: str = "addmm") -> Tensor:
    """``beta * self + alpha * mat1 @ mat2``; ``self`` is not read where ``beta`` is 0."""
    if self.dim() > 2:
        raise RuntimeError(f"taeda.{name}: self is broadcast to the product's two dimensions; got {tuple(self.shape)}")
    if not is_sparse(mat1) and not is_sparse(mat2):
        made = mat1 @ mat2
    else:
        made = product(mat1, mat2, name)
    if alpha != 1:
        made = made * alpha
    if beta == 0:
        if is_sparse(self):
            return like(made, self) if is_sparse(made) else _stored_at(made, self)
        return made.to_dense() if is_sparse(made) else made
    if is_sparse(self):
        if not is_sparse(made):
            raise RuntimeError(
                f"taeda.{name}: the product is dense, and so cannot be added to a sparse self: to_dense() that, or see "
                "taeda.sparse.sampled_addmm"
            )
        return self * beta + (made if made.layout == self.layout else like(made, self))
    base = self if beta == 1 else self * beta
    if is_sparse(made):
        return base.expand(made.shape) + made
    return base + made


def _stored_at(dense: Tensor, model: Tensor) -> Tensor:
    return like(dense.to_sparse(), model)


# --- the public forms


def mm(sparse: Tensor, dense: Tensor, reduce: str | None = None) -> Tensor:
    """The product of a sparse matrix (n, m), of any layout, with a dense or sparse one (m, k).

    Args:
        reduce: ``"sum"``, ``"mean"``, ``"amax"`` or ``"amin"`` of the products of a row's stored elements, with a dense
            second factor; 0 in a row without elements.

    Returns:
        (n, k), dense unless both factors are sparse. Gradients of a sparse factor have its pattern.

    Raises:
        RuntimeError: shapes or dtypes do not fit together.
    """
    if reduce is None:
        if not is_sparse(sparse) and not is_sparse(dense):
            return taeda.mm(sparse, dense)
        return product(sparse, dense, "sparse.mm")
    if reduce not in _REDUCTIONS:
        raise RuntimeError(f"taeda.sparse.mm: reduce must be one of {', '.join(_REDUCTIONS)}; got {reduce!r}")
    if not is_sparse(sparse) or is_sparse(dense):
        raise RuntimeError("taeda.sparse.mm: reduce is for a sparse matrix times a dense one")
    _check_matrices("sparse.mm", sparse, dense)
    if reduce == "sum":
        return product(sparse, dense, "sparse.mm")
    pointers, columns, values = csr_parts(sparse)
    if reduce == "mean":
        counts = pointers.long().diff().clamp(min=1).unsqueeze(1)
        return product(sparse, dense, "sparse.mm") / counts.to(dense.dtype)
    return _best(pointers, columns, values, dense, reduce == "amax")


def _best(pointers: Tensor, columns: Tensor, values: Tensor, dense: Tensor, largest: bool) -> Tensor:
    """The kernel tells which element is best; the products of those are what gradients flow to."""
    best = _ops._sparse_best(pointers, columns, values.detach(), dense.detach(), largest)
    found = best >= 0
    place = best.clamp(min=0)
    if columns.numel() == 0:
        return dense.new_zeros(best.shape)
    row = columns.long().index_select(0, place.reshape(-1)).reshape(place.shape)
    products = values.index_select(0, place.reshape(-1)).reshape(place.shape) * dense.gather(0, row)
    return taeda.where(found, products, taeda.zeros((), dtype=dense.dtype))


def addmm(mat: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1.0, alpha: Any = 1.0) -> Tensor:
    """``beta * mat + alpha * mat1 @ mat2`` with a sparse ``mat1``; gradients of it have its pattern."""
    return addition(mat, mat1, mat2, beta, alpha, "sparse.addmm")


def sampled_addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1.0, alpha: Any = 1.0,
                  out: Tensor | None = None) -> Tensor:  # fmt: skip
    """``beta * input + alpha * (mat1 @ mat2)`` where the sparse ``input`` (..., n, k) has elements.

    Args:
        mat1, mat2: dense (..., n, m) and (..., m, k).

    Raises:
        RuntimeError: ``input`` is not sparse, a factor is not dense, or shapes do not fit together.
    """
    if not is_sparse(input) or is_sparse(mat1) or is_sparse(mat2):
        raise RuntimeError("taeda.sparse.sampled_addmm: takes a sparse matrix and two dense ones")
    if input.dim() == 2 < mat1.dim() and input.layout == CSR:  # one matrix for a batch of products
        input = _repeated(input, mat1.shape[:-2])
    fits = mat1.dim() == mat2.dim() == input.dim() and mat1.shape[-1] == mat2.shape[-2]
    if not fits or input.shape != (*mat1.shape[:-1], mat2.shape[-1]):
        raise RuntimeError(
            f"taeda.sparse.sampled_addmm: input must have the shape of mat1 @ mat2; got shapes {tuple(input.shape)}, "
            f"{tuple(mat1.shape)} and {tuple(mat2.shape)}"
        )
    if input.layout == COO:
        input = coalesce(input)
    pattern = pattern_of(input)
    if input.dim() == 2 and pattern.block is None:
        if input.layout == CSC:
            pointers, rows, _ = _C._sparse_parts(input)
            dots = _ops._sparse_dots(pointers, rows, mat2.t(), mat1)
        else:
            pointers, columns, _ = csr_parts(input)
            dots = _ops._sparse_dots(pointers, columns, mat1, mat2.t())
    else:
        dots = values_at(mat1 @ mat2, pattern)
    values = dots * alpha if beta == 0 else values_of(input) * beta + dots * alpha
    result = with_values(input, values)
    return result if out is None else assign(out, result)


def _repeated(x: Tensor, heads: Sequence[int]) -> Tensor:
    """A batch of a compressed matrix."""
    pattern = pattern_of(x)
    parts = (pattern.indices, pattern.plain, values_of(x))
    pointers, plain, values = (p.expand(*heads, *p.shape).contiguous() for p in parts if p is not None)
    return compressed(x.layout, pointers, plain, values, (*heads, *x.shape))


@_C._overridable
def spmm(input: Tensor, mat2: Tensor) -> Tensor:
    """``taeda.mm``, by another name."""
    return taeda.mm(input, mat2)


dsmm = hsmm = spmm


def _as_sparse(x: Tensor, model: Tensor) -> Tensor:
    return x if is_sparse(x) else x.to_sparse() if model.layout == COO else like(x.to_sparse(), model)


@_C._overridable
def smm(input: Tensor, mat: Tensor) -> Tensor:
    """The product of a sparse and a dense matrix, as a sparse one."""
    return sspaddmm(input.new_zeros((input.shape[0], mat.shape[1])), input, mat, beta=0)


@_C._overridable
def sspaddmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1, out: Tensor | None = None
             ) -> Tensor:  # fmt: skip
    """``beta * input + alpha * mat1 @ mat2`` with sparse ``input`` and ``mat1`` and dense ``mat2``: sparse."""
    if not is_sparse(mat1) or not is_sparse(input):
        raise RuntimeError("taeda.sspaddmm: input and mat1 must be sparse")
    made = _as_sparse(product(mat1, mat2, "sspaddmm"), input) * alpha
    result = made if beta == 0 else input * beta + made
    return result if out is None else assign(out, result)


@_C._overridable
def hspmm(mat1: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The product of a sparse and a dense matrix in coordinates with one sparse dimension: of rows."""
    if not is_sparse(mat1):
        raise RuntimeError("taeda.hspmm: mat1 must be sparse")
    rows = taeda.unique(coalesce(to_coo(mat1)).indices()[0])
    made = product(mat1, mat2, "hspmm")
    result = coo(rows.unsqueeze(0), made.index_select(0, rows), made.shape, True)
    return result if out is None else assign(out, result)


@_C._overridable
def saddmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1, out: Tensor | None = None
           ) -> Tensor:  # fmt: skip
    """``taeda.sspaddmm``, by an older name."""
    return sspaddmm(input, mat1, mat2, beta=beta, alpha=alpha, out=out)


# --- vectors, batches


def vector_product(a: Tensor, vec: Tensor) -> Tensor:
    if vec.dim() != 1 or is_sparse(vec) and a.dim() != 2:
        raise RuntimeError(f"taeda.mv: takes a matrix and a vector; got shapes {tuple(a.shape)} and {tuple(vec.shape)}")
    dense = vec.to_dense() if is_sparse(vec) else vec
    return product(a, dense.unsqueeze(1), "mv").squeeze(1)


def batch_product(a: Tensor, b: Tensor) -> Tensor:
    """(b, n, m) with (b, m, k), the first sparse: one long matrix whose columns are those of all batches."""
    if a.dim() != 3 or b.dim() != 3 or a.shape[0] != b.shape[0] or a.shape[2] != b.shape[1]:
        raise RuntimeError(
            f"taeda.bmm: takes (b, n, m) and (b, m, k); got shapes {tuple(a.shape)} and {tuple(b.shape)}"
        )
    if any(is_sparse(x) and dense_dim(x) for x in (a, b)):
        raise RuntimeError("taeda.bmm: sparse factors must have no dense dimensions: to_dense().to_sparse() moves them")
    if a.dtype != b.dtype:
        raise RuntimeError(f"taeda.bmm: both factors must have the same dtype; got {a.dtype} and {b.dtype}")
    if is_sparse(b):
        if is_sparse(a):
            return taeda.stack([product(x, y, "bmm") for x, y in zip(a.unbind(0), b.unbind(0), strict=True)])
        return batch_product(b.transpose(1, 2), a.transpose(1, 2)).transpose(1, 2)
    x = coalesce(to_coo(a))
    indices = _C._sparse_parts(x)[0]
    count, rows, inner = a.shape
    long = coo(taeda.stack([indices[0] * rows + indices[1], indices[0] * inner + indices[2]]), values_of(x),
               (count * rows, count * inner), True)  # fmt: skip
    return product(long, b.reshape(count * inner, b.shape[2]), "bmm").reshape(count, rows, b.shape[2])


# --- equations


def triangular_solve(b: Tensor, a: Tensor, upper: bool, transpose: bool, unitriangular: bool) -> Tensor:
    """``x`` with ``a @ x = b``, or ``a.T @ x = b``, of the triangle of a sparse matrix; differentiable in both."""
    if a.dim() != 2 or a.shape[0] != a.shape[1]:
        raise RuntimeError(f"taeda.triangular_solve: the matrix must be square; got shape {tuple(a.shape)}")
    if b.dim() != 2 or b.shape[0] != a.shape[0]:
        raise RuntimeError(
            f"taeda.triangular_solve: the right side must have {a.shape[0]} rows; got shape {tuple(b.shape)}"
        )
    if is_sparse(b):
        b = b.to_dense()
    if not stored(a) and not unitriangular:
        return taeda.full_like(b, math.nan)  # as singular as can be
    if transpose:
        a, upper = a.transpose(0, 1), not upper
    pointers, columns, values = csr_parts(a)
    return _Solve.apply(pointers, columns, values, b, upper, unitriangular)


class _Solve(taeda.autograd.Function):
    """``x`` of the triangle times ``x`` = ``b``: the gradient of ``b`` solves the transposed system."""

    @staticmethod
    def forward(
        ctx: Any, pointers: Tensor, columns: Tensor, values: Tensor, b: Tensor, upper: bool, unit: bool
    ) -> Tensor:
        x = _ops._sparse_solve_triangular(pointers, columns, values, b, upper, unit)
        ctx.save_for_backward(pointers, columns, values, x)
        ctx.upper, ctx.unit = upper, unit
        return x

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
        pointers, columns, values, x = ctx.saved_tensors
        turned, rows, order = _ops._sparse_transpose(pointers, columns, pointers.shape[0] - 1)
        g = _Solve.apply(turned, rows, values.conj().index_select(0, order), grad, not ctx.upper, ctx.unit)
        row = _ops._convert_indices_from_csr_to_coo(pointers, columns)[0]
        reads = columns > row if ctx.upper else columns < row
        if not ctx.unit:
            reads = reads | (columns == row)
        slope = -_ops._sparse_dots(pointers, columns, g, x.conj())
        return None, None, taeda.where(reads, slope, taeda.zeros((), dtype=slope.dtype)), g, None, None


class _GeneralSolve(taeda.autograd.Function):
    @staticmethod
    def forward(ctx: Any, pointers: Tensor, columns: Tensor, values: Tensor, b: Tensor) -> Tensor:
        x = _ops._sparse_solve(pointers, columns, values, b)
        ctx.save_for_backward(pointers, columns, values, x)
        return x

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
        pointers, columns, values, x = ctx.saved_tensors
        turned, rows, order = _ops._sparse_transpose(pointers, columns, pointers.shape[0] - 1)
        g = _GeneralSolve.apply(turned, rows, values.conj().index_select(0, order), grad)
        return None, None, -_ops._sparse_dots(pointers, columns, g, x.conj()), g


def spsolve(input: Tensor, other: Tensor, *, left: bool = True) -> Tensor:
    """``x`` with ``input @ x = other``, for a square sparse matrix of any layout and one right side or several.

    Elimination with partial pivoting in the order of columns; differentiable in both.

    Args:
        other: dense (n) or (n, k).
        left: with False ``x @ input = other`` is solved, with ``other`` (k, n).

    Raises:
        RuntimeError: shapes do not fit together, dtypes differ, or the matrix is singular.
    """
    if not is_sparse(input) or is_sparse(other):
        raise RuntimeError("taeda.sparse.spsolve: takes a sparse matrix and a dense right side")
    if not left:
        return spsolve(input.transpose(0, 1), other.t() if other.dim() == 2 else other).t()
    if (
        input.dim() != 2
        or input.shape[0] != input.shape[1]
        or other.dim() not in (1, 2)
        or other.shape[0] != input.shape[0]
    ):
        raise RuntimeError(
            f"taeda.sparse.spsolve: takes a square matrix and as many rows on the right side; got shapes "
            f"{tuple(input.shape)} and {tuple(other.shape)}"
        )
    pointers, columns, values = csr_parts(input)
    b = other.unsqueeze(1) if other.dim() == 1 else other
    x = _GeneralSolve.apply(pointers, columns, values, b)
    return x.squeeze(1) if other.dim() == 1 else x
