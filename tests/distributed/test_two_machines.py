"""Two machines as network namespaces with a cable between them, which may be slow."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
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
# Nothing that is one's own is the other's, or MPI finds a quicker way than the cable.
APART = ["unshare", "--uts", "--ipc", "--pid", "--fork", "--mount-proc"]


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
        """1 ms each way, and 100 Mbit, or the latter alone; the test is skipped where the system cannot do that."""
        for name, cable in zip(self.names, self.cables, strict=True):
            for how in ("netem delay 1ms rate 100mbit", "tbf rate 100mbit burst 64kbit latency 50ms"):
                command = ["ip", "netns", "exec", name, "tc", "qdisc", "add", "dev", cable, "root", *how.split()]
                done = subprocess.run(command, capture_output=True, text=True)
                if done.returncode == 0:
                    break
            else:
                pytest.skip(f"tc cannot slow a cable down here: {done.stderr.strip()}")

    def cut(self) -> None:
        ip("-n", self.names[0], "link", "set", self.cables[0], "down")

    def bytes_sent(self) -> int:
        """Over the cable, by the first."""
        shown = subprocess.run(["ip", "-j", "-s", "-n", self.names[0], "link", "show", self.cables[0]],
                               capture_output=True, check=True).stdout  # fmt: skip
        return int(json.loads(shown)[0]["stats64"]["tx"]["bytes"])

    def start(self, text: str, *options: str) -> list[subprocess.Popen[str]]:
        """The launcher on both, two workers each."""
        script = self.folder / "script.py"
        script.write_text(text)
        for name, address in zip(self.names, (FIRST, SECOND), strict=True):
            command = ["ip", "netns", "exec", name, *APART, "sh", "-c", f'hostname {name}; exec "$@"', "sh",
                       sys.executable, "-m", "taeda.distributed.run", "--nnodes", "2",
                       "--nproc-per-node", "2", "--rdzv-backend", "c10d", "--rdzv-endpoint", f"{FIRST}:29400",
                       "--rdzv-id", "job", "--local-addr", address, *options, str(script)]  # fmt: skip
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
    check(finished(machines.start(SCRIPT)))
    assert machines.bytes_sent() > 4 << 16  # what is reduced


def test_a_cut_cable_ends_the_job(machines: Machines) -> None:
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
    for name in machines.names:
        assert subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True).stdout == ""
