"""Arithmetic on the parts of sparse tensors: indices and values, which are dense.

A matrix of ``rows`` by ``n`` is told by ``pointers`` (rows + 1), where each row begins and the last one ends, and the
``columns`` and ``values`` of its elements. Tensors of sparse layouts are put together from these in
``taeda/sparse/_kernels``. Indices are int64, and read only after they are found to be inside.
"""

from taedagen.opdef import *
from taedagen.opdef.samples import S, f, v


@composite(
    "_sparse_rows(Tensor indices, Tensor values, int rows) -> Tensor", files="sparse", explicit=True, unbound=True
)
def _sparse_rows(indices, values, rows):
    """The matrix of ``rows`` rows in coordinates of which ``values`` has those at ``indices``, which may repeat."""


@_sparse_rows.backward
def _(grad, indices):
    return {"values": op.index_select(grad, 0, indices)}


@composite(
    "_sparse_compressed_tensor_with_dims(int nnz, int dense_dim, int[] size, int[] blocksize, ScalarType index_dtype, "
    "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    files="sparse",
    explicit=True,
    unbound=True,
)
def _sparse_compressed_tensor_with_dims(*_):
    """A tensor of a compressed layout that stores ``nnz`` elements, or blocks, which nobody has written yet."""


@kernel(
    "_sparse_coalesce(Tensor indices, Tensor values, int[] size) -> (Tensor indices, Tensor values)",
    shape="dynamic",
    files="sparse",
    unbound=True,
    not_differentiable=True,
)
def _sparse_coalesce(*_):
    """Indices (sparse dims, n) in rising order, each once, and the sums of the values (n, ...) that share one."""


@kernel("_sparse_transpose(Tensor pointers, Tensor columns, int n) -> (Tensor pointers, Tensor columns, Tensor order)",
        shape="dynamic", files="sparse", unbound=True, not_differentiable=True,
        samples=[S(v([0, 2, 3]), v([0, 2, 1]), 3)])  # fmt: skip
def _sparse_transpose(*_):
    """The transposed matrix of ``n`` rows, and which element of the given one each of its elements is."""


@kernel("_sparse_union(Tensor a, Tensor b) -> (Tensor keys, Tensor in_a, Tensor in_b)",
        shape="dynamic", files="sparse", unbound=True, not_differentiable=True,
        samples=[S(v([0, 2, 5]), v([1, 2]))])  # fmt: skip
def _sparse_union(*_):
    """The numbers of two rising sequences in rising order, and where each stands in them; one past the end: nowhere."""


@kernel("_sparse_intersection(Tensor a, Tensor b) -> (Tensor in_a, Tensor in_b)",
        shape="dynamic", files="sparse", unbound=True, not_differentiable=True,
        samples=[S(v([0, 2, 5]), v([1, 2]))])  # fmt: skip
def _sparse_intersection(*_):
    """Where the numbers that two rising sequences share stand in each."""


@kernel("_sparse_nonzero(Tensor self) -> (Tensor rows, Tensor columns, Tensor values)",
        shape="dynamic", files="sparse", unbound=True, not_differentiable=True,
        samples=[S(v([[0, 2, 5], [1, 0, 0]]))])  # fmt: skip
def _sparse_nonzero(*_):
    """The rows, columns and values of the elements of a dense matrix that are not zero, row by row."""


@kernel("_sparse_spread(Tensor pointers, Tensor columns, Tensor values, int n) -> Tensor",
        shape="dynamic", files="sparse", unbound=True,
        samples=[S(v([0, 2, 3]), v([0, 2, 1]), f(3), 3)])  # fmt: skip
def _sparse_spread(*_):
    """The dense matrix (rows, n, ...) with the values (elements, ...)."""


@_sparse_spread.backward
def _(grad, pointers, columns):
    return {"values": op._sparse_pick(pointers, columns, grad)}


