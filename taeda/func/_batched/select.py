"""Rules of indexing, scattering, joining, and writes of whole tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda._library.ops import OpOverload
from taeda.func._batched.along import shifted
from taeda.func._batched.general import check_room, one_by_one
from taeda.func._batched.tensor import Batch, Unbatchable


def cat(batch: Batch, op: OpOverload, tensors: Sequence[Tensor], dim: int = 0) -> Any:
    kept = [t for t in tensors if t.shape != (0,)] or list(tensors)  # an empty vector joins with anything
    return batch.wrap(op([batch.whole(t) for t in kept], shifted(dim, kept[0].dim())))


def stack(batch: Batch, op: OpOverload, tensors: Sequence[Tensor], dim: int = 0) -> Any:
    return batch.wrap(op([batch.whole(t) for t in tensors], shifted(dim, tensors[0].dim() + 1)))


# --- writes


def copy_(batch: Batch, op: OpOverload, self: Tensor, src: Tensor, non_blocking: bool = False) -> Any:
    check_room(self, (src,))
    op(batch.written(self), batch.padded(src, self.dim()), non_blocking)
    return self


def fill(batch: Batch, op: OpOverload, self: Tensor, value: Tensor) -> Any:
    return write_elements(batch, taeda.ops.aten.fill_.Tensor, batch.wrap(batch.whole(self).clone()), value)


def fill_(batch: Batch, op: OpOverload, self: Tensor, *value: Any) -> Any:
    op(batch.written(self), *value)
    return self


def write_elements(batch: Batch, op: OpOverload, self: Tensor, *args: Any) -> Any:
    target = batch.written(self)
    values = [batch.padded(x, self.dim()) for x in args]
    if isinstance(args[-1], Tensor) and batch.holds(args[-1]):  # a number of each example
        value = values[-1].to(target.dtype)
        if len(args) == 1:
            target.copy_(value)
        else:
            target.copy_(taeda.where(values[0], value, target))
    else:
        op(target, *values)
    return self


# --- along one dimension


def index_select(batch: Batch, op: OpOverload, self: Tensor, dim: int, index: Tensor) -> Any:
    if self.dim() == 0 or index.dim() > 1:
        return one_by_one(batch, op, self, dim, index)
    if not batch.holds(index):
        return batch.wrap(op(batch.whole(self), shifted(dim, self.dim()), index))
    front = batch.whole(self).movedim(shifted(dim, self.dim()), 1)  # (batch, n, ...)
    chosen = front[_examples(batch, 2), batch.whole(index).reshape(batch.size, -1)]
    return batch.wrap(chosen.movedim(1, shifted(dim, self.dim())).contiguous())


def index_write(batch: Batch, op: OpOverload, self: Tensor, dim: int, index: Tensor, source: Tensor, **kw: Any) -> Any:
    target = batch.written(self)
    if self.dim() == 0 or source.dim() == 0:
        raise Unbatchable("numbers are written along a dimension")
    if not batch.holds(index):
        op(target, shifted(dim, self.dim()), index, batch.whole(source), **kw)
        return self
    place, values = (
        target.movedim(shifted(dim, self.dim()), 1),
        batch.whole(source).movedim(shifted(dim, self.dim()), 1),
    )
    values = values * kw["alpha"] if kw.get("alpha", 1) != 1 else values
    where = (_examples(batch, 2), batch.whole(index).reshape(batch.size, -1))
    place.index_put_(where, values, accumulate=op._opname == "index_add_")
    return self


def index_fill_(batch: Batch, op: OpOverload, self: Tensor, dim: int, index: Tensor, value: Any) -> Any:
    target = batch.written(self)
    if self.dim() == 0:
        raise Unbatchable("a number has no dimension to fill along")
    if not batch.holds(index) and not batch.holds(value):
        op(target, shifted(dim, self.dim()), index, value)
        return self
    place = target.movedim(shifted(dim, self.dim()), 1)
    values = taeda.as_tensor(value.value if batch.holds(value) else value, dtype=target.dtype)
    values = values.reshape(-1, *[1] * (place.dim() - 1)).expand(batch.size, index.numel(), *place.shape[2:])
    place.index_put_((_examples(batch, 2), batch.whole(index).reshape(batch.size, -1)), values)
    return self


def put_(batch: Batch, op: OpOverload, self: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Any:
    places = batch.whole(index).reshape(batch.size, -1) % self.numel()
    flat = batch.written(self).view(batch.size, -1)
    flat.index_put_((_examples(batch, 2), places), batch.whole(source).reshape(places.shape), accumulate=accumulate)
    return self


def take(batch: Batch, op: OpOverload, self: Tensor, index: Tensor) -> Any:
    if not batch.holds(self):
        return batch.wrap(op(self, index.value))  # type: ignore[attr-defined]
    places = batch.whole(index).reshape(batch.size, -1) % self.numel()
    chosen = batch.whole(self).reshape(batch.size, -1).gather(1, places)
    return batch.wrap(chosen.reshape(batch.size, *index.shape))


# --- by index tensors


def _examples(batch: Batch, rank: int) -> Tensor:
    """Each example's number, (batch, 1, ...)."""
    return taeda.arange(batch.size).reshape(batch.size, *[1] * (rank - 1))


