"""Zeros far from the diagonal."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import nn
from taeda.ao.pruning.sparsifier.base_sparsifier import BaseSparsifier

__all__ = ["NearlyDiagonalSparsifier"]


class NearlyDiagonalSparsifier(BaseSparsifier):
    """Keeps the diagonal of a matrix and those beside it, ``nearliness`` in all, an odd number; 0 keeps nothing."""

    def __init__(self, nearliness: int = 1) -> None:
        super().__init__(defaults={"nearliness": nearliness})

    def update_mask(self, module: nn.Module, tensor_name: str, nearliness: int, **kwargs: Any) -> None:
        """Masks all but the diagonals.

        Raises:
            ValueError: ``nearliness`` is even, or wider than the matrix.
        """
        mask = getattr(module.parametrizations, tensor_name)[0].mask
        mask.data = taeda.zeros_like(mask)
        if nearliness <= 0:
            return
        height, width = mask.shape
        beside = nearliness // 2
        if nearliness % 2 == 0 or beside >= min(height, width):
            raise ValueError(
                f"NearlyDiagonalSparsifier: nearliness must be odd and below {2 * min(height, width)}; got {nearliness}"
            )
        mask.data = taeda.ones_like(mask).tril(beside).triu(-beside)
