"""Filters that are near to all others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda.ao.pruning._experimental.pruner.base_structured_sparsifier import BaseStructuredSparsifier

__all__ = ["FPGMPruner"]


class FPGMPruner(BaseStructuredSparsifier):
    """Prunes filters by the geometric median (He et al., *Filter pruning via geometric median*): those whose distances
    to all others, of order ``dist`` (1 or 2) or by a function of two matrices, sum to the least."""

    def __init__(self, sparsity_level: float = 0.5, dist: Callable[..., Tensor] | int | None = None) -> None:
        super().__init__({"sparsity_level": sparsity_level})
        if not callable(dist) and dist not in (None, 1, 2):
            raise NotImplementedError(f"FPGMPruner: dist must be 1, 2 or a function; got {dist!r}")
        order = 2 if dist is None else dist
        self.dist_fn = dist if callable(dist) else lambda a, b: taeda.cdist(a, b, p=order)

    def _compute_distance(self, t: Tensor) -> Tensor:
        rows = t.flatten(1)
        return self.dist_fn(rows, rows).abs().sum(1)

    def update_mask(self, module: nn.Module, tensor_name: str, sparsity_level: float, **kwargs: Any) -> None:
        """Masks the filters nearest to the median, one at least."""
        mask = getattr(module.parametrizations, tensor_name)[0].mask
        if sparsity_level <= 0:
            mask.data = taeda.ones_like(mask)
        elif sparsity_level >= 1:
            mask.data = taeda.zeros_like(mask)
        else:
            distances = self._compute_distance(getattr(module, tensor_name))
            count = max(1, int(sparsity_level * len(distances)))
            mask.data[distances.topk(count, largest=False).indices] = False
