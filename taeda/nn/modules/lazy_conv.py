"""Convolutions that take ``in_channels`` from their first input."""

from __future__ import annotations

from typing import Any

from taeda import Tensor
from taeda.nn.modules.conv import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from taeda.nn.modules.lazy import LazyModuleMixin
from taeda.nn.parameter import UninitializedParameter, is_lazy
from taeda.types import Device, _dtype

__all__ = [
    "LazyConv1d",
    "LazyConv2d",
    "LazyConv3d",
    "LazyConvTranspose1d",
    "LazyConvTranspose2d",
    "LazyConvTranspose3d",
]


class _LazyConvXdMixin(LazyModuleMixin):
    in_channels: int
    out_channels: int
    groups: int
    kernel_size: tuple[int, ...]
    transposed: bool
    weight: Any
    bias: Any

    def _make_lazy(self, out_channels: int, bias: bool, device: Any, dtype: Any) -> None:
        self.out_channels = out_channels
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        if not is_lazy(self.weight) and self.in_channels:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self, input: Tensor, *args: Any, **kwargs: Any) -> None:
        if not is_lazy(self.weight):
            return
        spatial = len(self.kernel_size)
        if input.dim() not in (spatial + 1, spatial + 2):
            raise RuntimeError(
                f"taeda.nn.{type(self).__name__}: expected {spatial + 1} or {spatial + 2} dimensions; got "
                f"{tuple(input.shape)}"
            )
        self.in_channels = input.shape[-spatial - 1]
        if self.in_channels % self.groups:
            raise ValueError(
                f"taeda.nn.{type(self).__name__}: groups {self.groups} does not divide the {self.in_channels} channels "
                "of the first input"
            )
        if self.transposed:
            channels = (self.in_channels, self.out_channels // self.groups)
        else:
            channels = (self.out_channels, self.in_channels // self.groups)
        self.weight.materialize((*channels, *self.kernel_size))
        if self.bias is not None:
            self.bias.materialize((self.out_channels,))
        self.reset_parameters()


class _LazyConv(_LazyConvXdMixin):
    def __init__(
        self,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Device = None,
        dtype: _dtype | None = None,
    ) -> None:
        super().__init__(0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode)
        self._make_lazy(out_channels, bias, device, dtype)


class _LazyConvTranspose(_LazyConvXdMixin):
    def __init__(
        self,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Device = None,
        dtype: _dtype | None = None,
    ) -> None:
        super().__init__(0, 0, kernel_size, stride, padding, output_padding, groups, False, dilation, padding_mode)
        self._make_lazy(out_channels, bias, device, dtype)


class LazyConv1d(_LazyConv, Conv1d):  # type: ignore[misc]
    """A `Conv1d` that takes ``in_channels`` from its first input, and then is one."""

    cls_to_become = Conv1d


class LazyConv2d(_LazyConv, Conv2d):  # type: ignore[misc]
    """A `Conv2d` that takes ``in_channels`` from its first input, and then is one."""

    cls_to_become = Conv2d


class LazyConv3d(_LazyConv, Conv3d):  # type: ignore[misc]
    """A `Conv3d` that takes ``in_channels`` from its first input, and then is one."""

    cls_to_become = Conv3d


class LazyConvTranspose1d(_LazyConvTranspose, ConvTranspose1d):  # type: ignore[misc]
    """A `ConvTranspose1d` that takes ``in_channels`` from its first input, and then is one."""

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyConvTranspose, ConvTranspose2d):  # type: ignore[misc]
    """A `ConvTranspose2d` that takes ``in_channels`` from its first input, and then is one."""

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyConvTranspose, ConvTranspose3d):  # type: ignore[misc]
    """A `ConvTranspose3d` that takes ``in_channels`` from its first input, and then is one."""

    cls_to_become = ConvTranspose3d
