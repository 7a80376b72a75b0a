"""The generalised Pareto distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda.distributions import constraints
from taeda.distributions.distribution import Distribution
from taeda.distributions.utils import SCALAR, broadcast_all

__all__ = ["GeneralizedPareto"]


class GeneralizedPareto(Distribution):
    """What exceeds a high threshold ``loc``, in units of ``scale``: a bounded tail for negative ``concentration``, an
    exponential one for 0, a heavy one for positive."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive, "concentration": constraints.real}
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        return self._expanded(GeneralizedPareto, batch_shape, _instance, "loc", "scale", "concentration")

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        end = self.loc - self.scale / self.concentration
        return constraints.interval(self.loc, end.masked_fill(self.concentration >= 0, taeda.inf))

    def _shape(self) -> tuple[Tensor, Tensor]:
        """Where the tail is exponential up to rounding, and the concentration with 1 there."""
        exponential = taeda.isclose(self.concentration, taeda.zeros_like(self.concentration))
        return exponential, taeda.where(exponential, taeda.ones_like(self.concentration), self.concentration)

    def rsample(self, sample_shape: Sequence[int] = SCALAR) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return self.icdf(taeda.rand(shape, dtype=self.loc.dtype, device=self.loc.device))

    def log_survival_function(self, value: Tensor) -> Tensor:
        """The logarithm of the probability of a draw beyond ``value``."""
        self._checked(value)
        exponential, k = self._shape()
        z = ((value - self.loc) / self.scale).clamp(min=0)
        return taeda.where(exponential, -z, -(k * z).clamp(min=-1).log1p() / k)

    def log_cdf(self, value: Tensor) -> Tensor:
        """The logarithm of ``cdf``."""
        return (-self.log_survival_function(value).exp()).log1p()

    def cdf(self, value: Tensor) -> Tensor:
        return -self.log_survival_function(value).expm1()

    def icdf(self, value: Tensor) -> Tensor:
        exponential, k = self._shape()
        log_rest = (-value).log1p()
        return self.loc + self.scale * taeda.where(exponential, -log_rest, (-k * log_rest).expm1() / k)

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        exponential, k = self._shape()
        z = (value - self.loc) / self.scale
        inside = (z >= 0) & (exponential | (k * z >= -1))
        z = z.where(inside, taeda.zeros_like(z))
        log_density = taeda.where(exponential, -z, -(1 + 1 / k) * (k * z).log1p()) - self.scale.log()
        return log_density.masked_fill(~inside, -taeda.inf)

    def entropy(self) -> Tensor:
        return self.scale.log() + self.concentration + 1

    @property
    def mean(self) -> Tensor:
        k = self.concentration
        return (self.loc + self.scale / (1 - k)).masked_fill(k >= 1, taeda.nan)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        k = self.concentration
        variance = self.scale.square() / ((1 - k).square() * (1 - 2 * k))
        return variance.masked_fill(k >= 0.5, taeda.nan)
