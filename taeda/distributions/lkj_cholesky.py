"""The LKJ distribution of Cholesky factors of correlation matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda.distributions import constraints
from taeda.distributions.beta import Beta
from taeda.distributions.distribution import Distribution
from taeda.distributions.utils import SCALAR, broadcast_all

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    """Lower Cholesky factors of ``dim`` by ``dim`` correlation matrices whose density is the determinant to the power
    ``concentration - 1``: uniform at 1, near the identity for large ones."""

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None) -> None:
        if dim < 2:
            raise ValueError(f"LKJCholesky: dim must be an integer of at least 2, got {dim}")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        # The squared length of each row left of the diagonal depends on how many elements are there. The first row has
        # none; a draw is made for it nevertheless, and not used.
        count = taeda.arange(dim, dtype=self.concentration.dtype, device=self.concentration.device).clamp(min=1)
        self._beta = Beta(0.5 * count, self.concentration.unsqueeze(-1) + 0.5 * (dim - 1 - count))
        super().__init__(self.concentration.shape, taeda.Size((dim, dim)), validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = self._get_checked_instance(LKJCholesky, _instance)
        new.dim, new._beta = self.dim, self._beta.expand((*batch_shape, self.dim))
        return self._expanded(LKJCholesky, batch_shape, new, "concentration")

    def sample(self, sample_shape: Sequence[int] = SCALAR) -> Tensor:
        """Draws by the onion method: each row is a random direction of a random length, and the diagonal the rest."""
        squares = self._beta.sample(sample_shape).unsqueeze(-1)
        shape = self._extended_shape(sample_shape)
        with taeda.no_grad():
            below = taeda.randn(shape, dtype=squares.dtype, device=squares.device).tril(-1)
            direction = below / below.norm(dim=-1, keepdim=True)
            direction[..., 0, :] = 0.0  # the first row has nothing below the diagonal
            rows = squares.sqrt() * direction
            rest = (1 - rows.pow(2).sum(-1)).clamp(min=taeda.finfo(rows.dtype).tiny)
            return rows + rest.sqrt().diag_embed()

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        n, less = self.dim, self.dim - 1
        rows = taeda.arange(2, n + 1, dtype=self.concentration.dtype, device=self.concentration.device)
        # The determinant is the square of the diagonal's product; the rest is the Jacobian of the factorisation.
        powers = 2 * (self.concentration - 1).unsqueeze(-1) + n - rows
        unnormalised = (powers * value.diagonal(dim1=-2, dim2=-1)[..., 1:].log()).sum(-1)
        alpha = self.concentration + 0.5 * less
        log_volume = 0.5 * less * math.log(math.pi) + taeda.mvlgamma(alpha - 0.5, p=less) - taeda.lgamma(alpha) * less
        return unnormalised - log_volume
