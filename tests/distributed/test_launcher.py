"""The launcher as a program: what workers are told, and that nothing is left of them by whatever end."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import taeda.distributed as dist

TOLD = ("RANK", "LOCAL_RANK", "GROUP_RANK", "ROLE_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_WORLD_SIZE",
        "TORCHELASTIC_RESTART_COUNT")  # fmt: skip
TELL = f"""
import json, os, pathlib, sys
told = {{name: int(os.environ[name]) for name in {TOLD}}}
told |= {{"arguments": sys.argv[1:], "port": os.environ["MASTER_PORT"], "role": os.environ["ROLE_NAME"]}}
here = pathlib.Path(__file__).parent
written = here / f"writing-{{told['RANK']}}-{{os.getpid()}}"
written.write_text(json.dumps(told))
written.rename(here / f"told-{{told['TORCHELASTIC_RESTART_COUNT']}}-{{told['RANK']}}")
"""
SLEEP = "\nimport time\ntime.sleep(600)\n"


def processes_of(folder: Path) -> list[int]:
    """Those that run something in it."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and str(folder).encode() in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def is_open(port: int) -> bool:
    with socket.socket() as sock:
        return sock.connect_ex(("127.0.0.1", port)) == 0


def wait_until(condition, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


class Job:
    """Launchers of a script in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.started: list[subprocess.Popen[str]] = []

    def start(self, text: str, *options: str, arguments: tuple[str, ...] = (), how=("-m", "taeda.distributed.run")):
        script = self.folder / "script.py"
        script.write_text(text)
        command = [sys.executable, *how, *options, str(script), *arguments]
        # Without buffers the parts of what one worker prints would come between those of another's.
        hidden = "OMP_NUM_THREADS", "PYTHONUNBUFFERED"
        environment = {name: value for name, value in os.environ.items() if name not in hidden}
        environment["TMPDIR"] = str(self.folder)
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
        self.started.append(process)
        return process

    def run(self, text: str, *options: str, status: int = 0, **kwargs) -> tuple[str, str]:
        process = self.start(text, *options, **kwargs)
        out, err = process.communicate(timeout=60)
        assert process.returncode == status, err
        return out, err

    def told(self, attempt: int = 0) -> dict[int, dict]:
        read = [json.loads(path.read_text()) for path in self.folder.glob(f"told-{attempt}-*")]
        return {one["RANK"]: one for one in read}


@pytest.fixture
def job(tmp_path: Path) -> Iterator[Job]:
    """At the end no process, port, or file of the launcher's is left."""
    job = Job(tmp_path)
    yield job
    for process in job.started:
        process.kill()
        process.communicate()
    wait_until(lambda: not processes_of(tmp_path))
    ports = {int(json.loads(path.read_text())["port"]) for path in tmp_path.glob("told-*")}
    assert not any(map(is_open, ports))
    assert not list(tmp_path.glob("taeda*"))  # temporary files


def test_each_worker_is_told_its_rank(job: Job) -> None:
    job.run(TELL, "--standalone", "--nproc-per-node", "3", "--role", "cook", arguments=("--lr", "1"))
    told = job.told()
    assert sorted(told) == [0, 1, 2]
    for rank, one in told.items():
        assert one["LOCAL_RANK"] == one["ROLE_RANK"] == rank and one["WORLD_SIZE"] == one["LOCAL_WORLD_SIZE"] == 3
        assert one["GROUP_RANK"] == 0 and one["GROUP_WORLD_SIZE"] == 1 and one["role"] == "cook"
        assert one["arguments"] == ["--lr", "1"]
    assert len({one["port"] for one in told.values()}) == 1


def test_the_old_launcher_passes_the_local_rank(job: Job) -> None:
    port = free_port()
    job.run(TELL, "--nproc_per_node=2", f"--master_port={port}", how=("-m", "taeda.distributed.launch"))
    assert {rank: one["arguments"] for rank, one in job.told().items()} == {
        0: ["--local-rank=0"],
        1: ["--local-rank=1"],
    }
    assert job.told()[0]["port"] == str(port)


def test_a_failure_ends_the_job_and_is_told(job: Job) -> None:
    text = TELL + "if told['RANK'] == 1:\n    raise ValueError('too much salt')" + SLEEP
    _, err = job.run(text, "--standalone", "--nproc-per-node", "3", status=1)
    summary = err[err.index("script.py FAILED") :]
    assert "rank      : 1 (local_rank: 1)" in summary and "exitcode  : 1" in summary


def test_the_traceback_is_told_where_distributed_is_imported(job: Job) -> None:
    text = "import os, taeda.distributed\nif os.environ['RANK'] == '0':\n    raise ValueError('too much salt')" + SLEEP
    _, err = job.run(text, "--standalone", "--nproc-per-node", "2", status=1)
    summary = err[err.index("Root Cause") :]
    assert "line 3, in <module>" in summary and "ValueError: too much salt" in summary


def test_a_killed_worker_is_told_by_its_signal(job: Job) -> None:
    text = TELL + "if told['RANK'] == 0:\n    os.kill(os.getpid(), 9)" + SLEEP
    _, err = job.run(text, "--standalone", "--nproc-per-node", "2", status=1)
    assert "exitcode  : -9" in err and "SIGKILL" in err


def test_all_start_again_up_to_the_limit(job: Job) -> None:
    text = (
        TELL
        + """
count = told['TORCHELASTIC_RESTART_COUNT']
if count < 2 and told['RANK'] == 1:
    while not (here / f"told-{count}-0").exists():  # which the launcher would end before it has said anything
        pass
    sys.exit(3)
"""
    )
    job.run(text, "--standalone", "--nproc-per-node", "2", "--max-restarts", "2")
    assert [sorted(job.told(attempt)) for attempt in (0, 1, 2)] == [[0, 1]] * 3
    text = TELL + "sys.exit(3)"
    _, err = job.run(text, "--standalone", "--max-restarts", "1", status=1)
    assert "exitcode  : 3" in err


@pytest.mark.parametrize("number, status", [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)])
def test_a_signal_to_the_launcher_ends_the_workers(job: Job, number: int, status: int) -> None:
    child = "import subprocess\nsubprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)', str(here)])\n"
    process = job.start(TELL + (child if number != signal.SIGKILL else "") + SLEEP, "--standalone",
                        "--nproc-per-node", "2")  # fmt: skip
    wait_until(lambda: len(job.told()) == 2)
    process.send_signal(number)
    process.communicate(timeout=30)
    assert process.returncode == status
    wait_until(lambda: not processes_of(job.folder), 10)
    for path in job.folder.glob("taeda*"):  # what nobody was left to remove
        assert number == signal.SIGKILL
        subprocess.run(["rm", "-r", str(path)], check=True)


