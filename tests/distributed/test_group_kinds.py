"""Groups of other kinds: of a program's own, of threads, of nobody; and gradients through collectives."""

from __future__ import annotations

import pytest
from ranks import needs_mpi, run

import taeda
import taeda.distributed as dist
import taeda.distributed._functional_collectives as functions
import taeda.distributed.nn.functional as through
from taeda.distributed._threads import run_ranks


@pytest.fixture(autouse=True)
def nothing_left():
    yield
    if dist.is_initialized():
        dist.destroy_process_group()


def in_threads():
    rank, ranks = dist.get_rank(), dist.get_world_size()
    x = taeda.ones(3) * (rank + 1)
    dist.all_reduce(x)
    assert x[0] == sum(range(1, ranks + 1))
    large = taeda.ones(200_001) * rank
    dist.all_reduce(large, dist.ReduceOp.MAX)
    assert large.min() == ranks - 1
    pair = dist.new_group([0, 1])
    if rank < 2:
        all = [None, None]
        dist.all_gather_object(all, rank, pair)
        assert all == [0, 1]
    dist.monitored_barrier()
    return rank


@pytest.mark.parametrize("ranks", [1, 2, 5, 11])
def test_threads_are_ranks(ranks):
    if ranks == 1:
        assert run_ranks(1, dist.get_rank) == [0]
    else:
        assert run_ranks(ranks, in_threads) == [*range(ranks)]
    assert not dist.is_initialized()


@pytest.mark.parametrize("ranks", [9, 12])
@pytest.mark.parametrize("size", [3, 70_000])
def test_more_ranks_than_send_at_once(ranks, size):
    """Doubling with and without ranks beyond a power of two, trees, chains, windows."""

    def body():
        rank = dist.get_rank()
        x = taeda.arange(size) + rank
        dist.all_reduce(x)
        assert taeda.equal(x, taeda.arange(size) * ranks + sum(range(ranks)))
        x = taeda.full((size,), rank)
        dist.reduce(x, 4, dist.ReduceOp.MAX)
        assert x[0] == (ranks - 1 if rank == 4 else rank)
        dist.broadcast(x.fill_(rank), 5)
        assert x.unique().tolist() == [5]
        out = [taeda.empty(size, dtype=taeda.int64) for _ in range(ranks)]
        dist.all_to_all(out, [taeda.full((size,), rank * ranks + i) for i in range(ranks)])
        assert [int(one[-1]) for one in out] == [other * ranks + rank for other in range(ranks)]

    run_ranks(ranks, body)


def test_a_thread_that_fails_ends_the_others():
    def body():
        if dist.get_rank() == 1:
            raise KeyError("mine")
        dist.barrier()

    with pytest.raises((KeyError, dist.DistBackendError)):
        run_ranks(3, body)


def gradients():
    rank, ranks = dist.get_rank(), dist.get_world_size()
    x = taeda.full((2,), float(rank + 1), requires_grad=True)
    (through.all_reduce(x * x) * (rank + 1)).sum().backward()
    weights = sum(range(1, ranks + 1))
    assert x.grad.tolist() == [weights * 2 * (rank + 1)] * 2
    x.grad = None
    parts = through.all_gather(x)
    sum((i + 1) * part.sum() for i, part in enumerate(parts)).backward()
    assert x.grad.tolist() == [(rank + 1) * ranks] * 2
    x.grad = None
    total = through.reduce_scatter(taeda.empty(2), [x * (i + 1) for i in range(ranks)])
    total.sum().backward()
    assert x.grad.tolist() == [weights] * 2
    x.grad = None
    through.broadcast(x, 1).sum().backward()
    assert x.grad.tolist() == [ranks if rank == 1 else 0] * 2
    x.grad = None
    outs = through.all_to_all([taeda.empty(2) for _ in range(ranks)], [x * (i + 1) for i in range(ranks)])
    assert outs[0][0] == rank + 1
    sum((i + 1) * out.sum() for i, out in enumerate(outs)).backward()
    assert x.grad.tolist() == [weights * (rank + 1)] * 2


@pytest.mark.parametrize("ranks", [2, 3])
def test_gradients_pass_through(ranks):
    run_ranks(ranks, gradients)


