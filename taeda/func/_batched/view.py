"""Rules of views, and of what undoes them in backward: the batch is the first dimension."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import _C, Tensor
from taeda._C import _autograd
from taeda._library.ops import OpOverload
from taeda.func._batched.along import shifted
from taeda.func._batched.tensor import Batch, bound, rule

_RECORDS = _C.DispatchKeySet("AutogradCPU").add("ADInplaceOrView")


@rule("detach")
def detach(batch: Batch, op: OpOverload, self: Any) -> Any:
    if not _autograd._detaches_one_level():
        return batch.wrap(op(self.value))
    with _C._IncludeDispatchKeyGuard(_RECORDS):  # autograd asks, with itself off; outer transforms record the values
        return batch.wrap(taeda.ops.aten.alias.default(self.value))


@rule("alias", "_conj", "_neg_view", "view_as_real", "view_as_complex", "view.dtype")
def same_place(batch: Batch, op: OpOverload, self: Any, *args: Any) -> Any:
    if self.dim() == 0 and args:  # a batch of numbers has no last dimension to change
        return batch.wrap(op(self.value.unsqueeze(1), *args).squeeze(1))
    value = self.value.resolve_conj().resolve_neg() if op._opname in ("view_as_real", "view") else self.value
    return batch.wrap(op(value, *args))


@rule("view", "_unsafe_view")
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


@rule("_reshape_alias")
def reshape_alias(batch: Batch, op: OpOverload, self: Any, size: Any, stride: Any) -> Any:
    return batch.wrap(self.value.view(batch.size, *size))


@rule("expand")
def expand(batch: Batch, op: OpOverload, self: Any, size: Any, **kwargs: Any) -> Any:
    return batch.wrap(op(batch.padded(self, len(size)), [batch.size, *size], **kwargs))


@rule("as_strided")
def as_strided(batch: Batch, op: OpOverload, self: Any, size: Any, stride: Any, storage_offset: Any = None) -> Any:
    value = self.value
    start = value.storage_offset() + (storage_offset or 0)
    return batch.wrap(op(value, [batch.size, *size], [value.stride(0), *stride], start))


@rule("permute")
def permute(batch: Batch, op: OpOverload, self: Any, dims: Any) -> Any:
    return batch.wrap(op(self.value, [0, *(shifted(d, self.dim()) for d in dims)]))


@rule("t")
def t(batch: Batch, op: OpOverload, self: Any) -> Any:
    if self.dim() > 2:
        raise RuntimeError(f"taeda.t: takes at most 2 dimensions; got {self.dim()}")
    return batch.wrap(self.value.transpose(1, 2) if self.dim() == 2 else self.value.view_as(self.value))


@rule("select.int", "slice.Tensor")
def part(batch: Batch, op: OpOverload, self: Any, dim: int = 0, *args: Any) -> Any:
    if self.dim() == 0:
        raise IndexError("taeda.func.vmap: an example without dimensions has no parts")
    return batch.wrap(op(self.value, shifted(dim, self.dim()), *args))


@rule("transpose.int", "diagonal", "unfold", "unbind.int", "split.Tensor",
      "split_with_sizes", "squeeze.dim", "squeeze.dims", "unsafe_split.Tensor", "unsafe_split_with_sizes")  # fmt: skip
def by_dims(batch: Batch, op: OpOverload, *args: Any, **kwargs: Any) -> Any:
    given = bound(op, args, kwargs)
    x = given["self"]
    given["self"] = x.value
    if op._opname == "unfold" and x.dim() == 0:
        return batch.wrap(x.value.unsqueeze(1).unfold(1, given["size"], given["step"]).squeeze(1))
    if x.dim() == 0:  # only dimensions 0 and -1 may be named, which do nothing
        return batch.wrap(x.value.view_as(x.value))
    return batch.wrap_all(op(**_shifted_dims(given, x.dim())))


@rule("squeeze")
def squeeze(batch: Batch, op: OpOverload, self: Any) -> Any:
    return batch.wrap(self.value.squeeze(tuple(d + 1 for d, n in enumerate(self.shape) if n == 1)))


@rule("unsqueeze")
def unsqueeze(batch: Batch, op: OpOverload, self: Any, dim: int) -> Any:
    return batch.wrap(op(self.value, shifted(dim, self.dim() + 1)))


def _shifted_dims(given: dict[str, Any], rank: int) -> dict[str, Any]:
    for name in ("dim", "dimension", "dim0", "dim1", "dim2"):
        dim = given.get(name)
        if dim is not None:
            given[name] = [shifted(d, rank) for d in dim] if isinstance(dim, (list, tuple)) else shifted(dim, rank)
    return given


# --- backward


@rule("select_backward", "slice_backward", "diagonal_backward", "unfold_backward")
def backward(batch: Batch, op: OpOverload, *args: Any, **kwargs: Any) -> Any:
    given = bound(op, args, kwargs)
    sizes = given["input_sizes"]
    name = next(iter(given))
    given[name], given["input_sizes"] = batch.whole(given[name]), [batch.size, *sizes]
    return batch.wrap(op(**_shifted_dims(given, len(sizes))))


@rule("select_scatter", "slice_scatter", "diagonal_scatter")
def scattered(batch: Batch, op: OpOverload, *args: Any, **kwargs: Any) -> Any:
    given = bound(op, args, kwargs)
    rank = given["self"].dim()
    given["self"], given["src"] = batch.whole(given["self"]), batch.whole(given["src"])
    return batch.wrap(op(**_shifted_dims(given, rank)))


@rule("diag_embed")
def diag_embed(batch: Batch, op: OpOverload, self: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    rank = self.dim() + 1
    return batch.wrap(op(self.value, offset, shifted(dim1, rank), shifted(dim2, rank)))


@rule("repeat")
def repeat(batch: Batch, op: OpOverload, self: Any, repeats: Any) -> Any:
    return batch.wrap(op(batch.padded(self, len(repeats)), [1, *repeats]))


@rule("roll", "flip")
def roll(batch: Batch, op: OpOverload, self: Any, *args: Any) -> Any:
    dims = args[-1] if op._opname == "flip" or len(args) == 2 else []
    if not dims and op._opname == "roll":
        return batch.wrap(op(self.value.flatten(1), args[0], [1]).reshape(self.value.shape))
    value = self.value.unsqueeze(1) if self.dim() == 0 else self.value
    dims = [shifted(d, self.dim()) for d in dims]
    return batch.wrap(op(value, *args[:-1], dims).reshape(self.value.shape))


# --- fresh tensors, each example's its own, so that each may write to its


@rule("new_zeros", "new_ones", "new_empty", "new_full")
def new(batch: Batch, op: OpOverload, self: Any, size: Any, *args: Any, **kwargs: Any) -> Any:
    return batch.wrap(op(self.value, [batch.size, *size], *args, **kwargs))


@rule("new_empty_strided")
def new_empty_strided(batch: Batch, op: OpOverload, self: Any, size: Any, stride: Any, **kwargs: Any) -> Any:
    empty = self.value.new_empty_strided  # the examples lie one after the other
    width = 1 + sum((n - 1) * step for n, step in zip(size, stride, strict=True)) if all(size) else 0
    return batch.wrap(empty([batch.size, *size], [width, *stride], **kwargs))
