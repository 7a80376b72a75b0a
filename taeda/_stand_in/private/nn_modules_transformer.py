"""What transformers that follow PyTorch's are built of."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor, nn
from taeda.nn.modules.transformer import _causal_mask, _copies, _is_causal

__all__ = ["_detect_is_causal_mask", "_generate_square_subsequent_mask", "_get_clones", "_get_seq_len"]


def _get_clones(module: nn.Module, N: int) -> nn.ModuleList:
    """``N`` copies of a module."""
    return _copies(module, N)


def _generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
    """(sz, sz), minus infinity above the diagonal and 0 elsewhere."""
    return _causal_mask(sz, device, dtype or taeda.get_default_dtype())


def _detect_is_causal_mask(mask: Tensor | None, is_causal: bool | None = None, size: int | None = None) -> bool:
    """Whether to treat the mask as causal: as the caller says, or else by looking at it."""
    return _is_causal(mask, is_causal, size)


def _get_seq_len(src: Tensor, batch_first: bool) -> int | None:
    """Of the sequences in ``src``, (S, E), (N, S, E) or (S, N, E); None where each has its own."""
    if src.is_nested:
        return None
    return src.size(1 if src.dim() == 3 and batch_first else 0)
