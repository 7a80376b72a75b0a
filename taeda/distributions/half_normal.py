"""The half-normal distribution."""

from __future__ import annotations

import math

from taeda import Tensor
from taeda.distributions._half import Half
from taeda.distributions.normal import Normal

__all__ = ["HalfNormal"]


class HalfNormal(Half):
    """The magnitude of a centred normal variable of standard deviation ``scale``."""

    _whole = Normal

    @property
    def mean(self) -> Tensor:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Tensor:
        return self.scale.pow(2) * (1 - 2 / math.pi)
