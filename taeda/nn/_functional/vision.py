"""Resizing and sampling of images."""

from __future__ import annotations

import math
import warnings
from typing import Any

import taeda
from taeda import Tensor
from taeda._C import _nn

GRID_SAMPLE_INTERPOLATION_MODES = {"bilinear": 0, "nearest": 1, "bicubic": 2}
GRID_SAMPLE_PADDING_MODES = {"zeros": 0, "border": 1, "reflection": 2}

_NEAREST: dict[tuple[str, int], Any] = {
    ("nearest", 1): _nn.upsample_nearest1d,
    ("nearest", 2): _nn.upsample_nearest2d,
    ("nearest", 3): _nn.upsample_nearest3d,
    ("nearest-exact", 1): _nn._upsample_nearest_exact1d,
    ("nearest-exact", 2): _nn._upsample_nearest_exact2d,
    ("nearest-exact", 3): _nn._upsample_nearest_exact3d,
}
_SMOOTH: dict[tuple[str, int], Any] = {
    ("linear", 1): _nn.upsample_linear1d,
    ("bilinear", 2): _nn.upsample_bilinear2d,
    ("trilinear", 3): _nn.upsample_trilinear3d,
    ("bicubic", 2): _nn.upsample_bicubic2d,
}
_ANTIALIASED: dict[str, Any] = {
    "bilinear": _nn._upsample_bilinear2d_aa,
    "bicubic": _nn._upsample_bicubic2d_aa,
}
_ANTIALIASED_MODES = tuple(_ANTIALIASED)
_MODES_WITH_CORNERS = ("linear", "bilinear", "bicubic", "trilinear")


def _per_dimension(what: str, value: Any, spatial: int) -> list[Any]:
    if not isinstance(value, (list, tuple)):
        return [value] * spatial
    if len(value) != spatial:
        raise ValueError(
            f"taeda.nn.functional.interpolate: {what} must have one entry for each of the {spatial} spatial "
            f"dimensions; got {value}"
        )
    return list(value)


def _target(
    input: Tensor, size: Any, scale_factor: Any, recompute: bool | None
) -> tuple[list[int] | None, list[float] | None]:
    """What the natives take: either the output size or the factors."""
    spatial = input.dim() - 2
    wanted = "taeda.nn.functional.interpolate: exactly one of size and scale_factor is needed"
    computed = recompute is not None and recompute
    if size is not None:
        if scale_factor is not None:
            raise ValueError(f"{wanted}; got size={size}, scale_factor={scale_factor}")
        if computed:
            raise ValueError("taeda.nn.functional.interpolate: recompute_scale_factor goes with scale_factor, not size")
        return _per_dimension("size", size, spatial), None
    if scale_factor is None:
        raise ValueError(f"{wanted}; got none")
    factors = _per_dimension("scale_factor", scale_factor, spatial)
    if computed:
        return [math.floor(extent * factor) for extent, factor in zip(input.shape[2:], factors, strict=True)], None
    return None, [float(factor) for factor in factors]


def _area_size(input: Tensor, size: list[int] | None, factors: list[float] | None) -> list[int]:
    if size is not None:
        return size
    assert factors is not None
    return [math.floor(extent * factor) for extent, factor in zip(input.shape[2:], factors, strict=True)]


