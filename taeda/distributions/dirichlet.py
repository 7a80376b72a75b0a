"""The Dirichlet distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda.autograd import Function
from taeda.autograd.function import once_differentiable
from taeda.distributions import constraints
from taeda.distributions.exp_family import ExponentialFamily
from taeda.distributions.utils import SCALAR

__all__ = ["Dirichlet"]


class _Dirichlet(Function):
    """Draws whose gradient with respect to the concentration follows the implicit function theorem."""

    @staticmethod
    def forward(ctx: Any, concentration: Tensor) -> Tensor:  # type: ignore[override]
        draws = taeda._sample_dirichlet(concentration)
        ctx.save_for_backward(draws, concentration)
        return draws

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Tensor:  # type: ignore[override]
        draws, concentration = ctx.saved_tensors
        total = concentration.sum(-1, True).expand_as(concentration)
        slope = taeda._dirichlet_grad(draws, concentration, total)
        # Moving one element takes from the others in proportion.
        return slope * (grad - (draws * grad).sum(-1, True))


class Dirichlet(ExponentialFamily):
    """Points of the simplex; ``concentration``, of shape ``(..., n)``, are the weights of its corners."""

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise ValueError("Dirichlet: concentration must have at least one dimension")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        return self._expanded(Dirichlet, batch_shape, _instance, "concentration")

    def rsample(self, sample_shape: Sequence[int] = SCALAR) -> Tensor:
        return _Dirichlet.apply(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        a = self.concentration
        return taeda.xlogy(a - 1.0, value).sum(-1) + taeda.lgamma(a.sum(-1)) - taeda.lgamma(a).sum(-1)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Tensor:
        above = (self.concentration - 1).clamp(min=0.0)
        mode = above / above.sum(-1, True)
        # With all weights below 1 the density grows without bound at every corner: the first is as good as any.
        corner = taeda.zeros_like(mode)
        corner[..., 0] = 1.0
        return taeda.where((self.concentration < 1).all(dim=-1, keepdim=True), corner, mode)

    @property
    def variance(self) -> Tensor:
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def entropy(self) -> Tensor:
        a, count = self.concentration, self.concentration.shape[-1]
        total = a.sum(-1)
        return (
            taeda.lgamma(a).sum(-1)
            - taeda.lgamma(total)
            - (count - total) * taeda.digamma(total)
            - ((a - 1.0) * taeda.digamma(a)).sum(-1)
        )

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.concentration,)

    def _log_normalizer(self, x: Tensor) -> Tensor:  # type: ignore[override]
        return x.lgamma().sum(-1) - taeda.lgamma(x.sum(-1))
