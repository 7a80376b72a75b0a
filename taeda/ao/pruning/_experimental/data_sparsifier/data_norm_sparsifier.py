"""Zeros where the norm of a tensor's blocks is smallest."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda.ao.pruning import _masks
from taeda.ao.pruning._experimental.data_sparsifier.base_data_sparsifier import BaseDataSparsifier
from taeda.ao.pruning.sparsifier.weight_norm_sparsifier import check_zeros

__all__ = ["DataNormSparsifier"]


class DataNormSparsifier(BaseDataSparsifier):
    """As `WeightNormSparsifier`, for vectors and matrices by name; ``norm`` is ``"L1"`` or ``"L2"``."""

    def __init__(
        self,
        data_list: list[tuple[str, Any]] | None = None,
        sparsity_level: float = 0.5,
        sparse_block_shape: tuple[int, int] = (1, 4),
        zeros_per_block: int | None = None,
        norm: str = "L1",
    ) -> None:
        if zeros_per_block is None:
            zeros_per_block = sparse_block_shape[0] * sparse_block_shape[1]
        assert norm in ("L1", "L2"), f"DataNormSparsifier: norm must be 'L1' or 'L2'; got {norm!r}"
        self.norm = norm
        super().__init__(
            data_list=data_list,
            sparsity_level=sparsity_level,
            sparse_block_shape=sparse_block_shape,
            zeros_per_block=zeros_per_block,
        )

    def update_mask(
        self,
        name: str,
        data: Tensor,
        sparsity_level: float,
        sparse_block_shape: tuple[int, int],
        zeros_per_block: int,
        **kwargs: Any,
    ) -> None:
        """Masks the smallest blocks.

        Raises:
            ValueError: more zeros than a block has elements, or more than two dimensions.
        """
        values = sparse_block_shape[0] * sparse_block_shape[1]
        check_zeros("DataNormSparsifier", zeros_per_block, values)
        norms = (data.abs() if self.norm == "L1" else data * data).squeeze()
        if norms.dim() > 2:
            raise ValueError(f"DataNormSparsifier: data must be a vector or a matrix; {name!r} is {list(data.shape)}")
        norms = norms if norms.dim() == 2 else norms.reshape(1, -1)
        mask = self.get_mask(name)
        if sparsity_level <= 0 or zeros_per_block == 0:
            mask.data = taeda.ones_like(mask)
        else:
            made = _masks.tensor_mask(norms, sparsity_level, sparse_block_shape, spare=0)
            made = taeda.maximum(made, _masks.block_mask(norms, zeros_per_block, sparse_block_shape))
            mask.data = made.reshape(mask.shape).to(taeda.int8)
