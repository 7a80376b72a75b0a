"""Attention over a sequence of which each process has a part: keys and values of the others come by turns.

What a turn gives is weighed by its share of the softmax's sum, so that nobody has to hold all keys or scores.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import taeda
from taeda import Tensor
from taeda.autograd import Function
from taeda.distributed import _collectives as collectives
from taeda.distributed._messages import P2POp, batch_isend_irecv, irecv, isend
from taeda.distributed.tensor.experimental._context_parallel._options import _cp_options, _RotateMethod


def attend(
    query: Tensor, key: Tensor, value: Tensor, group: Any, causal: bool, scale: float, bias: Tensor | None
) -> Tensor:
    """Attention of this process's part of the queries (N, H, length, E) over all keys and values, in parts likewise.

    ``bias`` has columns for all keys, in their order.
    """
    result: Tensor = _Attention.apply(query, key, value, group, causal, scale, _cp_options.enable_load_balance, bias)
    return result


def _columns(bias: Tensor | None, source: int, size: int, like: tuple[int, ...], balanced: bool) -> Tensor | None:
    """What ``bias`` has for the keys of ``source``, for queries of the shape ``like``."""
    if bias is None:
        return None
    rows, heads, length = like[:3]
    count = length // 2 if balanced else length
    starts = [source * count, (2 * size - 1 - source) * count] if balanced else [source * count]
    found = taeda.cat([bias.narrow(-1, start, count) for start in starts], -1)
    return found.expand(rows, heads, length, found.shape[-1])


def _meeting(rank: int, source: int, length: int, causal: bool, balanced: bool) -> tuple[slice, slice] | None:
    """Which own queries see which keys of ``source``, another process; None if none does.

    Balanced parts are two pieces: one from the sequence's first half, which lies before all pieces of later processes,
    and one from its second, which lies behind them.
    """
    every = slice(0, length)
    if not causal:
        return every, every
    if balanced:
        middle = length // 2
        return (every, slice(0, middle)) if source < rank else (slice(middle, length), every)
    return (every, every) if source < rank else None


def _turns(own: Tensor, group: Any) -> Iterator[tuple[int, Tensor]]:
    """Each process's tensor, from this one's on backwards, behind its rank. What comes next travels meanwhile."""
    rank, size = group.rank(), group.size()
    if _cp_options.rotate_method is _RotateMethod.ALL_GATHER:
        every = own.new_empty(size * own.numel())
        work: Any = collectives.all_gather_into_tensor(every, own, group=group, async_op=True)
        yield rank, own
        work.wait()
        for turn in range(1, size):
            source = (rank - turn) % size
            yield source, every[source * own.numel() : (source + 1) * own.numel()]
        return
    for turn in range(size):
        last = turn == size - 1
        coming, works = (own, []) if last else _sent_on(own, group)
        yield (rank - turn) % size, own
        for work in works:
            work.wait()
        own = coming


def _sent_on(tensor: Tensor, group: Any) -> tuple[Tensor, list[Any]]:
    """Sends to the next process; what comes from the one before, and what to wait for."""
    rank, size = group.rank(), group.size()
    coming = taeda.empty_like(tensor)
    if size == 1:
        return coming.copy_(tensor), []
    to = P2POp(isend, tensor, group=group, group_peer=(rank + 1) % size)
    return coming, batch_isend_irecv([to, P2POp(irecv, coming, group=group, group_peer=(rank - 1) % size)])


def _shares(logsumexp: Tensor) -> Tensor:
    """Rows that may see none of the keys, which the op gives as inf, have no share."""
    return logsumexp.masked_fill(logsumexp == math.inf, -math.inf)


class _Pair:
    """Keys and values as one tensor, which is one message."""

    def __init__(self, key: Tensor, value: Tensor) -> None:
        self.shapes = key.shape, value.shape
        self.count = key.numel()
        self.flat = taeda.cat([key.flatten(), value.flatten()])

    def apart(self, flat: Tensor) -> tuple[Tensor, Tensor]:
        """The keys and the values of such a tensor."""
        return flat[: self.count].view(self.shapes[0]), flat[self.count :].view(self.shapes[1])


class _Attention(Function):
    @staticmethod
    def forward(
        ctx: Any, query: Tensor, key: Tensor, value: Tensor, group: Any, causal: bool, scale: float, balanced: bool,
        bias: Tensor | None,
    ) -> Tensor:  # fmt: skip
        rank, pair, half = group.rank(), _Pair(key, value), query.dtype in (taeda.float16, taeda.bfloat16)
        total = share = taeda.empty(0)
        for source, flat in _turns(pair.flat, group):
            keys, values = pair.apart(flat)
            added = _columns(bias, source, group.size(), query.shape, balanced)
            if source == rank:
                total, share = taeda.ops.aten.attention_rows(query, keys, values, added, causal, scale)
                total, share = total.float() if half else total, _shares(share)
            elif (meets := _meeting(rank, source, query.shape[2], causal, balanced)) is not None:
                rows, seen = meets
                part, lse = taeda.ops.aten.attention_rows(
                    query[:, :, rows].contiguous(), keys[:, :, seen].contiguous(), values[:, :, seen].contiguous(),
                    added, False, scale,
                )  # fmt: skip
                before, lse = share[:, :, rows], _shares(lse)
                both = taeda.logaddexp(before, lse)
                against = both.masked_fill(both == -math.inf, 0)  # nothing was to be seen yet
                old, new = (before - against).exp().unsqueeze(-1), (lse - against).exp().unsqueeze(-1)
                total[:, :, rows] = total[:, :, rows] * old.to(total.dtype) + part * new.to(total.dtype)
                share[:, :, rows] = both
        result = total.to(query.dtype)
        ctx.save_for_backward(query, key, value, result, share.masked_fill(share == -math.inf, math.inf))
        ctx.how = group, causal, scale, balanced, bias
        return result

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        query, key, value, result, share = ctx.saved_tensors
        group, causal, scale, balanced, bias = ctx.how
        rank, pair = group.rank(), _Pair(key, value)
        wide = taeda.float32 if _cp_options.convert_to_f32 and query.element_size() < 4 else query.dtype
        of_query = taeda.zeros_like(query, dtype=wide)
        grad, kept = grad.contiguous(), _Returned(pair.flat, group, wide)
        for source, flat in _turns(pair.flat, group):
            keys, values = pair.apart(flat)
            meets = _meeting(rank, source, query.shape[2], causal, balanced)
            every = slice(0, query.shape[2])
            if source == rank:
                meets = every, every
            here = kept.room(source)
            if meets is not None:
                rows, seen = meets
                given = [one[:, :, rows].contiguous() for one in (grad, query)]
                given += [one[:, :, seen].contiguous() for one in (keys, values)]
                made = [one[:, :, rows].contiguous() for one in (result, share)]
                added = _columns(bias, source, group.size(), query.shape, balanced)
                parts = taeda.ops.aten.attention_grads(*given, added, *made, causal and source == rank, scale)
                of_query[:, :, rows] += parts[0]
                for whole, part in zip(pair.apart(here), parts[1:], strict=True):
                    whole[:, :, seen] += part
            kept.add(source, here)
        of_key, of_value = pair.apart(kept.own())
        return of_query.to(query.dtype), of_key.to(key.dtype), of_value.to(value.dtype), *(None,) * 5


class _Returned:
    """Gradients for the others' keys and values, which go to where those came from."""

    def __init__(self, like: Tensor, group: Any, dtype: Any) -> None:
        self.group = group
        self.travels = _cp_options.rotate_method is _RotateMethod.ALL_TO_ALL
        self.here = like.new_zeros(like.numel() * (1 if self.travels else group.size()), dtype=dtype)
        self.works: list[Any] = []

    def room(self, source: int) -> Tensor:
        """What this process adds for the process ``source``."""
        if self.travels:
            return self.here
        count = self.here.numel() // self.group.size()
        return self.here[source * count : (source + 1) * count]

    def add(self, source: int, part: Tensor) -> None:
        """The part for ``source`` is whole: it goes on to the process that has that one's keys next."""
        if self.travels:
            self.here, works = _sent_on(part, self.group)
            for work in works:
                work.wait()

    def own(self) -> Tensor:
        """What all processes have for this one."""
        if self.travels:
            return self.here
        mine = self.here.new_empty(self.here.numel() // self.group.size())
        collectives.reduce_scatter_tensor(mine, self.here, group=self.group)
        return mine
