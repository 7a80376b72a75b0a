"""Shapes: what only moves or names elements."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import taeda
from taeda import Tensor
from taeda.nn import functional as F
from taeda.onnx.reader.table import op
from taeda.onnx.reader.values import dtype_of, from_numpy, ints, to_numpy


@op("Reshape")
def reshape(x: Any, sizes: Tensor | None = None, *, allowzero: int = 0, shape: Any = None, **_: Any) -> Any:
    wanted = ints(sizes) if sizes is not None else list(shape)
    if not allowzero:
        wanted = [x.shape[i] if s == 0 else s for i, s in enumerate(wanted)]
    return x.reshape(tuple(wanted))


@op("Transpose")
def transpose(x: Any, *, perm: Any = None) -> Any:
    order = list(perm) if perm is not None else list(range(len(x.shape)))[::-1]
    return x.permute(order) if isinstance(x, Tensor) else x.transpose(order)


@op("Flatten")
def flatten(x: Tensor, *, axis: int = 1) -> Tensor:
    axis = axis + x.dim() if axis < 0 else axis
    return x.reshape(math.prod(x.shape[:axis]), math.prod(x.shape[axis:]))


@op("Squeeze")
def squeeze(x: Any, given: Tensor | None = None, *, axes: Any = None) -> Any:
    dims = ints(given) if given is not None else list(axes) if axes is not None else None
    if not isinstance(x, Tensor):
        return np.squeeze(x, None if dims is None else tuple(dims))
    return x.squeeze() if dims is None else x.squeeze(tuple(dims)) if dims else x


@op("Unsqueeze")
def unsqueeze(x: Any, given: Tensor | None = None, *, axes: Any = None) -> Any:
    dims = ints(given) if given is not None else list(axes)
    rank = len(x.shape) + len(dims)
    for dim in sorted(d % rank for d in dims):
        x = x.unsqueeze(dim) if isinstance(x, Tensor) else np.expand_dims(x, dim)
    return x


@op("Shape")
def shape_(x: Any, *, start: int = 0, end: int | None = None) -> Tensor:
    return taeda.tensor(list(x.shape)[start:end], dtype=taeda.int64)


@op("Size")
def size(x: Any) -> Tensor:
    return taeda.tensor(math.prod(x.shape), dtype=taeda.int64)


@op("Concat")
def concat(*tensors: Any, axis: int = 1, **_: Any) -> Any:
    if not isinstance(tensors[0], Tensor):
        return np.concatenate(tensors, axis)
    return taeda.cat(list(tensors), axis)


@op("Split")
def split(x: Tensor, lengths: Tensor | None = None, *, outputs: list[str], axis: int = 0, split: Any = None,
          num_outputs: int | None = None) -> Any:  # fmt: skip
    given = ints(lengths) if lengths is not None else list(split or [])
    if not given:
        count = num_outputs or len(outputs)
        whole = -(-int(x.shape[axis]) // count)
        given = [max(min(whole, int(x.shape[axis]) - i * whole), 0) for i in range(count)]
    return tuple(taeda.split(x, given, axis))


@op("Slice")
def slice_(x: Any, starts_: Tensor | None = None, ends_: Tensor | None = None, axes_: Tensor | None = None,
           steps_: Tensor | None = None, *, starts: Any = None, ends: Any = None, axes: Any = None) -> Any:  # fmt: skip
    first = ints(starts_) if starts_ is not None else list(starts)
    last = ints(ends_) if ends_ is not None else list(ends)
    dims = ints(axes_) if axes_ is not None else list(axes) if axes is not None else list(range(len(first)))
    steps = ints(steps_) if steps_ is not None else [1] * len(first)
    for begin, end, dim, step in zip(first, last, dims, steps):
        chosen = range(*slice(begin, end, step).indices(x.shape[dim])) if not (step < 0 and end < -x.shape[dim]) else \
            range(*slice(begin, None, step).indices(x.shape[dim]))  # fmt: skip
        if not isinstance(x, Tensor):
            x = np.take(x, list(chosen), dim)
        elif step > 0:
            at = [slice(None)] * x.dim()
            at[dim] = slice(chosen.start, max(chosen.stop, chosen.start), step)
            x = x[tuple(at)]
        else:
            x = x.index_select(dim, taeda.tensor(list(chosen), dtype=taeda.int64, device=x.device))
    return x


@op("Expand")
def expand(x: Any, sizes: Tensor) -> Any:
    wanted = np.broadcast_shapes(tuple(x.shape), tuple(ints(sizes)))
    return x.expand(wanted) if isinstance(x, Tensor) else np.broadcast_to(x, wanted)


@op("Tile")
def tile(x: Tensor, repeats: Tensor, axis: Tensor | None = None, *, opset: int) -> Tensor:
    if opset < 6 and axis is not None:
        times = [1] * x.dim()
        times[int(axis)] = int(repeats)
        return x.repeat(times)
    return x.repeat(ints(repeats))


@op("Pad")
def pad(x: Tensor, amounts: Tensor | None = None, value: Any = None, axes: Tensor | None = None, *,
        mode: str = "constant", pads: Any = None, paddings: Any = None, **attributes: Any) -> Tensor:  # fmt: skip
    given = ints(amounts) if amounts is not None else list(pads if pads is not None else paddings)
    dims = [d % x.dim() for d in ints(axes)] if axes is not None else list(range(x.dim()))
    fill = value if value is not None else attributes.get("value", 0)
    count = len(given) // 2
    for dim, before, after in zip(dims, given[:count], given[count:]):
        x = _padded(x, dim, before, after, mode, fill)
    return x


def _padded(x: Tensor, dim: int, before: int, after: int, mode: str, fill: Any) -> Tensor:
    size = int(x.shape[dim])
    if before < 0 or after < 0:
        start, stop = max(-before, 0), size - max(-after, 0)
        x, before, after = x.narrow(dim, start, stop - start), max(before, 0), max(after, 0)
        size = int(x.shape[dim])
    if not before and not after:
        return x
    if mode == "constant":
        parts = []
        for amount in (before, after):
            shape = list(x.shape)
            shape[dim] = amount
            number = fill.reshape(()).to(x.dtype) if isinstance(fill, Tensor) else taeda.tensor(fill, dtype=x.dtype)
            parts.append(number.to(x.device).expand(shape))
        return taeda.cat([parts[0], x, parts[1]], dim)
    places = np.arange(-before, size + after)
    if mode == "edge":
        places = places.clip(0, size - 1)
    elif mode == "wrap":
        places = places % size
    else:  # reflect
        period = max(2 * (size - 1), 1)
        places = places % period
        places = np.where(places >= size, period - places, places) if size > 1 else places * 0
    return x.index_select(dim, taeda.tensor(places.tolist(), device=x.device))


@op("CenterCropPad")
def center_crop_pad(x: Tensor, sizes: Tensor, *, axes: Any = None) -> Tensor:
    dims = list(axes) if axes is not None else list(range(x.dim()))
    for dim, wanted in zip(dims, ints(sizes)):
        size = int(x.shape[dim])
        if wanted > size:
            before = (wanted - size) // 2
            x = _padded(x, dim % x.dim(), before, wanted - size - before, "constant", 0)
        elif wanted < size:
            x = x.narrow(dim, (size - wanted) // 2, wanted)
    return x


@op("DepthToSpace")
def depth_to_space(x: Tensor, *, blocksize: int, mode: str = "DCR") -> Tensor:
    n, c, h, w = x.shape
    b = blocksize
    if mode == "DCR":
        return x.reshape(n, b, b, c // (b * b), h, w).permute(0, 3, 4, 1, 5, 2).reshape(n, c // (b * b), h * b, w * b)
    return F.pixel_shuffle(x, b)


@op("SpaceToDepth")
def space_to_depth(x: Tensor, *, blocksize: int, mode: str = "DCR") -> Tensor:
    n, c, h, w = x.shape
    b = blocksize
    if mode == "DCR":
        return x.reshape(n, c, h // b, b, w // b, b).permute(0, 3, 5, 1, 2, 4).reshape(n, c * b * b, h // b, w // b)
    return F.pixel_unshuffle(x, b)


@op("Trilu")
def trilu(x: Tensor, k: Tensor | None = None, *, upper: int = 1) -> Tensor:
    diagonal = int(k) if k is not None else 0
    if not x.numel():
        return x
    return taeda.triu(x, diagonal) if upper else taeda.tril(x, diagonal)


@op("EyeLike")
def eye_like(x: Tensor, *, dtype: int | None = None, k: int = 0) -> Tensor:
    kind = x.dtype if dtype is None else dtype_of(dtype)
    rows, columns = x.shape
    there = taeda.arange(columns)[None, :] - taeda.arange(rows)[:, None] == k
    return there.to(x.device, kind)


@op("Constant")
def constant(
    *,
    value: Any = None,
    sparse_value: Any = None,
    value_float: float | None = None,
    value_int: int | None = None,
    value_floats: Any = None,
    value_ints: Any = None,
    value_string: Any = None,
    value_strings: Any = None,
) -> Any:
    for tensor in (value, sparse_value):
        if tensor is not None:
            return tensor
    if value_float is not None or value_floats is not None:
        return taeda.tensor(value_float if value_floats is None else value_floats, dtype=taeda.float32)
    if value_int is not None or value_ints is not None:
        return taeda.tensor(value_int if value_ints is None else value_ints, dtype=taeda.int64)
    return np.array(value_string if value_strings is None else value_strings, dtype=object)


@op("ConstantOfShape")
def constant_of_shape(sizes: Tensor, *, value: Any = None) -> Any:
    shape = ints(sizes)
    if value is None:
        return taeda.zeros(shape)
    if not isinstance(value, Tensor):
        return np.full(shape, value.ravel()[0], dtype=value.dtype)
    return value.reshape(()).expand(shape).clone()


@op("Range")
def range_(start: Tensor, limit: Tensor, step: Tensor) -> Tensor:
    if start.is_floating_point():
        count = max(math.ceil((float(limit) - float(start)) / float(step)), 0)
        return start + taeda.arange(count, dtype=start.dtype, device=start.device) * step
    values = list(range(int(start), int(limit), int(step)))
    return taeda.tensor(values, dtype=start.dtype, device=start.device)


@op("ReverseSequence")
def reverse_sequence(x: Tensor, lengths: Tensor, *, batch_axis: int = 1, time_axis: int = 0) -> Tensor:
    moved = x.movedim((batch_axis, time_axis), (0, 1))
    places = taeda.arange(moved.shape[1], device=x.device)[None, :]
    count = lengths.to(taeda.int64)[:, None]
    places = taeda.where(places < count, count - 1 - places, places)
    rows = taeda.arange(moved.shape[0], device=x.device)[:, None]
    return moved[rows, places].movedim((0, 1), (batch_axis, time_axis))


@op("Unique")
def unique(x: Tensor, *, axis: int | None = None, sorted: int = 1) -> Any:
    array = to_numpy(x)
    values, first, inverse, counts = np.unique(array, True, True, True, axis=axis)
    inverse = inverse.reshape(-1)
    if not sorted:
        order = np.argsort(first)
        back = np.argsort(order)
        values = np.take(values, order, 0 if axis is None else axis)
        first, counts, inverse = first[order], counts[order], back[inverse]
    return (from_numpy(values), *(from_numpy(v.astype(np.int64)) for v in (first, inverse, counts)))
