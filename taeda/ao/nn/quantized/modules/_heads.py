"""Multi-head attention whose projections compute with quantised tensors."""

from __future__ import annotations

from typing import Any

import taeda
from taeda.ao.nn.quantizable.modules import activation


class MultiheadAttention(activation.MultiheadAttention):
    """`taeda.ao.nn.quantizable.MultiheadAttention` after it was observed and converted."""

    _FLOAT_MODULE: Any = activation.MultiheadAttention

    def _get_name(self) -> str:
        return "QuantizedMultiheadAttention"

    @classmethod
    def from_float(cls, other: Any) -> Any:
        """Raises NotImplementedError: it is made of one that was observed."""
        raise NotImplementedError("quantized.MultiheadAttention: made of a quantizable one that was observed")

    @classmethod
    def from_observed(cls, other: Any) -> Any:
        """Of a `taeda.ao.nn.quantizable.MultiheadAttention` that was observed."""
        converted = taeda.ao.quantization.convert(other, inplace=False)
        converted.__class__ = cls
        return converted