@kernel("_sparse_pick(Tensor pointers, Tensor columns, Tensor dense) -> Tensor",
        shape="dynamic", files="sparse", unbound=True,
        samples=[S(v([0, 2, 3]), v([0, 2, 1]), f(2, 3))])  # fmt: skip
def _sparse_pick(*_):
    """The elements of a dense matrix (rows, n, ...) that a sparse one has, in its order."""


@_sparse_pick.backward
def _(grad, pointers, columns, dense):
    return {"dense": op._sparse_spread(pointers, columns, grad, dense.size(1))}


@kernel("_csr_mm(Tensor pointers, Tensor columns, Tensor values, Tensor dense) -> Tensor",
        shape="dynamic", files="sparse", unbound=True,
        samples=[S(v([0, 2, 3]), v([0, 2, 1]), f(3), f(3, 4))])  # fmt: skip
def _csr_mm(*_):
    """The product (rows, k) with a dense matrix (n, k)."""


@_csr_mm.backward
def _(grad, pointers, columns, values, dense):
    return {
        "values": op._sparse_dots(pointers, columns, grad, op.conj(dense)),
        "dense": op._sparse_mm_transposed(pointers, columns, op.conj(values), grad, dense.size(0)),
    }


@kernel("_sparse_mm_transposed(Tensor pointers, Tensor columns, Tensor values, Tensor dense, int n) -> Tensor",
        shape="dynamic", files="sparse", unbound=True,
        samples=[S(v([0, 2, 3]), v([0, 2, 1]), f(3), f(2, 4), 3)])  # fmt: skip
def _sparse_mm_transposed(*_):
    """The product (n, k) of the transposed matrix with a dense one (rows, k)."""


@_sparse_mm_transposed.backward
def _(grad, pointers, columns, values, dense):
    return {
        "values": op._sparse_dots(pointers, columns, op.conj(dense), grad),
        "dense": op._csr_mm(pointers, columns, op.conj(values), grad),
    }


@kernel("_sparse_dots(Tensor pointers, Tensor columns, Tensor a, Tensor b) -> Tensor",
        shape="dynamic", files="sparse", unbound=True,
        samples=[S(v([0, 2, 3]), v([0, 2, 1]), f(2, 4), f(3, 4))])  # fmt: skip
def _sparse_dots(*_):
    """For each element of the matrix the sum of products of its row of ``a`` (rows, k) and its column's row of ``b``
    (n, k)."""


@_sparse_dots.backward
def _(grad, pointers, columns, a, b):
    return {
        "a": op._csr_mm(pointers, columns, grad, op.conj(b)),
        "b": op._sparse_mm_transposed(pointers, columns, grad, op.conj(a), b.size(0)),
    }


@kernel("_sparse_best(Tensor pointers, Tensor columns, Tensor values, Tensor dense, bool largest) -> Tensor",
        shape="dynamic", files="sparse", unbound=True, not_differentiable=True,
        samples=[S(v([0, 2, 3]), v([0, 2, 1]), f(3), f(3, 4), True)])  # fmt: skip
def _sparse_best(*_):
    """As ``_csr_mm`` with the largest (else smallest) product in place of the sum: which element it is from, -1 in
    an empty row."""


@kernel(
    "_sparse_matmul(Tensor pointers, Tensor columns, Tensor values, Tensor other_pointers, Tensor other_columns, "
    "Tensor other_values, int n) -> (Tensor pointers_out, Tensor columns_out, Tensor values_out)",
    shape="dynamic",
    files="sparse",
    unbound=True,
    nondiff="pointers_out columns_out",
)
def _sparse_matmul(*_):
    """The product of two sparse matrices, the other of ``n`` columns, by Gustavson's algorithm (1978): rows in turn,
    columns rising."""


@_sparse_matmul.backward
def _(grads, pointers, columns, values, other_pointers, other_columns, other_values, n, pointers_out, columns_out):
    return {
        "values": op._sparse_matmul_at(
            pointers, columns, pointers_out, columns_out, grads[2], other_pointers, other_columns,
            op.conj(other_values), n, True
        ),
        "other_values": op._sparse_matmul_at(
            other_pointers, other_columns, pointers, columns, op.conj(values), pointers_out, columns_out, grads[2], n,
            False
        ),
    }  # fmt: skip


