"""Collectives between processes of this machine, beside gloo's: each rank has both libraries and takes turns."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from statistics import median
from time import perf_counter
from typing import Any

from benchmarks.timing import Budget, Row

GROUP = "collectives"
BUDGETS = {GROUP: Budget(0.5, 1.1)}
SIZES = {"8 B": 2, "64 KB": 1 << 14, "4 MB": 1 << 20, "64 MB": 1 << 24}  # floats
ROUNDS = 5


def cases(library: Any, dist: Any, size: int, ranks: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    """What is timed, ``size`` floats being the larger of what goes in and what comes out."""
    whole, part = library.ones(size), library.ones(max(1, size // ranks))
    gathered = library.ones(max(1, size // ranks) * ranks)
    yield "all_reduce", lambda: dist.all_reduce(whole.fill_(1))
    yield "broadcast", lambda: dist.broadcast(whole, 0)
    yield "all_gather", lambda: dist.all_gather_into_tensor(gathered, part)
    yield "reduce_scatter", lambda: dist.reduce_scatter_tensor(part, gathered)


def join_both(rank: int, ranks: int, ports: list[int]) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """A world of each library, with one thread for each rank."""
    import torch
    import torch.distributed as gloo

    import taeda
    import taeda.distributed as own

    pairs = ((taeda, own), (torch, gloo))
    for (library, dist), port in zip(pairs, ports, strict=True):
        library.set_num_threads(1)
        address = f"tcp://127.0.0.1:{port}"
        dist.init_process_group("gloo", address, timedelta(seconds=60), world_size=ranks, rank=rank)
    return pairs


def timed(dist: Any, call: Callable[[], Any], count: int) -> float:
    """Seconds per call, of calls that all ranks begin together."""
    dist.barrier()
    start = perf_counter()
    for _ in range(count):
        call()
    dist.barrier()
    return (perf_counter() - start) / count


def work(rank: int, ranks: int, ports: list[int], quick: bool) -> None:
    """What one rank does; rank 0 prints the times as JSON."""
    pairs = join_both(rank, ranks, ports)
    (_, own), (_, gloo) = pairs
    found = {}
    for label, size in SIZES.items():
        count = max(1, min(200, (1 << 21) // size)) // (4 if quick and size < 1 << 19 else 1)
        both = zip(*(cases(library, dist, size, ranks) for library, dist in pairs), strict=True)
        for (name, ours), (_, theirs) in both:
            ours(), theirs()
            turns = [(timed(own, ours, count), timed(gloo, theirs, count)) for _ in range(ROUNDS)]
            found[f"{name} {label}, {ranks} ranks"] = [median(turn[i] for turn in turns) for i in range(2)]
    for _, dist in pairs:
        dist.destroy_process_group()
    if rank == 0:
        print(json.dumps(found))


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def told(module: str, ranks: int, quick: bool) -> Any:
    """What rank 0 of ``ranks`` that run ``module`` prints as JSON."""
    ports = [str(port) for port in free_ports(2)]
    command = [sys.executable, "-W", "ignore", "-m", module, str(ranks), *ports, str(int(quick))]
    started = [subprocess.Popen([*command, str(rank)], stdout=subprocess.PIPE, text=True) for rank in range(ranks)]
    texts = [process.communicate(timeout=600)[0] for process in started]
    return json.loads(texts[0].strip().splitlines()[-1])


def rows(quick: bool) -> list[Row]:
    """Each collective at four sizes with 2 and 4 ranks."""
    found = []
    for ranks in (2, 4):
        times = told("benchmarks.collectives", ranks, quick)
        found += [Row(GROUP, name, ours * 1e6, theirs * 1e6, "µs") for name, (ours, theirs) in times.items()]
    return found


def run_rank(body: Callable[[int, int, list[int], bool], None]) -> None:
    """``body(rank, ranks, ports, quick)`` by the arguments that `told` gives a process."""
    ranks, first, second, quick, rank = map(int, sys.argv[1:])
    body(rank, ranks, [first, second], bool(quick))


if __name__ == "__main__":
    run_rank(work)
