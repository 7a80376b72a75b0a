"""``python -m benchmarks.scaling [--rounds N] [--out FOLDER]``: the table, the model beside it, and the picture."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks.collectives import free_ports
from benchmarks.report import processor
from benchmarks.scaling import picture, table
from benchmarks.scaling.job import JOBS
from benchmarks.scaling.machines import ADDRESSES, Machines, why_not

WAYS = {"single": 1, "data_parallel": 1, "distributed-2": 2, "distributed-3": 3, "multi-node-2": 2}
LIBRARIES = {"PyTorch": "torch", "Taeda": "taeda"}
LIMIT = 600  # seconds of one run


def run(library: str, way: str, machines: Machines | None) -> dict[str, Any]:
    """What rank 0 measured."""
    ranks = WAYS[way]
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.scaling.job", library, way]
    common = os.environ | {"OMP_NUM_THREADS": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_ports(1)[0])}
    started = []
    for rank in range(ranks):
        own = dict(common)
        if ranks > 1:
            own |= {"RANK": str(rank), "WORLD_SIZE": str(ranks)}
        words = command
        if way == "multi-node-2":
            assert machines is not None
            words = machines.command(rank, *command)
            own |= {"MASTER_ADDR": ADDRESSES[0], "GLOO_SOCKET_IFNAME": machines.cables[rank]}
        started.append(subprocess.Popen(words, env=own, stdout=subprocess.PIPE, text=True))
    texts = [process.communicate(timeout=LIMIT)[0] for process in started]
    if any(process.returncode for process in started):
        raise SystemExit(f"{library}, {way}: a rank failed")
    return json.loads(texts[0].strip().splitlines()[-1])


def least(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Of each network and of the messages the run whose step was the shortest."""
    found = {job: min((one[job] for one in runs), key=lambda result: result["batch_time"]) for job in JOBS}
    if "messages" in runs[0]:
        found["messages"] = min((one["messages"] for one in runs), key=lambda result: result["all_reduce 1 MB"])
    return found


def measure(rounds: int) -> dict[str, dict[str, Any]]:
    """By way and library; the libraries take turns."""
    missing = why_not()
    ways = [way for way in WAYS if way != "multi-node-2" or not missing]
    if missing:
        print(f"multi-node-2 is left out: {missing}")
    machines = None if missing else Machines()
    runs: dict[str, dict[str, list[Any]]] = {way: {name: [] for name in LIBRARIES} for way in ways}
    try:
        for turn in range(rounds):
            for way in ways:
                for name, library in LIBRARIES.items():
                    print(f"round {turn + 1}: {way}, {name}", file=sys.stderr, flush=True)
                    runs[way][name].append(run(library, way, machines))
    finally:
        if machines is not None:
            machines.close()
    return {way: {name: least(found) for name, found in both.items()} for way, both in runs.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description="One training job on one process, several, and two machines.")
    parser.add_argument("--rounds", type=int, default=1, help="the best of so many is told")
    parser.add_argument("--out", type=Path, default=Path(__file__).resolve().parents[2] / "docs",
                        help="where distributed.md and the picture are")  # fmt: skip
    options = parser.parse_args()
    found = measure(options.rounds)
    text = [
        f"Measured on {date.today()} on {processor()}, {os.cpu_count()} cores, which other programs used, too (load "
        f"{os.getloadavg()[2]:.1f}); the best of {options.rounds}, one thread for each rank.",
        table.measured(found),
    ]
    if "multi-node-2" in found:
        text += [table.extrapolated(found), "![share of the time that hosts compute](scaling.png)"]
        picture.draw(found, options.out / "scaling.png")
    print("\n\n".join(text))
    table.put(options.out / "distributed.md", "\n\n".join(text))


if __name__ == "__main__":
    main()
