"""Dropout of quantised tensors: none."""

from __future__ import annotations

from typing import Any

from taeda import Tensor, nn


class Dropout(nn.Dropout):
    """The identity, which dropout is after training."""

    def _get_name(self) -> str:
        return "QuantizedDropout"

    def forward(self, input: Tensor) -> Tensor:
        """``input``."""
        return input

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Dropout:
        """Of the float module."""
        return cls(mod.p, mod.inplace)

    @classmethod
    def from_reference(cls, mod: Any, scale: float, zero_point: int) -> Dropout:
        """Of the float module."""
        return cls(mod.p, mod.inplace)
