"""Boxes, grids and images."""

from __future__ import annotations

import io
import math
from typing import Any

import numpy as np

import taeda
from taeda import Tensor
from taeda.nn import functional as F
from taeda.onnx.reader.table import op
from taeda.onnx.reader.values import from_numpy, to_numpy


@op("GridSample")
def grid_sample(
    x: Tensor, grid: Tensor, *, align_corners: int = 0, mode: str = "linear", padding_mode: str = "zeros"
) -> Tensor:
    kind = {"linear": "bilinear", "cubic": "bicubic"}.get(mode, mode)
    return F.grid_sample(x, grid.to(x.dtype), kind, padding_mode, bool(align_corners))


@op("NonMaxSuppression")
def non_max_suppression(boxes: Tensor, scores: Tensor, most: Tensor | None = None, overlap: Tensor | None = None,
                        least: Tensor | None = None, *, center_point_box: int = 0) -> Tensor:  # fmt: skip
    limit = int(most.reshape(-1)[0]) if most is not None and most.numel() else 0
    threshold = float(overlap.reshape(-1)[0]) if overlap is not None and overlap.numel() else 0.0
    lowest = float(least.reshape(-1)[0]) if least is not None and least.numel() else None
    given, values = to_numpy(boxes), to_numpy(scores)
    if center_point_box:
        half = given[..., 2:] / 2
        corners = np.concatenate([given[..., :2] - half, given[..., :2] + half], -1)
    else:
        corners = np.concatenate(
            [np.minimum(given[..., :2], given[..., 2:]), np.maximum(given[..., :2], given[..., 2:])], -1
        )
    found = []
    for batch in range(values.shape[0]):
        for kind in range(values.shape[1]):
            chosen: list[int] = []
            for i in np.argsort(-values[batch, kind], kind="stable"):
                if len(chosen) >= limit or (lowest is not None and values[batch, kind, i] <= lowest):
                    break
                if all(_overlap(corners[batch, i], corners[batch, j]) <= threshold for j in chosen):
                    chosen.append(int(i))
            found += [[batch, kind, i] for i in chosen]
    return taeda.tensor(found, dtype=taeda.int64).reshape(-1, 3)


def _overlap(a: Any, b: Any) -> float:
    sides = np.maximum(np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2]), 0)
    common = sides[0] * sides[1]
    whole = np.prod(a[2:] - a[:2]) + np.prod(b[2:] - b[:2]) - common
    return float(common / whole) if whole > 0 else 0.0


@op("RoiAlign")
def roi_align(x: Tensor, rois: Tensor, batch: Tensor, *, opset: int, coordinate_transformation_mode: str | None = None,
              mode: str = "avg", output_height: int = 1, output_width: int = 1, sampling_ratio: int = 0,
              spatial_scale: float = 1.0) -> Tensor:  # fmt: skip
    transform = coordinate_transformation_mode or ("half_pixel" if opset >= 16 else "output_half_pixel")
    shift = 0.5 if transform == "half_pixel" else 0.0
    rows = []
    for roi, index in zip(rois.tolist(), batch.tolist()):
        x1, y1, x2, y2 = (v * spatial_scale - shift for v in roi)
        width, height = x2 - x1, y2 - y1
        if transform != "half_pixel":
            width, height = max(width, 1.0), max(height, 1.0)
        rows.append(_pooled(x[index], y1, x1, height / output_height, width / output_width, output_height, output_width,
                            sampling_ratio, mode))  # fmt: skip
    return taeda.stack(rows) if rows else taeda.zeros((0, x.shape[1], output_height, output_width), dtype=x.dtype)


def _pooled(
    x: Tensor, y: float, z: float, high: float, wide: float, rows: int, columns: int, ratio: int, mode: str
) -> Tensor:
    ny = ratio or math.ceil(high)
    nz = ratio or math.ceil(wide)
    ys = y + high * (np.arange(rows)[:, None] + (np.arange(ny)[None, :] + 0.5) / ny)
    zs = z + wide * (np.arange(columns)[:, None] + (np.arange(nz)[None, :] + 0.5) / nz)
    values = _corners(x, ys.ravel(), zs.ravel(), mode).reshape(x.shape[0], rows, ny, columns, nz)
    return values.amax((2, 4)) if mode == "max" else values.mean((2, 4))


