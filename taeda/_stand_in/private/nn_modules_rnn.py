"""Batches in another order."""

from __future__ import annotations

from taeda import Tensor

__all__ = ["_apply_permutation", "apply_permutation"]


def _apply_permutation(tensor: Tensor, permutation: Tensor, dim: int = 1) -> Tensor:
    """``tensor`` with its dimension ``dim`` in the order of ``permutation``."""
    return tensor.index_select(dim, permutation)


apply_permutation = _apply_permutation
