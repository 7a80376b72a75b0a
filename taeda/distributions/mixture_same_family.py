"""Mixtures of distributions of one family."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Size, Tensor
from taeda.distributions import constraints
from taeda.distributions.categorical import Categorical
from taeda.distributions.constraints import MixtureSameFamilyConstraint
from taeda.distributions.distribution import Distribution
from taeda.distributions.utils import SCALAR

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """A draw of the component that ``mixture_distribution`` chooses; the components are the last batch dimension of
    ``component_distribution``."""

    arg_constraints: Any = {}
    has_rsample = False

    def __init__(
        self,
        mixture_distribution: Categorical,
        component_distribution: Distribution,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(f"MixtureSameFamily: the mixture must be a Categorical, got {mixture_distribution!r}")
        if not isinstance(component_distribution, Distribution):
            raise ValueError(
                f"MixtureSameFamily: the components must be a Distribution, got {component_distribution!r}"
            )
        mixture_shape, shape = mixture_distribution.batch_shape, component_distribution.batch_shape
        count = mixture_distribution.param_shape[-1]
        if shape[-1] != count:
            raise ValueError(
                f"MixtureSameFamily: the mixture has {count} components, but their batch_shape is {tuple(shape)}"
            )
        if any(1 != one != other != 1 for one, other in zip(reversed(mixture_shape), reversed(shape[:-1]))):
            raise ValueError(
                f"MixtureSameFamily: the mixture's batch_shape {tuple(mixture_shape)} does not go with that of the "
                f"components, {tuple(shape)}"
            )
        self._mixture_distribution, self._component_distribution = mixture_distribution, component_distribution
        self._num_component = count
        super().__init__(shape[:-1], component_distribution.event_shape, validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = self._get_checked_instance(MixtureSameFamily, _instance)
        new._component_distribution = self._component_distribution.expand((*batch_shape, self._num_component))
        new._mixture_distribution = self._mixture_distribution.expand(batch_shape)
        new._num_component = self._num_component
        return self._finish_expanded(new, batch_shape)

    @constraints.dependent_property
    def support(self) -> Any:
        return MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self) -> Categorical:
        """What chooses the component."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Distribution:
        """The components."""
        return self._component_distribution

    @property
    def _weights(self) -> Tensor:
        """The probabilities of the components, shaped for means over ``batch_shape + (components,) + event_shape``."""
        weights = self._mixture_distribution.probs
        return weights.reshape(weights.shape + (1,) * len(self._event_shape))

    def _average(self, values: Tensor) -> Tensor:
        return (self._weights * values).sum(-1 - len(self._event_shape))

    def _for_components(self, value: Tensor) -> Tensor:
        return value.unsqueeze(-1 - len(self._event_shape))

    @property
    def mean(self) -> Tensor:
        return self._average(self._component_distribution.mean)

    @property
    def variance(self) -> Tensor:
        """By the law of total variance: the mean of the variances and the variance of the means."""
        within = self._average(self._component_distribution.variance)
        deviation = self._component_distribution.mean - self._for_components(self.mean)
        return within + self._average(deviation.pow(2.0))

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        log_prob = self._component_distribution.log_prob(self._for_components(value))
        return (log_prob + self._mixture_distribution.logits.log_softmax(-1)).logsumexp(-1)

    def cdf(self, value: Tensor) -> Tensor:
        return (self._component_distribution.cdf(self._for_components(value)) * self._mixture_distribution.probs).sum(
            -1
        )

    def sample(self, sample_shape: Sequence[int] = SCALAR) -> Tensor:
        with taeda.no_grad():
            chosen = self._mixture_distribution.expand(self._batch_shape).sample(sample_shape)
            draws = self._component_distribution.sample(sample_shape)
            components = -1 - len(self._event_shape)
            batch_shape = Size(sample_shape) + self._batch_shape
            index = chosen.reshape(batch_shape + (1,) * (1 + len(self._event_shape)))
            index = index.expand(batch_shape + (1,) + self._event_shape)
            return draws.gather(components, index).squeeze(components)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(\n  {self._mixture_distribution},\n  {self._component_distribution})"
