"""What PyTorch keeps in ``torch._linalg_utils``: small products that its own algorithms are written with."""

from __future__ import annotations

import taeda
from taeda import Tensor


def is_sparse(A: object) -> bool:
    """Whether it is a sparse tensor in coordinates."""
    return isinstance(A, Tensor) and A.layout == taeda.sparse_coo


def get_floating_dtype(A: Tensor) -> taeda.dtype:
    """The dtype of ``A``; float32 for integers."""
    return A.dtype if A.is_floating_point() else taeda.float32


def matmul(A: Tensor | None, B: Tensor) -> Tensor:
    """``A @ B``, where None stands for the identity."""
    if A is None:
        return B
    return taeda.sparse.mm(A, B) if is_sparse(A) else taeda.matmul(A, B)


def bform(X: Tensor, A: Tensor | None, Y: Tensor) -> Tensor:
    """``X.mT @ A @ Y``."""
    return matmul(X.mT, matmul(A, Y))


def qform(A: Tensor | None, S: Tensor) -> Tensor:
    """``S.mT @ A @ S``."""
    return bform(S, A, S)


def basis(A: Tensor) -> Tensor:
    """Orthonormal columns that span those of ``A``."""
    return taeda.linalg.qr(A).Q


def symeig(A: Tensor, largest: bool | None = False) -> tuple[Tensor, Tensor]:
    """Eigenvalues and -vectors of a symmetric matrix, the smallest first, or the largest."""
    values, vectors = taeda.linalg.eigh(A, UPLO="U")
    return (values.flip(-1), vectors.flip(-1)) if largest else (values, vectors)
