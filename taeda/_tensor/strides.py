"""How a new tensor may lie in memory."""

from __future__ import annotations

from collections.abc import Sequence

import taeda
from taeda import Tensor


def make_contiguous_strides_for(shape: Sequence[int], row_major: bool = True) -> tuple[int, ...]:
    """The strides of elements that follow one another; with ``row_major=False`` matrices are column by column.

    Args:
        shape: sizes, none negative.
        row_major: whether the last dimension is the innermost, else the one before it.

    Raises:
        ValueError: a negative size.
    """
    if any(size < 0 for size in shape):
        raise ValueError(f"make_contiguous_strides_for: sizes are at least 0; got {tuple(shape)}")
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    strides.reverse()
    if not row_major and len(shape) >= 2:
        strides[-2:] = [1, max(shape[-2], 1)]
    return tuple(strides)


def suggest_memory_format(x: Tensor) -> taeda.memory_format:
    """Channels last where the strides of ``x`` rise in that order, and not as well in the other; else contiguous."""
    wanted = {4: taeda.channels_last, 5: taeda.channels_last_3d}.get(x.dim())
    if wanted is None:
        return taeda.contiguous_format
    least, sizes, strides = 0, x.shape, x.stride()
    for d in (1, *range(x.dim() - 1, 1, -1), 0):
        if sizes[d] == 0 or strides[d] < least or (d == 0 and least == strides[1]):
            return taeda.contiguous_format
        least = strides[d] * sizes[d]
    return wanted
