"""Convolutions whose weight is rounded while training."""

from __future__ import annotations

from typing import Any, ClassVar

from taeda import Tensor, nn
from taeda.ao.nn.qat.modules.linear import take_weight


class _ConvNd(nn.modules.conv._ConvNd):
    """A float convolution with a weight that ``weight_fake_quant`` rounds."""

    _FLOAT_MODULE: ClassVar[Any] = nn.modules.conv._ConvNd

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        dilation: Any = 1, groups: int = 1, bias: bool = True, padding_mode: str = "zeros", qconfig: Any = None,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode,
            device=device, dtype=dtype,
        )  # type: ignore[call-arg] # fmt: skip
        if not qconfig:
            raise ValueError(f"{type(self).__name__}: a module that rounds while training needs a qconfig")
        self.qconfig = qconfig
        self.weight_fake_quant = qconfig.weight()

    def forward(self, input: Tensor) -> Tensor:
        """As the float convolution, with the rounded weight."""
        return self._conv_forward(input, self.weight_fake_quant(self.weight), self.bias)  # type: ignore[operator]

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """Of a float module with a qconfig; its parameters are taken over, not copied.

        Raises:
            AssertionError: it has no qconfig.
        """
        if not getattr(mod, "qconfig", None):
            raise AssertionError(f"{cls.__name__}: the float module must have a qconfig")
        conv = mod[0] if isinstance(mod, nn.Sequential) else mod
        made = cls(
            conv.in_channels, conv.out_channels, conv.kernel_size, stride=conv.stride, padding=conv.padding,
            dilation=conv.dilation, groups=conv.groups, bias=conv.bias is not None, padding_mode=conv.padding_mode,
            qconfig=mod.qconfig,
        )  # fmt: skip
        made.bias = conv.bias
        take_weight(made, conv)
        return made

    def to_float(self) -> nn.Module:
        """A float module with copies of the parameters."""
        made = self._FLOAT_MODULE(
            self.in_channels, self.out_channels, self.kernel_size, self.stride, self.padding, self.dilation,
            self.groups, self.bias is not None, self.padding_mode,
        )  # fmt: skip
        made.weight = nn.Parameter(self.weight.detach())
        if self.bias is not None:
            made.bias = nn.Parameter(self.bias.detach())
        made.train(self.training)
        float_module: nn.Module = made
        return float_module


class Conv1d(_ConvNd, nn.Conv1d):
    """``nn.Conv1d`` with a weight that ``weight_fake_quant`` rounds."""

    _FLOAT_MODULE = nn.Conv1d


class Conv2d(_ConvNd, nn.Conv2d):
    """``nn.Conv2d`` with a weight that ``weight_fake_quant`` rounds."""

    _FLOAT_MODULE = nn.Conv2d


class Conv3d(_ConvNd, nn.Conv3d):
    """``nn.Conv3d`` with a weight that ``weight_fake_quant`` rounds."""

    _FLOAT_MODULE = nn.Conv3d
