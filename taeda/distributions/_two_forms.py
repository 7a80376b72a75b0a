"""Distributions that take their probabilities either as such or as logits, and give both."""

from __future__ import annotations

from typing import Any

from taeda import Size, Tensor
from taeda.distributions.distribution import Distribution
from taeda.distributions.utils import broadcast_all, lazy_property, logits_to_probs, probs_to_logits


def given_form(owner: Distribution, probs: Any, logits: Any) -> str:
    """Which of the two was given, by name; ``ValueError`` unless it is one."""
    if (probs is None) == (logits is None):
        raise ValueError(f"{type(owner).__name__} takes one of probs and logits")
    return "probs" if logits is None else "logits"


FORMS = ("probs", "logits", "_param")
"""The attributes of ``TwoForms`` that expand with the batch."""


class TwoForms(Distribution):
    """``probs`` or ``logits`` is an attribute; the other is computed from it on demand."""

    _is_binary: bool
    """Whether a logit is the log-odds of one probability, or vectors of logits are normalised together."""
    _param: Tensor
    """The form that was given."""

    def _take(self, probs: Any, logits: Any, *others: Any) -> tuple[Tensor, ...]:
        """Keeps the form that was given, broadcast with ``others``, which it returns."""
        name = given_form(self, probs, logits)
        value, *rest = broadcast_all(logits if probs is None else probs, *others)
        self._keep(name, value)
        return tuple(rest)

    def _take_vectors(self, probs: Any, logits: Any) -> Size:
        """Keeps the form that was given, normalised along the last dimension; returns the batch shape."""
        name = given_form(self, probs, logits)
        value = logits if probs is None else probs
        if value.dim() < 1:
            raise ValueError(f"{type(self).__name__}: {name} must have at least one dimension")
        normalizer = value.sum(-1, keepdim=True) if logits is None else value.logsumexp(-1, keepdim=True)
        self._keep(name, value / normalizer if logits is None else value - normalizer)
        return value.shape[:-1]

    def _keep(self, name: str, value: Tensor) -> None:
        setattr(self, name, value)
        self._param = value

    def _enumerated(self, values: Tensor, expand: bool) -> Tensor:
        """``values``, all that a draw can be, as ``enumerate_support`` gives them."""
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values

    @lazy_property
    def probs(self) -> Tensor:
        """The probabilities."""
        return logits_to_probs(self.logits, is_binary=self._is_binary)

    @lazy_property
    def logits(self) -> Tensor:
        """The log-odds, or the logarithms of the probabilities."""
        return probs_to_logits(self.probs, is_binary=self._is_binary)

    @property
    def param_shape(self) -> Size:
        """The shape of ``probs`` and ``logits``."""
        return self._param.shape

    def _new(self, *args: Any, **kwargs: Any) -> Tensor:
        """An empty tensor as ``Tensor.new`` makes it, with dtype and device of the parameters."""
        return self._param.new(*args, **kwargs)
