"""Transforms of vectors and matrices as wholes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Size, Tensor
from taeda.distributions import constraints
from taeda.distributions._elementwise_transforms import _Fixed, _open_unit_interval
from taeda.distributions.utils import tril_matrix_to_vec, vec_to_tril_matrix
from taeda.nn.functional import logsigmoid, pad, softplus


def _check_dims(transform: Any, shape: Sequence[int], least: int) -> None:
    if len(shape) < least:
        raise ValueError(f"{type(transform).__name__}: the shape must have at least {least} dimensions, got {shape}")


class SoftmaxTransform(_Fixed):
    """The softmax over the last dimension; the inverse is the logarithm."""

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Tensor) -> Tensor:
        return x.softmax(-1)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def forward_shape(self, shape: Sequence[int]) -> Any:
        _check_dims(self, shape, 1)
        return shape

    inverse_shape = forward_shape


def _log_remaining(x: Tensor) -> Tensor:
    """``log(n), ..., log(1)`` for vectors of ``n`` elements: how many pieces of the stick are still to come."""
    count = x.shape[-1]
    return taeda.arange(count, 0, -1, dtype=x.dtype, device=x.device).log()


class StickBreakingTransform(_Fixed):
    """Vectors of ``n`` elements to points of the simplex with ``n + 1``: each element says which share of the rest of a
    stick of length 1 to break off. Zeros give equal pieces."""

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        share = _open_unit_interval((x - _log_remaining(x)).sigmoid())
        rest = (1 - share).cumprod(-1)
        return pad(share, [0, 1], value=1.0) * pad(rest, [1, 0], value=1.0)

    def _inverse(self, y: Tensor) -> Tensor:
        pieces = y[..., :-1]
        rest = (1 - pieces.cumsum(-1)).clamp(min=taeda.finfo(y.dtype).tiny)
        return pieces.log() - rest.log() + _log_remaining(pieces)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        # Triangular, so the diagonal: d piece / d x is piece * (1 - share).
        odds = x - _log_remaining(x)
        return (logsigmoid(odds) - odds + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Sequence[int]) -> Size:
        _check_dims(self, shape, 1)
        return Size((*shape[:-1], shape[-1] + 1))

    def inverse_shape(self, shape: Sequence[int]) -> Size:
        _check_dims(self, shape, 1)
        return Size((*shape[:-1], shape[-1] - 1))


class CorrCholeskyTransform(_Fixed):
    """Vectors of ``n * (n - 1) / 2`` elements to lower triangular ``n`` by ``n`` factors of correlation matrices.

    ``tanh`` of the elements, row after row, are canonical partial correlations; in each row an element takes its part
    of what the squares before it leave of 1, and the diagonal takes the rest.
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        eps = taeda.finfo(x.dtype).eps
        partial = vec_to_tril_matrix(x.tanh().clamp(min=-1 + eps, max=1 - eps), diag=-1)
        left = (1 - partial**2).sqrt().cumprod(-1)
        eye = taeda.eye(partial.shape[-1], dtype=x.dtype, device=x.device)
        return (partial + eye) * pad(left[..., :-1], [1, 0], value=1)

    def _inverse(self, y: Tensor) -> Tensor:
        left = pad((1 - (y * y).cumsum(-1))[..., :-1], [1, 0], value=1)
        partial = tril_matrix_to_vec(y, diag=-1) / tril_matrix_to_vec(left, diag=-1).sqrt()
        return (partial.log1p() - (-partial).log1p()) / 2

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        left = tril_matrix_to_vec(1 - (y * y).cumsum(-1), diag=-2)
        by_rows = 0.5 * left.log().sum(-1)
        by_tanh = -2 * (x + softplus(-2 * x) - math.log(2.0)).sum(-1)
        return by_rows + by_tanh

    def forward_shape(self, shape: Sequence[int]) -> Size:
        _check_dims(self, shape, 1)
        count = shape[-1]
        side = round((0.25 + 2 * count) ** 0.5 + 0.5)
        if side * (side - 1) != 2 * count:
            raise ValueError(f"CorrCholeskyTransform: {count} elements do not fill the lower triangle of a matrix")
        return Size((*shape[:-1], side, side))

    def inverse_shape(self, shape: Sequence[int]) -> Size:
        _check_dims(self, shape, 2)
        rows, columns = shape[-2:]
        if rows != columns:
            raise ValueError(f"CorrCholeskyTransform: the matrices must be square, got {rows} by {columns}")
        return Size((*shape[:-2], rows * (rows - 1) // 2))


class LowerCholeskyTransform(_Fixed):
    """Matrices to lower triangular ones with a positive diagonal: the exponential of theirs."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x: Tensor) -> Tensor:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(_Fixed):
    """Matrices to positive definite ones, by way of a Cholesky factor."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def _call(self, x: Tensor) -> Tensor:
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y: Tensor) -> Tensor:
        return LowerCholeskyTransform().inv(taeda.linalg.cholesky(y))
