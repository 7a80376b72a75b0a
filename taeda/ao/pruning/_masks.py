"""Masks of the smallest elements, in blocks: what the sparsifiers by norm share."""

from __future__ import annotations

import taeda
from taeda import Tensor

__all__ = ["block_mask", "tensor_mask"]

Shape = tuple[int, int]


def _blocks(data: Tensor, shape: Shape) -> Tensor:
    """The blocks of a matrix, one a row, with NaN beyond its edges: no mean has it, and no element is larger."""
    (height, width), (high, wide) = data.shape, shape
    whole = data.new_full((height + -height % high, width + -width % wide), float("nan"))
    whole[:height, :width] = data
    parts = whole.reshape(whole.shape[0] // high, high, whole.shape[1] // wide, wide)
    return parts.permute(0, 2, 1, 3).reshape(-1, high * wide)


def _joined(blocks: Tensor, shape: Shape, size: Shape) -> Tensor:
    """The matrix of such blocks."""
    (height, width), (high, wide) = size, shape
    rows, columns = -(-height // high), -(-width // wide)
    parts = blocks.reshape(rows, columns, high, wide).permute(0, 2, 1, 3)
    return parts.reshape(rows * high, columns * wide)[:height, :width].contiguous()


def tensor_mask(norms: Tensor, level: float, shape: Shape, *, spare: int = 1) -> Tensor:
    """Zero in the blocks with the smallest mean norms, a share ``level`` of all; one elsewhere.

    Below the level 1, ``spare`` blocks always stay.
    """
    if level >= 1:
        return taeda.zeros_like(norms)
    means = _blocks(norms, shape).nanmean(1)
    count = max(0, min(round(level * means.numel()), means.numel() - spare))
    mask = means.new_ones(means.shape)
    mask[means.topk(count, largest=False).indices] = 0
    return _joined(mask[:, None].expand(-1, shape[0] * shape[1]), shape, (norms.shape[0], norms.shape[1]))


def block_mask(norms: Tensor, zeros: int, shape: Shape) -> Tensor:
    """Zero for the ``zeros`` smallest elements of each block, one elsewhere."""
    blocks = _blocks(norms, shape)
    smallest = blocks.topk(zeros, dim=1, largest=False).indices
    mask = taeda.ones_like(blocks).scatter_(1, smallest, 0)
    return _joined(mask, shape, (norms.shape[0], norms.shape[1]))
