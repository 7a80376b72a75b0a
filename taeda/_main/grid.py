"""Samples on a grid: their derivative, and counts of points by cell."""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import taeda
from taeda import _C, Tensor
from taeda._main.listed import listed


@_C._overridable
def gradient(input: Tensor, *, spacing: Any = None, dim: Any = None, edge_order: int = 1) -> tuple[Tensor, ...]:
    """The derivative of samples along each of ``dim`` (all by default), by differences of second order.

    ``spacing`` is the distance of neighbours: a number (1 by default), one per dimension, or a vector of coordinates
    per dimension. At the ends the differences are one-sided, of order ``edge_order`` (1 or 2). RuntimeError for
    dimensions of fewer than ``edge_order + 1`` samples.
    """
    if edge_order not in (1, 2):
        raise RuntimeError(f"taeda.gradient: edge_order must be 1 or 2; got {edge_order}")
    named = [*range(input.dim())] if dim is None else [dim] if isinstance(dim, int) else dim
    dims = listed("taeda.gradient: dim", named)
    at = [d + input.dim() if d < 0 else d for d in dims]
    if any(not 0 <= d < input.dim() for d in at):
        raise IndexError(f"taeda.gradient: dim {dims} is out of range for shape {tuple(input.shape)}")
    if len(set(at)) < len(at):
        raise RuntimeError(f"taeda.gradient: dim {dims} names a dimension twice")
    several = isinstance(spacing, (list, tuple))
    steps = list(spacing) if several else [1 if spacing is None else spacing] * len(at)
    if len(steps) != len(at):
        raise RuntimeError(f"taeda.gradient: spacing must have one entry per dimension, {len(at)}; got {len(steps)}")
    return tuple(_derivative(input, d, step, edge_order) for d, step in zip(at, steps))


def _derivative(input: Tensor, dim: int, step: Any, edge_order: int) -> Tensor:
    size = input.shape[dim]
    if size < edge_order + 1:
        raise RuntimeError(
            f"taeda.gradient: {edge_order + 1} samples or more are needed along {dim}; got shape {tuple(input.shape)}"
        )
    f = input.movedim(dim, -1)
    is_even = not (isinstance(step, taeda.Tensor) and step.dim() == 1)
    if not is_even:
        if step.numel() != size:
            raise RuntimeError(f"taeda.gradient: {size} coordinates are needed along {dim}; got {step.numel()}")
        gaps = step.diff()
    else:
        gaps = taeda.full((size - 1,), 1.0, dtype=_real_dtype(input), device=input.device) * step
    first, last = (f[..., 1:2] - f[..., :1]) / gaps[:1], (f[..., -1:] - f[..., -2:-1]) / gaps[-1:]
    if size == 2:
        return taeda.cat([first, last], -1).movedim(-1, dim).contiguous()
    before, after = gaps[:-1], gaps[1:]
    both = before + after
    inner = (
        (f[..., 2:] - f[..., :-2]) / both
        if is_even
        else (
            f[..., :-2] * (-after / (before * both))
            + f[..., 1:-1] * ((after - before) / (before * after))
            + f[..., 2:] * (before / (after * both))
        )
    )
    if edge_order == 2:  # the parabola through three samples, at its ends
        a, b = gaps[:1], gaps[1:2]
        first = f[..., :1] * (-(2 * a + b) / (a * (a + b))) + f[..., 1:2] * ((a + b) / (a * b))
        first = first - f[..., 2:3] * (a / (b * (a + b)))
        a, b = gaps[-1:], gaps[-2:-1]
        last = f[..., -1:] * ((2 * a + b) / (a * (a + b))) - f[..., -2:-1] * ((a + b) / (a * b))
        last = last + f[..., -3:-2] * (a / (b * (a + b)))
    return taeda.cat([first, inner, last], -1).movedim(-1, dim).contiguous()


def _real_dtype(input: Tensor) -> Any:
    return input.real.dtype if input.is_complex() else input.dtype if input.is_floating_point() else None


