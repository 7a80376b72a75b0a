"""The multivariate normal distribution whose covariance is diagonal but for a few directions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda.distributions import constraints
from taeda.distributions._gaussian import log_diagonal, mahalanobis, times
from taeda.distributions.distribution import Distribution
from taeda.distributions.utils import SCALAR, _standard_normal, lazy_property

__all__ = ["LowRankMultivariateNormal"]


def capacitance_factor(w: Tensor, d: Tensor) -> Tensor:
    """The Cholesky factor of ``I + W^T D^-1 W``, small where ``W W^T + D`` is large."""
    eye = taeda.eye(w.shape[-1], dtype=w.dtype, device=w.device)
    return taeda.linalg.cholesky(eye + (w.mT / d.unsqueeze(-2)) @ w)


def lowrank_log_determinant(d: Tensor, capacitance: Tensor) -> Tensor:
    """``log |W W^T + D|``, by the matrix determinant lemma."""
    return 2 * log_diagonal(capacitance) + d.log().sum(-1)


def lowrank_mahalanobis(w: Tensor, d: Tensor, x: Tensor, capacitance: Tensor) -> Tensor:
    """``x^T (W W^T + D)^-1 x``, by the Woodbury identity."""
    inner = times(w.mT / d.unsqueeze(-2), x)
    return (x.pow(2) / d).sum(-1) - mahalanobis(capacitance, inner)


# The names that programs know from PyTorch.
_batch_capacitance_tril, _batch_lowrank_mahalanobis = capacitance_factor, lowrank_mahalanobis


class LowRankMultivariateNormal(Distribution):
    """Normal vectors with mean ``loc`` and covariance ``cov_factor @ cov_factor.mT + diag(cov_diag)``, of shapes
    ``(..., n)``, ``(..., n, m)`` and ``(..., n)``; cheap where ``m`` is much less than ``n``."""

    arg_constraints = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc: Tensor, cov_factor: Tensor, cov_diag: Tensor, validate_args: bool | None = None) -> None:
        if loc.dim() < 1:
            raise ValueError("LowRankMultivariateNormal: loc must have at least one dimension")
        size = loc.shape[-1]
        if cov_factor.dim() < 2 or cov_factor.shape[-2] != size:
            raise ValueError(
                f"LowRankMultivariateNormal: cov_factor must be of shape (..., {size}, m), got {cov_factor.shape}"
            )
        if cov_diag.shape[-1:] != (size,):
            raise ValueError(
                f"LowRankMultivariateNormal: cov_diag must be of shape (..., {size}), got {cov_diag.shape}"
            )
        try:
            batch_shape = taeda.broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1])
        except RuntimeError as error:
            raise ValueError(
                f"LowRankMultivariateNormal: the batches of {loc.shape}, {cov_factor.shape} and {cov_diag.shape} "
                "do not broadcast"
            ) from error
        self.loc, self.cov_diag = loc.expand((*batch_shape, -1)), cov_diag.expand((*batch_shape, -1))
        self.cov_factor = cov_factor.expand((*batch_shape, -1, -1))
        self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag = cov_factor, cov_diag
        self._capacitance_tril = capacitance_factor(cov_factor, cov_diag)
        super().__init__(batch_shape, loc.shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = self._get_checked_instance(LowRankMultivariateNormal, _instance)
        for name in ("_unbroadcasted_cov_factor", "_unbroadcasted_cov_diag", "_capacitance_tril"):
            setattr(new, name, getattr(self, name))
        return self._expanded(LowRankMultivariateNormal, batch_shape, new, "loc", "cov_factor", "cov_diag")

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @lazy_property
    def variance(self) -> Tensor:  # type: ignore[override]
        """The diagonal of the covariance."""
        variance = self._unbroadcasted_cov_factor.pow(2).sum(-1) + self._unbroadcasted_cov_diag
        return variance.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower Cholesky factor of the covariance."""
        # With the deviations D^1/2 taken out, what is left has eigenvalues of 1 at least: safe to factor.
        deviations = self._unbroadcasted_cov_diag.sqrt().unsqueeze(-1)
        w = self._unbroadcasted_cov_factor / deviations
        eye = taeda.eye(self._event_shape[0], dtype=w.dtype, device=w.device)
        factor = deviations * taeda.linalg.cholesky(eye + w @ w.mT)
        return factor.expand(self._batch_shape + self._event_shape * 2)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance in full."""
        w, d = self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag
        return (w @ w.mT + d.diag_embed()).expand(self._batch_shape + self._event_shape * 2)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance."""
        w, d = self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag
        a = taeda.linalg.solve_triangular(self._capacitance_tril, w.mT / d.unsqueeze(-2), upper=False)
        return (d.reciprocal().diag_embed() - a.mT @ a).expand(self._batch_shape + self._event_shape * 2)

    def rsample(self, sample_shape: Sequence[int] = SCALAR) -> Tensor:
        shape = self._extended_shape(sample_shape)
        like = {"dtype": self.loc.dtype, "device": self.loc.device}
        along = _standard_normal(shape[:-1] + self.cov_factor.shape[-1:], **like)
        across = _standard_normal(shape, **like)
        d = self._unbroadcasted_cov_diag
        return self.loc + times(self._unbroadcasted_cov_factor, along) + d.sqrt() * across

    def _log_determinant(self) -> Tensor:
        return lowrank_log_determinant(self._unbroadcasted_cov_diag, self._capacitance_tril)

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        distance = lowrank_mahalanobis(
            self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag, value - self.loc, self._capacitance_tril
        )
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + self._log_determinant() + distance)

    def entropy(self) -> Tensor:
        entropy = 0.5 * (self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._log_determinant())
        return entropy.expand(self._batch_shape)