@kernel(
    "_sparse_matmul_at(Tensor pointers, Tensor columns, Tensor a_pointers, Tensor a_columns, Tensor a_values, "
    "Tensor b_pointers, Tensor b_columns, Tensor b_values, int n, bool transposed_b) -> Tensor",
    shape="dynamic",
    files="sparse",
    unbound=True,
)
def _sparse_matmul_at(*_):
    """The elements at ``pointers`` and ``columns`` of ``a`` times ``b`` transposed, else of ``a`` transposed times
    ``b``, both sparse; columns of ``b``, and in the former case of ``a``, are below ``n``."""


@_sparse_matmul_at.backward
def _(grad, pointers, columns, a_pointers, a_columns, a_values, b_pointers, b_columns, b_values, n, transposed_b):
    g = op._sparse_matmul_at_backward(
        grad, pointers, columns, a_pointers, a_columns, op.conj(a_values), b_pointers, b_columns, op.conj(b_values), n,
        transposed_b
    )  # fmt: skip
    return {"a_values": g[0], "b_values": g[1]}


@composite(
    "_sparse_matmul_at_backward(Tensor grad, Tensor pointers, Tensor columns, Tensor a_pointers, Tensor a_columns, "
    "Tensor a, Tensor b_pointers, Tensor b_columns, Tensor b, int n, bool transposed_b) -> (Tensor, Tensor)",
    unbound=True,
)
def _sparse_matmul_at_backward(grad, pointers, columns, a_pointers, a_columns, a, b_pointers, b_columns, b, n,
                               transposed_b):  # fmt: skip
    """The gradients of both values: products of the third matrix and the other factor, at the places of each."""
    if transposed_b:
        rows, other, order = op._sparse_transpose(b_pointers, b_columns, n)
        turned, width = op.index_select(b, 0, order), b_pointers.size(0) - 1
        return op._sparse_matmul_at(
            a_pointers, a_columns, pointers, columns, grad, rows, other, turned, width, True
        ), op._sparse_matmul_at(
            b_pointers, b_columns, pointers, columns, grad, a_pointers, a_columns, a, n, False
        )  # fmt: skip
    rows, other, order = op._sparse_transpose(pointers, columns, n)
    turned, width = op.index_select(grad, 0, order), pointers.size(0) - 1
    return op._sparse_matmul_at(
        a_pointers, a_columns, b_pointers, b_columns, b, pointers, columns, grad, n, True
    ), op._sparse_matmul_at(
        b_pointers, b_columns, a_pointers, a_columns, a, rows, other, turned, width, True
    )  # fmt: skip


@kernel(
    "_sparse_solve_triangular(Tensor pointers, Tensor columns, Tensor values, Tensor other, bool upper, "
    "bool unitriangular) -> Tensor",
    shape="dynamic",
    files="sparse",
    unbound=True,
    not_differentiable=True,
    samples=[S(v([0, 1, 3]), v([0, 0, 1]), v([2.0, 1.0, 4.0]), f(2, 3), False, False)],
)
def _sparse_solve_triangular(*_):
    """``x`` (n, k) for which the upper, else the lower, triangle of the matrix times ``x`` is ``other`` (n, k)."""


@kernel("_sparse_solve(Tensor pointers, Tensor columns, Tensor values, Tensor other) -> Tensor",
        shape="dynamic", files="sparse", unbound=True, not_differentiable=True,
        samples=[S(v([0, 2, 3]), v([0, 1, 1]), v([2.0, 1.0, 4.0]), f(2, 3))])  # fmt: skip
def _sparse_solve(*_):
    """``x`` (n, k) for which the matrix times ``x`` is ``other`` (n, k): Gaussian elimination by rows with partial
    pivoting, after Gilbert and Peierls (1988)."""
