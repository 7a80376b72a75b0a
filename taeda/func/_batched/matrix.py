"""Rules of products of matrices and vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda._library.ops import OpOverload
from taeda.func._batched.tensor import Batch, Unbatchable


def product(batch: Batch, op: OpOverload, a: Tensor, b: Tensor) -> Tensor:
    """The values of ``a @ b``, matrices or, for ``bmm`` and its kin, batches of them."""
    rank = 3 if "bmm" in op.name() else 2
    _check_ranks(op, a, rank, b, rank)
    if not batch.holds(b) and b.dim() == 2:  # one matrix for all: rows of all examples go through it at once
        return taeda.matmul(batch.whole(a), b)
    return taeda.matmul(a.value if batch.holds(a) else a, b.value if batch.holds(b) else b)  # type: ignore[attr-defined]


def _check_ranks(op: OpOverload, a: Tensor, rank: int, b: Tensor, other: int) -> None:
    if a.dim() != rank or b.dim() != other:
        raise Unbatchable(f"{op} of {a.dim()} and {b.dim()} dimensions")  # one example's error says it better


def mm(batch: Batch, op: OpOverload, self: Tensor, mat2: Tensor) -> Any:
    return batch.wrap(product(batch, op, self, mat2))


def mv(batch: Batch, op: OpOverload, self: Tensor, vec: Tensor) -> Any:
    return batch.wrap(_applied(batch, op, self, vec))


def _applied(batch: Batch, op: OpOverload, matrix: Tensor, vector: Tensor) -> Tensor:
    _check_ranks(op, matrix, 2, vector, 1)
    if not batch.holds(matrix):
        return taeda.matmul(batch.whole(vector), matrix.t())
    return taeda.matmul(batch.whole(matrix), batch.whole(vector).unsqueeze(2)).squeeze(2)  # type: ignore[no-any-return]


def dot(batch: Batch, op: OpOverload, self: Tensor, tensor: Tensor) -> Any:
    _check_ranks(op, self, 1, tensor, 1)
    left, right = batch.whole(self).unsqueeze(1), batch.whole(tensor).unsqueeze(2)
    return batch.wrap(taeda.matmul(left, right).reshape(batch.size))


def addmm(batch: Batch, op: OpOverload, self: Tensor, a: Tensor, b: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Any:
    return batch.wrap(_sum(batch, self, product(batch, op, a, b), a.dim(), beta, alpha))


def addmv(
    batch: Batch, op: OpOverload, self: Tensor, mat: Tensor, vec: Tensor, *, beta: Any = 1, alpha: Any = 1
) -> Any:
    return batch.wrap(_sum(batch, self, _applied(batch, op, mat, vec), 1, beta, alpha))


def _check_fits(x: Tensor, shape: Sequence[int]) -> None:
    """What is added to the results of examples must not make them larger."""
    if taeda.broadcast_shapes(x.shape, shape) != shape:
        raise Unbatchable(f"{tuple(x.shape)} is added to {tuple(shape)}")


def _sum(batch: Batch, added: Tensor, product: Tensor, rank: int, beta: Any, alpha: Any) -> Tensor:
    _check_fits(added, product.shape[-rank:])
    start = batch.padded(added, rank)
    scaled = product if alpha == 1 else product * alpha
    if beta == 0:
        return scaled
    return scaled + (start if beta == 1 else start * beta)


def linear(batch: Batch, op: OpOverload, input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Any:
    if not batch.holds(weight) and not batch.holds(bias):
        return batch.wrap(op(input.value, weight, bias))  # type: ignore[attr-defined]
    rows = input if input.dim() > 1 else input.unsqueeze(0)
    if weight.dim() == 1:
        result = taeda.matmul(batch.whole(rows).flatten(1, -2), batch.whole(weight).unsqueeze(2))
        result = result.reshape(batch.size, *input.shape[:-1])
    else:
        flat, across = batch.whole(rows).flatten(1, -2), batch.whole(weight).transpose(1, 2)
        result = taeda.matmul(flat, across).reshape(batch.size, *input.shape[:-1], weight.shape[0])
    if bias is not None:
        _check_fits(bias, result.shape[1:])
        result = result + batch.padded(bias, max(result.dim() - 1, bias.dim()))
    return batch.wrap(result)


def solve(batch: Batch, op: OpOverload, A: Tensor, B: Tensor, **kwargs: Any) -> Any:
    if A.dim() < 2 or not B.dim():
        raise Unbatchable(f"{op} of {A.dim()} and {B.dim()} dimensions")
    if B.dim() == 1:
        solution, info = op(batch.whole(A), batch.whole(B).unsqueeze(2), **kwargs)
        return batch.wrap(solution.squeeze(2)), batch.wrap(info)
    if B.dim() == A.dim() - 1:  # vectors where they fit, which the batch must not change
        B = B.unsqueeze(-1) if B.shape == A.shape[:-1] else B
        results = op(batch.whole(A), batch.padded(B, A.dim()), **kwargs)
        return batch.wrap(results[0].squeeze(-1) if B.shape[-1] == 1 else results[0]), batch.wrap(results[1])
    rank = max(A.dim(), B.dim())
    left, right = (x.value if batch.holds(x) else x.expand(batch.size, *x.shape) for x in (A, B))  # type: ignore[attr-defined]
    left, right = (x.reshape(batch.size, *[1] * (rank + 1 - x.dim()), *x.shape[1:]) for x in (left, right))
    return batch.wrap_all(op(left, right, **kwargs))
