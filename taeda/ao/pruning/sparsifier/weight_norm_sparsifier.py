"""Zeros where the norm of blocks is smallest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda.ao.pruning import _masks
from taeda.ao.pruning.sparsifier.base_sparsifier import BaseSparsifier

__all__ = ["WeightNormSparsifier"]

_NORMS: dict[int, Callable[[Tensor], Tensor]] = {1: taeda.abs, 2: lambda x: x * x}


class WeightNormSparsifier(BaseSparsifier):
    """Prunes the share ``sparsity_level`` of blocks whose mean norm is smallest, ``zeros_per_block`` elements in each.

    ``norm`` is 1, 2 (the default) or a function of the weight that gives a number for each element.
    """

    def __init__(
        self,
        sparsity_level: float = 0.5,
        sparse_block_shape: tuple[int, int] = (1, 4),
        zeros_per_block: int | None = None,
        norm: Callable[[Tensor], Tensor] | int | None = None,
    ) -> None:
        if zeros_per_block is None:
            zeros_per_block = sparse_block_shape[0] * sparse_block_shape[1]
        super().__init__(
            {
                "sparsity_level": sparsity_level,
                "sparse_block_shape": sparse_block_shape,
                "zeros_per_block": zeros_per_block,
            }
        )
        found = norm if callable(norm) else _NORMS.get(2 if norm is None else norm)
        if found is None:
            raise NotImplementedError(f"WeightNormSparsifier: norm must be 1, 2 or a function; got {norm!r}")
        self.norm_fn = found

    def update_mask(
        self,
        module: nn.Module,
        tensor_name: str,
        sparsity_level: float,
        sparse_block_shape: tuple[int, int],
        zeros_per_block: int,
        **kwargs: Any,
    ) -> None:
        """Masks the smallest blocks of the weight as it is now, with its mask."""
        values = sparse_block_shape[0] * sparse_block_shape[1]
        check_zeros("WeightNormSparsifier", zeros_per_block, values)
        mask = getattr(module.parametrizations, tensor_name)[0].mask
        if sparsity_level <= 0 or zeros_per_block == 0:
            mask.data = taeda.ones_like(mask)
        elif sparsity_level >= 1 and zeros_per_block == values:
            mask.data = taeda.zeros_like(mask)
        else:
            norms = self.norm_fn(getattr(module, tensor_name))
            made = _masks.tensor_mask(norms, sparsity_level, sparse_block_shape)
            if zeros_per_block != values:
                made = taeda.logical_or(made, _masks.block_mask(norms, zeros_per_block, sparse_block_shape))
            mask.data = made


def check_zeros(who: str, zeros: int, values: int) -> None:
    """Raises ValueError for more zeros than a block has elements."""
    if not 0 <= zeros <= values:
        raise ValueError(f"{who}: zeros_per_block must be from 0 to {values}, the size of a block; got {zeros}")