class Histogram(NamedTuple):
    """What ``histogramdd`` returns."""

    hist: Tensor
    bin_edges: tuple[Tensor, ...]


@_C._overridable
def histogramdd(input: Tensor, bins: Any, *, range: Sequence[float] | None = None, weight: Tensor | None = None,
                density: bool = False) -> Histogram:  # fmt: skip
    """How many points (or how much ``weight``) of ``input`` (..., N) lie in each cell of an N-dimensional grid.

    Args:
        bins: The number of equal parts of every dimension, one for each, or N vectors of rising edges.
        range: The lower and upper end of each dimension, 2 N numbers; those of the points by default.
        weight: (...,), of the dtype of ``input``.
        density: Whether to divide by the total and by each cell's volume.

    Returns:
        ``hist``, with one dimension per coordinate, and ``bin_edges``, N vectors; both of the dtype of ``input``.
    """
    if not input.is_floating_point():
        raise NotImplementedError(f"taeda.histogramdd: input must be floating-point; got {input.dtype}")
    if input.dim() < 2:
        raise RuntimeError(f"taeda.histogramdd: input must have 2 dimensions or more; got shape {tuple(input.shape)}")
    points = input.reshape(math.prod(input.shape[:-1]), input.shape[-1])
    count = points.shape[1]
    edges = _grid(points, [bins] * count if isinstance(bins, int) else listed("taeda.histogramdd: bins", bins), range)
    if weight is not None and weight.shape != input.shape[:-1]:
        raise RuntimeError(
            f"taeda.histogramdd: weight must have shape {tuple(input.shape[:-1])}; got {tuple(weight.shape)}"
        )
    ones = taeda.ones(points.shape[0], dtype=input.dtype, device=input.device)
    amounts = ones if weight is None else weight.reshape(-1).to(input.dtype)
    cell = taeda.zeros(points.shape[0], dtype=taeda.int64, device=input.device)
    inside = taeda.full((points.shape[0],), count > 0, dtype=taeda.bool, device=input.device)
    for values, along in zip(points.unbind(1), edges):
        parts = along.numel() - 1
        index = taeda.searchsorted(along, values.contiguous(), right=True) - 1
        index = taeda.where(values == along[-1], parts - 1, index)  # the last part has both edges
        inside &= (values >= along[0]) & (values <= along[-1])
        cell = cell * parts + index.clamp(0, max(parts - 1, 0))
    sizes = [along.numel() - 1 for along in edges]
    hist = taeda.zeros(sizes, dtype=input.dtype, device=input.device).reshape(-1)
    hist = hist.index_add(0, cell[inside], amounts[inside]).reshape(sizes)
    if density:
        hist = hist / hist.sum()
        for d, along in enumerate(edges):
            hist = hist / along.diff().reshape([-1 if i == d else 1 for i in builtins.range(count)])
    return Histogram(hist, tuple(edges))


def _grid(points: Tensor, bins: list[Any], ends: Sequence[float] | None) -> list[Tensor]:
    """The edges along each coordinate."""
    count = points.shape[1]
    if len(bins) != count:
        raise RuntimeError(f"taeda.histogramdd: bins must have one entry per coordinate, {count}; got {len(bins)}")
    if bins and isinstance(bins[0], taeda.Tensor):
        return [edges.clone() for edges in bins]
    if ends is not None and len(ends) != 2 * count:
        raise RuntimeError(f"taeda.histogramdd: range must hold {2 * count} numbers; got {len(ends)}")
    edges = []
    for d, parts in enumerate(bins):
        if ends is not None:
            low, high = ends[2 * d], ends[2 * d + 1]
        elif points.shape[0] == 0:
            low, high = 0.0, 1.0
        else:
            low, high = (x.item() for x in points[:, d].aminmax())
        if low == high:
            low, high = low - 0.5, high + 0.5
        edges.append(taeda.linspace(low, high, parts + 1, dtype=points.dtype, device=points.device))
    return edges
