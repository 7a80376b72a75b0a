"""Linear layers with a ReLU after them that quantise their inputs on the fly."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda.ao.nn.intrinsic.modules import fused
from taeda.ao.nn.quantized.dynamic.modules import linear

ops: Any = taeda.ops.quantized


class LinearReLU(linear.Linear):
    """``relu(linear(input))`` of a float32 input that is quantised on the way; the result is float32."""

    _FLOAT_MODULE: Any = fused.LinearReLU

    def _get_name(self) -> str:
        return "DynamicQuantizedLinearReLU"

    def forward(self, x: Tensor) -> Tensor:
        """The float32 result."""
        packed = self._packed_params
        if packed.dtype == taeda.qint8:
            return ops.linear_relu_dynamic(x, packed._packed_params, reduce_range=True)
        return ops.linear_relu_dynamic_fp16(x, packed._packed_params)
