"""The half-Cauchy distribution."""

from __future__ import annotations

import math

import taeda
from taeda import Tensor
from taeda.distributions._half import Half
from taeda.distributions.cauchy import Cauchy

__all__ = ["HalfCauchy"]


class HalfCauchy(Half):
    """The magnitude of a centred Cauchy variable with ``scale``; it has no mean."""

    _whole = Cauchy

    @property
    def mean(self) -> Tensor:
        return taeda.full_like(self.scale, math.inf)

    @property
    def variance(self) -> Tensor:
        return self.base_dist.variance
