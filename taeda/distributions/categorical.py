"""The categorical distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Size, Tensor
from taeda.distributions import constraints
from taeda.distributions._two_forms import FORMS, TwoForms
from taeda.distributions.utils import SCALAR

__all__ = ["Categorical"]


class Categorical(TwoForms):
    """One of ``0, ..., n - 1`` with the probabilities ``probs``, of shape ``(..., n)``, which need not sum to 1; or
    with ``logits``, their logarithms up to a constant. The attributes are normalised."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True
    _is_binary = False

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        batch_shape = self._take_vectors(probs, logits)
        self._num_events = self._param.shape[-1]
        super().__init__(batch_shape, validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = self._get_checked_instance(Categorical, _instance)
        new._num_events = self._num_events
        return self._expanded(Categorical, batch_shape, new, *FORMS)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self._num_events - 1)

    def _undefined(self) -> Tensor:
        return self._param.new_full(self._extended_shape(), taeda.nan)

    @property
    def mean(self) -> Tensor:
        """NaN: categories are not numbers."""
        return self._undefined()

    @property
    def mode(self) -> Tensor:
        return self.probs.argmax(dim=-1)

    @property
    def variance(self) -> Tensor:
        """NaN: categories are not numbers."""
        return self._undefined()

    def sample(self, sample_shape: Sequence[int] = SCALAR) -> Tensor:
        rows = self.probs.reshape(-1, self._num_events)
        with taeda.no_grad():
            draws = taeda.multinomial(rows, Size(sample_shape).numel(), True).T
        return draws.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        index, logits = taeda.broadcast_tensors(value.long().unsqueeze(-1), self.logits)
        return logits.gather(-1, index[..., :1]).squeeze(-1)

    def entropy(self) -> Tensor:
        finite = self.logits.clamp(min=taeda.finfo(self.logits.dtype).min)  # so that 0 * log(0) is 0
        return -(finite * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        return self._enumerated(taeda.arange(self._num_events, device=self._param.device), expand)
