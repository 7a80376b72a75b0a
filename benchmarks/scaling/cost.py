"""What a step of training costs on several hosts, from what was measured on a few.

A step is what a rank does alone, and what it waits for messages besides. Gradients go in buckets, as
``DistributedDataParallel`` makes them; a bucket's all_reduce begins when the backward pass has filled it and the one
before is done, and goes on beside that pass. The last bucket's is never hidden.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

FIRST, FURTHER = 1 << 20, 25 << 20  # bytes of buckets
SMALL, AT_ONCE = 1 << 16, 8  # as csrc/distributed/algorithms.cpp chooses: bytes, and ranks
BACKWARD = 2 / 3  # of a step's own time


@dataclass(frozen=True)
class Wait:
    """Seconds of one collective, by their cause."""

    latency: float = 0.0
    messages: float = 0.0
    bytes: float = 0.0

    @property
    def whole(self) -> float:
        return self.latency + self.messages + self.bytes

    def __add__(self, other: Wait) -> Wait:
        return Wait(self.latency + other.latency, self.messages + other.messages, self.bytes + other.bytes)


@dataclass(frozen=True)
class Link:
    """Seconds until something small is there, bytes per second, and seconds that a rank spends on one message."""

    latency: float
    bandwidth: float
    message: float

    def all_reduce(self, size: int, hosts: int) -> Wait:
        """Up to 64 KB everybody sends to everybody, or pairs to pairs where there are many; above, each rank adds up a
        part, and all gather the parts."""
        if hosts == 1:
            return Wait()
        if size <= SMALL and hosts <= AT_ONCE:
            return Wait(self.latency, (hosts - 2) * self.message, (hosts - 1) * size / self.bandwidth)
        if size <= SMALL:
            turns = math.ceil(math.log2(hosts))
            return Wait(turns * self.latency, 0, turns * size / self.bandwidth)
        return Wait(2 * self.latency, 2 * (hosts - 2) * self.message, 2 * (hosts - 1) / hosts * size / self.bandwidth)

    def broadcast(self, size: int, hosts: int) -> Wait:
        """Along a tree."""
        turns = math.ceil(math.log2(hosts))
        return Wait(turns * self.latency, 0, turns * size / self.bandwidth)


def link_of(messages: dict[str, float]) -> Link:
    """Of what ``job.messages`` measured between two ranks."""
    latency = messages["all_reduce"]
    return Link(latency, (1 << 20) / max(1e-9, messages["all_reduce 1 MB"] - 2 * latency), messages["message"])


def between(messages: dict[str, float], size: int) -> float:
    """Seconds of an all_reduce of ``size`` bytes, on the line through the two that were measured."""
    small, large = messages["all_reduce"], messages["all_reduce 1 MB"]
    return small + (large - small) * size / (1 << 20)


def buckets(parameters: Sequence[int]) -> list[int]:
    """Bytes of each bucket, in the order of the backward pass."""
    found, full = [0], False
    for size in reversed(parameters):
        if full:
            found.append(0)
        found[-1] += size
        full = found[-1] >= (FIRST if len(found) == 1 else FURTHER)
    return found


def exposed(alone: float, parameters: Sequence[int], all_reduce: Callable[[int], float]) -> float:
    """Seconds that the all_reduces go on after the backward pass."""
    sizes = buckets(parameters)
    end, done, filled = 0.0, 0.0, 0  # seconds from the beginning of the backward pass
    backward = alone * BACKWARD
    for size in sizes:
        filled += size
        done = backward * filled / sum(sizes)
        end = max(end, done) + all_reduce(size)
    return end - done
