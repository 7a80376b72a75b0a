"""The multivariate normal distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda.distributions import constraints
from taeda.distributions._gaussian import (
    FORMS,
    MatrixForms,
    factor_of,
    factor_of_precision,
    given_matrix,
    log_diagonal,
    mahalanobis,
    times,
)
from taeda.distributions.distribution import Distribution
from taeda.distributions.utils import SCALAR, _standard_normal

__all__ = ["MultivariateNormal"]

# The names that programs know from PyTorch.
_batch_mv, _batch_mahalanobis, _precision_to_scale_tril = times, mahalanobis, factor_of_precision


class MultivariateNormal(MatrixForms, Distribution):
    """Normal vectors with mean ``loc``, of shape ``(..., n)``, and a covariance given as such, by its inverse, or best
    by its lower Cholesky factor ``scale_tril``."""

    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        loc: Tensor,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.dim() < 1:
            raise ValueError("MultivariateNormal: loc must have at least one dimension")
        matrices = dict(zip(FORMS, (covariance_matrix, precision_matrix, scale_tril)))
        name, matrix = given_matrix(self, matrices, ValueError)
        batch_shape = taeda.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        setattr(self, name, matrix.expand((*batch_shape, -1, -1)))
        self.loc = loc.expand((*batch_shape, -1))
        super().__init__(batch_shape, self.loc.shape[-1:], validate_args=validate_args)
        self._unbroadcasted_scale_tril = factor_of(name, matrix)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = self._get_checked_instance(MultivariateNormal, _instance)
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril
        return self._expanded(MultivariateNormal, batch_shape, new, "loc", *FORMS)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        return self._unbroadcasted_scale_tril.pow(2).sum(-1).expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape: Sequence[int] = SCALAR) -> Tensor:
        noise = _standard_normal(self._extended_shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device)
        return self.loc + times(self._unbroadcasted_scale_tril, noise)

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        distance = mahalanobis(self._unbroadcasted_scale_tril, value - self.loc)
        log_scale = log_diagonal(self._unbroadcasted_scale_tril)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + distance) - log_scale

    def entropy(self) -> Tensor:
        log_scale = log_diagonal(self._unbroadcasted_scale_tril)
        return (0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + log_scale).expand(self._batch_shape)
