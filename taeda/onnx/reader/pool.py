"""Pooling over windows."""

from __future__ import annotations

import math
from typing import Any

import taeda
from taeda import Tensor
from taeda.nn import functional as F
from taeda.onnx.reader.learned import same_pads
from taeda.onnx.reader.table import op


def _windows(
    x: Tensor, kernel: Any, auto_pad: str, ceil_mode: int, dilations: Any, pads: Any, strides: Any, fill: Any
) -> Any:
    """All windows of ``x``, with ``fill`` around it, as last dimensions; and what was added before and after."""
    count = len(kernel)
    strides, dilations = list(strides or [1] * count), list(dilations or [1] * count)
    pads = list(pads or [0] * (2 * count))
    if auto_pad.startswith("SAME"):
        pads = same_pads(auto_pad, x.shape[2:], kernel, strides, dilations)
    ends = []
    for i in range(count):
        extent = (kernel[i] - 1) * dilations[i] + 1
        size = int(x.shape[2 + i])
        room = size + pads[i] + pads[i + count] - extent
        steps = math.ceil(room / strides[i]) if ceil_mode else room // strides[i]
        if ceil_mode and steps * strides[i] >= size + pads[i]:  # a window must begin inside
            steps -= 1
        ends.append(max(steps * strides[i] + extent - size - pads[i], 0))
    flat = [p for i in reversed(range(count)) for p in (pads[i], ends[i])]
    whole = F.pad(x, flat, value=fill) if any(flat) else x
    for i in range(count):
        extent = (kernel[i] - 1) * dilations[i] + 1
        whole = whole.unfold(2 + i, extent, strides[i])[..., :: dilations[i]]
    return whole, pads[:count], ends


def _direct(x: Tensor, auto_pad: str, pads: Any, count: int) -> list[int] | None:
    """The padding if it is the same on both sides."""
    pads = list(pads or [0] * (2 * count))
    same = auto_pad in ("NOTSET", "VALID") and pads[:count] == pads[count:] and x.is_floating_point()
    return pads[:count] if same and count in (1, 2, 3) else None


@op("MaxPool")
def max_pool(x: Tensor, *, outputs: list[str], kernel_shape: Any, auto_pad: str = "NOTSET", ceil_mode: int = 0,
             dilations: Any = None, pads: Any = None, storage_order: int = 0, strides: Any = None) -> Any:  # fmt: skip
    count = len(kernel_shape)
    direct = _direct(x, auto_pad, pads, count)
    if len(outputs) == 1 and direct is not None and all(2 * p <= k for p, k in zip(direct, kernel_shape)):
        pool = {1: F.max_pool1d, 2: F.max_pool2d, 3: F.max_pool3d}[count]
        return pool(x, kernel_shape, strides or [1] * count, direct, dilations or 1, bool(ceil_mode))
    lowest: Any = float("-inf") if x.is_floating_point() else taeda.iinfo(x.dtype).min
    windows, _, _ = _windows(x, kernel_shape, auto_pad, ceil_mode, dilations, pads, strides, lowest)
    flat = windows.flatten(-count)
    if len(outputs) == 1:
        return flat.amax(-1)
    numel = math.prod(x.shape[2:])
    places = taeda.arange(numel, dtype=taeda.float64).reshape((1, 1, *x.shape[2:]))
    if storage_order:
        places = places.reshape(numel).reshape(list(x.shape[2:])[::-1]).permute(*range(count)[::-1])[None, None]
    there, _, _ = _windows(places, kernel_shape, auto_pad, ceil_mode, dilations, pads, strides, -1.0)
    best = flat.argmax(-1, keepdim=True)
    index = there.flatten(-count).expand(flat.shape).gather(-1, best).squeeze(-1).to(taeda.int64)
    planes = taeda.arange(x.shape[0] * x.shape[1]).reshape((x.shape[0], x.shape[1], *[1] * count)) * numel
    return flat.gather(-1, best).squeeze(-1), index + planes