def functional():
    rank, ranks = dist.get_rank(), dist.get_world_size()
    group = dist.group.WORLD
    x = taeda.arange(6.0).view(2, 3) + rank
    assert taeda.equal(functions.all_reduce(x, "sum", group), taeda.arange(6.0).view(2, 3) * ranks + sum(range(ranks)))
    assert taeda.equal(functions.broadcast(x, 1, group), taeda.arange(6.0).view(2, 3) + 1) and x[0, 0] == rank
    every = [taeda.arange(6.0).view(2, 3) + other for other in range(ranks)]
    for dim in (0, 1):
        assert taeda.equal(functions.all_gather_tensor(x, dim, group), taeda.cat(every, dim))
    tall = taeda.arange(2.0 * ranks).view(ranks, 2) + rank
    total = taeda.arange(2.0 * ranks).view(ranks, 2) * ranks + sum(range(ranks))
    assert taeda.equal(functions.reduce_scatter_tensor(tall, "sum", 0, group), total[rank : rank + 1])
    moved = functions.permute_tensor(taeda.tensor([float(rank)]), [(i + 1) % ranks for i in range(ranks)], group)
    assert moved.tolist() == [(rank - 1) % ranks]
    leaf = taeda.ones(2, 3, requires_grad=True)
    (functions.all_gather_tensor_autograd(leaf, 0, group) * (rank + 1)).sum().backward()
    assert leaf.grad.unique().tolist() == [sum(range(1, ranks + 1))]
    leaf = taeda.ones(ranks, 2, requires_grad=True)
    (functions.reduce_scatter_tensor_autograd(leaf, "avg", 0, group) * (rank + 1)).sum().backward()
    assert taeda.allclose(leaf.grad[:, 0], taeda.arange(1.0, ranks + 1) / ranks)
    with pytest.raises(ValueError, match="reduceOp"):
        functions.all_reduce(x, "median", group)


@pytest.mark.parametrize("ranks", [2, 3])
def test_functional_collectives(ranks):
    run_ranks(ranks, functional)


def test_explain_tells_the_hops_to_the_wire(capsys):
    taeda.explain("distributed.all_reduce")
    told = capsys.readouterr().out
    for hop in (
        "ProcessGroup.allreduce",
        "EngineBackend.allreduce",
        "algorithms.cpp",
        "mpi_transport.cpp",
        "MPI_Isend",
    ):
        assert hop in told


def test_a_fake_group_has_any_size():
    dist.init_process_group("fake", store=dist.HashStore(), rank=3, world_size=1000)
    x, out = taeda.arange(2.0), taeda.empty(2000)
    dist.all_reduce(x)
    dist.all_gather_into_tensor(out, x)
    dist.barrier()
    assert dist.get_world_size() == 1000 and out[-2:].tolist() == [0, 1] and dist.get_backend() == "fake"
    assert dist.all_reduce(x, async_op=True).wait()
    some = dist.new_group([3, 7])
    assert dist.get_rank(some) == 0 and some.size() == 2


class Doubling(dist.ProcessGroup):
    def getBackendName(self):
        return "doubling"

    def allreduce(self, tensors, opts=None):
        for tensor in tensors:
            tensor.mul_(2)
        return Done(tensors)


class Done(dist.Work):
    def wait(self, timeout=None):
        return True


class Halving(dist.distributed_c10d._Backend):
    def allreduce(self, tensors, opts):
        tensors[0].div_(2)
        return Done(tensors)


dist.Backend.register_backend("doubling", lambda store, rank, size, timeout: Doubling(rank, size), devices="cpu")
dist.Backend.register_backend(
    "halving", lambda given, options: Halving(given.group_rank, given.group_size), extended_api=True, devices=["cpu"]
)


@pytest.mark.parametrize(("name", "factor"), [("doubling", 2), ("halving", 0.5)])
def test_backends_of_ones_own(name, factor):
    dist.init_process_group(name, store=dist.HashStore(), rank=0, world_size=2)
    x = taeda.ones(1)
    assert dist.all_reduce(x) is None and x == factor and dist.is_backend_available(name)
    assert dist.all_reduce(x, async_op=True).wait() and x == factor**2 and dist.get_backend() == name
    with pytest.raises(RuntimeError, match="no broadcast|has no"):
        dist.broadcast(x, 0)
    with pytest.raises(AssertionError):
        dist.Backend.register_backend(name, None)


