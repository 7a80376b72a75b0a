"""Distributions of the real numbers that are one standard form, moved and stretched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from taeda import Tensor
from taeda.distributions import constraints
from taeda.distributions.distribution import Distribution
from taeda.distributions.utils import broadcast_all


class LocScale(Distribution):
    """A standard variable, whose density is highest at 0, times ``scale`` plus ``loc``."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.shape, validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        return self._expanded(LocScale, batch_shape, _instance, "loc", "scale")

    @property
    def mode(self) -> Tensor:
        return self.loc
