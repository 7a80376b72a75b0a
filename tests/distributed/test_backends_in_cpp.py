"""Backends and groups that C++ extensions bring, and groups of Python's that they are given."""

from __future__ import annotations

import shutil
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from ranks import SOON, needs_mpi, run

import taeda
import taeda.distributed as dist
from taeda.distributed._mpi import find_mpi
from taeda.utils import cpp_extension

pytest.importorskip("pybind11", reason="extensions need pybind11")
if shutil.which(cpp_extension.get_cxx_compiler()) is None:
    pytest.skip("there is no C++ compiler", allow_module_level=True)
SOURCE = Path(__file__).parents[1] / "cpp" / "extensions" / "process_group.cpp"


@pytest.fixture(scope="module")
def extension(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CXXFLAGS", "-O0")
        folder = str(tmp_path_factory.mktemp("process_group"))
        return cpp_extension.load("taeda_test_process_group", [str(SOURCE)], build_directory=folder)


@pytest.fixture(autouse=True)
def nothing_left():
    yield
    if dist.is_initialized():
        dist.destroy_process_group()


def alone(backend: str) -> None:
    dist.init_process_group(backend, rank=0, world_size=1, store=dist.HashStore(), timeout=SOON)


def collectives(rank: int, backend: str, meeting: str) -> None:
    dist.init_process_group(backend, rank=rank, world_size=2, store=dist.FileStore(meeting, 2), timeout=SOON)
    assert dist.get_backend() == backend and dist.group.WORLD.name() == "by_store"
    x = taeda.tensor([1.0, 2.0]) * (rank + 1)
    dist.all_reduce(x)
    assert x.tolist() == [3.0, 6.0]
    work = dist.all_reduce(x, op=dist._make_nccl_premul_sum(0.5), async_op=True)
    assert work.wait() and work.is_completed() and work.is_success() and work.exception() is None
    assert x.tolist() == [3.0, 6.0] and work.result()[0] is x
    dist.broadcast(y := taeda.full((2, 2), float(rank)), 1)
    assert y.tolist() == [[1.0, 1.0], [1.0, 1.0]]
    parts = [taeda.zeros(1), taeda.zeros(1)]
    dist.all_gather(parts, taeda.tensor([rank + 5.0]))
    assert taeda.cat(parts).tolist() == [5.0, 6.0]
    dist.barrier()
    if rank:
        dist.send(taeda.arange(3), 0, tag=4)
    else:
        dist.recv(got := taeda.zeros(3, dtype=taeda.int64), 1, tag=4)
        assert got.tolist() == [0, 1, 2]
    model = taeda.nn.parallel.DistributedDataParallel(taeda.nn.Linear(2, 1, bias=False))
    model(taeda.full((1, 2), rank + 1.0)).sum().backward()
    assert model.module.weight.grad.tolist() == [[1.5, 1.5]]


@pytest.mark.parametrize("backend", ["by_store", "by_store_extended"])
def test_collectives_of_ranks(extension: Any, backend: str, tmp_path: Path) -> None:
    run(2, collectives, backend, str(tmp_path / "store"), setup=False)


@pytest.mark.parametrize("with_programs", [False, True])
def test_work_and_its_future(extension: Any, with_programs: bool) -> None:
    if with_programs:  # then objects of C++ have a face
        taeda.jit.script(taeda.nn.ReLU())
    alone("by_store")
    work = dist.all_reduce(x := taeda.ones(2), async_op=True)
    assert work.get_future().then(lambda future: future.value()[0] * 2).wait().tolist() == [2.0, 2.0]
    assert extension.wait_for(work) and x.tolist() == [1.0, 1.0]
    seen, group = threading.Event(), dist.group.WORLD
    got = group.recv([taeda.zeros(1)], 0, 3)
    got.get_future().add_done_callback(lambda future: seen.set())
    assert not got.is_completed() and not seen.is_set()
    group.send([taeda.ones(1)], 0, 3).wait()
    assert seen.wait(10) and got.result()[0].tolist() == [1.0]


def test_errors(extension: Any) -> None:
    alone("by_store")
    group = dist.group.WORLD
    with pytest.raises(RuntimeError, match="the backend 'by_store' has no reduce"):
        dist.reduce(taeda.ones(1), 0)
    with pytest.raises(NotImplementedError, match="by_store sums"):
        dist.all_reduce(taeda.ones(1), dist.ReduceOp.MAX)
    with pytest.raises(ValueError, match="one tensor is wanted; got 2"):
        group.allreduce([taeda.ones(1), taeda.ones(1)])
    store = group.get_group_store()
    store.set("message/0/0/1", b"123")
    failing = group.recv([taeda.ones(2)], 0, 1)
    with pytest.raises(RuntimeError, match="the sizes differ: 3 and 8"):
        failing.wait()
    assert isinstance(failing.exception(), RuntimeError) and not failing.is_success()
    with pytest.raises(RuntimeError, match="the sizes differ"):
        failing.get_future().wait()
    dist.all_to_all_single(out := taeda.zeros(2), taeda.ones(2))
    assert out.tolist() == [1.0, 1.0]


def test_a_timeout_of_the_store(extension: Any) -> None:
    dist.init_process_group(
        "by_store", rank=0, world_size=2, store=dist.HashStore(), timeout=timedelta(milliseconds=100)
    )
    with pytest.raises(dist.DistStoreError):
        dist.all_reduce(taeda.ones(1))


def test_a_whole_group(extension: Any) -> None:
    alone("counted")
    x = taeda.zeros(2)
    dist.all_reduce(x)
    dist.all_reduce(x)
    assert x.tolist() == [3.0, 3.0] and dist.get_world_size() == 1
    assert extension.mean_over(dist.group.WORLD, x).tolist() == [6.0, 6.0]


def test_stores(extension: Any) -> None:
    store = extension.hash_store()
    assert isinstance(store, dist.Store)
    store.set("a", "b")
    assert store.get("a") == b"b" and store.timeout == timedelta(minutes=5)


def mean(rank: int, extension: Any) -> Any:
    return extension.mean_over(dist.group.WORLD, taeda.full((2,), rank + 1.0)).tolist()


@needs_mpi
def test_groups_of_python_in_cpp(extension: Any) -> None:
    assert run(2, mean, extension) == [[1.5, 1.5]] * 2
    alone("gloo")
    *described, store = extension.described(dist.group.WORLD)
    assert described == [0, 1, dist.group.WORLD.group_name, "gloo"]
    store.set("from", "cpp")
    assert dist.group.WORLD.get_group_store().get("from") == b"cpp"
    assert extension.backend_name(dist.group.WORLD._get_backend("cpu")) == "gloo"
    with pytest.raises(TypeError):
        extension.backend_name("gloo")
    with pytest.raises(TypeError):
        extension.mean_over(3, taeda.ones(1))


def monitored(rank: int, extension: Any, meeting: str) -> str:
    store = dist.PrefixStore("monitored", dist.FileStore(meeting, 2))
    try:
        extension.monitored(store, rank, 2, [10_000, 300] if rank == 0 else [10_000])
    except RuntimeError as error:
        return str(error)
    return "passed"


@needs_mpi
def test_a_monitored_barrier_names_who_did_not_come(
    extension: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAEDA_MPI", str(find_mpi()))
    late, punctual = run(2, monitored, extension, str(tmp_path / "store"), setup=False)
    assert "within 300 ms rank 1 did not come" in late and punctual == "passed"
