"""Convolutions and their transposes."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import taeda
from taeda import Tensor
from taeda.nn import functional as F
from taeda.nn import init
from taeda.nn._functional.sizes import pair, single, triple
from taeda.nn.common_types import _size_1_t, _size_2_t, _size_3_t
from taeda.nn.modules.module import Module
from taeda.nn.modules.utils import _reverse_repeat_tuple
from taeda.nn.parameter import Parameter
from taeda.types import Device, _dtype

__all__ = [
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
]

_PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


class _ConvNd(Module):
    """What the convolutions share.

    ``weight`` is (out, in / groups, kernel...), for the transposed ones (in, out / groups, kernel...). Weight and bias
    start uniform within ``1 / sqrt(fan_in)``.
    """

    weight: Tensor
    bias: Tensor | None

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        padding: str | tuple[int, ...],
        dilation: tuple[int, ...],
        transposed: bool,
        output_padding: tuple[int, ...],
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Device = None,
        dtype: _dtype | None = None,
    ) -> None:
        super().__init__()
        _check_conv(type(self).__name__, in_channels, out_channels, stride, padding, groups, padding_mode)
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.transposed = transposed
        self.output_padding = output_padding
        self.groups = groups
        self.padding_mode = padding_mode
        self._reversed_padding_repeated_twice = self._pad_widths()
        channels = (in_channels, out_channels // groups) if transposed else (out_channels, in_channels // groups)
        self.weight = Parameter(taeda.empty((*channels, *kernel_size), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(taeda.empty(out_channels, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def _pad_widths(self) -> Any:
        """The padding as `F.pad` takes it; for 'same' the odd element goes to the end."""
        if not isinstance(self.padding, str):
            return _reverse_repeat_tuple(self.padding, 2)
        widths = []
        for dilation, kernel in zip(reversed(self.dilation), reversed(self.kernel_size), strict=True):
            total = dilation * (kernel - 1) if self.padding == "same" else 0
            widths += [total // 2, total - total // 2]
        return widths

    def reset_parameters(self) -> None:
        """Draws new weights."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in != 0:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def _prepare(self, input: Tensor) -> tuple[Tensor, Any]:
        """The input, padded by hand in the modes that the native does not know, and the padding left to it."""
        if self.padding_mode == "zeros":
            return input, self.padding
        padded = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
        return padded, (0,) * len(self.kernel_size)

    def extra_repr(self) -> str:
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        if self.padding != (0,) * len(self.kernel_size):
            text += f", padding={self.padding}"
        if self.dilation != (1,) * len(self.dilation):
            text += f", dilation={self.dilation}"
        if self.output_padding != (0,) * len(self.output_padding):
            text += f", output_padding={self.output_padding}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias is None:
            text += ", bias=False"
        if self.padding_mode != "zeros":
            text += f", padding_mode={self.padding_mode}"
        return text


def _check_conv(
    name: str, in_channels: int, out_channels: int, stride: Any, padding: Any, groups: int, padding_mode: str
) -> None:
    if groups <= 0:
        raise ValueError(f"taeda.nn.{name}: groups must be greater than 0; got {groups}")
    for what, channels in (("in_channels", in_channels), ("out_channels", out_channels)):
        if channels % groups != 0:
            raise ValueError(f"taeda.nn.{name}: groups {groups} does not divide {what} {channels}")
    if isinstance(padding, str):
        if padding not in ("same", "valid"):
            raise ValueError(f"taeda.nn.{name}: padding must be 'same', 'valid' or numbers; got {padding!r}")
        if padding == "same" and any(step != 1 for step in stride):
            raise ValueError(f"taeda.nn.{name}: padding='same' goes with stride 1 only; got {stride}")
    if padding_mode not in _PADDING_MODES:
        raise ValueError(f"taeda.nn.{name}: padding_mode must be one of {_PADDING_MODES}; got {padding_mode!r}")


