"""The binomial distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda.distributions import constraints
from taeda.distributions._two_forms import FORMS, TwoForms
from taeda.distributions.utils import SCALAR
from taeda.nn.functional import softplus

__all__ = ["Binomial"]


class Binomial(TwoForms):
    """How many of ``total_count`` trials succeed, each with probability ``probs``."""

    arg_constraints = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True
    _is_binary = True

    def __init__(
        self, total_count: Any = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        (total_count,) = self._take(probs, logits, total_count)
        self.total_count = total_count.type_as(self._param)
        super().__init__(self._param.shape, validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        return self._expanded(Binomial, batch_shape, _instance, "total_count", *FORMS)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = SCALAR) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with taeda.no_grad():
            return taeda.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        n = self.total_count
        log_choices = taeda.lgamma(n + 1) - taeda.lgamma(value + 1) - taeda.lgamma(n - value + 1)
        return log_choices + value * self.logits - n * softplus(self.logits)

    def _common_count(self) -> int:
        count = int(self.total_count.max())
        if not self.total_count.min() == count:
            raise NotImplementedError(
                "Binomial: the support can be enumerated only if total_count is the same all over, "
                f"got {self.total_count}"
            )
        return count

    def entropy(self) -> Tensor:
        self._common_count()
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(log_prob.exp() * log_prob).sum(0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        counts = taeda.arange(1 + self._common_count(), dtype=self._param.dtype, device=self._param.device)
        return self._enumerated(counts, expand)
