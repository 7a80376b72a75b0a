"""Convolutions over int8 with the addition after them."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda.ao.nn.intrinsic.modules import fused
from taeda.ao.nn.quantized.modules import conv

ops: Any = taeda.ops.quantized


class ConvAdd2d(conv.Conv2d):
    """``conv2d(input) + other`` of quantised tensors."""

    _op, _FLOAT_MODULE = "conv2d_add", fused.ConvAdd2d

    def _get_name(self) -> str:
        return "QuantizedConvAdd2d"

    def forward(self, input: Tensor, extra_input: Tensor) -> Tensor:  # type: ignore[override]
        """The quantised result."""
        result: Tensor = getattr(ops, self._op)(
            self._padded(input), extra_input, self._packed_params, self.scale, self.zero_point
        )  # fmt: skip
        return result


class ConvAddReLU2d(ConvAdd2d):
    """``relu(conv2d(input) + other)`` of quantised tensors."""

    _op, _FLOAT_MODULE = "conv2d_add_relu", fused.ConvAddReLU2d

    def _get_name(self) -> str:
        return "QuantizedConvAddReLU2d"
