"""Picking and placing elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import taeda
from taeda.onnx.writer.builder import Builder, Value
from taeda.onnx.writer.pointwise import same_dtype, translate_mul, truth
from taeda.onnx.writer.shapes import END, arange_
from taeda.onnx.writer.table import translates


@translates("embedding")
def embedding(g: Builder, weight: Value, indices: Value, *_: Any, **__: Any) -> Value:
    return g.op("Gather", weight, indices, axis_i=0)


@translates("index_select")
def index_select(g: Builder, self: Value, dim: int, index: Value) -> Value:
    return g.op("Gather", self, index, axis_i=dim % max(self.rank, 1))


@translates("gather")
def gather(g: Builder, self: Value, dim: int, index: Value, **_: Any) -> Value:
    return g.op("GatherElements", self, index, axis_i=dim)


@translates("take_along_dim")
def take_along_dim(g: Builder, self: Value, indices: Value, dim: int | None = None) -> Value:
    if dim is None:
        raise NotImplementedError("take_along_dim without dim")
    return g.op("GatherElements", self, indices, axis_i=dim)


def _updates(g: Builder, src: Any, index: Value, dtype: Any) -> Value:
    if isinstance(src, Value) and src.shape != ():
        if src.shape != index.shape:  # a corner of it
            for dim in range(index.rank):
                src = g.slice(src, dim, 0, g.size_of(index, dim))
        return g.cast(src, dtype)
    return g.op("Expand", g.number(src, dtype), g.ints(g.sizes_of(index)))


@translates("scatter", "scatter_add", "scatter_reduce")
def scatter(g: Builder, self: Value, dim: int, index: Value, src: Any = None, reduce: str | None = None, *,
            include_self: bool = True, **given: Any) -> Value:  # fmt: skip
    src = given.get("value", src)
    reduce = "add" if "scatter_add" in g.current else reduce
    names = {None: None, "add": "add", "sum": "add", "prod": "mul", "multiply": "mul", "amax": "max", "amin": "min"}
    if reduce not in names or not include_self:
        raise NotImplementedError(f"scatter_reduce with {reduce}{'' if include_self else ' without the old value'}")
    if reduce is not None and g.opset < (18 if reduce in ("amax", "amin") else 16):
        raise NotImplementedError(f"scatter with {reduce} needs opset {18 if reduce in ('amax', 'amin') else 16}")
    return g.op(
        "ScatterElements", self, index, _updates(g, src, index, self.dtype), axis_i=dim, reduction_s=names[reduce]
    )


@translates("nonzero", "argwhere")
def nonzero(g: Builder, self: Value) -> Value:
    made = g.op("NonZero", g.cast(self, taeda.int32) if self.dtype == taeda.bool and g.opset < 13 else self)
    made.shape = (self.rank, None)
    return g.transpose(made, [1, 0])


@translates("where")
def where(g: Builder, condition: Value, self: Any = None, other: Any = None) -> Any:
    if self is None:
        places = nonzero(g, condition)
        return tuple(g.op("Gather", places, g.constant(d, taeda.int64), axis_i=1) for d in range(condition.rank))
    a, b = same_dtype(g, self, other, dtype=g.out_dtype)
    return g.op("Where", truth(g, condition), a, b)


@translates("masked_select")
def masked_select(g: Builder, self: Value, mask: Value) -> Value:
    if mask.shape != self.shape:
        mask = g.op("Expand", mask, g.ints(g.sizes_of(self)))
    return g.op("Compress", g.reshape(self, [-1]), g.reshape(mask, [-1]), axis_i=0)


def _positions(g: Builder, indices: Sequence[Value | None]) -> list[Value | None]:
    """Masks as the places where they hold."""
    found: list[Value | None] = []
    for index in indices:
        if index is not None and index.dtype in (taeda.bool, taeda.uint8):
            places = g.op("NonZero", index)
            for d in range(index.rank):
                row = g.op("Gather", places, g.constant(d, taeda.int64), axis_i=0)
                row.dtype, row.shape = taeda.int64, (None,)
                found.append(row)
        else:
            found.append(index)
    return found


def _joint(g: Builder, indices: list[Value]) -> Value:
    """Indices of several dimensions as one tensor whose last dimension counts them."""
    if len(indices) > 1:
        rank = max(i.rank for i in indices)
        shapes = {i.shape for i in indices}
        if len(shapes) > 1 or None in (next(iter(shapes)) or (None,)):
            zero = g.constant(0, taeda.int64)
            total = indices[0]
            for other in indices[1:]:
                total = g.op("Add", total, other)
            whole = g.op("Mul", total, zero)
            indices = [g.op("Add", i, whole) for i in indices]
            for i in indices:
                i.dtype = taeda.int64
                i.shape = (None,) * rank
    parts = [g.unsqueeze(i, [i.rank]) for i in indices]
    return parts[0] if len(parts) == 1 else g.op("Concat", *parts, axis_i=-1)


@translates("index.Tensor")
def index(g: Builder, self: Value, indices: Sequence[Value | None]) -> Value:
    given = _positions(g, indices)
    places = [d for d, i in enumerate(given) if i is not None]
    if len(places) == 1:
        return g.op("Gather", self, given[places[0]], axis_i=places[0])
    rest = [d for d in range(self.rank) if d not in places]
    x = g.transpose(self, [*places, *rest])
    joined = _joint(g, [g.cast(given[d], taeda.int64) for d in places])  # type: ignore[arg-type]
    result = g.op("GatherND", x, joined)
    result.dtype = self.dtype
    together = places == list(range(places[0], places[-1] + 1))
    if not together or places[0] == 0:
        return result
    rank = max(given[d].rank for d in places)  # type: ignore[union-attr]
    result.shape = (None,) * (rank + len(rest))
    before = places[0]
    order = [*range(rank, rank + before), *range(rank), *range(rank + before, rank + len(rest))]
    return g.transpose(result, order)


@translates("index_put", "_unsafe_index_put")
def index_put(
    g: Builder, self: Value, indices: Sequence[Value | None], values: Value, accumulate: bool = False
) -> Value:
    given = _positions(g, indices)
    if (
        len(indices) == 1
        and indices[0] is not None
        and indices[0].dtype == taeda.bool
        and values.shape == ()
        and not accumulate
    ):
        mask = indices[0]
        if mask.rank < self.rank:
            mask = g.unsqueeze(mask, list(range(mask.rank, self.rank)))
        return g.op("Where", mask, g.cast(values, self.dtype), self)
    places = [d for d, i in enumerate(given) if i is not None]
    if places != list(range(len(places))):
        raise NotImplementedError("index_put with a full dimension before an index")
    if accumulate and g.opset < 16:
        raise NotImplementedError("index_put that accumulates needs opset 16")
    joined = _joint(g, [g.cast(given[d], taeda.int64) for d in places])  # type: ignore[arg-type]
    shape = g.op("Shape", joined)
    outer = g.op("Slice", shape, g.ints([0]), g.ints([-1]), g.ints([0]))
    inner = g.sizes_of(self)[len(places) :]
    wanted = g.op("Concat", outer, g.ints(inner), axis_i=0) if inner else outer
    updates = g.op("Expand", g.cast(values, self.dtype), wanted)
    return g.op("ScatterND", self, joined, updates, reduction_s="add" if accumulate else None)


@translates("select_scatter")
def select_scatter(g: Builder, self: Value, src: Value, dim: int, index: Any) -> Value:
    dim = dim % self.rank
    wide = g.op("Expand", g.unsqueeze(src, [dim]), g.ints(g.sizes_of(self)))
    places = arange_(g, 0, g.size_of(self, dim), 1)
    place = g.number(index, taeda.int64) if isinstance(index, Value) else \
        g.constant(index, taeda.int64) if index >= 0 else _from_end(g, self, dim, index)  # fmt: skip
    there = g.op("Equal", places, place)
    there.shape = (None,)
    mask = g.reshape(there, [-1, *[1] * (self.rank - 1 - dim)])
    return g.op("Where", mask, g.cast(wide, self.dtype), self)


def _from_end(g: Builder, x: Value, dim: int, place: int) -> Value:
    size = g.size_of(x, dim)
    return (
        g.op("Add", size, g.constant(place, taeda.int64))
        if isinstance(size, Value)
        else g.constant(size + place, taeda.int64)
    )


@translates("slice_scatter")
def slice_scatter(
    g: Builder, self: Value, src: Value, dim: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Value:
    dim = dim % self.rank
    every = arange_(g, 0, g.size_of(self, dim), 1)
    places = g.op(
        "Slice",
        every,
        g.ints([0 if start is None else start]),
        g.ints([END if end is None else end]),
        g.ints([0]),
        g.ints([step]),
    )
    order = [dim, *(d for d in range(self.rank) if d != dim)]
    back = [order.index(d) for d in range(self.rank)]
    x, part = g.transpose(self, order), g.transpose(g.cast(src, self.dtype), order)
    places.shape, places.dtype = (None,), taeda.int64
    result = g.op("ScatterND", x, g.unsqueeze(places, [1]), part)
    result.shape = x.shape
    return g.transpose(result, back)


@translates("one_hot")
def one_hot(g: Builder, self: Value, num_classes: int = -1) -> Value:
    if num_classes < 0:
        raise NotImplementedError("one_hot without num_classes: the result's size depends on values")
    return g.op("OneHot", self, g.constant(num_classes, taeda.int64), g.constant([0, 1], taeda.int64), axis_i=-1)


@translates("repeat_interleave.self_int")
def repeat_interleave(g: Builder, self: Value, repeats: int, dim: int | None = None, **_: Any) -> Value:
    x = g.reshape(self, [-1]) if dim is None else self
    dim = 0 if dim is None else dim % self.rank
    sizes = g.sizes_of(x)
    if dim is None or None in (x.shape or (None,)):
        sizes = g.sizes_of(x)
    wide = g.op("Expand", g.unsqueeze(x, [dim + 1]), g.ints([*sizes[: dim + 1], repeats, *sizes[dim + 1 :]]))
    wide.dtype = x.dtype
    size = sizes[dim]
    return g.reshape(wide, [*sizes[:dim], -1 if isinstance(size, Value) else size * repeats, *sizes[dim + 1 :]])


@translates("im2col")
def im2col(g: Builder, self: Value, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Value:
    if self.rank != 4 or self.size(2) is None or self.size(3) is None:
        raise NotImplementedError("unfold of images whose height or width varies, or without a batch")
    kernel, dilations, pads, strides = (list(v) for v in (kernel_size, dilation, padding, stride))
    x = self
    if any(pads):
        x = g.op("Pad", self, g.ints([0, 0, *pads, 0, 0, *pads]), g.number(0, self.dtype), mode_s="constant")
        x.dtype = self.dtype
    places = []
    for d in (0, 1):
        size = int(self.shape[2 + d]) + 2 * pads[d]  # type: ignore[index,arg-type]
        starts = taeda.arange(0, size - dilations[d] * (kernel[d] - 1), strides[d])
        places.append(taeda.arange(kernel[d])[:, None] * dilations[d] + starts[None, :])
    rows = g.op("Gather", x, g.constant(places[0]), axis_i=2)  # n, c, kernel, steps, width
    both = g.op("Gather", rows, g.constant(places[1]), axis_i=4)
    both.dtype = self.dtype
    moved = g.transpose(both, [0, 1, 2, 4, 3, 5])
    channels = self.size(1)
    if channels is None:
        raise NotImplementedError("the number of channels varies")
    return g.reshape(
        moved, [g.size_of(self, 0), channels * kernel[0] * kernel[1], places[0].shape[1] * places[1].shape[1]]
    )


@translates("diagonal")
def diagonal(g: Builder, self: Value, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Value:
    first, second = dim1 % self.rank, dim2 % self.rank
    rows, columns = self.size(first), self.size(second)
    if rows is None or columns is None:
        raise NotImplementedError("the diagonal of sizes that vary")
    count = max(min(rows - max(-offset, 0), columns - max(offset, 0)), 0)
    x = g.transpose(self, [first, second, *(d for d in range(self.rank) if d not in (first, second))])
    steps = taeda.arange(count)
    picked = g.op("GatherND", x, g.constant(taeda.stack([steps + max(-offset, 0), steps + max(offset, 0)], 1)))
    picked.dtype, picked.shape = self.dtype, (None,) * (self.rank - 1)
    return g.transpose(picked, [*range(1, self.rank - 1), 0])


@translates("take")
def take(g: Builder, self: Value, index: Value) -> Value:
    return g.op("Gather", g.reshape(self, [-1]), index, axis_i=0)


def _rows(g: Builder, self: Value, dim: int, index: Value, source: Any, reduction: str | None) -> Value:
    """``self`` with rows along ``dim`` replaced or added to."""
    if reduction is not None and g.opset < 16:
        raise NotImplementedError("index_add needs opset 16")
    order = [dim, *(d for d in range(self.rank) if d != dim)]
    x = g.transpose(self, order)
    if isinstance(source, Value) and source.rank == self.rank:
        part = g.transpose(g.cast(source, self.dtype), order)
    else:
        sizes = [g.size_of(index, 0), *g.sizes_of(x)[1:]]
        part = g.op("Expand", g.number(source, self.dtype), g.ints(sizes))
    result = g.op("ScatterND", x, g.unsqueeze(index, [1]), part, reduction_s=reduction)
    result.shape, result.dtype = x.shape, self.dtype
    return g.transpose(result, [order.index(d) for d in range(self.rank)])


@translates("index_add")
def index_add(g: Builder, self: Value, dim: int, index: Value, source: Value, *, alpha: Any = 1) -> Value:
    if alpha != 1:
        source = translate_mul(g, source, alpha)
    return _rows(g, self, dim % self.rank, index, source, "add")


@translates("index_copy")
def index_copy(g: Builder, self: Value, dim: int, index: Value, source: Value) -> Value:
    return _rows(g, self, dim % self.rank, index, source, None)


@translates("index_fill")
def index_fill(g: Builder, self: Value, dim: int, index: Value, value: Any) -> Value:
    return _rows(g, self, dim % self.rank, index, value, None)


@translates("_unique2", "unique_dim", "_unique")
def unique(g: Builder, self: Value, *given: Any, **named: Any) -> Any:
    axis = given[0] if "unique_dim" in g.current else None
    values, _first, inverse, counts = g.op("Unique", self, outputs=4, axis_i=axis, sorted_i=1)
    inverse.dtype = counts.dtype = taeda.int64
    if axis is not None:
        return values, inverse, counts
    asked = dict(zip(("return_inverse", "return_counts"), given[1:])) | named
    empty = g.constant(taeda.zeros(0, dtype=taeda.int64))
    inverse = g.reshape(inverse, g.sizes_of(self)) if asked.get("return_inverse") else empty
    return values, inverse, counts if asked.get("return_counts") else empty


@translates("col2im")
def col2im(
    g: Builder, self: Value, output_size: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any
) -> Value:
    if g.opset < 18:
        raise NotImplementedError("fold needs opset 18")
    return g.op(
        "Col2Im",
        self,
        g.ints(list(output_size)),
        g.ints(list(kernel_size)),
        dilations_is=list(dilation),
        pads_is=[*padding, *padding],
        strides_is=list(stride),
    )


@translates("channel_shuffle")
def channel_shuffle(g: Builder, self: Value, groups: int) -> Value:
    sizes = g.sizes_of(self)
    if isinstance(sizes[1], Value):
        raise NotImplementedError("the number of channels varies")
    x = g.reshape(self, [sizes[0], groups, sizes[1] // groups, *sizes[2:]])
    return g.reshape(g.transpose(x, [0, 2, 1, *range(3, self.rank + 1)]), sizes)