def test_a_worker_that_will_not_end_is_killed(job: Job) -> None:
    text = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)" + TELL
    text += "import time\nwhile len(list(here.glob('told*'))) < 2:\n    time.sleep(0.01)\n"
    text += "if told['RANK'] == 1:\n    sys.exit(1)"
    job.run(text + SLEEP, "--standalone", "--nproc-per-node", "2", "--shutdown-timeout", "1", status=1)


def test_logs_go_where_they_are_wanted(job: Job) -> None:
    at_once = "".join(f"sys.std{kind}.write(f\"{kind} {{told['RANK']}}\\n\")\n" for kind in ("out", "err"))
    logs = job.folder / "logs"
    out, err = job.run(
        TELL + at_once, "--standalone", "--nproc-per-node", "3", "--log-dir", str(logs), "-r", "0:3", "-t", "1:1"
    )
    assert "out 2" in out.splitlines() and "out 0" not in out and "[default1]:out 1" in out.splitlines()
    assert "err 0" not in err and {"err 1", "err 2"} <= set(err.splitlines())
    [run] = logs.iterdir()
    assert (run / "attempt_0" / "0" / "stdout.log").read_text() == "out 0\n"
    assert (run / "attempt_0" / "0" / "stderr.log").read_text() == "err 0\n"
    assert (run / "attempt_0" / "1" / "stdout.log").read_text() == "out 1\n"
    out, err = job.run(TELL + at_once, "--standalone", "--nproc-per-node", "3", "--local-ranks-filter", "2")
    assert out.splitlines() == ["out 2"] and err.splitlines() == ["err 2"]


