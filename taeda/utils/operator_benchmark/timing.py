"""Timing calls: slices of many calls, taken in turn where there are two libraries, in two runs that must agree."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

Call = Callable[[], Any]
_SLICE = 0.005  # seconds, well above the clock's steps
_SLICES = 15  # of a run


@dataclass(frozen=True)
class Timing:
    """Microseconds per call: two runs of several slices each."""

    runs: tuple[tuple[float, ...], tuple[float, ...]]
    calls: int  # in a slice

    @property
    def median(self) -> float:
        return statistics.median([*self.runs[0], *self.runs[1]])

    @property
    def medians(self) -> tuple[float, float]:
        """Those of the two runs."""
        return statistics.median(self.runs[0]), statistics.median(self.runs[1])

    @property
    def spread(self) -> float:
        """Between the quartiles, in microseconds: the larger one of the two runs'."""
        return max(map(_between_quartiles, self.runs))

    @property
    def agree(self) -> bool:
        """Whether the medians of the two runs differ by no more than the spread."""
        first, second = self.medians
        return abs(first - second) <= self.spread

    def __str__(self) -> str:
        first, second = self.medians
        share = self.spread / self.median if self.median else 0.0
        verdict = "two runs agree" if self.agree else f"two runs differ: {first:.3f} and {second:.3f}"
        return f"median {self.median:.3f} us, spread {share:.1%}, {verdict}"


def _between_quartiles(values: Sequence[float]) -> float:
    if len(values) < 2:
        return 0.0
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return high - low


def _slice(call: Call, count: int, before: Call | None) -> float:
    """Microseconds per call; ``before`` runs ahead of each, untimed."""
    if before is None:
        start = perf_counter()
        for _ in range(count):
            call()
        return (perf_counter() - start) / count * 1e6
    spent = 0.0
    for _ in range(count):
        before()
        start = perf_counter()
        call()
        spent += perf_counter() - start
    return spent / count * 1e6


def _calls_in_slice(call: Call, before: Call | None, seconds: float) -> int:
    count = 1
    while (took := _slice(call, count, before) * count * 1e-6) < seconds / 4 and count < 1_000_000:
        count *= 4
    return max(1, int(count * seconds / max(took, 1e-9)))


def measure(
    calls: Sequence[Call],
    *,
    warmup: int = 100,
    before: Call | None = None,
    iterations: int | None = None,
    slices: int = _SLICES,
    seconds: float = _SLICE,
) -> list[Timing]:
    """Times each of ``calls``, slice by slice in turn, so that all meet the same disturbances.

    Args:
        calls: one, or several that are to be compared.
        warmup: how often each is called before.
        before: called ahead of each call and not timed, e.g. what empties the caches.
        iterations: calls in a slice; by default as many as take ``seconds``.
        slices: of each of the two runs.
    """
    counts = []
    for call in calls:
        for _ in range(warmup):
            call()
        counts.append(iterations or (1 if before else _calls_in_slice(call, None, seconds)))
    runs: list[list[list[float]]] = [[[], []] for _ in calls]
    for run in (0, 1):
        for _ in range(slices if not before else slices * 3):
            for k, call in enumerate(calls):
                runs[k][run].append(_slice(call, counts[k], before))
    return [Timing((tuple(first), tuple(second)), counts[k]) for k, (first, second) in enumerate(runs)]