def _corners(x: Tensor, ys: Any, zs: Any, mode: str) -> Tensor:
    """Interpolated values at all pairs; zero beyond one element outside. For "max" the greatest of the four parts."""
    height, width = int(x.shape[1]), int(x.shape[2])
    outside = (ys < -1)[:, None] | (ys > height)[:, None] | (zs < -1)[None, :] | (zs > width)[None, :]
    y, z = np.clip(ys, 0, None), np.clip(zs, 0, None)
    y0, z0 = np.minimum(np.floor(y).astype(int), height - 1), np.minimum(np.floor(z).astype(int), width - 1)
    y1, z1 = np.minimum(y0 + 1, height - 1), np.minimum(z0 + 1, width - 1)
    fy = np.where(y0 >= height - 1, 0.0, y - y0)
    fz = np.where(z0 >= width - 1, 0.0, z - z0)
    parts = []
    for rows, sy in ((y0, 1 - fy), (y1, fy)):
        for columns, sz in ((z0, 1 - fz), (z1, fz)):
            weight = taeda.from_numpy(sy[:, None] * sz[None, :]).to(x.dtype)
            parts.append(x[:, rows.tolist()][:, :, columns.tolist()] * weight)
    total = taeda.stack(parts).amax(0) if mode == "max" else parts[0] + parts[1] + parts[2] + parts[3]
    return total * taeda.from_numpy(~outside).to(x.dtype)


@op("ImageDecoder")
def image_decoder(data: Tensor, *, pixel_format: str = "RGB") -> Tensor:
    try:
        from PIL import Image
    except ImportError:
        raise ImportError("taeda.onnx: decoding images needs the package pillow") from None
    image = Image.open(io.BytesIO(to_numpy(data).tobytes()))
    if pixel_format == "Grayscale":
        return from_numpy(np.array(image.convert("L"))[:, :, None])
    array = np.array(image.convert("RGB"))
    return from_numpy(array[:, :, ::-1] if pixel_format == "BGR" else array)


@op("TreeEnsemble", domain="ai.onnx.ml")
def tree_ensemble(x: Tensor, *, nodes_featureids: Any, nodes_splits: Any, nodes_modes: Any, nodes_truenodeids: Any,
                  nodes_falsenodeids: Any, nodes_trueleafs: Any, nodes_falseleafs: Any, leaf_targetids: Any,
                  leaf_weights: Any, tree_roots: Any, n_targets: int = 1, aggregate_function: int = 1,
                  post_transform: int = 0, membership_values: Any = None, **_: Any) -> Tensor:  # fmt: skip
    array, splits, weights = to_numpy(x), to_numpy(nodes_splits), to_numpy(leaf_weights)
    modes = to_numpy(nodes_modes)
    members = _members(modes, None if membership_values is None else to_numpy(membership_values))
    tests = (lambda a, b: a <= b, lambda a, b: a < b, lambda a, b: a >= b, lambda a, b: a > b, lambda a, b: a == b,
             lambda a, b: a != b)  # fmt: skip
    rows = []
    for row in array:
        found: list[list[float]] = [[] for _ in range(n_targets)]
        for root in tree_roots:
            node, leaf = root, False
            if nodes_trueleafs[root] and nodes_falseleafs[root] and nodes_truenodeids[root] == nodes_falsenodeids[root]:
                node, leaf = nodes_truenodeids[root], True
            while not leaf:
                value = row[nodes_featureids[node]]
                mode = int(modes[node])
                holds = value in members[node] if mode == 6 else tests[mode](value, splits[node])
                leaf = bool((nodes_trueleafs if holds else nodes_falseleafs)[node])
                node = (nodes_truenodeids if holds else nodes_falsenodeids)[node]
            found[leaf_targetids[node]].append(float(weights[node]))
        combine: Any = {0: lambda v: sum(v) / len(tree_roots), 1: sum, 2: min, 3: max}[aggregate_function]
        rows.append([combine(v) if v else 0.0 for v in found])
    result = taeda.tensor(rows, dtype=x.dtype)
    return _post(result, post_transform)


def _members(modes: Any, values: Any) -> dict[int, set[float]]:
    if values is None:
        return {}
    groups: list[set[float]] = [set()]
    for value in values.tolist():
        if value != value:
            groups.append(set())
        else:
            groups[-1].add(value)
    return dict(zip([i for i, mode in enumerate(modes) if mode == 6], groups))


def _post(x: Tensor, kind: int) -> Tensor:
    if kind == 1:
        return taeda.softmax(x, -1)
    if kind == 2:
        return taeda.sigmoid(x)
    if kind == 3:
        return taeda.where(x != 0, taeda.softmax(x.masked_fill(x == 0, float("-inf")), -1), taeda.zeros_like(x))
    return x if kind == 0 else taeda.special.ndtri(x)
