"""The negative binomial distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda.distributions import constraints
from taeda.distributions._two_forms import FORMS, TwoForms
from taeda.distributions.gamma import Gamma
from taeda.distributions.utils import SCALAR, lazy_property
from taeda.nn.functional import logsigmoid

__all__ = ["NegativeBinomial"]


class NegativeBinomial(TwoForms):
    """How many trials succeed, each with probability ``probs``, before ``total_count`` have failed."""

    arg_constraints = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer
    _is_binary = True

    def __init__(
        self, total_count: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        (total_count,) = self._take(probs, logits, total_count)
        self.total_count = total_count.type_as(self._param)
        super().__init__(self._param.shape, validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        return self._expanded(NegativeBinomial, batch_shape, _instance, "total_count", *FORMS)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.logits.exp()

    @property
    def mode(self) -> Tensor:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self) -> Tensor:
        return self.mean / taeda.sigmoid(-self.logits)

    @lazy_property
    def _gamma(self) -> Gamma:
        """What the rate of a Poisson variable must be drawn from for it to be negative binomial."""
        return Gamma(concentration=self.total_count, rate=(-self.logits).exp(), validate_args=False)

    def sample(self, sample_shape: Sequence[int] = SCALAR) -> Tensor:
        with taeda.no_grad():
            return taeda.poisson(self._gamma.sample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        n = self.total_count
        log_powers = n * logsigmoid(-self.logits) + value * logsigmoid(self.logits)
        log_ways = taeda.lgamma(n + value) - taeda.lgamma(1.0 + value) - taeda.lgamma(n)
        return log_powers + log_ways.masked_fill(n + value == 0.0, 0.0)
