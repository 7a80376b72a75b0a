"""The Cauchy distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence

import taeda
from taeda import Tensor
from taeda.distributions._loc_scale import LocScale
from taeda.distributions.utils import SCALAR

__all__ = ["Cauchy"]


class Cauchy(LocScale):
    """The ratio of two centred normal variables, moved to the median ``loc`` and stretched by ``scale``; no mean."""

    @property
    def mean(self) -> Tensor:
        return taeda.full_like(self.loc, math.nan)

    @property
    def variance(self) -> Tensor:
        return taeda.full_like(self.loc, math.inf)

    def rsample(self, sample_shape: Sequence[int] = SCALAR) -> Tensor:
        standard = self.loc.new_empty(self._extended_shape(sample_shape)).cauchy_()
        return self.loc + standard * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        return -math.log(math.pi) - self.scale.log() - (((value - self.loc) / self.scale) ** 2).log1p()

    def cdf(self, value: Tensor) -> Tensor:
        self._checked(value)
        return ((value - self.loc) / self.scale).atan() / math.pi + 0.5

    def icdf(self, value: Tensor) -> Tensor:
        return (math.pi * (value - 0.5)).tan() * self.scale + self.loc

    def entropy(self) -> Tensor:
        return math.log(4 * math.pi) + self.scale.log()
