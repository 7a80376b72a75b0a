"""Affine and bilinear maps."""

from __future__ import annotations

import math
from typing import Any

import taeda
from taeda import Tensor
from taeda.nn import functional as F
from taeda.nn import init
from taeda.nn.modules.lazy import LazyModuleMixin
from taeda.nn.modules.module import Module
from taeda.nn.parameter import Parameter, UninitializedParameter, is_lazy
from taeda.types import Device, _dtype

__all__ = ["Bilinear", "Identity", "LazyLinear", "Linear"]


class Identity(Module):
    """Gives back its input; takes and ignores any arguments."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        return input


class Linear(Module):
    """``input @ weight.T + bias``: (..., in_features) to (..., out_features).

    ``weight`` is (out_features, in_features), ``bias`` (out_features); both start uniform within
    ``1 / sqrt(in_features)``.

    Args:
        in_features, out_features: sizes of the last dimension before and after.
        bias: whether there is an offset.
        device, dtype: of the parameters.
    """

    in_features: int
    out_features: int
    weight: Tensor
    bias: Tensor | None

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, device: Device = None, dtype: _dtype | None = None
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Parameter(taeda.empty((out_features, in_features), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(taeda.empty(out_features, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws new weights."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))  # that is: within 1 / sqrt(in_features)
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class NonDynamicallyQuantizableLinear(Linear):
    """The output projection of attention: a `Linear` that quantisation leaves alone."""


class Bilinear(Module):
    """``input1 @ weight @ input2 + bias``: (..., in1_features) and (..., in2_features) to (..., out_features).

    Args:
        in1_features, in2_features, out_features: sizes of the last dimensions.
        bias: whether there is an offset.
        device, dtype: of the parameters; ``weight`` is (out_features, in1_features, in2_features).
    """

    bias: Tensor | None

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: Device = None,
        dtype: _dtype | None = None,
    ) -> None:
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f"taeda.nn.Bilinear: in1_features must be greater than 0; got {in1_features}")
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        self.weight = Parameter(taeda.empty((out_features, in1_features, in2_features), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(taeda.empty(out_features, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws new weights, uniform within ``1 / sqrt(in1_features)``."""
        bound = 1 / math.sqrt(self.weight.size(1))
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )


class LazyLinear(LazyModuleMixin, Linear):
    """A `Linear` that takes ``in_features`` from its first input, and then is one."""

    cls_to_become = Linear
    weight: Any
    bias: Any

    def __init__(
        self, out_features: int, bias: bool = True, device: Device = None, dtype: _dtype | None = None
    ) -> None:
        super().__init__(0, 0, False)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_features = out_features
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        if not is_lazy(self.weight) and self.in_features:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        if not is_lazy(self.weight):
            return
        self.in_features = input.shape[-1]
        self.weight.materialize((self.out_features, self.in_features))
        if self.bias is not None:
            self.bias.materialize((self.out_features,))
        self.reset_parameters()
