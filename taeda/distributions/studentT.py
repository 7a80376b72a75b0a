"""Student's t-distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda.distributions import constraints
from taeda.distributions.chi2 import Chi2
from taeda.distributions.distribution import Distribution
from taeda.distributions.utils import SCALAR, _standard_normal, broadcast_all

__all__ = ["StudentT"]


class StudentT(Distribution):
    """A normal variable over the root of an independent chi-squared one divided by its degrees of freedom, ``df``; then
    scaled by ``scale`` and moved to ``loc``."""

    arg_constraints = {"df": constraints.positive, "loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df)
        super().__init__(self.df.shape, validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = self._get_checked_instance(StudentT, _instance)
        new._chi2 = self._chi2.expand(batch_shape)
        return self._expanded(StudentT, batch_shape, new, "df", "loc", "scale")

    @property
    def mean(self) -> Tensor:
        return self.loc.masked_fill(self.df <= 1, taeda.nan)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        df = self.df
        finite = self.scale.pow(2) * df / (df - 2)
        return finite.masked_fill(df <= 2, taeda.inf).masked_fill(df <= 1, taeda.nan)

    def rsample(self, sample_shape: Sequence[int] = SCALAR) -> Tensor:
        normal = _standard_normal(self._extended_shape(sample_shape), dtype=self.df.dtype, device=self.df.device)
        y = normal * taeda.rsqrt(self._chi2.rsample(sample_shape) / self.df)
        return self.loc + self.scale * y

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        y = (value - self.loc) / self.scale
        log_norm = (
            self.scale.log()
            + 0.5 * self.df.log()
            + 0.5 * math.log(math.pi)
            + taeda.lgamma(0.5 * self.df)
            - taeda.lgamma(0.5 * (self.df + 1.0))
        )
        return -0.5 * (self.df + 1.0) * taeda.log1p(y**2.0 / self.df) - log_norm

    def entropy(self) -> Tensor:
        half, more = 0.5 * self.df, 0.5 * (self.df + 1)
        log_beta = taeda.lgamma(half) + math.lgamma(0.5) - taeda.lgamma(more)
        return self.scale.log() + more * (more.digamma() - half.digamma()) + 0.5 * self.df.log() + log_beta
