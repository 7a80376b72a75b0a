"""Which processes a dimension of a mesh goes over: pairs (size, stride), outermost first, of positions in the list of
the root mesh's ranks. A dimension that was made of several has several pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence

Pairs = tuple[tuple[int, int], ...]


def contiguous(shape: Sequence[int]) -> list[Pairs]:
    """The dimensions of a mesh that is its own root."""
    return [((size, math.prod(shape[dim + 1 :])),) for dim, size in enumerate(shape)]


def size_of(pairs: Pairs) -> int:
    """How many processes there are along the dimension."""
    return math.prod(size for size, _ in pairs)


def stride_of(pairs: Pairs) -> int | tuple[int, ...]:
    """By how much positions grow along the dimension: several steps where it was made of several, none at length 1."""
    steps = tuple(stride for size, stride in joined([pairs]) if size > 1)
    return steps[0] if len(steps) == 1 else steps


def offsets(pairs: Pairs) -> list[int]:
    """The positions along the dimension, from that of the first process."""
    found = [0]
    for size, stride in pairs:
        found = [start + at * stride for start in found for at in range(size)]
    return found


def coordinate(position: int, pairs: Pairs) -> int:
    """A process's number along the dimension."""
    found = 0
    for size, stride in pairs:
        found = found * size + position // stride % size
    return found


def start(position: int, pairs: Pairs) -> int:
    """The position of the first process along the dimension, as seen from ``position``."""
    return position - sum(position // stride % size * stride for size, stride in pairs)


def joined(dims: Sequence[Pairs]) -> Pairs:
    """One dimension of several; pairs that follow on each other become one."""
    found: list[tuple[int, int]] = []
    for size, stride in (pair for pairs in dims for pair in pairs if pair[0] > 1):
        if found and found[-1][1] == size * stride:
            found[-1] = found[-1][0] * size, stride
        else:
            found.append((size, stride))
    return tuple(found) or ((1, 1),)


def cut(pairs: Pairs, sizes: Sequence[int]) -> list[Pairs] | None:
    """Several dimensions of one; None if they cut across pairs that do not follow on each other."""
    rest: list[tuple[int, int]] = list(joined([pairs]))
    found: list[Pairs] = []
    for wanted in reversed(sizes):
        taken: list[tuple[int, int]] = []
        while wanted > 1:
            size, stride = rest.pop()
            here = math.gcd(wanted, size) if size > wanted else size
            if wanted % here or size > wanted and here != wanted:
                return None
            if size > here:
                rest.append((size // here, stride * here))
            taken.insert(0, (here, stride))
            wanted //= here
        found.insert(0, tuple(taken) or ((1, 1),))
    return found


def falling(dims: Sequence[Pairs]) -> bool:
    """Whether the dimensions stand in the root's order: strides fall."""
    strides = [stride for _, stride in joined(dims)]
    return strides == sorted(strides, reverse=True)


def ascending(dims: Sequence[Pairs]) -> bool:
    """Whether the dimensions stand in the root's order and none goes over another's processes."""
    flat = [pair for pairs in dims for pair in pairs if pair[0] > 1]
    return all(outer[1] >= size * stride for outer, (size, stride) in zip(flat, flat[1:], strict=False))
