"""Two machines as network namespaces with a cable between them, which may be slow."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from ranks import needs_mpi

FIRST, SECOND = "10.213.7.1", "10.213.7.2"
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


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


def why_not() -> str:
    """What is missing for namespaces."""
    if shutil.which("ip") is None:
        return "iproute2 is not there"
    if os.geteuid():
        return "namespaces are root's"
    name = f"taeda-probe-{os.getpid()}"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True)
    if made.returncode:
        return f"no namespaces here: {made.stderr.strip()}"
    pair = subprocess.run(["ip", "-n", name, "link", "add", "probe0", "type", "veth", "peer", "name", "probe1"],
                          capture_output=True, text=True)  # fmt: skip
    subprocess.run(["ip", "netns", "del", name], capture_output=True)
    return f"no veth pairs here: {pair.stderr.strip()}" if pair.returncode else ""


_reason = why_not()
pytestmark = [needs_mpi, pytest.mark.skipif(bool(_reason), reason=_reason or "there")]


class Machines:
    """Two namespaces, and what was started in them."""

    def __init__(self, folder: Path) -> None:
        own = f"td{os.getpid() % 100000}"
        self.names, self.cables = [f"{own}-a", f"{own}-b"], [f"{own}a", f"{own}b"]
        self.folder, self.started = folder, []
        for name in self.names:
            ip("netns", "add", name)
        ip("link", "add", self.cables[0], "type", "veth", "peer", "name", self.cables[1])
        for name, cable, address in zip(self.names, self.cables, (FIRST, SECOND), strict=True):
            ip("link", "set", cable, "netns", name)
            ip("-n", name, "addr", "add", f"{address}/24", "dev", cable)
            ip("-n", name, "link", "set", cable, "up")
            ip("-n", name, "link", "set", "lo", "up")

    def slow(self) -> None:
        """1 ms each way, and 100 Mbit; the test is skipped where the system cannot do that."""
        for name, cable in zip(self.names, self.cables, strict=True):
            done = subprocess.run(["ip", "netns", "exec", name, "tc", "qdisc", "add", "dev", cable, "root", "netem",
                                   "delay", "1ms", "rate", "100mbit"], capture_output=True, text=True)  # fmt: skip
            if done.returncode:
                pytest.skip(f"tc cannot slow a cable down here: {done.stderr.strip()}")

    def start(self, *arguments: str) -> list[subprocess.Popen[str]]:
        """The launcher on both, two workers each."""
        script = self.folder / "script.py"
        script.write_text(SCRIPT)
        for name, address in zip(self.names, (FIRST, SECOND), strict=True):
            # A host name of its own, or they would take each other for one machine, and use its memory.
            command = ["ip", "netns", "exec", name, "unshare", "--uts", "sh", "-c", f'hostname {name}; exec "$@"', "sh",
                       sys.executable, "-m", "taeda.distributed.run", "--nnodes", "2",
                       "--nproc-per-node", "2", "--rdzv-backend", "c10d", "--rdzv-endpoint", f"{FIRST}:29400",
                       "--rdzv-id", "job", "--local-addr", address, str(script), *arguments]  # fmt: skip
            self.started.append(
                subprocess.Popen(
                    command,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                    start_new_session=True,
                    env=os.environ | {"TMPDIR": str(self.folder)},
                )  # fmt: skip
            )
        return self.started

    def stop(self) -> None:
        for name in self.names:  # the workers, too, which have sessions of their own
            inside = subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True).stdout
            for process in inside.split():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(process), signal.SIGKILL)

    def close(self) -> None:
        self.stop()
        for process in self.started:
            process.communicate()
        for name in self.names:
            ip("netns", "del", name)


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[Machines]:
    made = Machines(tmp_path)
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
def test_a_job_on_two_machines(machines: Machines, slow: bool) -> None:
    if slow:
        machines.slow()
    check(finished(machines.start()))
