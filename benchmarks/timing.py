"""Timing two implementations in turn, and the rows that come of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import perf_counter, sleep
from types import ModuleType
from typing import Any

Case = Callable[[ModuleType], Callable[[], Any]]  # given the library, makes what is to be timed


@dataclass(frozen=True)
class Row:
    """One measurement: ours and PyTorch's in ``unit``; ``budget`` bounds the ratio, or ours where PyTorch has none."""

    group: str
    name: str
    ours: float
    theirs: float | None
    unit: str
    budget: float | None = None
    absolute: bool = False  # the budget is in the unit, not a ratio
    why: str = ""  # it may be over

    @property
    def ratio(self) -> float | None:
        return None if not self.theirs else self.ours / self.theirs

    @property
    def kept(self) -> bool | None:
        """Whether the budget is kept; None without one."""
        measured = self.ours if self.absolute else self.ratio
        return None if self.budget is None or measured is None else measured <= self.budget


@dataclass(frozen=True)
class Budget:
    """Bounds of a group: on the geometric mean of its ratios and on the worst."""

    mean: float
    worst: float


def loop(function: Callable[[], Any], count: int) -> float:
    """Seconds per call over ``count`` calls."""
    start = perf_counter()
    for _ in range(count):
        function()
    return (perf_counter() - start) / count


def pause_between(threads: int) -> float:
    """Seconds until the other library's threads, which wait actively at first, are asleep."""
    return 0.02 if threads > 1 else 0.0


def calls_in(function: Callable[[], Any], seconds: float) -> int:
    """How many calls take about ``seconds``."""
    function()
    once = max(loop(function, 1), 1e-7)
    return max(1, int(seconds / once))


def in_turn(
    case: Case,
    libraries: tuple[ModuleType, ModuleType],
    rounds: int,
    slice_seconds: float = 0.005,
    places: int = 1,
    pause: float = 0.0,
) -> tuple[float, float]:
    """The least seconds per call of each library, measured alternately so that both meet the same disturbances; with
    operands made anew ``places`` times, as where they lie in memory makes a difference. A ``pause`` goes before each
    turn (`pause_between`)."""
    best = [math.inf, math.inf]
    for _ in range(places):
        functions = [case(library) for library in libraries]
        counts = []
        for function in functions:
            sleep(pause)
            counts.append(calls_in(function, slice_seconds))
        for _ in range(rounds):
            for k in (0, 1):
                sleep(pause)
                best[k] = min(best[k], loop(functions[k], counts[k]))
    return best[0], best[1]


def compare(
    group: str,
    cases: Iterable[tuple[str, Case]],
    budget: float | None,
    *,
    rounds: int,
    unit: str = "us",
    places: int = 1,
    threads: int = 1,
) -> list[Row]:
    """A row per case, both libraries with so many threads."""
    import torch

    import taeda

    scale = {"us": 1e6, "ms": 1e3, "s": 1.0}[unit]
    torch.set_num_threads(threads)
    taeda.set_num_threads(threads)
    rows = []
    for name, case in cases:
        ours, theirs = in_turn(case, (taeda, torch), rounds, places=places, pause=pause_between(threads))
        rows.append(Row(group, name, ours * scale, theirs * scale, unit, budget))
    return rows


def geometric_mean(values: Iterable[float]) -> float:
    logs = [math.log(v) for v in values]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan
