"""A linear layer and the ReLU after it, whose weight is rounded while training."""

from __future__ import annotations

from typing import Any

from taeda import Tensor, nn
from taeda.ao.nn.intrinsic.modules import fused
from taeda.ao.nn.qat.modules import linear
from taeda.nn import functional as F


class LinearReLU(linear.Linear):
    """``Linear``, ``ReLU``, with a weight that is rounded."""

    _FLOAT_MODULE: Any = fused.LinearReLU

    def forward(self, input: Tensor) -> Tensor:
        """The result of the ReLU."""
        return F.relu(super().forward(input))

    def to_float(self) -> nn.Module:
        """The float sequence with copies of the parameters."""
        return fused.LinearReLU(super().to_float(), nn.ReLU())
