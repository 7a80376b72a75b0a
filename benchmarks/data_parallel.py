"""Training over two processes: a step under ``DistributedDataParallel``, and the start of the processes' world."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from time import perf_counter
from typing import Any

from benchmarks import training
from benchmarks.collectives import free_ports, join_both, run_rank, timed, told
from benchmarks.timing import Row

STEPS, START = "data parallelism", "start of a world"
_START = """
import sys
from datetime import timedelta
import {library} as T
import {library}.distributed as dist
rank = int(sys.argv[2])
dist.init_process_group("gloo", "tcp://127.0.0.1:" + sys.argv[1], timedelta(seconds=60), world_size=2, rank=rank)
x = T.ones(3)
dist.all_reduce(x)
assert x[0] == 2
dist.destroy_process_group()
"""


def work(rank: int, ranks: int, ports: list[int], quick: bool) -> None:
    """What one rank does; rank 0 prints the times as JSON."""
    pairs = join_both(rank, ranks, ports)
    found = {}
    for name, case in (("MLP", training.mlp), ("small ResNet", training.resnet)):
        steps: list[Any] = [case(library, library.nn.parallel.DistributedDataParallel) for library, _ in pairs]
        best = [math.inf, math.inf]
        for step in steps:
            step(), step()
        for _ in range(10 if quick else 30):
            for k, (_, dist) in enumerate(pairs):
                best[k] = min(best[k], timed(dist, steps[k], 5))
        found[name] = best
    for _, dist in pairs:
        dist.destroy_process_group()
    if rank == 0:
        print(json.dumps(found))


def start(library: str) -> float:
    """Seconds until both ranks have begun, met, exchanged something and ended."""
    program, port = _START.format(library=library), str(free_ports(1)[0])
    begin = perf_counter()
    command = [sys.executable, "-W", "ignore", "-c", program, port]
    ranks = [subprocess.Popen([*command, str(rank)]) for rank in range(2)]
    if any(process.wait(120) for process in ranks):
        raise RuntimeError(f"{library}: a rank failed")
    return perf_counter() - begin


def rows(quick: bool) -> list[Row]:
    """Steps of two networks with two ranks, and what it takes to start these."""
    times = told("benchmarks.data_parallel", 2, quick)
    found = [Row(STEPS, f"{name}, 2 ranks", a * 1e3, b * 1e3, "ms", 0.7) for name, (a, b) in times.items()]
    ours, theirs = [], []
    for _ in range(2 if quick else 5):
        ours.append(start("taeda"))
        theirs.append(start("torch"))
    return [*found, Row(START, "2 ranks, imports and end included", min(ours), min(theirs), "s", 0.25)]


if __name__ == "__main__":
    run_rank(work)
