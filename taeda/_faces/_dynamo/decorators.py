"""What PyTorch notes on tensors for its compiler, as far as its files hold it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class _DimRange:
    """The least and the greatest size of a dimension."""

    dim: int
    min: int
    max: int
