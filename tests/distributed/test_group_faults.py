"""What goes wrong between processes: ranks that die, come late or never, differ, or are told to stop."""

from __future__ import annotations

import os
import signal
import sys
import time
from datetime import timedelta

import pytest
from ranks import SOON, Failed, free_port, needs_mpi, run

import taeda
import taeda.distributed as dist
from taeda import nn
from taeda.distributed import checkpoint
from taeda.distributed.checkpoint import FileSystemWriter
from taeda.nn.parallel import DistributedDataParallel

pytestmark = needs_mpi


def dies(rank, victim, call):
    dist.barrier()
    if rank == victim:
        os.kill(os.getpid(), signal.SIGKILL)
    with pytest.raises(dist.DistBackendError, match=f"rank {victim} has ended"):
        while True:
            call(victim)
    with pytest.raises(dist.DistBackendError, match="failed before|has ended|ended"):
        call(victim)
    return "raised"


CALLS = {
    "small": lambda victim: dist.all_reduce(taeda.ones(2)),
    "large": lambda victim: dist.all_reduce(taeda.ones(1_000_000)),
    "async": lambda victim: dist.all_reduce(taeda.ones(2), async_op=True).wait(),
    "receive": lambda victim: dist.recv(taeda.ones(2), victim),
}


@pytest.mark.parametrize("victim", [0, 2])
@pytest.mark.parametrize("call", CALLS)
def test_others_name_a_rank_that_dies(victim, call):
    start = time.monotonic()
    results = run(3, dies, victim, CALLS[call], may_die=True)
    assert isinstance(results[victim], Failed) and time.monotonic() - start < 15
    others = [result for rank, result in enumerate(results) if rank != victim]
    assert others == ["raised"] * 2, "\n".join(map(str, others))


def dies_without_a_server(rank, path):
    store = dist.FileStore(path, 2)
    dist.init_process_group(store=store, rank=rank, world_size=2, timeout=SOON)
    dist.barrier()
    if rank == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    with pytest.raises(dist.DistBackendError, match="rank 0 has ended"):
        dist.all_reduce(taeda.ones(1))
    return "raised"


def test_a_store_without_a_server_tells_too(tmp_path):
    assert run(2, dies_without_a_server, str(tmp_path / "store"), setup=False, may_die=True)[1] == "raised"


def late(rank):
    group = dist.new_group(timeout=timedelta(seconds=0.5))
    if rank == 0:
        with pytest.raises(dist.DistBackendError, match="timed out.*500 ms for rank 1"):
            dist.all_reduce(taeda.ones(2), group=group)
        with pytest.raises(dist.DistBackendError, match="failed before"):
            dist.barrier(group)
        work = dist.irecv(taeda.ones(1), 1, tag=5)
        with pytest.raises(dist.DistBackendError, match="timed out.*rank 1 to send"):
            work.wait(timedelta(seconds=0.2))
    x = taeda.ones(1)
    dist.all_reduce(x)  # another group goes on
    assert x == 2


def test_a_late_rank_is_named():
    run(2, late)


def absent(rank):
    if rank == 2:
        return
    # The first to say so may take the store with it.
    kinds = dist.DistStoreError if rank == 0 else (dist.DistStoreError, dist.DistNetworkError)
    with pytest.raises(kinds, match="rank 2 of 3 did not come within 700 ms|is lost|cannot reach"):
        dist.init_process_group(timeout=timedelta(seconds=0.7))


def told_otherwise(rank):
    """The second to come does not wait for those who are not there."""
    time.sleep(0.5 * rank)
    start = time.monotonic()
    with pytest.raises(dist.DistError) as error:
        dist.init_process_group(world_size=2 + rank, rank=rank, timeout=timedelta(seconds=4))
    return str(error.value) if rank and time.monotonic() - start < 3 else ""


def test_other_numbers_of_processes_are_told():
    assert "rank 1 was started for 3 processes, another for 2" in run(2, told_otherwise, setup=False)[1]


def test_a_rank_that_never_comes():
    run(3, absent, setup=False)


def monitored(rank):
    if rank == 0:
        with pytest.raises(RuntimeError, match="rank 1, 2 did not come"):
            dist.monitored_barrier(timeout=timedelta(seconds=0.4), wait_all_ranks=True)


def test_a_monitored_barrier_names_who_is_missing():
    run(3, monitored)


def killed_in_backward(rank):
    module = DistributedDataParallel(nn.Sequential(*(nn.Linear(8, 8) for _ in range(4))), bucket_cap_mb=0.0001)
    x = taeda.ones(2, 8)
    module(x).sum().backward()
    if rank == 1:
        module.module[2].weight.register_hook(lambda grad: os.kill(os.getpid(), signal.SIGKILL))
    with pytest.raises(dist.DistBackendError, match="rank 1 has ended|rank 1 has left"):
        for _ in range(2):  # the second one meets the end of the first, where that came between buckets
            module(x).sum().backward()
    return "told"


def test_a_rank_that_is_killed_within_backward_is_named():
    assert run(2, killed_in_backward, may_die=True)[0] == "told"


