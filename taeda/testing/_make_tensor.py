"""``make_tensor``: random tensors of any dtype for tests."""

from __future__ import annotations

import math
from typing import Any

import taeda
from taeda import Tensor
from taeda._main.listed import iterated
from taeda.types import Device

_SMALLEST_INT, _LARGEST_INT = -9, 10


def make_tensor(
    *shape: Any,
    dtype: taeda.dtype,
    device: Device = None,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """A tensor of uniform random values in ``[low, high)``.

    Without bounds: booleans of both kinds, uint8 in [0, 10), other integers in [-9, 10), floating and complex parts in
    [-9, 9]. Bounds beyond what ``dtype`` can hold are brought inside.

    Args:
        shape: sizes, as numbers or as one sequence.
        dtype: of the result.
        device: of the result; the default one if it is not said.
        low: lowest value; a number.
        high: end of the range, itself excluded.
        requires_grad: whether the result records gradients; floating and complex dtypes only.
        noncontiguous: leave gaps between the elements in memory; ignored for fewer than two elements.
        exclude_zero: replace zeros by the smallest positive value (1 for integers).
        memory_format: of the result; not with ``noncontiguous``.

    Raises:
        ValueError: ``low`` is not below ``high``, a bound is NaN, the range misses the dtype, or arguments contradict.
        TypeError: the dtype is not one that tensors of numbers have.
    """
    sizes = _sizes(shape)
    if noncontiguous and memory_format is not None:
        raise ValueError("taeda.testing.make_tensor: noncontiguous and memory_format exclude each other")
    if requires_grad and not (dtype.is_floating_point or dtype.is_complex):
        raise ValueError(f"taeda.testing.make_tensor: a tensor of {dtype} cannot require gradients")
    lowest, highest = _bounds(dtype, low, high)
    gaps = noncontiguous and math.prod(sizes) > 1
    drawn_sizes = (*sizes[:-1], 2 * sizes[-1]) if gaps else sizes
    result = _draw(drawn_sizes, dtype, device, lowest, highest)
    if gaps:
        result = result[..., ::2]
    elif memory_format is not None:
        result = result.clone(memory_format=memory_format)
    if exclude_zero:
        result[result == 0] = _nonzero(dtype)
    return result.requires_grad_() if requires_grad else result


def _sizes(shape: tuple[Any, ...]) -> tuple[int, ...]:
    if len(shape) == 1 and not isinstance(shape[0], int):
        shape = tuple(iterated("taeda.testing.make_tensor: shape", shape[0]))
    return tuple(int(size) for size in shape)


def _limits(dtype: taeda.dtype) -> tuple[float, float]:
    if dtype == taeda.bool:
        return 0, 2
    if dtype.is_floating_point or dtype.is_complex:
        info = taeda.finfo(dtype)
        return info.min, info.max
    try:
        bounds = taeda.iinfo(dtype)
    except TypeError as error:
        raise TypeError(f"taeda.testing.make_tensor: {dtype} is not supported") from error
    return bounds.min, bounds.max + 1


def _bounds(dtype: taeda.dtype, low: float | None, high: float | None) -> tuple[float, float]:
    least, end = _limits(dtype)
    continuous = dtype.is_floating_point or dtype.is_complex
    default_low = max(least, _SMALLEST_INT)
    default_high = min(end, 9 if continuous else _LARGEST_INT)
    given_low = default_low if low is None else low
    given_high = default_high if high is None else high
    if math.isnan(given_low) or math.isnan(given_high):
        raise ValueError(f"taeda.testing.make_tensor: low and high must be numbers; got {low} and {high}")
    if given_low > given_high or (given_low == given_high and not continuous):
        raise ValueError(f"taeda.testing.make_tensor: low must be below high; got {given_low} and {given_high}")
    if given_high < least or given_low > end:
        raise ValueError(f"taeda.testing.make_tensor: {dtype} holds nothing in [{given_low}, {given_high})")
    lowest, highest = max(given_low, least), min(given_high, end)
    if not continuous:
        lowest, highest = math.ceil(lowest), math.ceil(highest)
        if lowest >= highest:
            raise ValueError(f"taeda.testing.make_tensor: there is no integer in [{given_low}, {given_high})")
    return lowest, highest


def _draw(sizes: tuple[int, ...], dtype: taeda.dtype, device: Any, low: float, high: float) -> Tensor:
    if dtype.is_complex:
        part = {2: taeda.float16, 4: taeda.float32, 8: taeda.float64}[dtype.itemsize // 2]
        drawn = taeda.empty(sizes, dtype=dtype, device=device)
        taeda.view_as_real(drawn).copy_(_draw((*sizes, 2), part, device, low, high))
        return drawn
    if dtype.is_floating_point:
        drawn = taeda.rand(sizes, dtype=taeda.float64 if dtype == taeda.float64 else taeda.float32, device=device)
        # low * (1 - u) + high * u cannot overflow where high - low would
        return (low * (1 - drawn) + high * drawn).clamp(low, high).to(dtype)
    if high > taeda.iinfo(taeda.int64).max:
        high = taeda.iinfo(taeda.int64).max
    return taeda.randint(int(low), int(high), sizes, dtype=taeda.int64, device=device).to(dtype)


def _nonzero(dtype: taeda.dtype) -> float:
    return taeda.finfo(dtype).tiny if dtype.is_floating_point or dtype.is_complex else 1
