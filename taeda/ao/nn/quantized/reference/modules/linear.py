"""The reference of linear layers."""

from __future__ import annotations

from typing import Any

from taeda import Tensor, nn
from taeda.ao.nn.quantized.reference.modules.utils import QuantizedWeights
from taeda.nn import functional as F


class Linear(QuantizedWeights, nn.Linear):
    """``nn.Linear`` that computes in float with its weight as quantisation leaves it."""

    def __init__(
        self, in_features: int, out_features: int, bias_: bool = True, device: Any = None, dtype: Any = None,
        weight_qparams: dict[str, Any] | None = None,
    ) -> None:  # fmt: skip
        nn.Linear.__init__(self, in_features, out_features, bias_, device, dtype)
        self._describe("weight", weight_qparams, device)

    def forward(self, x: Tensor) -> Tensor:
        """The float result."""
        return F.linear(x, self.get_weight(), self.bias)

    @classmethod
    def from_float(cls, float_linear: Any, weight_qparams: dict[str, Any]) -> Linear:
        """Of a float module; its parameters are taken over."""
        made = cls(
            float_linear.in_features, float_linear.out_features, float_linear.bias is not None,
            weight_qparams=weight_qparams,
        )  # fmt: skip
        made.weight = nn.Parameter(float_linear.weight.detach())
        if float_linear.bias is not None:
            made.bias = nn.Parameter(float_linear.bias.detach())
        return made
