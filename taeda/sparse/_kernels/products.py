"""Products (``taeda/sparse/_products``) by the names of the ops."""

from __future__ import annotations

import math
from typing import Any

import taeda
from taeda import Tensor
from taeda.sparse import _products
from taeda.sparse._kernels.registry import sparse
from taeda.sparse._parts import COO, is_sparse


@sparse("mm")
def mm(self: Tensor, mat2: Tensor) -> Tensor:
    return _products.product(self, mat2)


@sparse("bmm")
def bmm(self: Tensor, mat2: Tensor) -> Tensor:
    return _products.batch_product(self, mat2)


@sparse("mv")
def mv(self: Tensor, vec: Tensor) -> Tensor:
    return _products.vector_product(self, vec)


@sparse("dot")
def dot(self: Tensor, tensor: Tensor) -> Tensor:
    return (self * tensor).sum()


@sparse("addmm", "_sparse_addmm")
def addmm(self: Tensor, mat1: Tensor, mat2: Tensor, beta: Any = 1, alpha: Any = 1) -> Tensor:
    return _products.addition(self, mat1, mat2, beta, alpha)


@sparse("addmv")
def addmv(self: Tensor, mat: Tensor, vec: Tensor, beta: Any = 1, alpha: Any = 1) -> Tensor:
    made = _products.vector_product(mat, vec) * alpha
    return made if beta == 0 else self * beta + made


@sparse("baddbmm")
def baddbmm(self: Tensor, batch1: Tensor, batch2: Tensor, beta: Any = 1, alpha: Any = 1) -> Tensor:
    made = _products.batch_product(batch1, batch2) * alpha
    return made if beta == 0 else self * beta + made


@sparse("matmul", "linalg_matmul")
def matmul(self: Tensor, other: Tensor) -> Tensor:
    """By the numbers of dimensions, as for dense tensors."""
    a, b = self.dim(), other.dim()
    if a == 2 and b == 2:
        return _products.product(self, other, "matmul")
    if a == 2 and b == 1:
        return _products.vector_product(self, other)
    if a == 1 and b == 2:
        return _products.vector_product(other.transpose(0, 1), self)
    if a == 1 and b == 1:
        return dot(self, other)
    if a == 3 and b == 3:
        return _products.batch_product(self, other)
    if is_sparse(self) and a == 2 and not is_sparse(other):
        # one product with the columns of all matrices
        columns = other.movedim(-2, 0)
        made = _products.product(self, columns.flatten(1), "matmul")
        return made.reshape(self.shape[0], *columns.shape[1:]).movedim(0, -2)
    if is_sparse(other) and b == 2 and not is_sparse(self):
        made = _products.product(self.flatten(0, -2), other, "matmul")
        return made.reshape(*self.shape[:-1], other.shape[1])
    if is_sparse(self) and a == 1 and not is_sparse(other):
        return matmul(self.unsqueeze(0), other).squeeze(-2)
    if is_sparse(self) and b == 1 and not is_sparse(other) and self.layout == COO:
        return vector_product_of_rows(self, other)
    raise NotImplementedError(
        f"taeda.matmul: sparse tensors of {a} and {b} dimensions are not multiplied; reshape to matrices, or to_dense()"
    )


def vector_product_of_rows(a: Tensor, vec: Tensor) -> Tensor:
    """Of all rows of coordinates with more than two dimensions."""
    rows = a.reshape((math.prod(a.shape[:-1]), a.shape[-1]))
    return _products.vector_product(rows, vec).reshape(a.shape[:-1])


@sparse("linear")
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    made = taeda.matmul(input, weight.transpose(0, 1))
    return made if bias is None else made + bias


@sparse("triangular_solve")
def triangular_solve(self: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
                     ) -> tuple[Tensor, Tensor]:  # fmt: skip
    return _products.triangular_solve(self, A, upper, transpose, unitriangular), self.new_empty(0)


@sparse("triangular_solve.X")
def triangular_solve_out(self: Tensor, A: Tensor, upper: bool = True, transpose: bool = False,
                         unitriangular: bool = False, *, X: Tensor, M: Tensor) -> tuple[Tensor, Tensor]:  # fmt: skip
    made, nothing = triangular_solve(self, A, upper, transpose, unitriangular)
    return X.resize_(made.shape).copy_(made) if X.shape != made.shape else X.copy_(made), M.resize_(0).copy_(nothing)
