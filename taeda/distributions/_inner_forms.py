"""Distributions whose probabilities are kept by another distribution inside."""

from __future__ import annotations

from typing import Any

from taeda import Size, Tensor
from taeda.distributions.distribution import Distribution


class InnerForms(Distribution):
    """``probs``, ``logits`` and their shape are those of the attribute that ``_inner_name`` names."""

    _inner_name: str

    @property
    def _inner(self) -> Any:
        return self.__dict__[self._inner_name]

    @property
    def probs(self) -> Tensor:
        """The probabilities."""
        return self._inner.probs

    @property
    def logits(self) -> Tensor:
        """The log-odds, or the logarithms of the probabilities."""
        return self._inner.logits

    @property
    def param_shape(self) -> Size:
        """The shape of ``probs`` and ``logits``."""
        return self._inner.param_shape

    def _new(self, *args: Any, **kwargs: Any) -> Tensor:
        """An empty tensor as ``Tensor.new`` makes it, with dtype and device of the parameters."""
        return self._inner._new(*args, **kwargs)
