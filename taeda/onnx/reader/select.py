"""Picking and placing elements by index."""

from __future__ import annotations

from typing import Any

import numpy as np

import taeda
from taeda import Tensor
from taeda.onnx.reader.table import op
from taeda.onnx.reader.values import is_unsigned


def _positive(index: Tensor, size: int) -> Tensor:
    index = index.to(taeda.int64)
    return taeda.where(index < 0, index + size, index)


@op("Gather")
def gather(x: Any, index: Tensor, *, axis: int = 0) -> Any:
    if not isinstance(x, Tensor):
        return np.take(x, index.numpy(), axis)
    index = _positive(index, x.shape[axis])
    flat = x.index_select(axis, index.reshape(-1))
    axis = axis % x.dim()
    return flat.reshape((*x.shape[:axis], *index.shape, *x.shape[axis + 1 :]))


@op("GatherElements")
def gather_elements(x: Tensor, index: Tensor, *, axis: int = 0) -> Tensor:
    return taeda.gather(x, axis, _positive(index, x.shape[axis]))


@op("GatherND")
def gather_nd(x: Tensor, index: Tensor, *, batch_dims: int = 0) -> Tensor:
    batch = tuple(x.shape[:batch_dims])
    flat_x = x.reshape((-1, *x.shape[batch_dims:]))
    flat_index = index.reshape((flat_x.shape[0], -1, index.shape[-1]))
    count = index.shape[-1]
    parts = [_positive(flat_index[..., i], x.shape[batch_dims + i]) for i in range(count)]
    rows = taeda.arange(flat_x.shape[0], device=x.device)[:, None]
    picked = flat_x[(rows, *parts)]
    return picked.reshape((*batch, *index.shape[batch_dims:-1], *x.shape[batch_dims + count :]))


_REDUCE = {"add": "sum", "mul": "prod", "max": "amax", "min": "amin"}


@op("ScatterElements", "Scatter")
def scatter_elements(x: Tensor, index: Tensor, updates: Tensor, *, axis: int = 0, reduction: str = "none") -> Tensor:
    index = _positive(index, x.shape[axis])
    if reduction == "none":
        return x.scatter(axis, index, updates)
    return x.scatter_reduce(axis, index, updates, _REDUCE[reduction])


@op("ScatterND")
def scatter_nd(x: Tensor, index: Tensor, updates: Tensor, *, reduction: str = "none") -> Tensor:
    count = index.shape[-1]
    parts = tuple(_positive(index[..., i], x.shape[i]) for i in range(count))
    if reduction == "none":
        return x.index_put(parts, updates)
    if reduction == "add":
        return x.index_put(parts, updates, accumulate=True)
    rows: Any = 0
    for i, part in enumerate(parts):
        rows = rows * x.shape[i] + part
    inner = x.reshape((int(np.prod(x.shape[:count])), -1))
    flat = taeda.as_tensor(rows).reshape(-1)
    values = updates.reshape((flat.shape[0], -1))
    index_ = flat[:, None].expand(values.shape)
    return inner.scatter_reduce(0, index_, values, _REDUCE[reduction]).reshape(x.shape)


@op("TensorScatter")
def tensor_scatter(
    past: Tensor, update: Tensor, start: Tensor | None = None, *, axis: int = -2, mode: str = "linear"
) -> Tensor:
    axis = axis % past.dim()
    first = start if start is not None else taeda.zeros(past.shape[0], dtype=taeda.int64)
    length = update.shape[axis]
    rows = []
    for i in range(past.shape[0]):
        places = taeda.arange(length) + int(first[i])
        if mode == "circular":
            places = places % past.shape[axis]
        rows.append(past[i].index_copy(axis - 1, places, update[i]))
    return taeda.stack(rows)


@op("OneHot")
def one_hot(index: Tensor, depth: Tensor, values: Tensor, *, axis: int = -1) -> Tensor:
    count = int(depth.reshape(-1)[0])
    index = index.to(taeda.int64)
    index = taeda.where(index < 0, index + count, index).unsqueeze(axis)
    shape = [1] * index.dim()
    shape[axis] = count
    there = index == taeda.arange(count, device=index.device).reshape(shape)
    return taeda.where(there, values[1], values[0])


@op("NonZero")
def non_zero(x: Tensor) -> Tensor:
    return taeda.nonzero(x).t()


@op("Compress")
def compress(x: Tensor, condition: Tensor, *, axis: int | None = None) -> Tensor:
    places = taeda.nonzero(condition).reshape(-1)
    return x.reshape(-1)[places] if axis is None else x.index_select(axis, places)


@op("TopK")
def top_k(x: Tensor, count: Tensor | None = None, *, axis: int = -1, k: int | None = None, largest: int = 1,
          sorted: int = 1) -> Any:  # fmt: skip
    number = int(count.reshape(-1)[0]) if count is not None else int(k or 1)
    wide = x.to(taeda.int64) if is_unsigned(x.dtype) else x
    places = taeda.sort(wide, stable=True, dim=axis, descending=bool(largest)).indices
    places = places.narrow(axis, 0, number)
    return taeda.gather(x, axis, places), places


@op("ArrayFeatureExtractor", domain="ai.onnx.ml")
def array_feature_extractor(x: Tensor, index: Tensor) -> Tensor:
    picked = x.index_select(-1, index.reshape(-1))
    return picked.reshape(1, -1) if x.dim() == 1 else picked


@op("Binarizer", domain="ai.onnx.ml")
def binarizer(x: Tensor, *, threshold: float = 0.0) -> Tensor:
    return (x > threshold).to(x.dtype)


@op("LabelEncoder", domain="ai.onnx.ml")
def label_encoder(x: Any, **attributes: Any) -> Any:
    from taeda.onnx.reader.values import from_numpy, to_numpy

    def find(stem: str) -> Any:
        for kind in ("int64s", "floats", "strings", "tensor"):
            found = attributes.get(f"{stem}_{kind}")
            if found is not None:
                return to_numpy(found) if kind == "tensor" else np.array(found, dtype=_KINDS[kind])
        raise ValueError(f"LabelEncoder: there are no {stem}")

    keys, values = find("keys"), find("values")
    stem = "string" if values.dtype.kind in "OU" else "float" if values.dtype == np.float32 else "int64"
    usual: dict[str, Any] = {"string": "_Unused", "float": -0.0, "int64": -1}
    default = attributes.get("default_tensor")
    default = to_numpy(default).ravel()[0] if default is not None else attributes.get(f"default_{stem}", usual[stem])
    table = {_key(k): v for k, v in zip(keys.tolist(), values.tolist())}
    array = to_numpy(x)
    result = np.array([table.get(_key(v), default) for v in array.ravel().tolist()], dtype=values.dtype)
    return from_numpy(result.reshape(array.shape))


_KINDS = {"int64s": np.int64, "floats": np.float32, "strings": object}


def _key(value: Any) -> Any:
    return "nan" if isinstance(value, float) and value != value else value
