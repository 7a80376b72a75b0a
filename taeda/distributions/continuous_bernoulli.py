"""The continuous Bernoulli distribution."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda.distributions import constraints
from taeda.distributions._two_forms import FORMS, TwoForms
from taeda.distributions.exp_family import ExponentialFamily
from taeda.distributions.utils import SCALAR, broadcast_all, clamp_probs, lazy_property
from taeda.nn.functional import binary_cross_entropy_with_logits

__all__ = ["ContinuousBernoulli"]


class ContinuousBernoulli(TwoForms, ExponentialFamily):
    """Densities proportional to ``probs**x * (1 - probs)**(1 - x)`` on the unit interval.

    The formulas have a removable singularity at 1/2; for ``probs`` within ``lims`` their Taylor series are used.
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _is_binary = True
    _mean_carrier_measure = 0

    def __init__(
        self,
        probs: Any = None,
        logits: Any = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:
        self._take(probs, logits)
        self._lims = lims
        if probs is not None:
            if validate_args and not self.arg_constraints["probs"].check(self.probs).all():
                raise ValueError(f"ContinuousBernoulli: probs must be in [0, 1], got:\n{self.probs}")
            self._keep("probs", clamp_probs(self.probs))
        super().__init__(self._param.shape, validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = self._get_checked_instance(ContinuousBernoulli, _instance)
        new._lims = self._lims
        return self._expanded(ContinuousBernoulli, batch_shape, new, *FORMS)

    @lazy_property
    def probs(self) -> Tensor:
        """The shape parameter; not the mean."""
        return clamp_probs(taeda.sigmoid(self.logits))

    def _is_outside(self) -> Tensor:
        """Where the closed forms are safe."""
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _piecewise(self, closed: Callable[[Tensor], Tensor], series: Callable[[Tensor], Tensor]) -> Tensor:
        """``closed(probs)``, or ``series(probs - 1/2)`` near 1/2, neither evaluated where it is not finite."""
        outside = self._is_outside()
        far = taeda.where(outside, self.probs, taeda.full_like(self.probs, self._lims[0]))
        return taeda.where(outside, closed(far), series(self.probs - 0.5))

    def _log_constant(self) -> Tensor:
        """The logarithm of what the density is multiplied with."""

        def closed(p: Tensor) -> Tensor:
            # |2 artanh(1 - 2p)| / |1 - 2p|
            log_ratio = (taeda.log1p(-p) - taeda.log(p)).abs().log()
            return log_ratio - (1.0 - 2.0 * p).abs().log()

        return self._piecewise(closed, lambda d: math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * d**2) * d**2)

    @property
    def mean(self) -> Tensor:
        return self._piecewise(
            lambda p: p / (2.0 * p - 1.0) + 1.0 / (taeda.log1p(-p) - taeda.log(p)),
            lambda d: 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * d**2) * d,
        )

    @property
    def variance(self) -> Tensor:
        return self._piecewise(
            lambda p: p * (p - 1.0) / (1.0 - 2.0 * p) ** 2 + 1.0 / (taeda.log1p(-p) - taeda.log(p)) ** 2,
            # in (2 p - 1)^2 / 4 = d^2
            lambda d: 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * d**2) * d**2,
        )

    def rsample(self, sample_shape: Sequence[int] = SCALAR) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return self.icdf(taeda.rand(shape, dtype=self.probs.dtype, device=self.probs.device))

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        logits, value = broadcast_all(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none") + self._log_constant()

    def cdf(self, value: Tensor) -> Tensor:
        self._checked(value)
        outside = self._is_outside()
        p = taeda.where(outside, self.probs, taeda.full_like(self.probs, self._lims[0]))
        powers = p**value * (1.0 - p) ** (1.0 - value)
        unclamped = taeda.where(outside, (powers + p - 1.0) / (2.0 * p - 1.0), value)
        return unclamped.clamp(min=0.0, max=1.0)

    def icdf(self, value: Tensor) -> Tensor:
        outside = self._is_outside()
        p = taeda.where(outside, self.probs, taeda.full_like(self.probs, self._lims[0]))
        closed = ((-p + value * (2.0 * p - 1.0)).log1p() - (-p).log1p()) / (p.log() - (-p).log1p())
        return taeda.where(outside, closed, value)

    def entropy(self) -> Tensor:
        log_fail = taeda.log1p(-self.probs)
        log_odds = taeda.log(self.probs) - log_fail
        return -self.mean * log_odds - self._log_constant() - log_fail

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.logits,)

    def _log_normalizer(self, x: Tensor) -> Tensor:  # type: ignore[override]
        near = (x.sigmoid() > self._lims[0]) & (x.sigmoid() <= self._lims[1])
        far = taeda.where(near, taeda.ones_like(x), x)
        return taeda.where(near, 0.5 * x + x.pow(2) / 24.0 - x.pow(4) / 2880.0, (far.expm1() / far).log())