@op("AveragePool")
def average_pool(
    x: Tensor,
    *,
    kernel_shape: Any,
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    count_include_pad: int = 0,
    dilations: Any = None,
    pads: Any = None,
    strides: Any = None,
) -> Tensor:
    count = len(kernel_shape)
    direct = _direct(x, auto_pad, pads, count)
    plain = not ceil_mode and set(dilations or [1]) == {1}
    if plain and direct is not None and all(2 * p <= k for p, k in zip(direct, kernel_shape)):
        pool = {1: F.avg_pool1d, 2: F.avg_pool2d, 3: F.avg_pool3d}[count]
        return pool(x, kernel_shape, strides or [1] * count, direct, False, bool(count_include_pad))
    windows, before, ends = _windows(x, kernel_shape, auto_pad, ceil_mode, dilations, pads, strides, 0.0)
    inside = taeda.ones_like(x)
    if count_include_pad:
        given = list(pads or [0] * (2 * count))
        if auto_pad.startswith("SAME"):
            given = before + ends
        inside = F.pad(inside, [p for i in reversed(range(count)) for p in (given[i], given[i + count])], value=1.0)
        rest = [p for i in reversed(range(count)) for p in (0, max(ends[i] - given[i + count], 0))]
        inside = F.pad(inside, rest)
        for i in range(count):
            extent = (kernel_shape[i] - 1) * (dilations or [1] * count)[i] + 1
            inside = inside.unfold(2 + i, extent, (strides or [1] * count)[i])[..., :: (dilations or [1] * count)[i]]
        for i in range(count):
            inside = inside.narrow(2 + i, 0, windows.shape[2 + i])
    else:
        inside, _, _ = _windows(inside, kernel_shape, auto_pad, ceil_mode, dilations, pads, strides, 0.0)
    return windows.flatten(-count).sum(-1) / inside.flatten(-count).sum(-1)


@op("LpPool")
def lp_pool(
    x: Tensor,
    *,
    kernel_shape: Any,
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    dilations: Any = None,
    p: float = 2,
    pads: Any = None,
    strides: Any = None,
) -> Tensor:
    windows, _, _ = _windows(x, kernel_shape, auto_pad, ceil_mode, dilations, pads, strides, 0.0)
    return (windows.flatten(-len(kernel_shape)).abs() ** p).sum(-1) ** (1 / p)


@op("MaxUnpool")
def max_unpool(x: Tensor, index: Tensor, sizes: Tensor | None = None, *, kernel_shape: Any, pads: Any = None,
               strides: Any = None) -> Tensor:  # fmt: skip
    count = len(kernel_shape)
    strides, pads = strides or [1] * count, pads or [0] * (2 * count)
    natural = [
        (int(x.shape[2 + i]) - 1) * strides[i] + kernel_shape[i] - pads[i] - pads[i + count] for i in range(count)
    ]
    shape = [*x.shape[:2], *natural]
    flat = taeda.zeros(math.prod(shape), dtype=x.dtype)
    wanted = sizes.tolist() if sizes is not None else shape
    flat = flat if sizes is None else taeda.zeros(math.prod(wanted), dtype=x.dtype)
    if sizes is not None:  # the places count in the natural shape
        parts = []
        rest = index.reshape(-1)
        for size in reversed(shape):
            parts.append(rest % size)
            rest = rest // size
        place: Any = 0
        for part, size in zip(reversed(parts), wanted):
            place = place * size + part
    else:
        place = index.reshape(-1)
    return flat.index_put((place,), x.reshape(-1)).reshape(wanted)


@op("MaxRoiPool")
def max_roi_pool(x: Tensor, rois: Tensor, *, pooled_shape: Any, spatial_scale: float = 1.0) -> Tensor:
    rows = []
    for roi in rois.tolist():
        batch = int(roi[0])
        x1, y1, x2, y2 = (round(v * spatial_scale) for v in roi[1:])
        part = x[batch, :, y1 : max(y2, y1) + 1, x1 : max(x2, x1) + 1]
        rows.append(F.adaptive_max_pool2d(part, tuple(pooled_shape)))
    return taeda.stack(rows)