def test_what_backends_are_called():
    assert dist.Backend._plugins["HALVING"].extended_api and not dist.Backend._plugins["DOUBLING"].extended_api
    for given, wanted in {"DOUBLING": "cpu:doubling", "GLOO": "cpu:gloo,cuda:gloo", "CPU:gloo,cuda:MPI":
                          "cpu:gloo,cuda:mpi"}.items():  # fmt: skip
        assert str(dist.BackendConfig(given)) == wanted
    for given in ("cpu:gloo,cuda:nccl,", "cpu:gloo,cuda:nccl,cpu:doubling"):
        with pytest.raises(ValueError, match="taeda.distributed"):
            dist.BackendConfig(given)

    class Own(dist.ProcessGroup):
        def getBackendName(self):
            return "own"

    assert Own(0, 1).name() == "own" and dist.ProcessGroup(0, 1).name() == "undefined"
    for backend in ("gloo", "mpi"):
        dist.init_process_group(backend, store=dist.HashStore(), rank=0, world_size=1)
        assert dist.distributed_c10d._get_default_group().name() == backend
        dist.destroy_process_group()


def test_levels_from_the_environment(monkeypatch):
    for given, level in (("dEtail", dist.DebugLevel.DETAIL), ("INFO", dist.DebugLevel.INFO), ("off", 0)):
        monkeypatch.setenv("TORCH_DISTRIBUTED_DEBUG", given)
        dist.set_debug_level_from_env()
        assert dist.get_debug_level() == level
    monkeypatch.setenv("TORCH_DISTRIBUTED_DEBUG", "1")
    with pytest.raises(ValueError, match="OFF, INFO or DETAIL; got '1'"):
        dist.set_debug_level_from_env()


def test_buckets_by_size():
    floats = [taeda.empty(size) for size in (10, 10, 10, 30)]
    doubles = [taeda.empty(5, dtype=taeda.float64) for _ in range(3)]
    assign = dist._compute_bucket_assignment_by_size
    assert assign(floats, [40, 80]) == ([[0], [1, 2], [3]], [40, 80, 80])
    mixed = [floats[0], doubles[0], floats[1], doubles[1], doubles[2]]
    assert assign(mixed, [80]) == ([[0, 2], [1, 3], [4]], [80, 80, 80])
    assert assign(mixed, [80], [False, True]) == ([[0, 2], [1], [3, 4]], [80, 80, 80])
    assert assign(floats[:3], [80], [], [2, 1, 0]) == ([[2, 1], [0]], [80, 80])


def by_hand(rank, path):
    store = dist.FileStore(path, 2)
    group = dist.ProcessGroupGloo(store, rank, 2)
    x = taeda.ones(2)
    group.allreduce(x).wait()
    group.allreduce([x], dist.ReduceOp.MAX).wait()
    group.broadcast(x, 0).wait()
    opts = dist.AllreduceOptions()
    opts.reduceOp = dist.ReduceOp.PRODUCT
    assert group.allreduce([x], opts).get_future().wait()[0][0] == 4
    out = [taeda.empty(2), taeda.empty(2)]
    group.allgather(out, x).wait()
    group.barrier().wait()
    assert out[1 - rank][0] == 4 and group.rank() == rank and group.size() == 2 and group.name() == "gloo"
    group.shutdown()


@needs_mpi
def test_groups_made_by_hand(tmp_path):
    run(2, by_hand, str(tmp_path / "store"), setup=False)


class Dictionary(dist.Store):
    """A store that a program wrote itself, for the threads of one process."""

    def __init__(self):
        super().__init__()
        self.inner = dist.HashStore()

    def set(self, key, value):
        self.inner.set(key, value)

    def get(self, key):
        return self.inner.get(key)

    def add(self, key, amount):
        return self.inner.add(key, amount)

    def wait(self, keys, timeout=None):
        self.inner.wait(keys, timeout) if timeout else self.inner.wait(keys)

    def check(self, keys):
        return self.inner.check(keys)


def test_a_store_of_ones_own():
    dist.init_process_group("gloo", store=Dictionary(), rank=0, world_size=1)
    x = taeda.ones(1)
    dist.all_reduce(x)
    assert x == 1
