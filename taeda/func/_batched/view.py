"""Rules of views, and of what undoes them in backward: the batch is the first dimension."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import _C, Tensor
from taeda._C import _autograd
from taeda._library.ops import OpOverload
from taeda.func._batched.along import shifted
from taeda.func._batched.general import one_by_one
from taeda.func._batched.tensor import Batch, Unbatchable, bound

_RECORDS = _C.DispatchKeySet("AutogradCPU").add("ADInplaceOrView")


def detach(batch: Batch, op: OpOverload, self: Any) -> Any:
    if not _autograd._detaches_one_level():
        return batch.wrap(op(self.value))
    with _C._IncludeDispatchKeyGuard(_RECORDS):  # autograd asks, with itself off; outer transforms record the values
        return batch.wrap(taeda.ops.aten.alias.default(self.value))


def same_place(batch: Batch, op: OpOverload, self: Any, *args: Any, resolved: bool = False) -> Any:
    """A view of other elements in the same places; ``resolved``: of what a lazy conjugate or negative stands for."""
    if self.dim() == 0 and args:  # a batch of numbers has no last dimension to change
        return batch.wrap(op(self.value.unsqueeze(1), *args).squeeze(1))
    value = self.value.resolve_conj().resolve_neg() if resolved else self.value
    return batch.wrap(op(value, *args))


def view(batch: Batch, op: OpOverload, self: Any, size: Any) -> Any:
    return batch.wrap(op(self.value, [batch.size, *_inferred(self, size)]))


def _inferred(x: Tensor, size: Any) -> list[int]:
    """``size`` with -1 in place of nothing: an empty batch could not infer it."""
    sizes = list(size)
    if -1 in sizes:
        known = 1
        for n in sizes:
            known *= n if n != -1 else 1
        if known:
            sizes[sizes.index(-1)] = x.numel() // known
    return sizes


def reshape_alias(batch: Batch, op: OpOverload, self: Any, size: Any, stride: Any) -> Any:
    return batch.wrap(self.value.view(batch.size, *size))


def expand(batch: Batch, op: OpOverload, self: Any, size: Any, **kwargs: Any) -> Any:
    if -1 in size[: len(size) - self.dim()]:
        raise Unbatchable("a new dimension has no size")
    return batch.wrap(op(batch.padded(self, len(size)), [batch.size, *size], **kwargs))


def as_strided(batch: Batch, op: OpOverload, self: Any, size: Any, stride: Any, storage_offset: Any = None) -> Any:
    value = self.value
    start = value.storage_offset() + (storage_offset or 0)
    return batch.wrap(op(value, [batch.size, *size], [value.stride(0), *stride], start))


def permute(batch: Batch, op: OpOverload, self: Any, dims: Any) -> Any:
    return batch.wrap(op(self.value, [0, *(shifted(d, self.dim()) for d in dims)]))


def t(batch: Batch, op: OpOverload, self: Any) -> Any:
    if self.dim() > 2:
        raise RuntimeError(f"taeda.t: takes at most 2 dimensions; got {self.dim()}")
    return batch.wrap(self.value.transpose(1, 2) if self.dim() == 2 else self.value.view_as(self.value))


def part(batch: Batch, op: OpOverload, self: Any, dim: int = 0, *args: Any) -> Any:
    if self.dim() == 0:
        raise IndexError("taeda.func.vmap: an example without dimensions has no parts")
    return batch.wrap(op(self.value, shifted(dim, self.dim()), *args))


def by_dims(batch: Batch, op: OpOverload, *args: Any, **kwargs: Any) -> Any:
    given = bound(op, args, kwargs)
    x = given["self"]
    given["self"] = x.value
    given = _shifted_dims(given, x.dim())
    if x.dim() == 0:  # only dimensions 0 and -1 may be named, which do nothing
        return batch.wrap(x.value.view_as(x.value))
    return batch.wrap_all(op(**given))


def unfold(batch: Batch, op: OpOverload, self: Any, dimension: int, size: int, step: int) -> Any:
    if self.dim() == 0:
        shifted(dimension, 0)
        return batch.wrap(self.value.unsqueeze(1).unfold(1, size, step).squeeze(1))
    return by_dims(batch, op, self, dimension, size, step)


def squeeze(batch: Batch, op: OpOverload, self: Any) -> Any:
    return batch.wrap(self.value.squeeze(tuple(d + 1 for d, n in enumerate(self.shape) if n == 1)))


def unsqueeze(batch: Batch, op: OpOverload, self: Any, dim: int) -> Any:
    return batch.wrap(op(self.value, shifted(dim, self.dim() + 1)))


def _shifted_dims(given: dict[str, Any], rank: int) -> dict[str, Any]:
    for name in ("dim", "dimension", "dim0", "dim1", "dim2"):
        dim = given.get(name)
        if dim is not None:
            given[name] = [shifted(d, rank) for d in dim] if isinstance(dim, (list, tuple)) else shifted(dim, rank)
    return given


# --- backward


def backward(batch: Batch, op: OpOverload, *args: Any, **kwargs: Any) -> Any:
    given = bound(op, args, kwargs)
    sizes = given["input_sizes"]
    name = next(iter(given))
    given[name], given["input_sizes"] = batch.whole(given[name]), [batch.size, *sizes]
    return batch.wrap(op(**_shifted_dims(given, len(sizes))))


def scattered(batch: Batch, op: OpOverload, *args: Any, **kwargs: Any) -> Any:
    given = bound(op, args, kwargs)
    rank = given["self"].dim()
    given["self"], given["src"] = batch.whole(given["self"]), batch.whole(given["src"])
    return batch.wrap(op(**_shifted_dims(given, rank)))


def diag_embed(batch: Batch, op: OpOverload, self: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    rank = self.dim() + 1
    return batch.wrap(op(self.value, offset, shifted(dim1, rank), shifted(dim2, rank)))


def repeat(batch: Batch, op: OpOverload, self: Any, repeats: Any) -> Any:
    return batch.wrap(op(batch.padded(self, len(repeats)), [1, *repeats]))


def roll(batch: Batch, op: OpOverload, self: Any, shifts: Any, dims: Any = ()) -> Any:
    if self.dim() == 0:
        return one_by_one(batch, op, self, shifts, dims)
    if not dims:
        return batch.wrap(op(self.value.flatten(1), shifts, [1]).reshape(self.value.shape))
    return _turned(batch, op, self, dims, shifts)


def flip(batch: Batch, op: OpOverload, self: Any, dims: Any) -> Any:
    return _turned(batch, op, self, dims)


def _turned(batch: Batch, op: OpOverload, x: Any, dims: Any, *args: Any) -> Any:
    value = x.value.unsqueeze(1) if x.dim() == 0 else x.value
    return batch.wrap(op(value, *args, [shifted(d, x.dim()) for d in dims]).reshape(x.value.shape))


# --- fresh tensors, each example's its own, so that each may write to its


def new(batch: Batch, op: OpOverload, self: Any, size: Any, *args: Any, **kwargs: Any) -> Any:
    return batch.wrap(op(self.value, [batch.size, *size], *args, **kwargs))


def new_empty_strided(batch: Batch, op: OpOverload, self: Any, size: Any, stride: Any, **kwargs: Any) -> Any:
    empty = self.value.new_empty_strided  # the examples lie one after the other
    width = 1 + sum((n - 1) * step for n, step in zip(size, stride, strict=True)) if all(size) else 0
    return batch.wrap(empty([batch.size, *size], [width, *stride], **kwargs))
