"""Distributions whose density is ``exp(<t(x), theta> - F(theta) + k(x))``."""

from __future__ import annotations

import taeda
from taeda import Tensor
from taeda.distributions.distribution import Distribution
from taeda.distributions.utils import _sum_rightmost

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """A distribution that knows its natural parameters ``theta`` and log-normaliser ``F``.

    Entropies and divergences follow from these by the gradient of ``F``, the mean of ``t(x)``. A subclass whose mean
    of the carrier ``k(x)`` depends on the parameters has no ``_mean_carrier_measure``, and an entropy of its own.
    """

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        self._lacks("_natural_params")

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        self._lacks("_log_normalizer")

    @property
    def _mean_carrier_measure(self) -> float | Tensor:
        self._lacks("_mean_carrier_measure")

    def _normalizer_and_gradients(self) -> tuple[list[Tensor], Tensor, tuple[Tensor, ...]]:
        """``theta``, ``F(theta)`` and its gradients."""
        with taeda.enable_grad():
            theta = [
                param if param.requires_grad else param.detach().requires_grad_() for param in self._natural_params
            ]
            normalizer = self._log_normalizer(*theta)
            return theta, normalizer, taeda.autograd.grad(normalizer.sum(), theta, create_graph=True)

    def entropy(self) -> Tensor:
        theta, normalizer, means = self._normalizer_and_gradients()
        result = normalizer - self._mean_carrier_measure
        for param, mean in zip(theta, means):
            result = result - _sum_rightmost(param * mean, param.dim() - len(self.batch_shape))
        return result
