"""The references of convolutions."""

from __future__ import annotations

from typing import Any

from taeda import Tensor, nn
from taeda.ao.nn.quantized.reference.modules.utils import QuantizedWeights
from taeda.nn import functional as F


class _ConvNd(QuantizedWeights):
    """A convolution that computes in float with its weight as quantisation leaves it."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        dilation: Any = 1, groups: int = 1, bias: bool = True, padding_mode: str = "zeros", device: Any = None,
        dtype: Any = None, weight_qparams: dict[str, Any] | None = None,
    ) -> None:  # fmt: skip
        super(QuantizedWeights, self).__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode, device, dtype
        )  # type: ignore[call-arg] # fmt: skip
        self._describe("weight", weight_qparams, device)

    def forward(self, x: Tensor) -> Tensor:
        """The float result."""
        result: Tensor = self._conv_forward(x, self.get_weight(), self.bias)  # type: ignore[operator]
        return result

    @classmethod
    def from_float(cls, float_conv: Any, weight_qparams: dict[str, Any]) -> Any:
        """Of a float module; its parameters are taken over."""
        more = {"output_padding": float_conv.output_padding} if float_conv.transposed else {}
        made = cls(
            float_conv.in_channels, float_conv.out_channels, float_conv.kernel_size, stride=float_conv.stride,
            padding=float_conv.padding, dilation=float_conv.dilation, groups=float_conv.groups,
            bias=float_conv.bias is not None, padding_mode=float_conv.padding_mode, weight_qparams=weight_qparams,
            **more,
        )  # fmt: skip
        made.weight = nn.Parameter(float_conv.weight.detach())
        if float_conv.bias is not None:
            made.bias = nn.Parameter(float_conv.bias.detach())
        return made


class Conv1d(_ConvNd, nn.Conv1d):
    """The reference of ``nn.Conv1d``."""


class Conv2d(_ConvNd, nn.Conv2d):
    """The reference of ``nn.Conv2d``."""


class Conv3d(_ConvNd, nn.Conv3d):
    """The reference of ``nn.Conv3d``."""


class _ConvTransposeNd(_ConvNd):
    _dims: int

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        output_padding: Any = 0, groups: int = 1, bias: bool = True, dilation: Any = 1, padding_mode: str = "zeros",
        device: Any = None, dtype: Any = None, weight_qparams: dict[str, Any] | None = None,
    ) -> None:  # fmt: skip
        super(QuantizedWeights, self).__init__(
            in_channels, out_channels, kernel_size, stride, padding, output_padding, groups, bias, dilation,
            padding_mode, device, dtype,
        )  # type: ignore[call-arg] # fmt: skip
        self._describe("weight", weight_qparams, device)

    def forward(self, x: Tensor, output_size: list[int] | None = None) -> Tensor:  # type: ignore[override]
        """The float result."""
        mod: Any = self
        padding = mod._output_padding(
            x, output_size, mod.stride, mod.padding, mod.kernel_size, self._dims, mod.dilation
        )  # fmt: skip
        result: Tensor = getattr(F, f"conv_transpose{self._dims}d")(
            x, self.get_weight(), mod.bias, mod.stride, mod.padding, padding, mod.groups, mod.dilation
        )  # fmt: skip
        return result


class ConvTranspose1d(_ConvTransposeNd, nn.ConvTranspose1d):
    """The reference of ``nn.ConvTranspose1d``."""

    _dims = 1


class ConvTranspose2d(_ConvTransposeNd, nn.ConvTranspose2d):
    """The reference of ``nn.ConvTranspose2d``."""

    _dims = 2


class ConvTranspose3d(_ConvTransposeNd, nn.ConvTranspose3d):
    """The reference of ``nn.ConvTranspose3d``."""

    _dims = 3
