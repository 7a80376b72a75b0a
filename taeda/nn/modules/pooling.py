"""Pooling and its inverse. Inputs are (N, C, spatial...) or (C, spatial...)."""

from __future__ import annotations

from typing import Any

from taeda import Tensor
from taeda.nn import functional as F
from taeda.nn._functional.sizes import pair, single, triple
from taeda.nn.common_types import _size_1_t, _size_2_t, _size_3_t
from taeda.nn.modules.module import Module

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "LPPool1d",
    "LPPool2d",
    "LPPool3d",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
]


class _MaxPoolNd(Module):
    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def _pool(self, function: Any, input: Tensor) -> Any:
        return function(
            input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode, self.return_indices
        )

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPoolNd):
    """The maximum of each window of the last dimension; with ``return_indices`` also where it stood.

    Args:
        kernel_size: of the window; one number, or one for each dimension.
        stride: steps between windows; ``kernel_size`` if None.
        padding: at both ends of each dimension, at most half of the window; with the lowest number.
        dilation: steps between the elements of a window.
        return_indices: whether the places of the maxima are returned, too, as `MaxUnpool` wants them.
        ceil_mode: rounds the result's sizes up, so that windows may reach over the end.

    Shapes:
        each size becomes ``floor((size + 2 * padding - dilation * (kernel_size - 1) - 1) / stride) + 1``.
    """

    def forward(self, input: Tensor) -> Any:
        return self._pool(F.max_pool1d, input)


class MaxPool2d(_MaxPoolNd):
    """The maximum of each window of the last 2 dimensions; with ``return_indices`` also where it stood.

    Args:
        kernel_size: of the window; one number, or one for each dimension.
        stride: steps between windows; ``kernel_size`` if None.
        padding: at both ends of each dimension, at most half of the window; with the lowest number.
        dilation: steps between the elements of a window.
        return_indices: whether the places of the maxima are returned, too, as `MaxUnpool` wants them.
        ceil_mode: rounds the result's sizes up, so that windows may reach over the end.

    Shapes:
        each size becomes ``floor((size + 2 * padding - dilation * (kernel_size - 1) - 1) / stride) + 1``.
    """

    def forward(self, input: Tensor) -> Any:
        return self._pool(F.max_pool2d, input)


class MaxPool3d(_MaxPoolNd):
    """The maximum of each window of the last 3 dimensions; with ``return_indices`` also where it stood.

    Args:
        kernel_size: of the window; one number, or one for each dimension.
        stride: steps between windows; ``kernel_size`` if None.
        padding: at both ends of each dimension, at most half of the window; with the lowest number.
        dilation: steps between the elements of a window.
        return_indices: whether the places of the maxima are returned, too, as `MaxUnpool` wants them.
        ceil_mode: rounds the result's sizes up, so that windows may reach over the end.

    Shapes:
        each size becomes ``floor((size + 2 * padding - dilation * (kernel_size - 1) - 1) / stride) + 1``.
    """

    def forward(self, input: Tensor) -> Any:
        return self._pool(F.max_pool3d, input)


