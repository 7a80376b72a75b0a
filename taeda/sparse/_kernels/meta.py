"""On the meta device: the shapes of what the private ops on indices and values give (``taedagen/ops/sparse.py``).

Sparse tensors there run the kernels of every device. How many elements a result stores depends on indices, which nobody
has: where only they would tell, none is stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from taeda import Tensor
from taeda.sparse._kernels.registry import parts_on_meta


@parts_on_meta("_sparse_coalesce")
def coalesce(indices: Tensor, values: Tensor, size: Sequence[int]) -> tuple[Tensor, Tensor]:
    return indices.new_empty((indices.shape[0], 0)), values.new_empty((0, *values.shape[1:]))


@parts_on_meta("_sparse_transpose")
def transpose(pointers: Tensor, columns: Tensor, n: int) -> tuple[Tensor, ...]:
    long = columns.long()
    return long.new_empty(n + 1), long.new_empty(columns.shape), long.new_empty(columns.shape)


@parts_on_meta("_sparse_union")
def union(a: Tensor, b: Tensor) -> tuple[Tensor, ...]:
    return a.new_empty(0), a.new_empty(0), a.new_empty(0)


@parts_on_meta("_sparse_intersection")
def intersection(a: Tensor, b: Tensor) -> tuple[Tensor, ...]:
    return a.new_empty(0), a.new_empty(0)


@parts_on_meta("_sparse_nonzero")
def nonzero(self: Tensor) -> tuple[Tensor, ...]:
    places = self.new_empty(0).long()
    return places, places.clone(), self.new_empty(0)


@parts_on_meta("_sparse_spread")
def spread(pointers: Tensor, columns: Tensor, values: Tensor, n: int) -> Tensor:
    return values.new_empty((pointers.shape[0] - 1, n, *values.shape[1:]))


@parts_on_meta("_sparse_pick")
def pick(pointers: Tensor, columns: Tensor, dense: Tensor) -> Tensor:
    return dense.new_empty((columns.shape[0], *dense.shape[2:]))


@parts_on_meta("_csr_mm")
def mm(pointers: Tensor, columns: Tensor, values: Tensor, dense: Tensor) -> Tensor:
    return dense.new_empty((pointers.shape[0] - 1, dense.shape[1]))


@parts_on_meta("_sparse_best")
def best(pointers: Tensor, columns: Tensor, values: Tensor, dense: Tensor, largest: bool) -> Tensor:
    return mm(pointers, columns, values, dense).long()


@parts_on_meta("_sparse_mm_transposed")
def mm_transposed(pointers: Tensor, columns: Tensor, values: Tensor, dense: Tensor, n: int) -> Tensor:
    return dense.new_empty((n, dense.shape[1]))


@parts_on_meta("_sparse_dots")
def dots(pointers: Tensor, columns: Tensor, a: Tensor, b: Tensor) -> Tensor:
    return a.new_empty(columns.shape)


@parts_on_meta("_sparse_matmul")
def matmul(pointers: Tensor, columns: Tensor, values: Tensor, *other: Any) -> tuple[Tensor, ...]:
    long = columns.long()
    return long.new_empty(pointers.shape), long.new_empty(0), values.new_empty(0)


@parts_on_meta("_sparse_matmul_at")
def matmul_at(pointers: Tensor, columns: Tensor, a_pointers: Tensor, a_columns: Tensor, a_values: Tensor, *rest: Any
              ) -> Tensor:  # fmt: skip
    return a_values.new_empty(columns.shape)


@parts_on_meta("_sparse_solve_triangular", "_sparse_solve")
def solve(pointers: Tensor, columns: Tensor, values: Tensor, other: Tensor, *how: Any) -> Tensor:
    return other.new_empty(other.shape)