class Conv1d(_ConvNd):
    """Cross-correlation of (N, C, L) or (C, L) with learnt kernels.

    Args:
        padding: numbers, 'valid' (none) or 'same' (the output has the input's size; stride 1 only).
        groups: input and output channels are split into as many groups, which do not see each other.
        padding_mode: what stands in the padding: zeros, reflect, replicate or circular.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: _size_1_t,
        stride: _size_1_t = 1,
        padding: str | _size_1_t = 0,
        dilation: _size_1_t = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Device = None,
        dtype: _dtype | None = None,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            single(kernel_size),
            single(stride),
            padding if isinstance(padding, str) else single(padding),
            single(dilation),
            False,
            (0,),
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        input, padding = self._prepare(input)
        return F.conv1d(input, weight, bias, self.stride, padding, self.dilation, self.groups)

    def forward(self, input: Tensor) -> Tensor:
        return self._conv_forward(input, self.weight, self.bias)


class Conv2d(_ConvNd):
    """`Conv1d` for (N, C, H, W) or (C, H, W).

    Args:
        in_channels, out_channels: channels of the input, and of the result.
        kernel_size: of the window; one number, or one for each dimension.
        stride: steps between windows.
        padding: zeros (or what ``padding_mode`` says) added at both ends of each dimension; ``"same"`` keeps the sizes
            of the input, which needs a stride of 1; ``"valid"`` adds none.
        dilation: steps between the elements of a window.
        groups: channels are split into so many groups, each convolved by itself; both channel counts must be multiples.
        bias: whether a learnt number per output channel is added.
        padding_mode: ``"zeros"``, ``"reflect"``, ``"replicate"`` or ``"circular"``.
        device, dtype: of the parameters.

    Shapes:
        each size becomes ``floor((size + 2 * padding - dilation * (kernel_size - 1) - 1) / stride) + 1``;
        ``weight`` is (out_channels, in_channels / groups, kernel...), ``bias`` (out_channels).
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: _size_2_t,
        stride: _size_2_t = 1,
        padding: str | _size_2_t = 0,
        dilation: _size_2_t = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Device = None,
        dtype: _dtype | None = None,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            pair(kernel_size),
            pair(stride),
            padding if isinstance(padding, str) else pair(padding),
            pair(dilation),
            False,
            (0, 0),
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        input, padding = self._prepare(input)
        return F.conv2d(input, weight, bias, self.stride, padding, self.dilation, self.groups)

    def forward(self, input: Tensor) -> Tensor:
        return self._conv_forward(input, self.weight, self.bias)


class Conv3d(_ConvNd):
    """`Conv1d` for (N, C, D, H, W) or (C, D, H, W).

    Args:
        in_channels, out_channels: channels of the input, and of the result.
        kernel_size: of the window; one number, or one for each dimension.
        stride: steps between windows.
        padding: zeros (or what ``padding_mode`` says) added at both ends of each dimension; ``"same"`` keeps the sizes
            of the input, which needs a stride of 1; ``"valid"`` adds none.
        dilation: steps between the elements of a window.
        groups: channels are split into so many groups, each convolved by itself; both channel counts must be multiples.
        bias: whether a learnt number per output channel is added.
        padding_mode: ``"zeros"``, ``"reflect"``, ``"replicate"`` or ``"circular"``.
        device, dtype: of the parameters.

    Shapes:
        each size becomes ``floor((size + 2 * padding - dilation * (kernel_size - 1) - 1) / stride) + 1``;
        ``weight`` is (out_channels, in_channels / groups, kernel...), ``bias`` (out_channels).
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: _size_3_t,
        stride: _size_3_t = 1,
        padding: str | _size_3_t = 0,
        dilation: _size_3_t = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Device = None,
        dtype: _dtype | None = None,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            triple(kernel_size),
            triple(stride),
            padding if isinstance(padding, str) else triple(padding),
            triple(dilation),
            False,
            (0, 0, 0),
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        input, padding = self._prepare(input)
        return F.conv3d(input, weight, bias, self.stride, padding, self.dilation, self.groups)

    def forward(self, input: Tensor) -> Tensor:
        return self._conv_forward(input, self.weight, self.bias)


class _ConvTransposeNd(_ConvNd):
    """The gradient of a convolution, as a layer of its own."""

    _script_types: ClassVar = {"forward": {"output_size": list[int] | None}}

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        padding: tuple[int, ...],
        dilation: tuple[int, ...],
        transposed: bool,
        output_padding: tuple[int, ...],
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Device = None,
        dtype: _dtype | None = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(f"taeda.nn.{type(self).__name__}: padding_mode must be 'zeros'; got {padding_mode!r}")
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            transposed,
            output_padding,
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def _output_padding(
        self,
        input: Tensor,
        output_size: Any,
        stride: Any,
        padding: Any,
        kernel_size: Any,
        num_spatial_dims: int,
        dilation: Any = None,
    ) -> Any:
        """What to add at the end of each dimension to reach ``output_size``; ValueError if nothing does."""
        if output_size is None:
            return single(self.output_padding)
        name = f"taeda.nn.{type(self).__name__}"
        leading = input.dim() - num_spatial_dims
        wanted = list(output_size)
        if len(wanted) == leading + num_spatial_dims:
            wanted = wanted[leading:]
        if len(wanted) != num_spatial_dims:
            raise ValueError(
                f"{name}: output_size must have {num_spatial_dims} or {input.dim()} entries; got {list(output_size)}"
            )
        dilation = (1,) * num_spatial_dims if dilation is None else dilation
        smallest = [
            (input.size(leading + d) - 1) * stride[d] - 2 * padding[d] + dilation[d] * (kernel_size[d] - 1) + 1
            for d in range(num_spatial_dims)
        ]
        largest = [size + step - 1 for size, step in zip(smallest, stride, strict=True)]
        for size, low, high in zip(wanted, smallest, largest, strict=True):
            if not low <= size <= high:
                raise ValueError(f"{name}: output_size must lie between {smallest} and {largest}; got {wanted}")
        return [size - low for size, low in zip(wanted, smallest, strict=True)]

    def _arguments(self, input: Tensor, output_size: Any) -> tuple[Any, ...]:
        """The arguments that follow the input in all three natives."""
        spatial = len(self.kernel_size)
        extra = self._output_padding(
            input, output_size, self.stride, self.padding, self.kernel_size, spatial, self.dilation
        )
        return self.weight, self.bias, self.stride, self.padding, extra, self.groups, self.dilation


class ConvTranspose1d(_ConvTransposeNd):
    """Transposed convolution of (N, C, L) or (C, L): maps as the gradient of a `Conv1d` of the same arguments does.

    With a stride several input sizes of the convolution give one output size; ``output_padding``, or the
    ``output_size`` given to `forward`, chooses among them.

    Args:
        in_channels, out_channels: channels of the input, and of the result.
        kernel_size: of the window; one number, or one for each dimension.
        stride: by how much the result is larger.
        padding: what is cut from both ends: ``dilation * (kernel_size - 1) - padding`` zeros surround the input.
        output_padding: added to one end of the result's size; less than the stride or the dilation.
        groups: channels are split into so many groups, each by itself.
        bias: whether a learnt number per output channel is added.
        dilation: steps between the elements of a window.
        padding_mode: ``"zeros"`` alone.
        device, dtype: of the parameters.

    Shapes:
        each size becomes ``(size - 1) * stride - 2 * padding + dilation * (kernel_size - 1) + output_padding + 1``;
        ``weight`` is (in_channels, out_channels / groups, kernel...), ``bias`` (out_channels).
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: _size_1_t,
        stride: _size_1_t = 1,
        padding: _size_1_t = 0,
        output_padding: _size_1_t = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: _size_1_t = 1,
        padding_mode: str = "zeros",
        device: Device = None,
        dtype: _dtype | None = None,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            single(kernel_size),
            single(stride),
            single(padding),
            single(dilation),
            True,
            single(output_padding),
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def forward(self, input: Tensor, output_size: _size_1_t | None = None) -> Tensor:
        return F.conv_transpose1d(input, *self._arguments(input, output_size))


