"""Whichever way a job ends, no process, shared memory, port or temporary file of it stays."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest
from ranks import free_port, needs_mpi

pytestmark = needs_mpi

RANK = """
import os, pathlib, signal, sys, time
import taeda as torch
import taeda.distributed as dist

def body(rank, end, folder):
    dist.init_process_group("gloo")
    x = torch.ones(100_000)
    dist.all_reduce(x)
    torch.multiprocessing.set_sharing_strategy("file_system")
    shared = torch.ones(1000).share_memory_()
    loader = iter(torch.utils.data.DataLoader(torch.arange(100), num_workers=1))
    next(loader)  # its process lives
    with open("/proc/self/maps") as maps:
        files = {line.split(None, 5)[5].strip() for line in maps if "/dev/shm/" in line}
    (pathlib.Path(folder) / f"shared-{rank}").write_text("\\n".join(files))
    dist.barrier()
    os.write(1, b"ready\\n")
    if end == "ends":
        dist.destroy_process_group()
    elif end == "just ends":
        return
    elif end == "raises":
        if rank == 1:
            raise ValueError("too much salt")
        dist.barrier()
    elif end == "exits":
        if rank == 1:
            os._exit(3)
        dist.barrier()
    elif end == "is killed":
        if rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        dist.barrier()
    else:
        while True:  # a signal that comes just before a sleep begins is heard after it
            time.sleep(0.1)
"""
LAUNCHED = (
    RANK
    + """
body(int(os.environ["RANK"]), *sys.argv[1:])
"""
)
SPAWNED = (
    RANK
    + """
def begin(rank, *arguments):
    os.environ["RANK"] = str(rank)
    body(rank, *arguments)

if __name__ == "__main__":
    os.environ["WORLD_SIZE"] = "2"
    torch.multiprocessing.spawn(begin, tuple(sys.argv[1:]), nprocs=2)
"""
)
ENDS = {"ends": 0, "just ends": 0, "raises": 1, "exits": 1, "is killed": 1}
SIGNALS = {"SIGINT": signal.SIGINT, "SIGTERM": signal.SIGTERM, "SIGKILL": signal.SIGKILL}


class Job:
    """A job whose processes are known by a variable in their environment."""

    def __init__(self, folder: Path, text: str, launcher: list[str], end: str) -> None:
        self.mark, self.port, self.folder = f"MARK={uuid.uuid4()}".encode(), free_port(), folder
        script = folder / "script.py"
        script.write_text(text)
        temporary = folder / "temporary"
        temporary.mkdir()
        name, value = self.mark.decode().split("=")
        env = os.environ | {name: value, "TMPDIR": str(temporary), "MASTER_ADDR": "127.0.0.1",
                            "MASTER_PORT": str(self.port)}  # fmt: skip
        command = [sys.executable, *(word.format(port=self.port) for word in launcher), str(script), end, str(folder)]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            command, env=env, stdout=pipe, stderr=pipe, text=True, start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # tests in the background ignore it
        )  # fmt: skip

    def ready(self) -> None:
        assert self.process.stdout is not None
        lines = [self.process.stdout.readline() for _ in range(2)]
        assert lines == ["ready\n"] * 2, self.process.communicate()[1]

    def processes(self) -> list[str]:
        found = []
        for entry in Path("/proc").glob("[0-9]*/environ"):
            try:
                if self.mark in entry.read_bytes():
                    found.append((entry.parent / "cmdline").read_text().replace("\0", " "))
            except OSError:
                continue
        return found

    def check_nothing_is_left(self) -> None:
        deadline = time.monotonic() + 10
        while (left := self.processes()) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert left == []
        shared = [Path(line) for rank in range(2) for line in (self.folder / f"shared-{rank}").read_text().splitlines()]
        assert [path for path in shared if path.exists()] == [] and shared
        with socket.create_server(("127.0.0.1", self.port)):  # nobody listens
            pass
        assert [path.name for path in (self.folder / "temporary").rglob("*") if not path.is_dir()] == []


LAUNCHER = ["-m", "taeda.distributed.run", "--nproc-per-node", "2", "--master-port", "{port}"]
STARTS = {"launcher": (LAUNCHED, LAUNCHER), "spawn": (SPAWNED, [])}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("start", STARTS)
def test_nothing_is_left(start: str, end: str, tmp_path: Path) -> None:
    job = Job(tmp_path, *STARTS[start], end)
    _, errors = job.process.communicate(timeout=60)
    assert job.process.returncode == ENDS[end], errors
    job.check_nothing_is_left()


@pytest.mark.parametrize("name", SIGNALS)
@pytest.mark.parametrize("start", STARTS)
def test_nothing_is_left_after_a_signal(start: str, name: str, tmp_path: Path) -> None:
    job = Job(tmp_path, *STARTS[start], "waits")
    job.ready()
    job.process.send_signal(SIGNALS[name])
    _, errors = job.process.communicate(timeout=60)
    assert job.process.returncode != 0, errors
    job.check_nothing_is_left()
