"""Views, parts and what is put together of them."""

from __future__ import annotations

import math
from typing import Any

import taeda
from taeda import Tensor
from taeda._decompositions.core.table import aten, body_of, contiguous, dims_of, varies, viewed


@body_of("t")
def _t(self: Tensor) -> Any:
    return aten.permute.default(self, [1, 0]) if self.dim() == 2 else aten.alias.default(self)


@body_of("transpose.int")
def _transpose(self: Tensor, dim0: int, dim1: int) -> Any:
    if self.dim() == 0:
        return aten.alias.default(self)
    order = list(range(self.dim()))
    order[dim0], order[dim1] = order[dim1], order[dim0]
    return aten.permute.default(self, order)


@body_of("reshape")
def _reshape(self: Tensor, shape: list[Any]) -> Any:
    return viewed(self, shape)


@body_of("stack")
def _stack(tensors: list[Tensor], dim: int = 0) -> Any:
    shape = list(tensors[0].shape)
    dim %= len(shape) + 1
    if dim == len(shape):
        return aten.cat.default([aten.unsqueeze.default(tensor, dim) for tensor in tensors], dim)
    joined = aten.cat.default(tensors, dim)
    return aten.view.default(joined, [*shape[:dim], len(tensors), *shape[dim:]])


@body_of("squeeze")
def _squeeze(self: Tensor) -> Any:
    return aten.squeeze.dims(self, [d for d, size in enumerate(self.shape) if size == 1])


@body_of("squeeze.dim")
def _squeeze_dim(self: Tensor, dim: int) -> Any:
    return aten.squeeze.dims(self, [dim])


@body_of("split.Tensor")
def _split(self: Tensor, split_size: Any, dim: int = 0) -> Any:
    size = self.shape[dim]
    if varies(size) or varies(split_size) or split_size <= 0:
        return NotImplemented
    sizes = [min(split_size, size - start) for start in range(0, size, split_size)] or [0]
    return aten.split_with_sizes.default(self, sizes, dim)


