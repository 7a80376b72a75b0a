"""Ops that move elements, and that make tensors."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import taeda
from taeda.onnx.writer.builder import Builder, Value
from taeda.onnx.writer.table import translates

END = 2**63 - 1


@translates("view", "reshape", "_unsafe_view", "view_copy", "_reshape_alias")
def reshape(g: Builder, self: Value, size: Any = None, *_: Any, **given: Any) -> Value:
    wanted = given.get("shape", size)
    if isinstance(wanted, taeda.dtype):
        raise NotImplementedError("a view in another dtype")
    return g.reshape(self, wanted)


@translates("view_as", "reshape_as")
def view_as(g: Builder, self: Value, other: Value) -> Value:
    return g.reshape(self, g.sizes_of(other))


@translates("flatten.using_ints")
def flatten(g: Builder, self: Value, start_dim: int = 0, end_dim: int = -1) -> Value:
    if self.rank == 0:
        return g.reshape(self, [1])
    start, end = start_dim % self.rank, end_dim % self.rank
    sizes = g.sizes_of(self)
    inner = sizes[start : end + 1]
    if any(isinstance(s, Value) for s in inner):
        whole: Any = -1
    else:
        whole = 1
        for s in inner:
            whole *= s
    return g.reshape(self, [*sizes[:start], whole, *sizes[end + 1 :]])


@translates("unflatten.int")
def unflatten(g: Builder, self: Value, dim: int, sizes: Sequence[Any]) -> Value:
    dim = dim % self.rank
    whole = g.sizes_of(self)
    return g.reshape(self, [*whole[:dim], *sizes, *whole[dim + 1 :]])


@translates("squeeze")
def squeeze(g: Builder, self: Value, dim: Any = None) -> Value:
    dims = range(self.rank) if dim is None else dim if isinstance(dim, (list, tuple)) else [dim]
    gone = [d % self.rank for d in dims if self.rank and self.shape is not None and self.shape[d] == 1]
    return g.squeeze(self, gone) if gone else self


@translates("unsqueeze")
def unsqueeze(g: Builder, self: Value, dim: int) -> Value:
    return g.unsqueeze(self, [dim % (self.rank + 1)])


@translates("transpose.int", "swapaxes", "swapdims")
def transpose(g: Builder, self: Value, dim0: int, dim1: int) -> Value:
    order = list(range(self.rank))
    if order:
        order[dim0], order[dim1] = order[dim1], order[dim0]
    return g.transpose(self, order)


@translates("permute")
def permute(g: Builder, self: Value, dims: Sequence[int]) -> Value:
    return g.transpose(self, [d % self.rank for d in dims])


@translates("t", "numpy_T", "mT", "matrix_H", "adjoint")
def t(g: Builder, self: Value) -> Value:
    order = list(range(self.rank))
    if "numpy_T" in g.current:
        return g.transpose(self, order[::-1])
    return g.transpose(self, [*order[:-2], *order[-2:][::-1]]) if len(order) > 1 else self


@translates("movedim", "moveaxis")
def movedim(g: Builder, self: Value, source: Any, destination: Any) -> Value:
    marked = taeda.empty(list(builtins.range(2, 2 + self.rank)), device="meta").movedim(source, destination)
    return g.transpose(self, [int(s) - 2 for s in marked.shape])


@translates("expand", "expand_copy", "broadcast_to")
def expand(g: Builder, self: Value, size: Sequence[Any], **_: Any) -> Value:
    lead = len(size) - self.rank
    wanted = [1 if not isinstance(s, Value) and s == -1 and d >= lead else s for d, s in enumerate(size)]
    result = g.op("Expand", self, g.ints(wanted))
    result.dtype, result.shape = self.dtype, g.out_shape
    return result


@translates("expand_as")
def expand_as(g: Builder, self: Value, other: Value) -> Value:
    return g.op("Expand", self, g.ints(g.sizes_of(other)))


@translates("repeat", "tile")
def repeat(g: Builder, self: Value, repeats: Sequence[Any] = (), **given: Any) -> Value:
    times = list(given.get("dims", repeats))
    if len(times) < self.rank:
        times = [1] * (self.rank - len(times)) + times
    x = g.unsqueeze(self, list(range(len(times) - self.rank))) if len(times) > self.rank else self
    return g.op("Tile", x, g.ints(times))


@translates("cat", "concat", "concatenate")
def cat(g: Builder, tensors: Sequence[Value], dim: int = 0) -> Value:
    kept = [g.cast(v, g.out_dtype) for v in tensors if v.shape != (0,)] or [tensors[0]]
    return kept[0] if len(kept) == 1 else g.op("Concat", *kept, axis_i=dim % kept[0].rank)


@translates("stack")
def stack(g: Builder, tensors: Sequence[Value], dim: int = 0) -> Value:
    dim = dim % (tensors[0].rank + 1)
    return g.op("Concat", *(g.unsqueeze(g.cast(v, g.out_dtype), [dim]) for v in tensors), axis_i=dim)


def _split(g: Builder, x: Value, lengths: list[Any], dim: int) -> tuple[Value, ...]:
    if len(lengths) == 1:
        return (x,)
    parts: list[Value] = []
    start: Any = 0
    if not any(isinstance(s, Value) for s in lengths):
        if g.opset < 13:
            made = g.op("Split", x, outputs=len(lengths), axis_i=dim, split_is=lengths)
        else:
            made = g.op("Split", x, g.constant(lengths, taeda.int64), outputs=len(lengths), axis_i=dim)
        for value, length in zip(made, lengths):
            value.dtype = x.dtype
            value.shape = None if x.shape is None else (*x.shape[:dim], length, *x.shape[dim + 1 :])
        return tuple(made)
    for length in lengths:
        end = g.op("Add", g.number(start, taeda.int64), g.number(length, taeda.int64))
        parts.append(g.slice(x, dim, start, end))
        start = end
    return tuple(parts)


@translates("split.Tensor", "chunk", "tensor_split.sections")
def split(g: Builder, self: Value, split_size: Any = None, dim: int = 0, **given: Any) -> tuple[Value, ...]:
    dim = dim % self.rank
    whole = self.size(dim)
    results = g.out_shape
    if not isinstance(results, list):
        raise NotImplementedError("the number of parts varies")
    lengths = [shape[dim] for shape in results]
    if whole is not None and None not in lengths:
        return _split(g, self, lengths, dim)
    amount = split_size if split_size is not None else given.get("chunks")
    if "chunk" in g.current or amount is None:
        return tuple(
            g.op("Split", self, outputs=len(lengths), axis_i=dim, num_outputs_i=len(lengths) if g.opset >= 18 else None)
        )
    return tuple(g.slice(self, dim, i * amount, (i + 1) * amount) for i in range(len(lengths)))


@translates("split_with_sizes", "split.sizes")
def split_with_sizes(
    g: Builder, self: Value, split_sizes: Sequence[Any] = (), dim: int = 0, **given: Any
) -> tuple[Value, ...]:
    return _split(g, self, list(given.get("split_size", split_sizes)), dim % self.rank)


@translates("unbind.int")
def unbind(g: Builder, self: Value, dim: int = 0) -> tuple[Value, ...]:
    dim = dim % self.rank
    count = self.size(dim)
    if count is None:
        raise NotImplementedError("the number of parts varies")
    return tuple(g.squeeze(part, [dim]) for part in _split(g, self, [1] * count, dim))


@translates("slice.Tensor")
def slice_(g: Builder, self: Value, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Value:
    dim = dim % self.rank
    from_start = start is None or (not isinstance(start, Value) and start == 0)
    to_end = end is None or (not isinstance(end, Value) and end >= END)
    if from_start and to_end and step == 1:
        return self
    return g.slice(self, dim, 0 if start is None else start, END if end is None else end, step)


@translates("narrow")
def narrow(g: Builder, self: Value, dim: int, start: Any, length: Any) -> Value:
    if isinstance(start, Value) or isinstance(length, Value):
        first = g.number(start, taeda.int64)
        return g.slice(self, dim % self.rank, first, g.op("Add", first, g.number(length, taeda.int64)))
    size = self.size(dim)
    start = start + size if start < 0 and size is not None else start
    return g.slice(self, dim % self.rank, start, start + length)


@translates("select.int")
def select(g: Builder, self: Value, dim: int, index: Any) -> Value:
    place = g.number(index, taeda.int64) if isinstance(index, Value) else g.constant(index, taeda.int64)
    return g.op("Gather", self, place, axis_i=dim % self.rank)


@translates("flip")
def flip(g: Builder, self: Value, dims: Sequence[int]) -> Value:
    count = len(dims)
    if not count:
        return self
    axes = g.constant([d % self.rank for d in dims], taeda.int64)
    steps = g.constant([-1] * count, taeda.int64)
    return g.op(
        "Slice", self, g.constant([-1] * count, taeda.int64), g.constant([-END] * count, taeda.int64), axes, steps
    )


@translates("roll")
def roll(g: Builder, self: Value, shifts: Any, dims: Any = ()) -> Value:
    shifts = list(shifts) if isinstance(shifts, (list, tuple)) else [shifts]
    dims = list(dims) if isinstance(dims, (list, tuple)) else [dims]
    if not dims:
        return g.reshape(_rolled(g, g.reshape(self, [-1]), shifts[0], 0), g.sizes_of(self))
    for shift, dim in zip(shifts, dims):
        self = _rolled(g, self, shift, dim % self.rank)
    return self


def _rolled(g: Builder, x: Value, shift: int, dim: int) -> Value:
    size = x.size(dim)
    shift = shift % size if size else shift
    if not shift:
        return x
    result = g.op("Concat", g.slice(x, dim, -shift, END), g.slice(x, dim, 0, -shift), axis_i=dim)
    result.shape, result.dtype = x.shape, x.dtype
    return result


@translates("constant_pad_nd", "pad", "reflection_pad1d", "reflection_pad2d", "reflection_pad3d", "replication_pad1d",
            "replication_pad2d", "replication_pad3d")  # fmt: skip
def pad(
    g: Builder, self: Value, pad: Sequence[Any] = (), mode: Any = "constant", value: Any = 0, **given: Any
) -> Value:
    amounts = list(given.get("padding", pad))
    if not isinstance(mode, str):  # constant_pad_nd(self, pad, value)
        mode, value = "constant", mode
    if "reflection" in g.current or "replication" in g.current:
        mode = "reflect" if "reflection" in g.current else "edge"
    mode = {"replicate": "edge"}.get(mode, mode)
    if mode == "circular":
        return _circular(g, self, amounts)
    count = len(amounts) // 2
    before = [0] * (self.rank - count) + amounts[0::2][::-1]
    after = [0] * (self.rank - count) + amounts[1::2][::-1]
    fill = g.number(value or 0, self.dtype) if mode == "constant" else None
    return g.op("Pad", self, g.ints([*before, *after]), fill, mode_s=mode)


def _circular(g: Builder, x: Value, amounts: list[int]) -> Value:
    for i in range(len(amounts) // 2):
        dim = x.rank - 1 - i
        before, after = amounts[2 * i : 2 * i + 2]
        parts = [
            *([g.slice(x, dim, -before, END)] if before else []),
            x,
            *([g.slice(x, dim, 0, after)] if after else []),
        ]
        made = g.op("Concat", *parts, axis_i=dim) if len(parts) > 1 else x
        made.dtype, made.shape = x.dtype, None if x.shape is None else (*x.shape[:dim], None, *x.shape[dim + 1 :])
        x = made
    return x


@translates("pixel_shuffle")
def pixel_shuffle(g: Builder, self: Value, upscale_factor: int) -> Value:
    return g.op("DepthToSpace", self, blocksize_i=upscale_factor, mode_s="CRD")


@translates("pixel_unshuffle")
def pixel_unshuffle(g: Builder, self: Value, downscale_factor: int) -> Value:
    n, c, h, w = g.sizes_of(self)
    b = downscale_factor
    if any(isinstance(s, Value) for s in (c, h, w)):
        raise NotImplementedError("sizes other than the batch's vary")
    x = g.reshape(self, [-1, c, h // b, b, w // b, b])  # type: ignore[operator]
    return g.reshape(g.transpose(x, [0, 1, 3, 5, 2, 4]), [-1, c * b * b, h // b, w // b])  # type: ignore[operator]


@translates("tril", "triu")
def triangle(g: Builder, self: Value, diagonal: Any = 0) -> Value:
    upper = "triu" in g.current
    if g.opset >= 14:
        return g.op("Trilu", self, g.number(diagonal, taeda.int64), upper_i=int(upper))
    rows, columns = g.size_of(self, -2), g.size_of(self, -1)
    there = _triangle_mask(g, rows, columns, diagonal, upper)
    if self.dtype == taeda.bool:
        return g.op("And", there, self)
    return g.op("Where", there, self, g.number(0, self.dtype))


def _triangle_mask(g: Builder, rows: Any, columns: Any, diagonal: Any, upper: bool) -> Value:
    down = g.unsqueeze(arange_(g, 0, rows, 1), [1])
    across = g.unsqueeze(arange_(g, 0, columns, 1), [0])
    shifted = g.op("Add", down, g.number(diagonal, taeda.int64))
    return g.op("Not", g.op("Less" if upper else "Greater", across, shifted))


@translates("unfold")
def unfold(g: Builder, self: Value, dimension: int, size: int, step: int) -> Value:
    dim = dimension % self.rank
    length = g.size_of(self, dim)
    end = g.op("Sub", length, g.constant(size - 1)) if isinstance(length, Value) else length - size + 1
    starts = g.unsqueeze(arange_(g, 0, end, step), [1])
    places = g.op("Add", starts, g.constant(taeda.arange(size).unsqueeze(0)))
    windows = g.op("Gather", self, places, axis_i=dim)
    order = [d for d in range(self.rank + 1) if d != dim + 1]
    return g.transpose(windows, [*order, dim + 1])


def arange_(g: Builder, start: Any, end: Any, step: Any, dtype: Any = taeda.int64) -> Value:
    """The numbers from ``start`` up to ``end``."""
    if not any(isinstance(v, Value) for v in (start, end, step)):
        return g.constant(taeda.arange(start, end, step, dtype=dtype))
    result = g.op("Range", *(g.number(v, taeda.int64) for v in (start, end, step)))
    result.dtype, result.shape = taeda.int64, (None,)
    return g.cast(result, dtype)


@translates("arange")
def arange(g: Builder, *given: Any, **keywords: Any) -> Value:
    numbers = [keywords.pop(k) for k in ("start", "end", "step") if k in keywords]
    values = [*given, *numbers]
    start, end, step = (0, values[0], 1) if len(values) == 1 else (*values, 1)[:3]
    return arange_(g, start, end, step, g.out_dtype)


def _filled(g: Builder, sizes: Sequence[Any], value: Any, dtype: Any) -> Value:
    if isinstance(value, Value):
        result = g.op("Expand", g.cast(value, dtype), g.ints(list(sizes)))
    elif not any(isinstance(s, Value) for s in sizes):
        small = taeda.Size(list(sizes)).numel() <= 64
        if small:
            return g.constant(taeda.full(list(sizes), value, dtype=dtype))
        result = g.op("ConstantOfShape", g.ints(list(sizes)), value_t=taeda.full((1,), value, dtype=dtype))
    else:
        result = g.op("ConstantOfShape", g.ints(list(sizes)), value_t=taeda.full((1,), value, dtype=dtype))
    result.dtype = dtype
    result.shape = tuple(None if isinstance(s, Value) else s for s in sizes)
    return result


@translates("zeros", "ones", "empty.memory_format", "full")
def create(g: Builder, size: Sequence[Any], fill_value: Any = None, **_: Any) -> Value:
    value = fill_value if "full" in g.current else 1 if "ones" in g.current else 0
    return _filled(g, size, value, g.out_dtype)


@translates("zeros_like", "ones_like", "empty_like", "full_like", "fill.Scalar", "fill.Tensor", "zero")
def create_like(g: Builder, self: Value, fill_value: Any = None, **given: Any) -> Value:
    value = given.get("value", fill_value)
    value = value if value is not None else 1 if "ones" in g.current else 0
    return _filled(g, g.sizes_of(self), value, g.out_dtype)


@translates("new_zeros", "new_ones", "new_empty", "new_full")
def create_new(g: Builder, self: Value, size: Sequence[Any], fill_value: Any = None, **_: Any) -> Value:
    value = fill_value if fill_value is not None else 1 if "ones" in g.current else 0
    return _filled(g, size, value, g.out_dtype)


@translates("scalar_tensor")
def scalar_tensor(g: Builder, s: Any, **_: Any) -> Value:
    return g.number(s, g.out_dtype)


@translates("eye")
def eye(g: Builder, n: int, m: int | None = None, **_: Any) -> Value:
    return g.constant(taeda.eye(n, n if m is None else m, dtype=g.out_dtype))


@translates("randn", "rand", "normal_functional", "randn_like", "rand_like")
def random(g: Builder, size: Any, *_: Any, **__: Any) -> Value:
    name = "RandomNormal" if "randn" in g.current else "RandomUniform"
    like = size if isinstance(size, Value) else _filled(g, size, 0, g.out_dtype)
    return g.op(f"{name}Like", like)


@translates("bernoulli")
def bernoulli(g: Builder, self: Value, p: Any = None, **_: Any) -> Value:
    x = self if p is None else _filled(g, g.sizes_of(self), p, self.dtype)
    return g.op("Bernoulli", x) if g.opset >= 15 else g.cast(g.op("Less", g.op("RandomUniformLike", x), x), g.out_dtype)


@translates("sym_size.int")
def sym_size(g: Builder, self: Value, dim: int) -> Any:
    return g.size_of(self, dim)


@translates("sym_numel", "numel")
def sym_numel(g: Builder, self: Value) -> Any:
    return g.op("Size", self)


@translates("item", "_local_scalar_dense")
def item(g: Builder, self: Value) -> Any:
    return g.reshape(self, []) if self.shape != () else self


@translates("_assert_scalar", "_assert_async", "_assert_tensor_metadata")
def assertion(g: Builder, *_: Any, **__: Any) -> None:
    return None