class _MaxUnpoolNd(Module):
    kernel_size: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpoolNd):
    """Puts the maxima of a `MaxPool1d` back where they stood, zeros elsewhere.

    Args:
        kernel_size, stride, padding: those of the pooling.
    """

    def __init__(self, kernel_size: _size_1_t, stride: _size_1_t | None = None, padding: _size_1_t = 0) -> None:
        super().__init__()
        self.kernel_size = single(kernel_size)
        self.stride = single(kernel_size if stride is None else stride)
        self.padding = single(padding)

    def forward(self, input: Tensor, indices: Tensor, output_size: _size_1_t | None = None) -> Tensor:
        return F.max_unpool1d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool2d(_MaxUnpoolNd):
    """Puts the maxima of a `MaxPool2d` back where they stood, zeros elsewhere.

    Args:
        kernel_size, stride, padding: those of the pooling.
    """

    def __init__(self, kernel_size: _size_2_t, stride: _size_2_t | None = None, padding: _size_2_t = 0) -> None:
        super().__init__()
        self.kernel_size = pair(kernel_size)
        self.stride = pair(kernel_size if stride is None else stride)
        self.padding = pair(padding)

    def forward(self, input: Tensor, indices: Tensor, output_size: _size_2_t | None = None) -> Tensor:
        return F.max_unpool2d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool3d(_MaxUnpoolNd):
    """Puts the maxima of a `MaxPool3d` back where they stood, zeros elsewhere.

    Args:
        kernel_size, stride, padding: those of the pooling.
    """

    def __init__(self, kernel_size: _size_3_t, stride: _size_3_t | None = None, padding: _size_3_t = 0) -> None:
        super().__init__()
        self.kernel_size = triple(kernel_size)
        self.stride = triple(kernel_size if stride is None else stride)
        self.padding = triple(padding)

    def forward(self, input: Tensor, indices: Tensor, output_size: _size_3_t | None = None) -> Tensor:
        return F.max_unpool3d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class _AvgPoolNd(Module):
    kernel_size: Any
    stride: Any
    padding: Any

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(_AvgPoolNd):
    """The mean of each window of the last dimension; padding counts as zeros unless ``count_include_pad`` is false.

    Args:
        kernel_size: of the window; one number, or one for each dimension.
        stride: steps between windows; ``kernel_size`` if None.
        padding: at both ends of each dimension, at most half of the window; with zeros.
        ceil_mode: rounds the result's sizes up, so that windows may reach over the end.
        count_include_pad: whether the zeros count in the mean.

    Shapes:
        each size becomes ``floor((size + 2 * padding - kernel_size) / stride) + 1``.
    """

    def __init__(
        self,
        kernel_size: _size_1_t,
        stride: _size_1_t | None = None,
        padding: _size_1_t = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        self.kernel_size = single(kernel_size)
        self.stride = single(kernel_size if stride is None else stride)
        self.padding = single(padding)
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool1d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)


class AvgPool2d(_AvgPoolNd):
    """The mean of each window of the last 2 dimensions; ``divisor_override`` replaces the number of elements.

    Args:
        kernel_size: of the window; one number, or one for each dimension.
        stride: steps between windows; ``kernel_size`` if None.
        padding: at both ends of each dimension, at most half of the window; with zeros.
        ceil_mode: rounds the result's sizes up, so that windows may reach over the end.
        count_include_pad: whether the zeros count in the mean.
        divisor_override: what sums are divided by instead.

    Shapes:
        each size becomes ``floor((size + 2 * padding - kernel_size) / stride) + 1``.
    """

    def __init__(
        self,
        kernel_size: _size_2_t,
        stride: _size_2_t | None = None,
        padding: _size_2_t = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool2d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )


class AvgPool3d(_AvgPoolNd):
    """The mean of each window of the last 3 dimensions; ``divisor_override`` replaces the number of elements.

    Args:
        kernel_size: of the window; one number, or one for each dimension.
        stride: steps between windows; ``kernel_size`` if None.
        padding: at both ends of each dimension, at most half of the window; with zeros.
        ceil_mode: rounds the result's sizes up, so that windows may reach over the end.
        count_include_pad: whether the zeros count in the mean.
        divisor_override: what sums are divided by instead.

    Shapes:
        each size becomes ``floor((size + 2 * padding - kernel_size) / stride) + 1``.
    """

    def __init__(
        self,
        kernel_size: _size_3_t,
        stride: _size_3_t | None = None,
        padding: _size_3_t = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool3d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )


