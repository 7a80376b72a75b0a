"""Two machines as network namespaces with a cable between them, which may be slow."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from ranks import needs_mpi

from benchmarks.scaling.machines import ADDRESSES, Machines, why_not

SCRIPT = """
import os
import taeda as torch
import taeda.distributed as dist

def say(*words):  # in one piece, since the ranks share a pipe
    os.write(1, (" ".join(map(str, words)) + "\\n").encode())

dist.init_process_group(timeout=__import__("datetime").timedelta(seconds=15))
x = torch.full((1 << 16,), float(dist.get_rank() + 1))
dist.all_reduce(x)
say("sum", dist.get_rank(), dist.get_world_size(), x[0].item(), x[-1].item())
net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 2))
net(torch.ones(3, 4) * dist.get_rank()).sum().backward()
say("grad", dist.get_rank(), net.module.weight.grad[0].tolist())
dist.destroy_process_group()
"""
WITHOUT_END = """
import os
import taeda as torch
import taeda.distributed as dist

dist.init_process_group()
x = torch.ones(1 << 16)
dist.all_reduce(x)
os.write(1, b"together\\n")
while True:
    dist.all_reduce(x)
"""
_reason = why_not()
pytestmark = [needs_mpi, pytest.mark.skipif(bool(_reason), reason=_reason or "there")]


class Launchers(Machines):
    """The launcher on both."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder, self.started = folder, []

    def start(self, text: str, *options: str) -> list[subprocess.Popen[str]]:
        """Two workers each of the program ``text``."""
        script = self.folder / "script.py"
        script.write_text(text)
        for number, address in enumerate(ADDRESSES):
            command = self.command(number, sys.executable, "-m", "taeda.distributed.run", "--nnodes", "2",
                       "--nproc-per-node", "2", "--rdzv-backend", "c10d", "--rdzv-endpoint", f"{ADDRESSES[0]}:29400",
                       "--rdzv-id", "job", "--local-addr", address, *options, str(script))  # fmt: skip
            env = os.environ | {"TMPDIR": str(self.folder)}
            pipe = subprocess.PIPE
            self.started.append(subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=env))
        return self.started

    def close(self) -> None:
        super().close()
        for process in self.started:
            process.communicate()


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[Launchers]:
    made = Launchers(tmp_path)
    try:
        yield made
    finally:
        made.close()


def finished(started: list[subprocess.Popen[str]]) -> list[tuple[int, str, str]]:
    return [(process.returncode, *texts) for process in started for texts in [process.communicate(timeout=90)]]


def check(results: list[tuple[int, str, str]]) -> None:
    for status, _, errors in results:
        assert status == 0, errors
    lines = sorted(line for _, out, _ in results for line in out.splitlines() if line.startswith(("sum", "grad")))
    assert lines == [f"grad {rank} [4.5, 4.5, 4.5, 4.5]" for rank in range(4)] + [
        f"sum {rank} 4 10.0 10.0" for rank in range(4)
    ]


@pytest.mark.parametrize("slow", [False, True], ids=["quick", "1 ms, 100 Mbit"])
def test_a_job_on_two_machines(machines: Launchers, slow: bool) -> None:
    if slow and (missing := machines.slow()):
        pytest.skip(missing)
    check(finished(machines.start(SCRIPT)))
    assert machines.bytes_sent() > 4 << 16  # what is reduced


def test_a_cut_cable_ends_the_job(machines: Launchers) -> None:
    started = machines.start(WITHOUT_END, "--rdzv-conf", "keep_alive_interval=1,keep_alive_max_attempt=3")
    for process in started:
        assert process.stdout is not None
        assert [process.stdout.readline() for _ in range(2)] == ["together\n"] * 2
    machines.cut()
    begin = time.monotonic()
    (first, _, first_errors), (second, _, second_errors) = finished(started)
    assert time.monotonic() - begin < 15  # three seconds, and ends that wait a moment for others
    assert first != 0 and "has not been heard of: its machine" in first_errors
    assert second != 0 and "this node has lost the others" in second_errors
    assert machines.processes() == []
