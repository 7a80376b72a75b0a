"""Batches of matrices as normal and Wishart distributions need them."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Size, Tensor
from taeda.distributions.utils import lazy_property

FORMS = ("covariance_matrix", "precision_matrix", "scale_tril")


def given_matrix(owner: Any, matrices: dict[str, Tensor | None], error: type[Exception]) -> tuple[str, Tensor]:
    """The one matrix that was given, with its name; ``error`` unless it is one, ``ValueError`` if it is no matrix."""
    given = [(name, matrix) for name, matrix in matrices.items() if matrix is not None]
    if len(given) != 1:
        raise error(f"{type(owner).__name__} takes one of {', '.join(matrices)}, got {len(given)} of them")
    name, matrix = given[0]
    if matrix.dim() < 2:
        raise ValueError(f"{type(owner).__name__}: {name} must have at least two dimensions, got {matrix.dim()}")
    return name, matrix


def log_diagonal(factor: Tensor) -> Tensor:
    """The sum of the logarithms of the diagonal: half the log-determinant of ``factor @ factor.mT``."""
    return factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)


def times(matrix: Tensor, vector: Tensor) -> Tensor:
    """Matrices times vectors, both with batches."""
    return (matrix @ vector.unsqueeze(-1)).squeeze(-1)


def _solve(factor: Tensor, vectors: Tensor) -> Tensor:
    """``factor^-1 vectors``, for lower triangular factors."""
    if factor.dim() > 2:
        return taeda.linalg.solve_triangular(factor, vectors.unsqueeze(-1), upper=False).squeeze(-1)
    # One factor for all: the vectors are the columns of one right-hand side.
    columns = vectors.reshape(-1, vectors.shape[-1]).mT
    return taeda.linalg.solve_triangular(factor, columns, upper=False).mT.reshape(vectors.shape)


def mahalanobis(factor: Tensor, vectors: Tensor) -> Tensor:
    """``x^T (L L^T)^-1 x`` for lower triangular ``L`` and vectors ``x``, both with batches."""
    return _solve(factor, vectors).pow(2).sum(-1)


def factor_of_precision(precision: Tensor) -> Tensor:
    """The lower Cholesky factor of the inverse of ``precision``, without inverting it."""
    backwards = taeda.linalg.cholesky(precision.flip((-2, -1)))
    upper = backwards.flip((-2, -1)).mT  # precision = upper.mT @ upper, so its inverse's factor is that of upper's
    eye = taeda.eye(precision.shape[-1], dtype=precision.dtype, device=precision.device)
    return taeda.linalg.solve_triangular(upper, eye, upper=False)


def factor_of(name: str, matrix: Tensor) -> Tensor:
    """The lower Cholesky factor of the covariance that ``matrix`` gives in the form ``name``."""
    if name == "scale_tril":
        return matrix
    return taeda.linalg.cholesky(matrix) if name == "covariance_matrix" else factor_of_precision(matrix)


class MatrixForms:
    """Covariance, precision and Cholesky factor, computed on demand from a factor, ``_unbroadcasted_scale_tril``."""

    _unbroadcasted_scale_tril: Tensor
    _batch_shape: Size
    _event_shape: Size

    def _matrix_shape(self) -> Size:
        return self._batch_shape + self._event_shape[-1:] * 2

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower Cholesky factor of the covariance."""
        return self._unbroadcasted_scale_tril.expand(self._matrix_shape())

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance, or for a Wishart distribution the scale matrix."""
        factor = self._unbroadcasted_scale_tril
        return (factor @ factor.mT).expand(self._matrix_shape())

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of ``covariance_matrix``."""
        return taeda.cholesky_inverse(self._unbroadcasted_scale_tril).expand(self._matrix_shape())