def test_a_module_a_program_and_a_path(job: Job) -> None:
    (job.folder / "package.py").write_text("import os\nprint('module', __name__, os.environ['RANK'])")
    how = ("-c", f"import os; os.chdir({str(job.folder)!r}); from taeda.distributed.run import main; main()")
    out, _ = job.run("", "--standalone", "-m", "package", how=how)
    assert out == "module __main__ 0\n"
    out, _ = job.run("", "--standalone", "--no-python", "/bin/sh", "-c", "echo program $RANK")
    assert out == "program 0\n"
    out, _ = job.run("print('path', __name__)", "--standalone", "--run-path")
    assert out == "path __main__\n"


def test_workers_share_the_cores(job: Job) -> None:
    text = "import os\nprint(os.environ.get('OMP_NUM_THREADS'))"
    assert job.run(text, "--standalone", "--nproc-per-node", "2")[0] == "1\n1\n"
    assert job.run(text, "--standalone")[0] == "None\n"


def test_workers_find_the_stand_in(job: Job) -> None:
    text = (
        "import importlib.metadata\nversion = importlib.metadata.version('torch')\nimport torch.nn, sys\n"
        "assert torch is sys.modules['taeda'] and torch.__version__.startswith(version)\n"
        "import subprocess\n"
        "print(subprocess.run([sys.executable, '-c', 'import torch; print(torch.nn.__file__)'], capture_output=True, "
        "text=True).stdout == torch.nn.__file__ + chr(10))"
    )
    for how in (("-m", "taeda", "run", "torchrun"), ("-m", "taeda", "run", "-m", "torch.distributed.run"),
                ("-c", "from taeda._stand_in.run import launch; launch()")):  # fmt: skip
        assert job.run(text, "--standalone", how=how)[0] == "True\n"


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def start_nodes(
    job: Job, text: str, count: int, nodes: str, *options: str, port: int = 0
) -> list[subprocess.Popen[str]]:
    endpoint = f"127.0.0.1:{port or free_port()}"
    meeting = ("--rdzv-backend", "c10d", "--rdzv-endpoint", endpoint, "--local-addr", "127.0.0.1")
    return [job.start(text, "--nnodes", nodes, *meeting, *options) for _ in range(count)]


def test_two_nodes_meet(job: Job) -> None:
    for process in start_nodes(job, TELL, 2, "2", "--nproc-per-node", "2"):
        assert (process.communicate(timeout=60), process.returncode)[1] == 0
    told = job.told()
    assert [told[rank]["GROUP_RANK"] for rank in range(4)] == [0, 0, 1, 1]
    assert [told[rank]["LOCAL_RANK"] for rank in range(4)] == [0, 1, 0, 1]
    assert all(one["WORLD_SIZE"] == 4 and one["GROUP_WORLD_SIZE"] == 2 for one in told.values())


def test_two_nodes_of_given_ranks_meet(job: Job) -> None:
    port = free_port()
    started = [
        job.start(TELL, "--nnodes", "2", "--node-rank", str(rank), "--master-port", str(port)) for rank in (1, 0)
    ]
    for process in started:
        assert (process.communicate(timeout=60), process.returncode)[1] == 0
    assert {rank: one["GROUP_RANK"] for rank, one in job.told().items()} == {0: 0, 1: 1}


def test_a_failure_on_one_node_ends_the_other(job: Job) -> None:
    text = TELL + "if told['RANK'] == 1:\n    sys.exit(5)" + SLEEP
    errors = [process.communicate(timeout=60)[1] for process in start_nodes(job, text, 2, "2")]
    assert [process.returncode for process in job.started] == [1, 1]
    assert sum("exitcode  : 5" in text for text in errors) == 1
    assert sum("another node of the job has failed" in text for text in errors) == 1


