"""The methods of tensors that concern sparse layouts; what they do is in ``taeda.sparse``, which loads on first use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from taeda import _C

if TYPE_CHECKING:
    from taeda import Tensor
    from taeda.types import _layout
else:  # for who reads annotations: the class of tensors is not made yet
    Tensor, _layout = _C.TensorBase, _C.layout


SPARSE = (_C.sparse_coo, _C.sparse_csr, _C.sparse_csc, _C.sparse_bsr, _C.sparse_bsc)


class SparseMethods:
    """Methods of ``Tensor``."""

    __slots__ = ()

    def coalesce(self: Any) -> Tensor:
        """The same tensor in coordinates, with rising indices, each once; values that shared one are summed.

        Raises RuntimeError for other layouts than ``torch.sparse_coo``.
        """
        from taeda.sparse import _methods

        return _methods.coalesce(self)

    def is_coalesced(self: Any) -> bool:
        """Whether the indices of coordinates are known to rise, and to be there once each."""
        from taeda.sparse import _methods

        return _methods.is_coalesced(self)

    def indices(self: Any) -> Tensor:
        """The indices (sparse dimensions, stored elements), int64, of coalesced coordinates."""
        from taeda.sparse import _methods

        return _methods.indices(self)

    def values(self: Any) -> Tensor:
        """The stored values: (elements, *dense sizes) of coalesced coordinates, (*batch, elements, *block, *dense
        sizes) of compressed layouts."""
        from taeda.sparse import _methods

        return _methods.values(self)

    def _indices(self: Any) -> Tensor:
        from taeda.sparse import _methods

        return _methods._indices(self)

    def _values(self: Any) -> Tensor:
        from taeda.sparse import _methods

        return _methods._values(self)

    def _nnz(self: Any) -> int:
        from taeda.sparse import _methods

        return _methods._nnz(self)

    def _dimI(self: Any) -> int:
        return self.sparse_dim()

    def _dimV(self: Any) -> int:
        return self.dense_dim()

    def _coalesced_(self: Any, coalesced: bool) -> Tensor:
        from taeda.sparse import _methods

        return _methods._coalesced_(self, coalesced)

    def crow_indices(self: Any) -> Tensor:
        """Where each row, or row of blocks, begins and the last one ends: (*batch, rows + 1), of CSR and BSR."""
        from taeda.sparse import _methods

        return _methods.compressed_part(self, "crow_indices")

    def col_indices(self: Any) -> Tensor:
        """The column of each stored element, or block: (*batch, elements), of CSR and BSR."""
        from taeda.sparse import _methods

        return _methods.compressed_part(self, "col_indices")

    def ccol_indices(self: Any) -> Tensor:
        """Where each column, or column of blocks, begins and the last one ends, of CSC and BSC."""
        from taeda.sparse import _methods

        return _methods.compressed_part(self, "ccol_indices")

    def row_indices(self: Any) -> Tensor:
        """The row of each stored element, or block, of CSC and BSC."""
        from taeda.sparse import _methods

        return _methods.compressed_part(self, "row_indices")

    def to_sparse(self: Any, sparse_dim: int | None = None, *, layout: _layout | None = None,
                  blocksize: Sequence[int] | None = None, dense_dim: int | None = None) -> Tensor:  # fmt: skip
        """A sparse copy.

        Args:
            sparse_dim: how many dimensions are sparse in coordinates; all by default.
            layout: another layout than ``torch.sparse_coo``.
            blocksize: the shape of a block, for BSR and BSC; it must divide the matrix.
            dense_dim: how many trailing dimensions stay dense, of a strided tensor.

        Raises:
            RuntimeError: the arguments do not fit together or the tensor.
        """
        from taeda.sparse import _methods

        return _methods.to_sparse(self, sparse_dim, layout, blocksize, dense_dim)

    def to_sparse_coo(self: Any) -> Tensor:
        """The same tensor in coordinates."""
        from taeda.sparse import _methods

        return _methods.to_sparse(self, None, None, None, None)

    def to_sparse_csr(self: Any, dense_dim: int | None = None) -> Tensor:
        """The same tensor in compressed rows; the matrices of a batch must have as many elements each."""
        from taeda.sparse import _methods

        return _methods.to_compressed(self, "csr", None, dense_dim)

    def to_sparse_csc(self: Any, dense_dim: int | None = None) -> Tensor:
        """The same tensor in compressed columns."""
        from taeda.sparse import _methods

        return _methods.to_compressed(self, "csc", None, dense_dim)

    def to_sparse_bsr(self: Any, blocksize: Sequence[int], dense_dim: int | None = None) -> Tensor:
        """The same tensor in compressed rows of blocks of a shape that divides the matrix."""
        from taeda.sparse import _methods

        return _methods.to_compressed(self, "bsr", blocksize, dense_dim)

    def to_sparse_bsc(self: Any, blocksize: Sequence[int], dense_dim: int | None = None) -> Tensor:
        """The same tensor in compressed columns of blocks of a shape that divides the matrix."""
        from taeda.sparse import _methods

        return _methods.to_compressed(self, "bsc", blocksize, dense_dim)

    def sparse_mask(self: Any, mask: Tensor) -> Tensor:
        """The elements at the places that the sparse ``mask`` of the same shape has, in its layout and pattern."""
        from taeda.sparse import _methods

        return _methods.sparse_mask(self, mask)

    def sparse_resize_(self: Any, size: Sequence[int], sparse_dim: int, dense_dim: int) -> Tensor:
        """Changes the size of coordinates in place; what is stored stays, so it must fit.

        Raises RuntimeError where elements are stored and the number of sparse or dense dimensions changes, a sparse
        size shrinks, or a dense one changes.
        """
        from taeda.sparse import _methods

        return _methods.sparse_resize_(self, size, sparse_dim, dense_dim, False)

    def sparse_resize_and_clear_(self: Any, size: Sequence[int], sparse_dim: int, dense_dim: int) -> Tensor:
        """Changes the size of coordinates in place, and drops what is stored."""
        from taeda.sparse import _methods

        return _methods.sparse_resize_(self, size, sparse_dim, dense_dim, True)

    def resize_as_sparse_(self: Any, the_template: Tensor) -> Tensor:
        """Changes the size, and the numbers of sparse and dense dimensions, to those of another sparse tensor."""
        from taeda.sparse import _methods

        return _methods.resize_as_sparse_(self, the_template)

    def smm(self: Any, mat2: Tensor) -> Tensor:
        """The product of a sparse and a dense matrix as a sparse one; see ``taeda.smm``."""
        from taeda.sparse import _products

        return _products.smm(self, mat2)

    def sspaddmm(self: Any, mat1: Tensor, mat2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
        """``beta * self + alpha * mat1 @ mat2``, sparse; see ``taeda.sspaddmm``."""
        from taeda.sparse import _products

        return _products.sspaddmm(self, mat1, mat2, beta=beta, alpha=alpha)
