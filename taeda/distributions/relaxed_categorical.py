"""Categorical draws made differentiable: the concrete, or Gumbel-softmax, distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda.distributions import constraints
from taeda.distributions._inner_forms import InnerForms
from taeda.distributions.categorical import Categorical
from taeda.distributions.transformed_distribution import TransformedDistribution
from taeda.distributions.transforms import ExpTransform
from taeda.distributions.utils import SCALAR, broadcast_all, clamp_probs

__all__ = ["ExpRelaxedCategorical", "RelaxedOneHotCategorical"]


class ExpRelaxedCategorical(InnerForms):
    """The logarithm of ``RelaxedOneHotCategorical``: the log-softmax of ``logits`` with Gumbel noise, over
    ``temperature``."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.real_vector  # its draws fill less of it: their exponentials sum to 1
    has_rsample = True
    _inner_name = "_categorical"

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self._categorical = Categorical(probs, logits)
        self.temperature = temperature
        shape = self._categorical.param_shape
        super().__init__(self._categorical.batch_shape, shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = self._get_checked_instance(ExpRelaxedCategorical, _instance)
        new.temperature = self.temperature
        new._categorical = self._categorical.expand(batch_shape)
        return self._finish_expanded(new, batch_shape)

    def rsample(self, sample_shape: Sequence[int] = SCALAR) -> Tensor:
        shape = self._extended_shape(sample_shape)
        u = clamp_probs(taeda.rand(shape, dtype=self.logits.dtype, device=self.logits.device))
        scores = (self.logits - (-u.log()).log()) / self.temperature
        return scores - scores.logsumexp(dim=-1, keepdim=True)

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        count = self.event_shape[-1]
        logits, value = broadcast_all(self.logits, value)
        temperature = taeda.as_tensor(self.temperature, dtype=value.dtype, device=value.device)
        log_scale = math.lgamma(count) + (count - 1) * temperature.log()
        score = logits - value * temperature
        return (score - score.logsumexp(dim=-1, keepdim=True)).sum(-1) + log_scale


class RelaxedOneHotCategorical(InnerForms, TransformedDistribution):
    """Points of the simplex that approach one-hot vectors as ``temperature`` falls to 0."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex
    has_rsample = True
    base_dist: ExpRelaxedCategorical
    _inner_name = "base_dist"

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        TransformedDistribution.__init__(self, base, ExpTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        return super().expand(batch_shape, self._get_checked_instance(RelaxedOneHotCategorical, _instance))

    @property
    def temperature(self) -> Any:
        """How far draws stay from the corners."""
        return self.base_dist.temperature