def test_two_nodes_start_again_together(job: Job) -> None:
    text = TELL + "if told['RANK'] == 1 and not told['TORCHELASTIC_RESTART_COUNT']:\n    sys.exit(5)"
    text += "\nif not told['TORCHELASTIC_RESTART_COUNT']:" + SLEEP.replace("\n", "\n    ")
    for process in start_nodes(job, text, 2, "2", "--max-restarts", "1"):
        assert (process.communicate(timeout=60)[1], process.returncode)[1] == 0
    assert sorted(job.told(1)) == [0, 1]
    assert job.told(0)[0]["port"] != job.told(1)[0]["port"]


def test_a_node_that_comes_later_joins(job: Job) -> None:
    wait = "\nimport time\nwhile told['WORLD_SIZE'] < 2:\n    time.sleep(0.1)\n"
    port = free_port()
    options = ("--nnodes", "1:2", "--rdzv-backend", "c10d", "--rdzv-endpoint", f"127.0.0.1:{port}", "--local-addr",
               "127.0.0.1", "--rdzv-conf", "last_call_timeout=1")  # fmt: skip
    first = job.start(TELL + wait, *options)
    wait_until(lambda: 0 in job.told() and job.told()[0]["WORLD_SIZE"] == 1)
    second = job.start(TELL + wait, *options)
    assert [(process.communicate(timeout=60), process.returncode)[1] for process in (first, second)] == [0, 0]
    assert {rank: one["WORLD_SIZE"] for rank, one in job.told().items()} == {0: 2, 1: 2}


def test_a_node_that_leaves_is_done_without(job: Job) -> None:
    text = (
        TELL
        + """
(here / f"launcher-{told['RANK']}").write_text(str(os.getppid()))
import time
import taeda
import taeda.distributed as dist
dist.init_process_group()
if not told['TORCHELASTIC_RESTART_COUNT']:
    x = taeda.ones(1)
    while True:
        dist.all_reduce(x)
        time.sleep(0.05)
"""
    )
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)  # outlives any node
    conf = ("--rdzv-conf", "last_call_timeout=1,keep_alive_interval=1,is_host=0", "--max-restarts", "5")
    started = start_nodes(job, text, 2, "1:2", *conf, port=store.port)
    noted = job.folder / "launcher-1"
    wait_until(lambda: noted.exists() and noted.read_text() != "")
    gone = next(one for one in started if str(one.pid) == noted.read_text())
    gone.send_signal(signal.SIGINT)
    stays = next(one for one in started if one is not gone)
    error = stays.communicate(timeout=60)[1]
    assert stays.returncode == 0, error
    assert any(one["WORLD_SIZE"] == 1 for attempt in range(1, 6) for one in job.told(attempt).values()), error


def test_a_node_that_never_comes(job: Job) -> None:
    [process] = start_nodes(job, TELL, 1, "2", "--rdzv-conf", "join_timeout=1")
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1 and "of 2 nodes 1 came" in err


def test_a_port_in_use_is_told(job: Job) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = str(taken.getsockname()[1])
        _, err = job.run(TELL, "--master-port", port, status=1)
    assert port in err and "Traceback" not in err


@pytest.mark.parametrize("options, text", [
    (("--nnodes", "2:1"), "--nnodes 2:1"),
    (("--nnodes", "x"), "'x'"),
    (("--nproc-per-node", "lots"), "'lots'"),
    (("--redirects", "7"), "'7'"),
    (("--rdzv-backend", "etcd-v9"), "'etcd-v9'"),
    (("--rdzv-conf", "a"), "'a'"),
])  # fmt: skip
def test_arguments_that_make_no_sense(job: Job, options: tuple[str, ...], text: str) -> None:
    _, err = job.run(TELL, *options, status=1)
    assert text in err and "Traceback" not in err
