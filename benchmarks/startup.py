"""What it costs to have the library at all: import time, resident memory, size on disk."""

from __future__ import annotations

import subprocess
import sys

from benchmarks.timing import Row

GROUP = "startup"
_STEP = """
from time import perf_counter
start = perf_counter()
import {library} as T
{rest}
took = perf_counter() - start
status = open("/proc/self/status").read()
print(took, int(status.split("VmRSS:")[1].split()[0]) / 1024)
"""
_TRAIN = """
from {library} import nn, optim
model = nn.Linear(10, 1)
optimizer = optim.SGD(model.parameters(), lr=0.1)
model(T.ones(4, 10)).sum().backward()
optimizer.step()
"""


def measure(library: str, rest: str, rounds: int) -> tuple[float, float]:
    """Seconds and resident MB of a fresh process, the least of ``rounds``."""
    program = _STEP.format(library=library, rest=rest.format(library=library))
    results = []
    for _ in range(rounds):
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        results.append(tuple(map(float, done.stdout.split())))
    return min(r[0] for r in results), min(r[1] for r in results)


def rows(quick: bool) -> list[Row]:
    """Import, and import with one training step, each beside PyTorch's."""
    found = []
    rounds = 2 if quick else 5
    for name, rest, seconds, megabytes in (("import", "", 0.08, 45), ("import and a training step", _TRAIN, 0.25, 90)):
        ours, theirs = measure("taeda", rest, rounds), measure("torch", rest, max(1, rounds // 2))
        found.append(Row(GROUP, name, ours[0], theirs[0], "s", seconds, absolute=True))
        found.append(Row(GROUP, f"{name}: memory", ours[1], theirs[1], "MB", megabytes, absolute=True))
    return found