class _FractionalMaxPool(Module):
    _parse: Any

    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        parse = type(self)._parse
        name = f"taeda.nn.{type(self).__name__}"
        if (output_size is None) == (output_ratio is None):
            raise ValueError(f"{name}: exactly one of output_size and output_ratio is needed")
        self.kernel_size = parse(kernel_size)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else parse(output_size)
        self.output_ratio = None if output_ratio is None else parse(output_ratio)
        if self.output_ratio is not None and not all(0 < ratio < 1 for ratio in self.output_ratio):
            raise ValueError(f"{name}: output_ratio must be between 0 and 1; got {output_ratio}")

    def _arguments(self, input: Tensor) -> tuple[Any, ...]:
        samples: Any = self._random_samples
        return input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices, samples


class FractionalMaxPool2d(_FractionalMaxPool):
    """Max pooling over windows at random positions (Graham, 2014), to ``output_size`` or a ratio of the input's."""

    _parse = staticmethod(pair)

    def forward(self, input: Tensor) -> Any:
        return F.fractional_max_pool2d(*self._arguments(input))


class FractionalMaxPool3d(_FractionalMaxPool):
    """Max pooling over windows at random positions (Graham, 2014), to ``output_size`` or a ratio of the input's."""

    _parse = staticmethod(triple)

    def forward(self, input: Tensor) -> Any:
        return F.fractional_max_pool3d(*self._arguments(input))


class _LPPoolNd(Module):
    def __init__(self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> None:
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def extra_repr(self) -> str:
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


class LPPool1d(_LPPoolNd):
    """``(sum of x ** norm_type over each window) ** (1 / norm_type)``.

    Args:
        norm_type: the exponent.
        kernel_size: of the window.
        stride: steps between windows; ``kernel_size`` if None.
        ceil_mode: rounds the result's sizes up.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.lp_pool1d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool2d(_LPPoolNd):
    """`LPPool1d` over windows of the last 2 dimensions.

    Args:
        norm_type: the exponent.
        kernel_size: of the window.
        stride: steps between windows; ``kernel_size`` if None.
        ceil_mode: rounds the result's sizes up.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.lp_pool2d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool3d(_LPPoolNd):
    """`LPPool1d` over windows of the last 3 dimensions.

    Args:
        norm_type: the exponent.
        kernel_size: of the window.
        stride: steps between windows; ``kernel_size`` if None.
        ceil_mode: rounds the result's sizes up.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.lp_pool3d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class _AdaptiveAvgPoolNd(Module):
    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """Average pooling whose windows are chosen to give ``output_size``.

    Args:
        output_size: sizes of the result; one number, or one for each dimension.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """Average pooling whose windows are chosen to give ``output_size``; ``None`` there keeps the input's size.

    Args:
        output_size: sizes of the result; one number, or one for each dimension.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.adaptive_avg_pool2d(input, self.output_size)


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """Average pooling whose windows are chosen to give ``output_size``; ``None`` there keeps the input's size.

    Args:
        output_size: sizes of the result; one number, or one for each dimension.
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.adaptive_avg_pool3d(input, self.output_size)


class _AdaptiveMaxPoolNd(Module):
    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size = output_size
        self.return_indices = return_indices

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """Max pooling whose windows are chosen to give ``output_size``.

    Args:
        output_size: sizes of the result; one number, or one for each dimension.
        return_indices: whether the places of the maxima are returned, too.
    """

    def forward(self, input: Tensor) -> Any:
        return F.adaptive_max_pool1d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """Max pooling whose windows are chosen to give ``output_size``; ``None`` there keeps the input's size.

    Args:
        output_size: sizes of the result; one number, or one for each dimension.
        return_indices: whether the places of the maxima are returned, too.
    """

    def forward(self, input: Tensor) -> Any:
        return F.adaptive_max_pool2d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """Max pooling whose windows are chosen to give ``output_size``; ``None`` there keeps the input's size.

    Args:
        output_size: sizes of the result; one number, or one for each dimension.
        return_indices: whether the places of the maxima are returned, too.
    """

    def forward(self, input: Tensor) -> Any:
        return F.adaptive_max_pool3d(input, self.output_size, self.return_indices)