def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Resizes the spatial dimensions of (N, C, spatial...) to ``size`` or by ``scale_factor``.

    Args:
        mode: nearest, nearest-exact, linear (1 spatial dimension), bilinear and bicubic (2), trilinear (3) or area.
        align_corners: for the four linear and cubic modes: whether the corner pixels' centres, rather than the corners
            of the image, stay where they are.
        recompute_scale_factor: compute the factor again from the rounded output size.
        antialias: for bilinear and bicubic: average over all pixels when shrinking.
    """
    if mode in ("nearest", "area", "nearest-exact") and align_corners is not None:
        raise ValueError(f"taeda.nn.functional.interpolate: align_corners does not go with mode='{mode}'")
    corners = False if align_corners is None else align_corners
    if antialias and not (mode in _ANTIALIASED_MODES and input.dim() == 4):
        raise ValueError(
            "taeda.nn.functional.interpolate: antialias goes with bilinear and bicubic on 4 dimensions only"
        )
    spatial = input.dim() - 2
    output_size, factors = _target(input, size, scale_factor, recompute_scale_factor)
    for (name, rank), nearest in _NEAREST.items():
        if name == mode and rank == spatial:
            return nearest(input, output_size, factors)
    for name, smooth in _ANTIALIASED.items():
        if antialias and name == mode:
            return smooth(input, output_size, corners, factors)
    for (name, rank), smooth in _SMOOTH.items():
        if name == mode and rank == spatial:
            return smooth(input, output_size, corners, factors)
    if mode == "area" and spatial == 1:
        return taeda.adaptive_avg_pool1d(input, _area_size(input, output_size, factors))
    if mode == "area" and spatial == 2:
        return _nn.adaptive_avg_pool2d(input, _area_size(input, output_size, factors))
    if mode == "area" and spatial == 3:
        return _nn.adaptive_avg_pool3d(input, _area_size(input, output_size, factors))
    raise NotImplementedError(
        f"taeda.nn.functional.interpolate: mode='{mode}' does not go with an input of {input.dim()} dimensions"
    )


def _deprecated(name: str) -> None:
    warnings.warn(f"taeda.nn.functional.{name} is deprecated; use interpolate", stacklevel=3)


def upsample(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None
) -> Tensor:
    """Deprecated: `interpolate`."""
    _deprecated("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """Deprecated: `interpolate` with mode nearest."""
    _deprecated("upsample_nearest")
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """Deprecated: `interpolate` with mode bilinear and aligned corners."""
    _deprecated("upsample_bilinear")
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """Samples (N, C, H, W) or (N, C, D, H, W) at the points of ``grid``, (N, out..., 2 or 3), from -1 to 1.

    Args:
        mode: bilinear, nearest or bicubic (4 dimensions only).
        padding_mode: what stands outside: zeros, border or reflection.
        align_corners: whether -1 and 1 are the centres of the corner pixels rather than the image's edges.
    """
    for what, value, known in (
        ("mode", mode, GRID_SAMPLE_INTERPOLATION_MODES),
        ("padding_mode", padding_mode, GRID_SAMPLE_PADDING_MODES),
    ):
        if value not in known:
            raise ValueError(f"taeda.nn.functional.grid_sample: {what} must be one of {list(known)}; got {value!r}")
    if align_corners is None:
        _warn_align_corners("grid_sample")
    return taeda.grid_sampler(
        input,
        grid,
        GRID_SAMPLE_INTERPOLATION_MODES[mode],
        GRID_SAMPLE_PADDING_MODES[padding_mode],
        False if align_corners is None else align_corners,
    )


def _warn_align_corners(name: str) -> None:
    warnings.warn(
        f"taeda.nn.functional.{name}: align_corners defaults to False; pass it (before PyTorch 1.3 it was True)",
        stacklevel=3,
    )


def affine_grid(theta: Tensor, size: Any, align_corners: bool | None = None) -> Tensor:
    """The grid for `grid_sample` of affine maps ``theta``, (N, 2, 3) or (N, 3, 4), and an output ``size``.

    ``size`` is (N, C, H, W) or (N, C, D, H, W); the result is (N, spatial..., 2 or 3).
    """
    name = "taeda.nn.functional.affine_grid"
    if align_corners is None:
        _warn_align_corners("affine_grid")
    if not theta.is_floating_point():
        raise ValueError(f"{name}: theta must be floating; got {theta.dtype}")
    wanted = {4: (2, 3), 5: (3, 4)}.get(len(size))
    if wanted is None:
        raise NotImplementedError(f"{name}: size must have 4 or 5 entries; got {len(size)}")
    size = [size[i] for i in range(len(size))]  # an object that lies about its length ends here
    if theta.dim() != 3 or tuple(theta.shape[1:]) != wanted:
        raise ValueError(f"{name}: theta must be (N, {wanted[0]}, {wanted[1]}); got {tuple(theta.shape)}")
    if min(size) <= 0:
        raise ValueError(f"{name}: size must be positive; got {tuple(size)}")
    if align_corners and 1 in size[2:]:
        warnings.warn(
            f"taeda.nn.functional.affine_grid: a dimension of {tuple(size)} has one place only, which "
            "align_corners=True puts in the middle; PyTorch before 1.3 put it at -1",
            stacklevel=2,
        )
    return taeda.affine_grid_generator(theta, size, False if align_corners is None else align_corners)
