"""Bernoulli draws made differentiable: the binary concrete distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda.distributions import constraints
from taeda.distributions._inner_forms import InnerForms
from taeda.distributions._two_forms import FORMS, TwoForms
from taeda.distributions.transformed_distribution import TransformedDistribution
from taeda.distributions.transforms import SigmoidTransform
from taeda.distributions.utils import SCALAR, broadcast_all, clamp_probs
from taeda.nn.functional import softplus

__all__ = ["LogitRelaxedBernoulli", "RelaxedBernoulli"]


class LogitRelaxedBernoulli(TwoForms):
    """The log-odds of ``RelaxedBernoulli``: logistic noise around ``logits``, over ``temperature``."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.real
    has_rsample = True
    _is_binary = True

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self.temperature = temperature
        self._take(probs, logits)
        super().__init__(self._param.shape, validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = self._get_checked_instance(LogitRelaxedBernoulli, _instance)
        new.temperature = self.temperature
        return self._expanded(LogitRelaxedBernoulli, batch_shape, new, *FORMS)

    def rsample(self, sample_shape: Sequence[int] = SCALAR) -> Tensor:
        shape = self._extended_shape(sample_shape)
        probs = clamp_probs(self.probs.expand(shape))
        u = clamp_probs(taeda.rand(shape, dtype=probs.dtype, device=probs.device))
        return (u.log() - (-u).log1p() + probs.log() - (-probs).log1p()) / self.temperature

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        logits, value = broadcast_all(self.logits, value)
        noise = logits - value * self.temperature
        temperature = taeda.as_tensor(self.temperature, dtype=value.dtype, device=value.device)
        return temperature.log() + noise - 2 * softplus(noise)


class RelaxedBernoulli(InnerForms, TransformedDistribution):
    """Numbers between 0 and 1 that approach Bernoulli draws as ``temperature`` falls to 0."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    base_dist: LogitRelaxedBernoulli
    _inner_name = "base_dist"

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        TransformedDistribution.__init__(self, base, SigmoidTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        return super().expand(batch_shape, self._get_checked_instance(RelaxedBernoulli, _instance))

    @property
    def temperature(self) -> Any:
        """How far draws stay from 0 and 1."""
        return self.base_dist.temperature
