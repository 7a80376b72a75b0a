"""Resize and its forerunner: one dimension after the other, each a product with a matrix of weights."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import taeda
from taeda import Tensor
from taeda.onnx.reader.table import op
from taeda.onnx.reader.values import ints


def _source(places: np.ndarray, scale: float, size: int, wanted: int, mode: str, roi: Any) -> np.ndarray:
    """Where in the old dimension the new places are."""
    if mode == "half_pixel":
        return (places + 0.5) / scale - 0.5
    if mode == "half_pixel_symmetric":
        adjustment = wanted / (scale * size)
        return size / 2 * (1 - adjustment) + (places + 0.5) / scale - 0.5
    if mode == "pytorch_half_pixel":
        return (places + 0.5) / scale - 0.5 if wanted > 1 else np.zeros_like(places)
    if mode == "align_corners":
        return places * (size - 1) / (scale * size - 1) if wanted > 1 else np.zeros_like(places)
    if mode == "tf_half_pixel_for_nn":
        return (places + 0.5) / scale
    if mode == "tf_crop_and_resize":
        start, end = roi
        if wanted > 1:
            return start * (size - 1) + places * (end - start) * (size - 1) / (wanted - 1)
        return np.full_like(places, 0.5 * (start + end) * (size - 1))
    return places / scale  # asymmetric


def _nearest(x: np.ndarray, mode: str) -> np.ndarray:
    if mode == "round_prefer_ceil":
        return np.floor(x + 0.5)
    if mode == "floor":
        return np.floor(x)
    if mode == "ceil":
        return np.ceil(x)
    return np.ceil(x - 0.5)  # round_prefer_floor


def _cubic(distance: np.ndarray, a: float) -> np.ndarray:
    d = np.abs(distance)
    near = (a + 2) * d**3 - (a + 3) * d**2 + 1
    far = a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a
    return np.where(d <= 1, near, np.where(d < 2, far, 0.0))


def _weights(
    size: int,
    wanted: int,
    scale: float,
    source: np.ndarray,
    mode: str,
    nearest: str,
    a: float,
    antialias: bool,
    exclude_outside: bool,
) -> np.ndarray:
    """A matrix (wanted, size) of the old elements' shares in the new ones."""
    matrix = np.zeros((wanted, size))
    rows = np.arange(wanted)
    if mode == "nearest":
        matrix[rows, np.clip(_nearest(source, nearest), 0, size - 1).astype(int)] = 1
        return matrix
    shrink = min(scale, 1.0) if antialias else 1.0
    reach = 1 if mode == "linear" else 2
    width = math.ceil(reach / shrink)
    base = np.floor(source).astype(int)
    total = np.zeros(wanted)
    for offset in range(-width, width + 2):
        place = base + offset
        distance = (source - place) * shrink
        share = np.maximum(1 - np.abs(distance), 0) if mode == "linear" else _cubic(distance, a)
        inside = (place >= 0) & (place < size)
        if exclude_outside:
            share = np.where(inside, share, 0.0)
        total += share
        np.add.at(matrix, (rows, np.clip(place, 0, size - 1)), share)
    return matrix / total[:, None] if exclude_outside or antialias else matrix


@op("Resize")
def resize(x: Tensor, *given: Any, opset: int, antialias: int = 0, axes: Any = None,
           coordinate_transformation_mode: str | None = None, cubic_coeff_a: float = -0.75, exclude_outside: int = 0,
           extrapolation_value: float = 0.0, keep_aspect_ratio_policy: str = "stretch", mode: str = "nearest",
           nearest_mode: str = "round_prefer_floor") -> Tensor:  # fmt: skip
    roi, scales, sizes = [*given, None, None, None][:3]
    if opset < 11:
        roi, scales, sizes = None, given[0], None
        coordinate_transformation_mode, nearest_mode = "asymmetric", "floor"
    transform = coordinate_transformation_mode or "half_pixel"
    dims = [d % x.dim() for d in axes] if axes is not None else list(range(x.dim()))
    factors, wanted = _targets(x, dims, scales, sizes, keep_aspect_ratio_policy)
    corners = (
        [float(v) for v in roi.tolist()] if roi is not None and roi.numel() else [0.0] * len(dims) + [1.0] * len(dims)
    )
    result = x
    outside: Any = None
    for i, dim in enumerate(dims):
        size, count = int(x.shape[dim]), wanted[i]
        if size == count and factors[i] == 1 and transform != "tf_crop_and_resize":
            continue
        places = np.arange(count, dtype=np.float64)
        region = corners[i], corners[i + len(dims)]
        source = _source(places, factors[i], size, count, transform, region)
        matrix = _weights(size, count, factors[i], source, mode, nearest_mode, cubic_coeff_a, bool(antialias),
                          bool(exclude_outside))  # fmt: skip
        kind = x.dtype if x.is_floating_point() and x.dtype.itemsize >= 4 else taeda.float32
        weights = taeda.from_numpy(matrix).to(x.device, kind)
        result = (result.to(kind).movedim(dim, -1) @ weights.t()).movedim(-1, dim)
        if transform == "tf_crop_and_resize":
            beyond = taeda.from_numpy((source < 0) | (source > size - 1))
            shape = [-1 if d == dim else 1 for d in range(x.dim())]
            beyond = beyond.reshape(shape)
            outside = beyond if outside is None else outside | beyond
    if outside is not None:
        result = taeda.where(outside.to(x.device), taeda.full_like(result, extrapolation_value), result)
    return result.to(x.dtype) if x.is_floating_point() else result.round().to(x.dtype)


def _targets(x: Tensor, dims: list[int], scales: Any, sizes: Any, policy: str) -> tuple[list[float], list[int]]:
    if scales is not None and scales.numel():
        factors = [float(s) for s in scales.tolist()]
        return factors, [math.floor(x.shape[d] * f) for d, f in zip(dims, factors)]
    wanted = ints(sizes)
    factors = [w / int(x.shape[d]) for d, w in zip(dims, wanted)]
    if policy != "stretch":
        factor = min(factors) if policy == "not_larger" else max(factors)
        wanted = [math.floor(factor * int(x.shape[d]) + 0.5) for d in dims]
        factors = [factor] * len(dims)
    return factors, wanted


@op("Upsample")
def upsample(x: Tensor, scales_: Tensor | None = None, *, mode: str = "nearest", scales: Any = None,
             width_scale: float | None = None, height_scale: float | None = None) -> Tensor:  # fmt: skip
    if scales_ is None:
        given = scales or [1.0, 1.0, height_scale, width_scale]
        scales_ = taeda.tensor(given)
    return resize(x, None, scales_, opset=11, mode={"bilinear": "linear"}.get(mode, mode),
                  coordinate_transformation_mode="asymmetric", nearest_mode="floor")  # fmt: skip
