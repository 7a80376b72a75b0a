"""The Wishart distribution."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from numbers import Number
from typing import Any

import taeda
from taeda import Size, Tensor
from taeda.distributions import constraints
from taeda.distributions._gaussian import FORMS, MatrixForms, factor_of, given_matrix, log_diagonal
from taeda.distributions.chi2 import Chi2
from taeda.distributions.exp_family import ExponentialFamily
from taeda.distributions.utils import SCALAR

__all__ = ["Wishart"]


def _mvdigamma(x: Tensor, p: int) -> Tensor:
    """The derivative of ``mvlgamma(x, p)``."""
    shifts = taeda.arange(p, dtype=x.dtype, device=x.device) / 2
    return taeda.digamma(x.unsqueeze(-1) - shifts).sum(-1)


class Wishart(MatrixForms, ExponentialFamily):
    """Sums of ``x x^T`` over ``df`` centred normal vectors, of which ``covariance_matrix`` is the covariance; ``df``
    may be any number above ``n - 1``."""

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(
        self,
        df: Any,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        matrices = dict(zip(FORMS, (covariance_matrix, precision_matrix, scale_tril)))
        name, matrix = given_matrix(self, matrices, AssertionError)
        if isinstance(df, Number):
            df = taeda.tensor(df, dtype=matrix.dtype, device=matrix.device)
        batch_shape = taeda.broadcast_shapes(matrix.shape[:-2], df.shape)
        size = matrix.shape[-1]
        self.df = df.expand(batch_shape)
        setattr(self, name, matrix.expand((*batch_shape, -1, -1)))
        if (self.df <= size - 1).any():
            raise ValueError(f"Wishart: df must exceed n - 1 = {size - 1}, got {df}")
        super().__init__(batch_shape, matrix.shape[-2:], validate_args=validate_args)
        if (self.df < size).any():
            warnings.warn(f"Wishart: draws with df below n = {size} may be singular", stacklevel=2)
        self._unbroadcasted_scale_tril = factor_of(name, matrix)
        # The squared diagonal of the Bartlett factor
        self._chi2 = Chi2(self.df.unsqueeze(-1) - taeda.arange(size, dtype=self.df.dtype, device=self.df.device))

    @property
    def arg_constraints(self) -> dict[str, constraints.Constraint]:
        return {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self.event_shape[-1] - 1),
        }

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = self._get_checked_instance(Wishart, _instance)
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril
        new._chi2 = self._chi2.expand((*batch_shape, self.event_shape[-1]))
        return self._expanded(Wishart, batch_shape, new, "df", *FORMS)

    @property
    def mean(self) -> Tensor:
        return self.df[..., None, None] * self.covariance_matrix

    @property
    def mode(self) -> Tensor:
        """NaN where ``df`` is ``n + 1`` or less: the density is highest at singular matrices."""
        factor = self.df - self.event_shape[-1] - 1
        return factor.masked_fill(factor <= 0, taeda.nan)[..., None, None] * self.covariance_matrix

    @property
    def variance(self) -> Tensor:
        v = self.covariance_matrix
        diagonal = v.diagonal(dim1=-2, dim2=-1)
        return self.df[..., None, None] * (v.pow(2) + diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2))

    def _bartlett_sampling(self, sample_shape: Sequence[int] = SCALAR) -> Tensor:
        """Draws by Bartlett's decomposition: a lower factor with chi variables on its diagonal, normal ones below."""
        size = self.event_shape[-1]
        noise = self._chi2.rsample(sample_shape).sqrt().diag_embed()
        rows, columns = taeda.tril_indices(size, size, offset=-1, device=noise.device)
        shape = Size((*sample_shape, *self._batch_shape, size * (size - 1) // 2))
        noise[..., rows, columns] = taeda.randn(shape, dtype=noise.dtype, device=noise.device)
        factor = self._unbroadcasted_scale_tril @ noise
        return factor @ factor.mT

    def rsample(self, sample_shape: Sequence[int] = SCALAR, max_try_correction: int | None = None) -> Tensor:
        """Draws; those that rounding made singular are drawn again, up to ``max_try_correction`` times (3)."""
        count = Size(sample_shape).numel()
        draws = self._bartlett_sampling((count,))
        # PyTorch draws all of them again once, so a seed gives its numbers only if the first ones are not used here.
        again = taeda.ones(count, dtype=taeda.bool, device=draws.device)
        for _ in range(3 if max_try_correction is None else max_try_correction):
            draws[again] = self._bartlett_sampling((int(again.sum()),))
            again = ~self.support.check(draws).reshape(count, -1).all(-1)
            if not again.any():
                break
        return draws.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        nu, size, factor = self.df, self.event_shape[-1], self._unbroadcasted_scale_tril
        log_norm = nu * (size * math.log(2) / 2 + log_diagonal(factor)) + taeda.mvlgamma(nu / 2, p=size)
        trace = taeda.cholesky_solve(value, factor).diagonal(dim1=-2, dim2=-1).sum(-1)
        return (nu - size - 1) / 2 * taeda.linalg.slogdet(value).logabsdet - trace / 2 - log_norm

    def entropy(self) -> Tensor:
        nu, size = self.df, self.event_shape[-1]
        return (
            (size + 1) * (size * math.log(2) / 2 + log_diagonal(self._unbroadcasted_scale_tril))
            + taeda.mvlgamma(nu / 2, p=size)
            - (nu - size - 1) / 2 * _mvdigamma(nu / 2, p=size)
            + nu * size / 2
        )

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return -self.precision_matrix / 2, (self.df - self.event_shape[-1] - 1) / 2

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:  # type: ignore[override]
        size = x.shape[-1]
        half_df = y + (size + 1) / 2
        return half_df * (size * math.log(2) - taeda.linalg.slogdet(-2 * x).logabsdet) + taeda.mvlgamma(half_df, p=size)
