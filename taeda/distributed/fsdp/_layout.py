"""Where the elements of a unit's parameters lie in the shards of its processes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import taeda
from taeda import Tensor


class FlatLayout:
    """One parameter behind the other; the whole is cut into equal shards, wherever that falls.

    The shards, one behind the other, are the parameters as they stand: nothing is moved after they are gathered.
    """

    moves = False

    def __init__(self, shapes: Sequence[Sequence[int]], ranks: int) -> None:
        self.shapes, self.ranks = [tuple(shape) for shape in shapes], ranks
        self.numels = [math.prod(shape) for shape in self.shapes]
        self.offsets = [sum(self.numels[:at]) for at in range(len(self.numels))]
        self.shard = -(-sum(self.numels) // ranks)  # elements of each process, padding included
        self.whole = self.shard * ranks

    def own(self, rank: int) -> list[tuple[int, int]]:
        """For each parameter where its part begins in the shard of ``rank``, and how long it is."""
        first, last = rank * self.shard, (rank + 1) * self.shard
        parts = []
        for start, numel in zip(self.offsets, self.numels, strict=True):
            low, high = min(max(start, first), last), min(max(start + numel, first), last)
            parts.append((low - first, high - low))
        return parts

    def part_within(self, rank: int) -> list[tuple[int, int]]:
        """For each parameter which of its elements the shard of ``rank`` has: the first, and how many."""
        first = rank * self.shard
        return [(first + at - start if length else 0, length)
                for (at, length), start in zip(self.own(rank), self.offsets, strict=True)]  # fmt: skip

    def collect(self, given: Sequence[Tensor | None], out: Tensor) -> None:
        """Puts whole parameters, zeros for those not given, where the shards one behind the other have them."""
        end = 0
        for start, numel, one in zip(self.offsets, self.numels, given, strict=True):
            end = start + numel
            out[start:end] = 0 if one is None else one.detach().reshape(-1)
        out[end:] = 0

    def spread(self, gathered: Tensor, whole: Tensor) -> None:
        """Moves what was gathered to where the parameters stand."""
        if gathered is not whole:
            whole.copy_(gathered)


class RowLayout:
    """Each parameter is cut along one of its dimensions; a shard has the process's part of each."""

    moves = True

    def __init__(self, shapes: Sequence[Sequence[int]], ranks: int, dims: Sequence[int] | None = None) -> None:
        self.shapes, self.ranks = [tuple(shape) for shape in shapes], ranks
        self.dims = [0] * len(self.shapes) if dims is None else list(dims)
        self.numels = [math.prod(shape) for shape in self.shapes]
        self.offsets = [sum(self.numels[:at]) for at in range(len(self.numels))]
        self.whole = sum(self.numels)
        self.rows = [-(-shape[dim] // ranks) for shape, dim in zip(self.shapes, self.dims, strict=True)]
        self.rest = [
            math.prod(shape[:dim] + shape[dim + 1 :]) for shape, dim in zip(self.shapes, self.dims, strict=True)
        ]
        sizes = [rows * rest for rows, rest in zip(self.rows, self.rest, strict=True)]
        self.starts = [sum(sizes[:at]) for at in range(len(sizes))]
        self.shard = sum(sizes)

    def rows_of(self, at: int, rank: int) -> tuple[int, int]:
        """The first row of a parameter that ``rank`` has, and how many."""
        length = self.shapes[at][self.dims[at]]
        first = min(rank * self.rows[at], length)
        return first, min(self.rows[at], length - first)

    def own(self, rank: int) -> list[tuple[int, int]]:
        """As in `FlatLayout`."""
        return [(start, self.rows_of(at, rank)[1] * self.rest[at]) for at, start in enumerate(self.starts)]

    def local(self, at: int, shard: Tensor, rank: int) -> Tensor:
        """The part that ``rank`` has of a parameter, as a view of its shard."""
        shape, dim = self.shapes[at], self.dims[at]
        rows, start = self.rows_of(at, rank)[1], self.starts[at]
        part = shard[start : start + rows * self.rest[at]].view(rows, *shape[:dim], *shape[dim + 1 :])
        return part.movedim(0, dim) if dim else part

    def _rank_major(self, gathered: Tensor, at: int) -> Tensor:
        """All processes' parts of a parameter: processes, rows, the other dimensions."""
        size = self.rows[at] * self.rest[at]
        return gathered.view(self.ranks, self.shard)[:, self.starts[at] : self.starts[at] + size]

    def collect(self, given: Sequence[Tensor | None], out: Tensor) -> None:
        """As in `FlatLayout`."""
        for at, one in enumerate(given):
            place = self._rank_major(out, at)
            if one is None:
                place.zero_()
                continue
            rows, rest, length = self.rows[at], self.rest[at], self.shapes[at][self.dims[at]]
            flat = one.detach().movedim(self.dims[at], 0).contiguous().view(length, rest)
            full = length // rows if rows else 0  # processes that have as many rows as there is room for
            place[:full].copy_(flat[: full * rows].view(full, rows * rest))
            if full < self.ranks:
                place[full:].zero_()
                if left := length - full * rows:
                    place[full, : left * rest].copy_(flat[full * rows :].reshape(-1))

    def spread(self, gathered: Tensor, whole: Tensor) -> None:
        """As in `FlatLayout`."""
        for at, start in enumerate(self.offsets):
            rows, rest, length = self.rows[at], self.rest[at], self.shapes[at][self.dims[at]]
            target = whole[start : start + self.numels[at]]
            place = self._rank_major(gathered, at)
            if self.dims[at]:
                shape, dim = self.shapes[at], self.dims[at]
                parts = place.reshape(self.ranks * rows, rest)[:length].view(length, *shape[:dim], *shape[dim + 1 :])
                target.view(shape).copy_(parts.movedim(0, dim))
                continue
            flat = target.view(length, rest)
            full = length // rows if rows else 0
            flat[: full * rows].view(full, rows * rest).copy_(place[:full])
            if left := length - full * rows:
                flat[full * rows :].view(-1).copy_(place[full, : left * rest])


Layout = FlatLayout | RowLayout


def own_shard(layout: Layout, parameters: Sequence[Tensor], rank: int) -> Tensor:
    """The shard of ``rank`` of whole parameters."""
    whole = taeda.empty(layout.shard * layout.ranks, dtype=parameters[0].dtype, device=parameters[0].device)
    if whole.device.type != "meta":
        layout.collect(parameters, whole)
    return whole[rank * layout.shard : (rank + 1) * layout.shard].clone()
