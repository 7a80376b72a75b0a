"""The von Mises distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda.distributions import constraints
from taeda.distributions.distribution import Distribution
from taeda.distributions.utils import SCALAR, broadcast_all, lazy_property

__all__ = ["VonMises"]


class VonMises(Distribution):
    """Angles in radians around ``loc``, the closer the higher ``concentration``. ``loc`` may be any number, draws are
    in ``[-pi, pi)``."""

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        return self._expanded(VonMises, batch_shape, _instance, "loc", "concentration")

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        k = self.concentration
        # i0e is exp(-k) I0(k), which does not overflow
        return k * ((value - self.loc).cos() - 1) - math.log(2 * math.pi) - taeda.special.i0e(k).log()

    @property
    def mean(self) -> Tensor:
        """The direction of the mean of points on the circle."""
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @lazy_property
    def variance(self) -> Tensor:  # type: ignore[override]
        """The circular variance: 1 less the length of the mean of points on the circle."""
        return 1 - taeda.special.i1e(self.concentration) / taeda.special.i0e(self.concentration)

    @lazy_property
    def _proposal_r(self) -> Tensor:
        """The parameter of the wrapped Cauchy distribution that draws are proposed from, in double precision."""
        k = self.concentration.double()
        tau = 1 + (1 + 4 * k**2).sqrt()
        rho = (tau - (2 * tau).sqrt()) / (2 * k)
        return taeda.where(k < 1e-5, 1 / k + k, (1 + rho**2) / (2 * rho))  # the limit, where rho loses its digits

    def sample(self, sample_shape: Sequence[int] = SCALAR) -> Tensor:
        """Draws, found by the rejection method of Best and Fisher, 1979."""
        shape = self._extended_shape(sample_shape)
        with taeda.no_grad():
            k, r = self.concentration.double().expand(shape), self._proposal_r.expand(shape)
            angle = taeda.zeros(shape, dtype=k.dtype, device=k.device)
            done = taeda.zeros(shape, dtype=taeda.bool, device=k.device)
            while not done.all():
                u1, u2, u3 = taeda.rand((3, *shape), dtype=k.dtype, device=k.device).unbind()
                z = (math.pi * u1).cos()
                cosine = (1 + r * z) / (r + z)
                c = k * (r - cosine)
                accepted = ((c * (2 - c) - u2) > 0) | ((c / u2).log() + 1 - c >= 0)
                angle = taeda.where(accepted, (u3 - 0.5).sign() * cosine.acos(), angle)
                done = done | accepted
            turned = (angle + math.pi + self.loc.double()) % (2 * math.pi) - math.pi
            return turned.to(self.loc.dtype)
