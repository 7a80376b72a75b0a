"""Convolutions and normalisations."""

from __future__ import annotations

import math
from typing import Any

import taeda
from taeda import Tensor
from taeda.nn import functional as F
from taeda.onnx.reader.table import op


def same_pads(auto_pad: str, sizes: Any, kernel: Any, strides: Any, dilations: Any) -> list[int]:
    """What SAME_UPPER and SAME_LOWER add before and after each dimension."""
    before, after = [], []
    for size, k, stride, dilation in zip(sizes, kernel, strides, dilations):
        extent = (k - 1) * dilation + 1
        total = max((-(-int(size) // stride) - 1) * stride + extent - int(size), 0)
        less = total // 2
        before.append(less if auto_pad == "SAME_UPPER" else total - less)
        after.append(total - before[-1])
    return before + after


def padded(x: Tensor, pads: list[int], value: float = 0.0) -> tuple[Tensor, list[int]]:
    """``x`` with what is unequal before and after added, and what convolutions add themselves."""
    count = len(pads) // 2
    if pads[:count] == pads[count:] and all(p >= 0 for p in pads):
        return x, pads[:count]
    flat = [p for i in reversed(range(count)) for p in (pads[i], pads[i + count])]
    return F.pad(x, flat, value=value), [0] * count


def _geometry(x: Tensor, kernel: Any, auto_pad: str, strides: Any, pads: Any, dilations: Any) -> Any:
    count = len(kernel)
    strides, dilations = list(strides or [1] * count), list(dilations or [1] * count)
    pads = list(pads or [0] * (2 * count))
    if auto_pad.startswith("SAME"):
        pads = same_pads(auto_pad, x.shape[2:], kernel, strides, dilations)
    return strides, pads, dilations


_CONVOLUTIONS = {1: taeda.conv1d, 2: taeda.conv2d, 3: taeda.conv3d}
_TRANSPOSED = {1: taeda.conv_transpose1d, 2: taeda.conv_transpose2d, 3: taeda.conv_transpose3d}


@op("Conv")
def conv(
    x: Tensor,
    w: Tensor,
    b: Tensor | None = None,
    *,
    auto_pad: str = "NOTSET",
    dilations: Any = None,
    group: int = 1,
    kernel_shape: Any = None,
    pads: Any = None,
    strides: Any = None,
) -> Tensor:
    kernel = list(w.shape[2:])
    steps, pads, dilations = _geometry(x, kernel, auto_pad, strides, pads, dilations)
    x, rest = padded(x, pads)
    return _CONVOLUTIONS[len(kernel)](x, w, b, steps, rest, dilations, group)


@op("ConvInteger")
def conv_integer(
    x: Tensor, w: Tensor, x_zero: Tensor | None = None, w_zero: Tensor | None = None, **geometry: Any
) -> Tensor:
    wide = x.to(taeda.float64) - (0 if x_zero is None else x_zero.to(taeda.float64))
    kernel = w.to(taeda.float64)
    if w_zero is not None:
        zero = w_zero.to(taeda.float64)
        kernel = kernel - (zero.reshape((-1, *[1] * (w.dim() - 1))) if zero.numel() > 1 else zero.reshape(()))
    return conv(wide, kernel, **geometry).to(taeda.int32)


@op("ConvTranspose")
def conv_transpose(x: Tensor, w: Tensor, b: Tensor | None = None, *, auto_pad: str = "NOTSET", dilations: Any = None,
                   group: int = 1, kernel_shape: Any = None, output_padding: Any = None, output_shape: Any = None,
                   pads: Any = None, strides: Any = None) -> Tensor:  # fmt: skip
    count = w.dim() - 2
    strides, dilations = list(strides or [1] * count), list(dilations or [1] * count)
    extra = list(output_padding or [0] * count)
    pads = list(pads or [0] * (2 * count))
    extents = [(k - 1) * d + 1 for k, d in zip(w.shape[2:], dilations)]
    full = [(int(s) - 1) * t + e + o for s, t, e, o in zip(x.shape[2:], strides, extents, extra)]
    if output_shape is not None or auto_pad.startswith("SAME"):
        wanted = list(output_shape or [int(s) * t for s, t in zip(x.shape[2:], strides)])[-count:]
        before, after = [], []
        for whole, size in zip(full, wanted):
            total = max(whole - size, 0)
            less, more = total // 2, total - total // 2
            before.append(less if auto_pad == "SAME_UPPER" else more if auto_pad != "NOTSET" else less)
            after.append(total - before[-1])
        extra = [o + max(size - whole, 0) for o, whole, size in zip(extra, full, wanted)]
        pads = before + after
    result = _TRANSPOSED[count](x, w, b, strides, [0] * count, [0] * count, group, dilations)
    widen = [p for o in reversed(extra) for p in (0, o)]
    if any(widen):
        result = F.pad(result, widen)
        if b is not None:  # what was added is bias alone
            inner = _TRANSPOSED[count](x, w, None, strides, [0] * count, [0] * count, group, dilations)
            result = F.pad(inner, widen) + b.reshape((-1, *[1] * count))
    crop = [-p for i in reversed(range(count)) for p in (pads[i], pads[i + count])]
    return F.pad(result, crop) if any(crop) else result


@op("DeformConv")
def deform_conv(
    x: Tensor,
    w: Tensor,
    offset: Tensor,
    b: Tensor | None = None,
    mask: Tensor | None = None,
    *,
    dilations: Any = None,
    group: int = 1,
    kernel_shape: Any = None,
    offset_group: int = 1,
    pads: Any = None,
    strides: Any = None,
) -> Tensor:
    kh, kw = w.shape[2:]
    strides, dilations, pads = strides or [1, 1], dilations or [1, 1], pads or [0, 0, 0, 0]
    n, c, height, width = x.shape
    oh, ow = offset.shape[2:]
    shift = offset.reshape(n, offset_group, kh * kw, 2, oh, ow)
    rows = taeda.arange(oh)[:, None] * strides[0] - pads[0]
    columns = taeda.arange(ow)[None, :] * strides[1] - pads[1]
    samples = []
    for k in range(kh * kw):
        y = rows + (k // kw) * dilations[0] + shift[:, :, k, 0]
        z = columns + (k % kw) * dilations[1] + shift[:, :, k, 1]
        value = bilinear(x.reshape(n * offset_group, c // offset_group, height, width),
                         y.reshape(n * offset_group, oh, ow), z.reshape(n * offset_group, oh, ow))  # fmt: skip
        value = value.reshape(n, offset_group, c // offset_group, oh, ow)
        if mask is not None:
            value = value * mask.reshape(n, offset_group, 1, kh * kw, oh, ow)[:, :, :, k]
        samples.append(value.reshape(n, c, oh, ow))
    patches = taeda.stack(samples, 2).reshape(n, group, c // group * kh * kw, oh * ow)
    kernel = w.reshape(group, w.shape[0] // group, -1)
    result = taeda.einsum("goc,ngcp->ngop", kernel, patches).reshape(n, w.shape[0], oh, ow)
    return result if b is None else result + b[:, None, None]


def bilinear(x: Tensor, y: Tensor, z: Tensor) -> Tensor:
    """``x`` (n, c, h, w) at the places ``y``, ``z`` (n, ...), zero outside."""
    n, c, height, width = x.shape
    y0, z0 = y.floor(), z.floor()
    total: Any = 0
    for dy in (0, 1):
        for dz in (0, 1):
            row, column = y0 + dy, z0 + dz
            weight = (1 - (y - row).abs()) * (1 - (z - column).abs())
            inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
            place = (row.clamp(0, height - 1) * width + column.clamp(0, width - 1)).to(taeda.int64)
            flat = place.reshape(n, 1, -1).expand(n, c, -1)
            value = x.reshape(n, c, -1).gather(2, flat).reshape(n, c, *y.shape[1:])
            total = total + value * (weight * inside)[:, None]
    return total


@op("BatchNormalization")
def batch_normalization(x: Tensor, scale: Tensor, bias: Tensor, mean: Tensor, var: Tensor, *, outputs: list[str],
                        opset: int, epsilon: float = 1e-5, momentum: float = 0.9, training_mode: int = 0,
                        is_test: int = 0, **_: Any) -> Any:  # fmt: skip
    if not training_mode and not (opset < 7 and not is_test and len(outputs) > 1):
        return F.batch_norm(
            x, mean.to(x.dtype), var.to(x.dtype), scale.to(x.dtype), bias.to(x.dtype), False, 0.0, epsilon
        )
    dims = [d for d in range(x.dim()) if d != 1]
    shape = [1, -1, *[1] * (x.dim() - 2)]
    batch_mean = x.mean(dims)
    batch_var = x.var(dims, correction=0)
    result = (x - batch_mean.reshape(shape)) / (batch_var.reshape(shape) + epsilon).sqrt()
    result = result * scale.reshape(shape) + bias.reshape(shape)
    kept = [
        (old * momentum + new * (1 - momentum)).to(old.dtype) for old, new in ((mean, batch_mean), (var, batch_var))
    ]
    return (result.to(x.dtype), *kept)[: len(outputs)] if len(outputs) > 1 else result


@op("InstanceNormalization")
def instance_normalization(x: Tensor, scale: Tensor, bias: Tensor, *, epsilon: float = 1e-5, **_: Any) -> Tensor:
    return F.instance_norm(x, None, None, scale, bias, eps=epsilon)


@op("GroupNormalization")
def group_normalization(x: Tensor, scale: Tensor, bias: Tensor, *, num_groups: int, opset: int, epsilon: float = 1e-5,
                        stash_type: int = 1) -> Tensor:  # fmt: skip
    if opset < 21:  # one number for each group
        times = x.shape[1] // num_groups
        scale, bias = scale.repeat_interleave(times), bias.repeat_interleave(times)
    return F.group_norm(x, num_groups, scale, bias, epsilon)


@op("LayerNormalization")
def layer_normalization(x: Tensor, scale: Tensor, bias: Tensor | None = None, *, outputs: list[str], axis: int = -1,
                        epsilon: float = 1e-5, stash_type: int = 1) -> Any:  # fmt: skip
    dims = list(range(axis % x.dim(), x.dim()))
    if len(outputs) == 1 and tuple(scale.shape) == tuple(x.shape[dims[0] :]):
        return F.layer_norm(x, scale.shape, scale, bias, epsilon)
    wide = x.float() if x.dtype.itemsize < 4 else x
    mean = wide.mean(dims, True)
    inverse = (wide.var(dims, correction=0, keepdim=True) + epsilon).rsqrt()
    result = ((wide - mean) * inverse).to(x.dtype) * scale
    result = result if bias is None else result + bias
    return (result, mean, inverse)[: len(outputs)] if len(outputs) > 1 else result


@op("LRN")
def lrn(x: Tensor, *, size: int, alpha: float = 1e-4, beta: float = 0.75, bias: float = 1.0) -> Tensor:
    before, after = (size - 1) // 2, size - 1 - (size - 1) // 2
    square = F.pad(x * x, [*[0, 0] * (x.dim() - 2), before, after])
    total = square.unfold(1, size, 1).sum(-1)
    return x / (bias + alpha / size * total) ** beta


@op("GlobalAveragePool")
def global_average_pool(x: Tensor) -> Tensor:
    return x.mean(list(range(2, x.dim())), True)


@op("GlobalMaxPool")
def global_max_pool(x: Tensor) -> Tensor:
    return x.amax(list(range(2, x.dim())), True)


@op("GlobalLpPool")
def global_lp_pool(x: Tensor, *, p: float = 2) -> Tensor:
    return (x.abs() ** p).sum(list(range(2, x.dim())), True) ** (1 / p)


@op("Col2Im")
def col2im(
    x: Tensor, image: Tensor, block: Tensor, *, dilations: Any = None, pads: Any = None, strides: Any = None
) -> Tensor:
    sizes, kernel = image.tolist(), block.tolist()
    count = len(sizes)
    strides, dilations, pads = strides or [1] * count, dilations or [1] * count, pads or [0] * (2 * count)
    whole = [s + pads[i] + pads[i + count] for i, s in enumerate(sizes)]
    places = [(whole[i] - (kernel[i] - 1) * dilations[i] - 1) // strides[i] + 1 for i in range(count)]
    n, channels = x.shape[0], x.shape[1] // math.prod(kernel)
    values = x.reshape(n, channels, math.prod(kernel), math.prod(places))
    index: Any = 0
    for i in range(count):
        offsets = (taeda.arange(kernel[i]) * dilations[i]).reshape([-1 if d == i else 1 for d in range(count)])
        starts = (taeda.arange(places[i]) * strides[i]).reshape([-1 if d == i else 1 for d in range(count)])
        part = offsets.expand(kernel).reshape(-1, 1) + starts.expand(places).reshape(1, -1)
        index = index * whole[i] + part
    flat = taeda.zeros((n, channels, math.prod(whole)), dtype=x.dtype)
    flat = flat.index_add(2, index.reshape(-1), values.reshape(n, channels, -1))
    result = flat.reshape((n, channels, *whole))
    for i in range(count):
        result = result.narrow(2 + i, pads[i], sizes[i])
    return result
