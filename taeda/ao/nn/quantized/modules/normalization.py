"""Norms of quantised tensors."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor, nn
from taeda.ao.nn.quantized.modules.utils import output_qparams

ops: Any = taeda.ops.quantized


class _Scaled(nn.Module):
    """A norm whose result has the buffers ``scale`` and ``zero_point``."""

    scale: Tensor
    zero_point: Tensor

    def _set(self, weight: Any, bias: Any, scale: float, zero_point: int, device: Any) -> None:
        self.weight, self.bias = weight, bias
        self.register_buffer("scale", taeda.tensor(scale, device=device))
        self.register_buffer("zero_point", taeda.tensor(zero_point, device=device))

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """Of a float module that was observed."""
        return cls.from_reference(mod, *output_qparams(mod))

    @classmethod
    def from_reference(cls, mod: Any, scale: float, zero_point: int) -> Any:
        """Of a float module, for a result of this scale."""
        raise NotImplementedError


class LayerNorm(_Scaled, nn.LayerNorm):
    """``nn.LayerNorm`` of quantised tensors."""

    def __init__(
        self, normalized_shape: Any, weight: Any, bias: Any, scale: float, zero_point: int, eps: float = 1e-5,
        elementwise_affine: bool = True, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        nn.LayerNorm.__init__(self, normalized_shape, eps, elementwise_affine, device=device, dtype=dtype)
        self._set(weight, bias, scale, zero_point, device)

    def _get_name(self) -> str:
        return "QuantizedLayerNorm"

    def forward(self, input: Tensor) -> Tensor:
        """The quantised result."""
        return ops.layer_norm(
            input, list(self.normalized_shape), self.weight, self.bias, self.eps, float(self.scale),
            int(self.zero_point),
        )  # fmt: skip

    @classmethod
    def from_reference(cls, mod: Any, scale: float, zero_point: int) -> LayerNorm:
        """Of a float module, for a result of this scale."""
        return cls(
            mod.normalized_shape, mod.weight, mod.bias, float(scale), int(zero_point), mod.eps, mod.elementwise_affine
        )  # fmt: skip


class GroupNorm(_Scaled, nn.GroupNorm):
    """``nn.GroupNorm`` of quantised tensors."""

    def __init__(
        self, num_groups: int, num_channels: int, weight: Any, bias: Any, scale: float, zero_point: int,
        eps: float = 1e-5, affine: bool = True, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        nn.GroupNorm.__init__(self, num_groups, num_channels, eps, affine, device=device, dtype=dtype)
        self._set(weight, bias, scale, zero_point, device)

    def _get_name(self) -> str:
        return "QuantizedGroupNorm"

    def forward(self, input: Tensor) -> Tensor:
        """The quantised result."""
        return ops.group_norm(
            input, self.num_groups, self.weight, self.bias, self.eps, float(self.scale), int(self.zero_point)
        )  # fmt: skip

    @classmethod
    def from_reference(cls, mod: Any, scale: float, zero_point: int) -> GroupNorm:
        """Of a float module, for a result of this scale."""
        return cls(
            mod.num_groups, mod.num_channels, mod.weight, mod.bias, float(scale), int(zero_point), mod.eps, mod.affine
        )  # fmt: skip


class _InstanceNorm(_Scaled):
    def __init__(
        self, num_features: int, weight: Any, bias: Any, scale: float, zero_point: int, eps: float = 1e-5,
        momentum: float = 0.1, affine: bool = False, track_running_stats: bool = False, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super(_Scaled, self).__init__(
            num_features, eps, momentum, affine, track_running_stats, device=device, dtype=dtype
        )  # type: ignore[call-arg]
        self._set(weight, bias, scale, zero_point, device)

    def _get_name(self) -> str:
        return f"Quantized{type(self).__name__}"

    def forward(self, input: Tensor) -> Tensor:
        """The quantised result."""
        return ops.instance_norm(input, self.weight, self.bias, self.eps, float(self.scale), int(self.zero_point))

    eps: float

    @classmethod
    def from_reference(cls, mod: Any, scale: float, zero_point: int) -> Any:
        """Of a float module, for a result of this scale."""
        return cls(mod.num_features, mod.weight, mod.bias, float(scale), int(zero_point), mod.eps, mod.affine)


class InstanceNorm1d(_InstanceNorm, nn.InstanceNorm1d):
    """``nn.InstanceNorm1d`` of quantised tensors."""


class InstanceNorm2d(_InstanceNorm, nn.InstanceNorm2d):
    """``nn.InstanceNorm2d`` of quantised tensors."""


class InstanceNorm3d(_InstanceNorm, nn.InstanceNorm3d):
    """``nn.InstanceNorm3d`` of quantised tensors."""