def killed_in_save(rank, folder):
    class Writer(FileSystemWriter):
        def write_data(self, *args, **kwargs):
            if rank == 1:
                os.kill(os.getpid(), signal.SIGKILL)
            return super().write_data(*args, **kwargs)

    with pytest.raises(dist.DistBackendError, match="rank 1 has ended|rank 1 has left"):
        checkpoint.save({"x": taeda.ones(2)}, storage_writer=Writer(folder))
    return os.path.exists(os.path.join(folder, ".metadata"))


def test_a_checkpoint_whose_writer_was_killed_is_none(tmp_path):
    assert run(2, killed_in_save, str(tmp_path), may_die=True)[0] is False


def longer(rank):
    x = taeda.ones(3 + rank)
    with pytest.raises(dist.DistBackendError, match="bytes where|has left") as told:
        dist.all_reduce(x)
    return str(told.value)


def test_a_longer_message_is_named():
    told = run(2, longer, setup=True)
    assert any("sent" in one for one in told), told
    assert all("rank" in one and "MPI" not in one for one in told), told


def different(rank):
    with pytest.raises((dist.DistBackendError, RuntimeError), match="bytes where"):
        if rank == 0:
            dist.recv(taeda.ones(3), 1)
        else:
            dist.send(taeda.ones(2), 0)
            raise RuntimeError("bytes where")
    dist.set_debug_level(dist.DebugLevel.DETAIL)
    group = dist.new_group(timeout=timedelta(seconds=2))
    x = taeda.ones(1)
    dist.all_reduce(x, group=group)
    assert x == 2
    with pytest.raises(
        RuntimeError, match=r"differ in collective 2.*float32\[2\].*float32\[3\]|float32\[3\].*float32\[2\]"
    ):
        dist.all_reduce(taeda.ones(2 + rank), group=group)
    with pytest.raises(RuntimeError, match="collective 3.*barrier.*broadcast|broadcast.*barrier"):
        dist.barrier(group) if rank else dist.broadcast(x, 0, group=group)


def test_different_calls_are_found():
    run(2, different)


def stops(rank):
    if rank == 0:
        work = dist.all_reduce(taeda.ones(2), async_op=True)
        time.sleep(0.1)
        dist.group.WORLD.abort()
        with pytest.raises(dist.DistBackendError, match="aborted"):
            work.wait()
        with pytest.raises(dist.DistBackendError, match="aborted"):
            dist.barrier()


def test_abort_ends_waits():
    run(2, stops)


def rests(rank, wait):
    dist.barrier()
    if rank == 0:
        time.sleep(2)
        wait(rank)
        return 0.0
    before = time.process_time()  # of all threads
    wait(rank)
    return time.process_time() - before


WAITS = {
    "barrier": lambda rank: dist.barrier(),
    "reduction under way": lambda rank: dist.all_reduce(taeda.ones(100_000), async_op=True).wait(),
    "receive": lambda rank: dist.recv(taeda.ones(1), 0) if rank else dist.send(taeda.ones(1), 1),
    "receive under way": lambda rank: (dist.irecv(taeda.ones(1), 0) if rank else dist.isend(taeda.ones(1), 1)).wait(),
    "store": lambda rank: dist.monitored_barrier(),
}


@pytest.mark.parametrize("wait", WAITS)
def test_a_long_wait_costs_little(wait):
    assert run(2, rests, WAITS[wait])[1] < 0.05 * 2


def forks(rank):
    child = os.fork()
    if child == 0:
        try:
            dist.all_reduce(taeda.ones(1))
        except RuntimeError as error:
            os._exit(7 if "forked" in str(error) else 8)
        os._exit(9)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    x = taeda.ones(1)
    dist.all_reduce(x)
    assert x == 2


def test_a_child_is_no_rank():
    run(2, forks)


ENDING = """
import sys, taeda as torch
import taeda.distributed as dist
dist.init_process_group("gloo", init_method=sys.argv[1], rank=int(sys.argv[2]), world_size=2)
x = torch.ones(1)
dist.all_reduce(x)
work = dist.irecv(torch.ones(3), 1 - int(sys.argv[2])) if sys.argv[3] == "pending" else None
assert x == 2
if sys.argv[3] == "destroyed":
    dist.destroy_process_group()
"""


@pytest.mark.parametrize("end", ["destroyed", "left", "pending"])
def test_the_end_of_a_program_does_not_hang(end):
    import subprocess

    address = f"tcp://127.0.0.1:{free_port()}"
    command = [sys.executable, "-c", ENDING, address]
    ranks = [subprocess.Popen([*command, str(rank), end], stderr=subprocess.PIPE, text=True) for rank in range(2)]
    for process in ranks:
        _, errors = process.communicate(timeout=30)
        assert process.returncode == 0 and errors == ""


def test_a_wrong_library_is_named(monkeypatch):
    monkeypatch.setenv("TAEDA_MPI", "/nowhere/libmpi.so")
    with pytest.raises(dist.DistBackendError, match="cannot be opened"):
        dist.init_process_group(store=dist.HashStore(), rank=0, world_size=2, timeout=SOON)


def test_the_missing_wheel_is_named(monkeypatch):
    monkeypatch.setattr("taeda.distributed._mpi.find_mpi", lambda: None)
    with pytest.raises(dist.DistBackendError, match=r"2 processes needs MPI.*pip install taeda\[distributed\]"):
        dist.init_process_group(store=dist.HashStore(), rank=0, world_size=2)
    dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
    dist.destroy_process_group()
