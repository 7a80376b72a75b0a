"""Linear layers over int8 with what follows them."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda.ao.nn.intrinsic.modules import fused
from taeda.ao.nn.quantized.modules import linear
from taeda.ao.nn.quantized.modules.utils import output_qparams

ops: Any = taeda.ops.quantized


class LinearReLU(linear.Linear):
    """``relu(linear(input))`` of quantised tensors."""

    _FLOAT_MODULE: Any = fused.LinearReLU

    def __init__(self, in_features: int, out_features: int, bias: bool = True, dtype: Any = taeda.qint8) -> None:
        super().__init__(in_features, out_features, bias, dtype)

    def _get_name(self) -> str:
        return "QuantizedLinearReLU"

    def forward(self, x: Tensor) -> Tensor:
        """The quantised result."""
        return ops.linear_relu(x, self._packed_params._packed_params, self.scale, self.zero_point)


class LinearLeakyReLU(linear.Linear):
    """``leaky_relu(linear(input))`` of quantised tensors."""

    _FLOAT_MODULE: Any = fused.LinearLeakyReLU

    def __init__(
        self, in_features: int, out_features: int, negative_slope: float = 0.01, bias: bool = True,
        dtype: Any = taeda.qint8,
    ) -> None:  # fmt: skip
        super().__init__(in_features, out_features, bias, dtype)
        self.negative_slope = negative_slope

    def _get_name(self) -> str:
        return "QuantizedLinearLeakyReLU"

    def forward(self, x: Tensor) -> Tensor:
        """The quantised result."""
        return ops.linear_leaky_relu(
            x, self._packed_params._packed_params, self.scale, self.zero_point, self.negative_slope
        )  # fmt: skip

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> LinearLeakyReLU:
        """Of a fused float module that was observed."""
        made = _packed(cls, mod)
        made.negative_slope = mod[1].negative_slope
        return made


class LinearTanh(linear.Linear):
    """``tanh(linear(input))`` of quantised tensors."""

    _FLOAT_MODULE: Any = fused.LinearTanh

    def _get_name(self) -> str:
        return "QuantizedLinearTanh"

    def forward(self, x: Tensor) -> Tensor:
        """The quantised result."""
        return ops.linear_tanh(x, self._packed_params._packed_params, self.scale, self.zero_point)


def _packed(cls: type[Any], mod: Any) -> Any:
    plain = linear.Linear.from_float(mod)
    made = cls(plain.in_features, plain.out_features)
    made.set_weight_bias(*plain._weight_bias())
    made.scale, made.zero_point = output_qparams(mod)
    return made