@body_of("chunk")
def _chunk(self: Tensor, chunks: int, dim: int = 0) -> Any:
    size = self.shape[dim]
    if varies(size) or chunks <= 0 or size == 0:
        return NotImplemented
    return _split(self, -(-size // chunks), dim)


@body_of("unbind.int")
def _unbind(self: Tensor, dim: int = 0) -> Any:
    size = self.shape[dim]
    if varies(size):
        return NotImplemented
    parts = [aten.slice.Tensor(self, dim, i, i + 1) for i in range(size)]
    return [aten.squeeze.dims(part, [dim]) for part in parts]


@body_of("tensor_split.sections")
def _tensor_split(self: Tensor, sections: Any, dim: int = 0) -> Any:
    size = self.shape[dim]
    if varies(size) or varies(sections) or sections <= 0:
        return NotImplemented
    each, rest = divmod(size, sections)
    ends = [i * each + min(i, rest) for i in range(sections + 1)]
    return [aten.slice.Tensor(self, dim, start, end) for start, end in zip(ends, ends[1:])]


@body_of("roll")
def _roll(self: Tensor, shifts: list[Any], dims: list[int] | None = None) -> Any:
    if not dims:
        flat = viewed(self, [math.prod(self.shape)])
        return aten.view.default(_rolled(flat, shifts[0], 0), list(self.shape))
    for shift, dim in zip(shifts, dims):
        self = _rolled(self, shift, dim)
    return aten.clone.default(self) if not any(shifts) else self


def _rolled(x: Tensor, shift: Any, dim: int) -> Tensor:
    start = x.shape[dim] - shift
    if not varies(start):
        start = start % x.shape[dim] if x.shape[dim] else 0
    if not varies(start) and start == 0:
        return x
    return aten.cat.default([aten.slice.Tensor(x, dim, start), aten.slice.Tensor(x, dim, 0, start)], dim)


@body_of("pad")
def _pad(self: Tensor, pad: list[Any], mode: str = "constant", value: float | None = None) -> Any:
    if mode == "constant":
        return aten.constant_pad_nd.default(self, pad, 0 if value is None else value)
    if mode == "circular":
        return _circular(self, pad)
    op = getattr(aten, f"{ {'reflect': 'reflection', 'replicate': 'replication'}.get(mode, '') }_pad{len(pad) // 2}d")
    return op.default(self, pad)


@body_of("replication_pad1d")
def _replication_pad1d(self: Tensor, padding: list[Any]) -> Any:
    found = aten.replication_pad2d.default(aten.unsqueeze.default(self, -2), [*padding, 0, 0])
    return aten.squeeze.dims(found, [-2])


def _circular(x: Tensor, pad: list[Any]) -> Any:
    if any(map(varies, pad)) or min(pad) < 0:
        return NotImplemented
    for i in range(len(pad) // 2):
        dim, before, after = x.dim() - 1 - i, *pad[2 * i : 2 * i + 2]
        size = x.shape[dim]
        parts = [aten.slice.Tensor(x, dim, size - before)] if before else []
        parts += [x, *([aten.slice.Tensor(x, dim, 0, after)] if after else [])]
        x = aten.cat.default(parts, dim)
    return x


@body_of("pixel_shuffle")
def _pixel_shuffle(self: Tensor, upscale_factor: int) -> Any:
    *batch, channels, height, width = self.shape
    f, rank = upscale_factor, len(batch)
    apart = viewed(self, [*batch, channels // (f * f), f, f, height, width])
    turned = aten.permute.default(apart, [*range(rank + 1), rank + 3, rank + 1, rank + 4, rank + 2])
    return viewed(turned, [*batch, channels // (f * f), height * f, width * f])


@body_of("pixel_unshuffle")
def _pixel_unshuffle(self: Tensor, downscale_factor: int) -> Any:
    *batch, channels, height, width = self.shape
    f, rank = downscale_factor, len(batch)
    apart = viewed(self, [*batch, channels, height // f, f, width // f, f])
    turned = aten.permute.default(apart, [*range(rank + 1), rank + 2, rank + 4, rank + 1, rank + 3])
    return viewed(turned, [*batch, channels * f * f, height // f, width // f])


@body_of("channel_shuffle", "native_channel_shuffle")
def _channel_shuffle(self: Tensor, groups: int) -> Any:
    batch, channels, *rest = self.shape
    apart = viewed(self, [batch, groups, channels // groups, *rest])
    turned = aten.permute.default(apart, [0, 2, 1, *range(3, apart.dim())])
    return viewed(turned, [batch, channels, *rest])


@body_of("contiguous")
def _contiguous(self: Tensor, *, memory_format: Any = None) -> Any:
    return contiguous(self) if memory_format in (None, taeda.contiguous_format) else NotImplemented


def _moved(x: Tensor, device: Any, dtype: Any, copy: bool, memory_format: Any) -> Any:
    if memory_format not in (None, taeda.preserve_format):
        return NotImplemented
    changes = {} if dtype in (None, x.dtype) else {"dtype": dtype}
    if device is not None and taeda.device(device) != x.device:
        changes["device"] = device
    return aten._to_copy.default(x, **changes) if changes or copy else x


@body_of("to.dtype")
def _to_dtype(self: Tensor, dtype: Any, non_blocking: bool = False, copy: bool = False,
              memory_format: Any = None) -> Any:  # fmt: skip
    return _moved(self, None, dtype, copy, memory_format)


@body_of("to.prim_Device")
def _to_device(self: Tensor, device: Any, dtype: Any = None, non_blocking: bool = False, copy: bool = False) -> Any:
    return _moved(self, device, dtype, copy, None)


@body_of("to.device")
def _to_device_and_dtype(self: Tensor, device: Any, dtype: Any, non_blocking: bool = False, copy: bool = False,
                         memory_format: Any = None) -> Any:  # fmt: skip
    return _moved(self, device, dtype, copy, memory_format)


@body_of("to.other")
def _to_other(self: Tensor, other: Tensor, non_blocking: bool = False, copy: bool = False,
              memory_format: Any = None) -> Any:  # fmt: skip
    return _moved(self, other.device, other.dtype, copy, memory_format)


@body_of("take")
def _take(self: Tensor, index: Tensor) -> Any:
    return aten.index.Tensor(viewed(self, [-1]), [index])


@body_of("movedim.intlist", "moveaxis.intlist")
def _movedim(self: Tensor, source: list[int], destination: list[int]) -> Any:
    order = dict(zip(dims_of(self, destination), dims_of(self, source)))
    rest = iter(d for d in range(self.dim()) if d not in order.values())
    return aten.permute.default(self, [order[d] if d in order else next(rest) for d in range(self.dim())])
