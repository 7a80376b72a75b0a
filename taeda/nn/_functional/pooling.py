"""Pooling and its inverse. Inputs are (N, C, spatial...) or (C, spatial...)."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda._C import _nn
from taeda._C._functions import avg_pool1d
from taeda._C._nn import avg_pool2d, avg_pool3d
from taeda.nn._functional.sizes import fill_none, pair, single, triple


def _stride(stride: Any) -> Any:
    return () if stride is None else stride


def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]:
    """`max_pool1d` and where in the input each maximum stood."""
    return taeda.max_pool1d_with_indices(input, kernel_size, _stride(stride), padding, dilation, ceil_mode)


def max_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The maximum of each window of the last dimension; with ``return_indices`` also its position."""
    native = taeda.max_pool1d_with_indices if return_indices else taeda.max_pool1d
    return native(input, kernel_size, _stride(stride), padding, dilation, ceil_mode)


def max_pool2d_with_indices(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]:
    """`max_pool2d` and where in the flattened plane each maximum stood."""
    return _nn.max_pool2d_with_indices(input, kernel_size, _stride(stride), padding, dilation, ceil_mode)


def max_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The maximum of each window of the last 2 dimensions; with ``return_indices`` also its flat position."""
    native = _nn.max_pool2d_with_indices if return_indices else taeda.max_pool2d
    return native(input, kernel_size, _stride(stride), padding, dilation, ceil_mode)


def max_pool3d_with_indices(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]:
    """`max_pool3d` and where in the flattened volume each maximum stood."""
    return _nn.max_pool3d_with_indices(input, kernel_size, _stride(stride), padding, dilation, ceil_mode)


def max_pool3d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The maximum of each window of the last 3 dimensions; with ``return_indices`` also its flat position."""
    native = _nn.max_pool3d_with_indices if return_indices else taeda.max_pool3d
    return native(input, kernel_size, _stride(stride), padding, dilation, ceil_mode)


def adaptive_max_pool1d_with_indices(
    input: Tensor, output_size: Any, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """`adaptive_max_pool1d` and where each maximum stood."""
    return taeda.adaptive_max_pool1d(input, output_size)


def adaptive_max_pool1d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Max pooling whose windows are chosen to give ``output_size``."""
    found = taeda.adaptive_max_pool1d(input, output_size)
    return found if return_indices else found[0]


def adaptive_max_pool2d_with_indices(
    input: Tensor, output_size: Any, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """`adaptive_max_pool2d` and where each maximum stood."""
    return _nn.adaptive_max_pool2d(input, fill_none(output_size, input.size()))


def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Max pooling whose windows are chosen to give ``output_size``; ``None`` there keeps the input's size."""
    found = adaptive_max_pool2d_with_indices(input, output_size)
    return found if return_indices else found[0]


def adaptive_max_pool3d_with_indices(
    input: Tensor, output_size: Any, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """`adaptive_max_pool3d` and where each maximum stood."""
    return _nn.adaptive_max_pool3d(input, fill_none(output_size, input.size()))


def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Max pooling whose windows are chosen to give ``output_size``; ``None`` there keeps the input's size."""
    found = adaptive_max_pool3d_with_indices(input, output_size)
    return found if return_indices else found[0]


def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """Average pooling whose windows are chosen to give ``output_size``; ``None`` there keeps the input's size."""
    return _nn.adaptive_avg_pool2d(input, fill_none(output_size, input.size()))


def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """Average pooling whose windows are chosen to give ``output_size``; ``None`` there keeps the input's size."""
    return _nn.adaptive_avg_pool3d(input, fill_none(output_size, input.size()))


def _root_of_sums(means: Tensor, norm_type: float, count: int) -> Tensor:
    # relu(abs(x)) has gradient 0 at 0, where the root's own is infinite; the sign has none anywhere.
    if norm_type == 0:
        raise ZeroDivisionError("taeda.nn.functional.lp_pool: norm_type is 0, but there is no root of that degree")
    return (taeda.sign(means.detach()) * taeda.relu(taeda.abs(means))).mul(count).pow(1.0 / norm_type)


def lp_pool1d(
    input: Tensor, norm_type: int | float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Tensor:
    """``(sum of x ** norm_type over each window) ** (1 / norm_type)``."""
    (width,) = single(kernel_size)
    means = avg_pool1d(input.pow(norm_type), kernel_size, _stride(stride), 0, ceil_mode)
    return _root_of_sums(means, norm_type, width)


def lp_pool2d(
    input: Tensor, norm_type: int | float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Tensor:
    """`lp_pool1d` over windows of the last 2 dimensions."""
    height, width = pair(kernel_size)
    means = avg_pool2d(input.pow(norm_type), kernel_size, _stride(stride), 0, ceil_mode)
    return _root_of_sums(means, norm_type, height * width)


def lp_pool3d(
    input: Tensor, norm_type: int | float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Tensor:
    """`lp_pool1d` over windows of the last 3 dimensions."""
    depth, height, width = triple(kernel_size)
    means = avg_pool3d(input.pow(norm_type), kernel_size, _stride(stride), 0, ceil_mode)
    return _root_of_sums(means, norm_type, depth * height * width)


def _fractional_output_size(name: str, input: Tensor, output_size: Any, output_ratio: Any, parse: Any) -> Any:
    if output_size is not None:
        return parse(output_size)
    if output_ratio is None:
        raise ValueError(f"taeda.nn.functional.{name}: one of output_size and output_ratio is needed")
    ratios = parse(output_ratio)
    spatial = 2 if name.endswith("2d") else 3
    if len(ratios) != spatial:
        raise ValueError(
            f"taeda.nn.functional.{name}: output_ratio must be one number or {spatial}; got {output_ratio}"
        )
    return [int(size * ratio) for size, ratio in zip(input.shape[-len(ratios) :], ratios, strict=True)]


def _fractional_samples(input: Tensor, spatial: int) -> Tensor:
    batch = 1 if input.dim() == spatial + 1 else input.size(0)
    return taeda.rand(batch, input.size(-spatial - 1), spatial, dtype=input.dtype, device=input.device)


def fractional_max_pool2d_with_indices(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """`fractional_max_pool2d` and where each maximum stood."""
    size = _fractional_output_size("fractional_max_pool2d", input, output_size, output_ratio, pair)
    samples = _fractional_samples(input, 2) if _random_samples is None else _random_samples
    return _nn.fractional_max_pool2d(input, kernel_size, size, samples)


def fractional_max_pool2d(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """Max pooling over windows at random positions (Graham, 2014), to ``output_size`` or a ratio of the input's."""
    found = fractional_max_pool2d_with_indices(
        input, kernel_size, output_size, output_ratio, return_indices, _random_samples
    )
    return found if return_indices else found[0]


def fractional_max_pool3d_with_indices(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """`fractional_max_pool3d` and where each maximum stood."""
    size = _fractional_output_size("fractional_max_pool3d", input, output_size, output_ratio, triple)
    samples = _fractional_samples(input, 3) if _random_samples is None else _random_samples
    return _nn.fractional_max_pool3d(input, kernel_size, size, samples)


def fractional_max_pool3d(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """Max pooling over windows at random positions (Graham, 2014), to ``output_size`` or a ratio of the input's."""
    found = fractional_max_pool3d_with_indices(
        input, kernel_size, output_size, output_ratio, return_indices, _random_samples
    )
    return found if return_indices else found[0]
