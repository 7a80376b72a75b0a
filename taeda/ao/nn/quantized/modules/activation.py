"""Activations of quantised tensors."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor, nn
from taeda.ao.nn.quantized.modules.utils import _quantize_weight, output_qparams

ops: Any = taeda.ops.quantized


class ReLU6(nn.ReLU):
    """``min(max(x, 0), 6)``; the result has the argument's scale."""

    def _get_name(self) -> str:
        return "QuantizedReLU6"

    def forward(self, input: Tensor) -> Tensor:
        """The quantised result."""
        return ops.relu6(input, self.inplace)

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> ReLU6:
        """Of the float module."""
        return cls(mod.inplace)


class Hardswish(nn.Hardswish):
    """``nn.Hardswish`` with a result of the given scale and zero point."""

    scale: Tensor
    zero_point: Tensor

    def __init__(self, scale: float, zero_point: int, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.register_buffer("scale", taeda.tensor(scale, device=device))
        self.register_buffer("zero_point", taeda.tensor(zero_point, device=device))

    def _get_name(self) -> str:
        return "QuantizedHardswish"

    def forward(self, input: Tensor) -> Tensor:
        """The quantised result."""
        return ops.hardswish(input, float(self.scale), int(self.zero_point))

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Hardswish:
        """Of a float module that was observed."""
        return cls(*output_qparams(mod))

    @classmethod
    def from_reference(cls, mod: Any, scale: float, zero_point: int) -> Hardswish:
        """Of a reference module."""
        return cls(float(scale), int(zero_point))


class ELU(nn.ELU):
    """``nn.ELU`` with a result of the given scale and zero point."""

    def __init__(self, scale: float, zero_point: int, alpha: float = 1.0) -> None:
        super().__init__(alpha)
        self.scale, self.zero_point = scale, zero_point

    def _get_name(self) -> str:
        return "QuantizedELU"

    def forward(self, input: Tensor) -> Tensor:
        """The quantised result."""
        return ops.elu(input, self.scale, self.zero_point, self.alpha)

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> ELU:
        """Of a float module that was observed."""
        return cls(*output_qparams(mod), mod.alpha)

    @classmethod
    def from_reference(cls, mod: Any, scale: float, zero_point: int) -> ELU:
        """Of a reference module."""
        return cls(float(scale), int(zero_point), mod.alpha)


class LeakyReLU(nn.LeakyReLU):
    """``nn.LeakyReLU`` with a result of the given scale and zero point."""

    scale: Tensor
    zero_point: Tensor

    def __init__(
        self, scale: float, zero_point: int, negative_slope: float = 1e-2, inplace: bool = False, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(negative_slope, inplace)
        self.register_buffer("scale", taeda.tensor(scale, device=device))
        self.register_buffer("zero_point", taeda.tensor(zero_point, device=device))

    def _get_name(self) -> str:
        return "QuantizedLeakyReLU"

    def forward(self, input: Tensor) -> Tensor:
        """The quantised result."""
        return ops.leaky_relu(input, self.negative_slope, self.inplace, float(self.scale), int(self.zero_point))

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> LeakyReLU:
        """Of a float module that was observed."""
        return cls(*output_qparams(mod), mod.negative_slope, mod.inplace)

    @classmethod
    def from_reference(cls, mod: Any, scale: float, zero_point: int) -> LeakyReLU:
        """Of a reference module."""
        return cls(float(scale), int(zero_point), mod.negative_slope, mod.inplace)


class Sigmoid(nn.Sigmoid):
    """``nn.Sigmoid`` with a result of the given scale and zero point."""

    def __init__(self, output_scale: float, output_zero_point: int) -> None:
        super().__init__()
        self.output_scale, self.output_zero_point = output_scale, output_zero_point

    def forward(self, input: Tensor) -> Tensor:
        """The quantised result."""
        return ops.sigmoid(input, self.output_scale, self.output_zero_point)

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Sigmoid:
        """Of a float module that was observed."""
        return cls(*output_qparams(mod))


class Softmax(nn.Softmax):
    """``nn.Softmax`` with a result of the given scale and zero point."""

    def __init__(self, dim: int | None = None, scale: float = 1.0, zero_point: int = 0) -> None:
        super().__init__()
        self.dim, self.scale, self.zero_point = dim, scale, zero_point

    def _get_name(self) -> str:
        return "QuantizedSoftmax"

    def forward(self, input: Tensor) -> Tensor:
        """The quantised result."""
        dim = self.dim if self.dim is not None else 0 if input.dim() in (0, 1, 3) else 1
        return ops.softmax(input, dim, self.scale, self.zero_point)

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Softmax:
        """Of a float module that was observed."""
        return cls(mod.dim, *output_qparams(mod))

    @classmethod
    def from_reference(cls, mod: Any, scale: float, zero_point: int) -> Softmax:
        """Of a reference module."""
        return cls(mod.dim, float(scale), int(zero_point))


class PReLU(nn.Module):
    """``nn.PReLU`` with a quantised weight, (num_parameters), and a result of the given scale and zero point."""

    def __init__(self, output_scale: float, output_zero_point: int, num_parameters: int = 1) -> None:
        super().__init__()
        self.num_parameters, self.scale, self.zero_point = num_parameters, output_scale, output_zero_point
        self.set_weight(taeda.quantize_per_tensor(taeda.full((num_parameters,), 0.25), 1.0, 0, taeda.quint8))

    def _get_name(self) -> str:
        return "QuantizedPReLU"

    def set_weight(self, w: Tensor) -> None:
        """Another weight."""
        self.weight = w

    def forward(self, input: Tensor) -> Tensor:
        """The quantised result."""
        return ops.prelu(input, self.weight, self.scale, self.zero_point)

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> PReLU:
        """Of a float module that was observed."""
        return cls.from_reference(mod, *output_qparams(mod))

    @classmethod
    def from_reference(cls, mod: Any, scale: float, zero_point: int) -> PReLU:
        """Of a float module, for a result of this scale."""
        made = cls(float(scale), int(zero_point), mod.num_parameters)
        weight = mod.weight.detach().float()
        watching = mod.qconfig.weight()
        watching(weight)
        made.set_weight(_quantize_weight(weight, watching))
        return made