def _positions(batch: Batch, indices: Sequence[Tensor | None]) -> tuple[list[Tensor | None], int]:
    """Index tensors (batch, *shape) of one number of dimensions, and how many dimensions one example's have."""
    given = [i for i in indices if i is not None]
    if any(i.dtype in (taeda.bool, taeda.uint8) for i in given):
        raise Unbatchable("a mask chooses another number of elements in each example")
    rank = max(i.dim() for i in given)
    whole = [
        None if i is None else batch.whole(i).reshape(batch.size, *[1] * (rank - i.dim()), *i.shape) for i in indices
    ]
    return whole, rank


def index(batch: Batch, op: OpOverload, self: Tensor, positions: Sequence[Tensor | None]) -> Any:
    """Of ``index``, which a gradient outside of ``vmap`` goes through, and of ``_index_at``, its step without masks."""
    where = [i for i, p in enumerate(positions) if p is not None]
    is_adjacent = where[-1] - where[0] + 1 == len(where)
    start = where[0] if is_adjacent else 0
    if not any(batch.holds(p) for p in positions):
        rank = max(p.dim() for p in positions if p is not None)
        result = op(self.value, [None, *positions])  # type: ignore[attr-defined]
        return batch.wrap(result if is_adjacent else result.movedim(rank, 0))
    whole, rank = _positions(batch, positions)
    if batch.holds(self):
        result = op(self.value, [_examples(batch, rank + 1), *whole])  # type: ignore[attr-defined]
        # What is indexed comes first where something lies between, and then the dimensions before it.
        if is_adjacent and start:
            for _ in range(rank):
                result = result.movedim(1, start + rank)
        return batch.wrap(result)
    result = op(self, whole)
    return batch.wrap(result.movedim(start, 0))


def index_put_(batch: Batch, op: OpOverload, self: Tensor, indices: Sequence[Tensor | None], values: Tensor,
               accumulate: bool = False) -> Any:  # fmt: skip
    target = batch.written(self)
    whole, rank = _positions(batch, indices)
    last = max(i for i, p in enumerate(whole) if p is not None)
    if any(p is None for p in whole[: last + 1]):
        # Dimensions that are not indexed come last.
        kept = [d for d in range(self.dim()) if d >= len(whole) or whole[d] is None]
        used = [d for d in range(self.dim()) if d not in kept]
        first, count = used[0], len(used)
        is_adjacent = used[-1] - first + 1 == count
        target = target.permute(0, *(d + 1 for d in used), *(d + 1 for d in kept))
        if is_adjacent and first:
            width = self.dim() - count + rank
            values = values.expand(*[1] * (width - values.dim()), *values.shape) if values.dim() < width else values
            values = values.movedim(tuple(range(first)), tuple(range(rank, rank + first)))
        whole = [p for p in whole if p is not None]
    width = self.dim() - len([p for p in whole if p is not None]) + rank
    op(target, [_examples(batch, rank + 1), *whole], batch.padded(values, width), accumulate)
    return self


def embedding(batch: Batch, op: OpOverload, weight: Tensor, indices: Tensor, *args: Any, **kwargs: Any) -> Any:
    if weight.dim() != 2:
        raise Unbatchable("a table of other than two dimensions")
    if not batch.holds(weight):
        return batch.wrap(op(weight, indices.value, *args, **kwargs))  # type: ignore[attr-defined]
    places = batch.whole(indices)
    return batch.wrap(batch.whole(weight)[_examples(batch, places.dim()), places])


def embedding_dense_backward(batch: Batch, op: OpOverload, grad_output: Tensor, indices: Tensor, num_weights: int,
                             padding_idx: int, scale_grad_by_freq: bool) -> Any:  # fmt: skip
    if scale_grad_by_freq:
        return one_by_one(batch, op, grad_output, indices, num_weights, padding_idx, scale_grad_by_freq)
    grad, places = batch.whole(grad_output), batch.whole(indices)
    if padding_idx >= 0:
        grad = grad.masked_fill((places == padding_idx).unsqueeze(-1), 0)
    table = grad.new_zeros(batch.size, num_weights, grad.shape[-1])
    return batch.wrap(table.index_put_((_examples(batch, places.dim()), places), grad, accumulate=True))


def complex_(batch: Batch, op: OpOverload, real: Tensor, imag: Tensor) -> Any:
    rank = max(real.dim(), imag.dim())
    return batch.wrap(op(batch.padded(real, rank), batch.padded(imag, rank)))


def searchsorted(batch: Batch, op: OpOverload, sorted_sequence: Tensor, self: Tensor, **kwargs: Any) -> Any:
    if sorted_sequence.dim() == 1 and not batch.holds(sorted_sequence):
        return batch.wrap(op(sorted_sequence, self.value, **kwargs))  # type: ignore[attr-defined]
    if kwargs.get("sorter") is not None or sorted_sequence.dim() != self.dim() or self.dim() == 0:
        return one_by_one(batch, op, sorted_sequence, self, **kwargs)
    return batch.wrap(op(batch.whole(sorted_sequence).contiguous(), batch.whole(self).contiguous(), **kwargs))
