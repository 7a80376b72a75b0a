"""What transforms make of a distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Size, Tensor
from taeda.distributions import constraints
from taeda.distributions.distribution import Distribution
from taeda.distributions.independent import Independent
from taeda.distributions.transforms import ComposeTransform, Transform
from taeda.distributions.utils import SCALAR, _sum_rightmost

__all__ = ["TransformedDistribution"]


class TransformedDistribution(Distribution):
    """Draws of ``base_distribution`` sent through ``transforms``, the first first."""

    arg_constraints: Any = {}

    def __init__(self, base_distribution: Distribution, transforms: Any, validate_args: bool | None = None) -> None:
        self.transforms = [transforms] if isinstance(transforms, Transform) else transforms
        if not isinstance(self.transforms, list) or not all(isinstance(t, Transform) for t in self.transforms):
            raise ValueError(f"{type(self).__name__} takes a Transform or a list of them, got {transforms!r}")
        transform = ComposeTransform(self.transforms)
        base_shape = base_distribution.batch_shape + base_distribution.event_shape
        if len(base_shape) < transform.domain.event_dim:
            raise ValueError(
                f"{type(self).__name__}: {transform!r} takes {transform.domain.event_dim} dimensions, but draws of "
                f"{base_distribution!r} have the shape {tuple(base_shape)}"
            )
        shape = transform.forward_shape(base_shape)
        self.base_dist = self._fitted(base_distribution, transform.inverse_shape(shape), transform.domain.event_dim)
        grown = transform.codomain.event_dim - transform.domain.event_dim
        batch_dims = len(shape) - max(transform.codomain.event_dim, len(self.base_dist.event_shape) + grown)
        super().__init__(shape[:batch_dims], shape[batch_dims:], validate_args=validate_args)

    @staticmethod
    def _fitted(base: Distribution, shape: Size, event_dim: int) -> Any:
        """``base`` expanded so that its draws have ``shape``, with events of at least ``event_dim`` dimensions."""
        if base.batch_shape + base.event_shape != shape:
            base = base.expand(shape[: len(shape) - len(base.event_shape)])
        missing = event_dim - len(base.event_shape)
        return Independent(base, missing) if missing > 0 else base

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = self._get_checked_instance(TransformedDistribution, _instance)
        new.transforms = self.transforms
        shape = ComposeTransform(self.transforms).inverse_shape(Size(batch_shape) + self.event_shape)
        new.base_dist = self.base_dist.expand(shape[: len(shape) - len(self.base_dist.event_shape)])
        return self._finish_expanded(new, batch_shape)

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> Any:
        if not self.transforms:
            return self.base_dist.support
        codomain = self.transforms[-1].codomain
        missing = len(self.event_shape) - codomain.event_dim
        return constraints.independent(codomain, missing) if missing > 0 else codomain

    @property
    def has_rsample(self) -> bool:
        return self.base_dist.has_rsample

    def sample(self, sample_shape: Sequence[int] = SCALAR) -> Tensor:
        with taeda.no_grad():
            return self._forward(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Sequence[int] = SCALAR) -> Tensor:
        return self._forward(self.base_dist.rsample(sample_shape))

    def _forward(self, x: Tensor) -> Tensor:
        for transform in self.transforms:
            x = transform(x)
        return x

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        event_dim = len(self.event_shape)
        log_prob: Any = 0.0
        y = value
        for transform in reversed(self.transforms):
            x = transform.inv(y)
            batch_dims = event_dim - transform.codomain.event_dim
            log_prob = log_prob - _sum_rightmost(transform.log_abs_det_jacobian(x, y), batch_dims)
            event_dim = transform.domain.event_dim + batch_dims
            y = x
        return log_prob + _sum_rightmost(self.base_dist.log_prob(y), event_dim - len(self.base_dist.event_shape))

    def _turned(self, probability: Tensor) -> Tensor:
        """The probability up to a value from that of the base, or back: the complement where the transforms fall."""
        sign = ComposeTransform(self.transforms).sign
        return probability if isinstance(sign, int) and sign == 1 else sign * (probability - 0.5) + 0.5

    def cdf(self, value: Tensor) -> Tensor:
        self._checked(value)
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        return self._turned(self.base_dist.cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        return self._forward(self.base_dist.icdf(self._turned(value)))
