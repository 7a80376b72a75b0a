"""What the machine gives: processors, caches, and which threads really ran."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import taeda

_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
_USUAL_CACHE = 32 << 20
_SHARE = 0.05  # of the busiest thread's time: a thread that had less did no part of the work


def processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0))


def _running_times() -> dict[str, int]:
    """Nanoseconds on a processor of each thread of this process."""
    os.sched_yield()  # brings the record of this thread up to date
    times = {}
    for task in Path("/proc/self/task").iterdir():
        try:
            times[task.name] = int((task / "schedstat").read_text().split()[0])
        except (OSError, ValueError, IndexError):
            continue
    return times


class Threads:
    """How many threads were asked for, and how many ran."""

    def __init__(self, asked: int | None) -> None:
        self.asked = asked
        self.ran: int | None = None  # not to be had where the system does not tell
        if asked:
            taeda.set_num_threads(asked)

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Counts those that work meanwhile."""
        before = _running_times()
        yield
        spent = [now - before.get(task, 0) for task, now in _running_times().items()]
        busiest = max(spent, default=0)
        self.ran = sum(one > _SHARE * busiest for one in spent) if busiest else None

    def __str__(self) -> str:
        asked = taeda.get_num_threads() if self.asked is None else self.asked
        ran = "how many ran is unknown" if self.ran is None else f"{self.ran} ran"
        here = processors()
        crowded = f"; they share {here} processors" if asked > here else ""
        return f"{asked} threads allowed, {ran}{crowded}"


def cache_bytes() -> int:
    """The size of the largest cache."""
    sizes = []
    for entry in _CACHES.glob("index*/size"):
        text = entry.read_text().strip()
        sizes.append(int(text[:-1]) << {"K": 10, "M": 20}.get(text[-1], 0) if text[-1].isalpha() else int(text))
    return max(sizes, default=_USUAL_CACHE)


def flusher() -> Callable[[], Any]:
    """A function after which no operand is in a cache: it reads and writes twice as much as the largest one holds."""
    memory = taeda.zeros(2 * cache_bytes() // 4)
    return lambda: memory.add_(1.0)