class ConvTranspose2d(_ConvTransposeNd):
    """`ConvTranspose1d` for (N, C, H, W) or (C, H, W).

    Args:
        in_channels, out_channels: channels of the input, and of the result.
        kernel_size: of the window; one number, or one for each dimension.
        stride: by how much the result is larger.
        padding: what is cut from both ends: ``dilation * (kernel_size - 1) - padding`` zeros surround the input.
        output_padding: added to one end of the result's size; less than the stride or the dilation.
        groups: channels are split into so many groups, each by itself.
        bias: whether a learnt number per output channel is added.
        dilation: steps between the elements of a window.
        padding_mode: ``"zeros"`` alone.
        device, dtype: of the parameters.

    Shapes:
        each size becomes ``(size - 1) * stride - 2 * padding + dilation * (kernel_size - 1) + output_padding + 1``;
        ``weight`` is (in_channels, out_channels / groups, kernel...), ``bias`` (out_channels).
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: _size_2_t,
        stride: _size_2_t = 1,
        padding: _size_2_t = 0,
        output_padding: _size_2_t = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: _size_2_t = 1,
        padding_mode: str = "zeros",
        device: Device = None,
        dtype: _dtype | None = None,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            pair(kernel_size),
            pair(stride),
            pair(padding),
            pair(dilation),
            True,
            pair(output_padding),
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def forward(self, input: Tensor, output_size: _size_2_t | None = None) -> Tensor:
        return F.conv_transpose2d(input, *self._arguments(input, output_size))


class ConvTranspose3d(_ConvTransposeNd):
    """`ConvTranspose1d` for (N, C, D, H, W) or (C, D, H, W).

    Args:
        in_channels, out_channels: channels of the input, and of the result.
        kernel_size: of the window; one number, or one for each dimension.
        stride: by how much the result is larger.
        padding: what is cut from both ends: ``dilation * (kernel_size - 1) - padding`` zeros surround the input.
        output_padding: added to one end of the result's size; less than the stride or the dilation.
        groups: channels are split into so many groups, each by itself.
        bias: whether a learnt number per output channel is added.
        dilation: steps between the elements of a window.
        padding_mode: ``"zeros"`` alone.
        device, dtype: of the parameters.

    Shapes:
        each size becomes ``(size - 1) * stride - 2 * padding + dilation * (kernel_size - 1) + output_padding + 1``;
        ``weight`` is (in_channels, out_channels / groups, kernel...), ``bias`` (out_channels).
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: _size_3_t,
        stride: _size_3_t = 1,
        padding: _size_3_t = 0,
        output_padding: _size_3_t = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: _size_3_t = 1,
        padding_mode: str = "zeros",
        device: Device = None,
        dtype: _dtype | None = None,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            triple(kernel_size),
            triple(stride),
            triple(padding),
            triple(dilation),
            True,
            triple(output_padding),
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def forward(self, input: Tensor, output_size: _size_3_t | None = None) -> Tensor:
        return F.conv_transpose3d(input, *self._arguments(input, output_size))
