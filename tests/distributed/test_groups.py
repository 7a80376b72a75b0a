"""Collectives between processes, against what single-process formulas say."""

from __future__ import annotations

import os
import threading
from datetime import timedelta

import pytest
from ranks import LIMIT, SOON, free_port, needs_mpi, run

import taeda
import taeda.distributed as dist
from taeda.distributed import ReduceOp

pytestmark = needs_mpi

SMALL, LARGE = 5, 100_003  # elements: in one message, and in pieces
DTYPES = [taeda.float32, taeda.float64, taeda.float16, taeda.bfloat16, taeda.complex64, taeda.complex128, taeda.bool,
          taeda.uint8, taeda.int8, taeda.int16, taeda.int32, taeda.int64]  # fmt: skip
FORMULAS = {
    ReduceOp.SUM: lambda all: all.sum(0),
    ReduceOp.AVG: lambda all: all.sum(0) / all.shape[0],
    ReduceOp.PRODUCT: lambda all: all.prod(0),
    ReduceOp.MIN: lambda all: all.amin(0),
    ReduceOp.MAX: lambda all: all.amax(0),
    ReduceOp.BAND: lambda all: _folded(all, taeda.bitwise_and),
    ReduceOp.BOR: lambda all: _folded(all, taeda.bitwise_or),
    ReduceOp.BXOR: lambda all: _folded(all, taeda.bitwise_xor),
}


def _folded(all, op):
    result = all[0]
    for one in all[1:]:
        result = op(result, one)
    return result


def data(rank, size=SMALL, dtype=taeda.float32):
    """What a rank begins with: small integers, which all dtypes hold."""
    return ((taeda.arange(size) * (rank + 3) + rank) % 5).to(dtype)


def everyone(ranks, size=SMALL, dtype=taeda.float32):
    return taeda.stack([data(rank, size, dtype) for rank in range(ranks)])


def defined(dtype, op):
    if dtype.is_complex:
        return op in (ReduceOp.SUM, ReduceOp.AVG)
    if dtype.is_floating_point:
        return op not in (ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR)
    return op != ReduceOp.AVG


def expected(ranks, op, size, dtype):
    wide = everyone(ranks, size, dtype)
    if dtype in (taeda.float16, taeda.bfloat16):
        wide = wide.float()
    return FORMULAS[op](wide).to(dtype)


def close(got, want):
    if got.dtype.is_complex:  # which a division may round either way
        return got.numel() == 0 or (got - want).abs().max().item() < 1e-5
    return taeda.equal(got, want)


def reductions(rank):
    ranks = dist.get_world_size()
    for size in (SMALL, LARGE, 0):
        for dtype in DTYPES[:: ranks - 1] if size == SMALL else (taeda.float32, taeda.bfloat16):
            for op in FORMULAS:
                if not defined(dtype, op):
                    continue
                want = expected(ranks, op, size, dtype)
                got = data(rank, size, dtype)
                dist.all_reduce(got, op)
                assert close(got, want), (dtype, op, size, got[:5], want[:5])
                got = data(rank, size, dtype)
                dist.reduce(got, ranks - 1, op)
                assert rank != ranks - 1 or close(got, want), (dtype, op, size)
                parts = [data(rank + i, size, dtype) for i in range(ranks)]
                got = taeda.empty(size, dtype=dtype)
                dist.reduce_scatter(got, parts, op)
                mine = taeda.stack([data(other + rank, size, dtype) for other in range(ranks)])
                mine = mine.float() if dtype in (taeda.float16, taeda.bfloat16) else mine
                assert close(got, FORMULAS[op](mine).to(dtype)), (dtype, op, size)


@pytest.mark.parametrize("ranks", [2, 3])
def test_reductions_are_what_formulas_say(ranks):
    run(ranks, reductions)


def moves(rank):
    ranks, last = dist.get_world_size(), dist.get_world_size() - 1
    for size in (SMALL, LARGE, 0):
        for dtype in [*DTYPES, taeda.float8_e4m3fn] if size == SMALL else [taeda.float32]:
            all = [data(other, size, dtype) for other in range(ranks)]
            same = lambda a, b: a.view(taeda.uint8).tolist() == b.view(taeda.uint8).tolist()
            got = all[rank].clone()
            dist.broadcast(got, last)
            assert same(got, all[last])
            outs = [taeda.empty(size, dtype=dtype) for _ in range(ranks)]
            dist.all_gather(outs, all[rank])
            assert all_same(outs, all, same)
            whole = taeda.empty(size * ranks, dtype=dtype)
            dist.all_gather_into_tensor(whole, all[rank])
            assert same(whole, taeda.cat(all))
            outs = [taeda.empty(size, dtype=dtype) for _ in range(ranks)]
            dist.gather(all[rank], outs if rank == last else None, last)
            assert rank != last or all_same(outs, all, same)
            got = taeda.empty(size, dtype=dtype)
            dist.scatter(got, all if rank == last else None, last)
            assert same(got, all[rank])
            outs = [taeda.empty(size, dtype=dtype) for _ in range(ranks)]
            dist.all_to_all(outs, [data(rank + i, size, dtype) for i in range(ranks)])
            assert all_same(outs, [data(other + rank, size, dtype) for other in range(ranks)], same)


def all_same(a, b, same):
    return len(a) == len(b) and all(map(same, a, b))


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_moves_bring_the_bytes(ranks):
    run(ranks, moves)


def uneven(rank):
    ranks = dist.get_world_size()
    give, take = [i + 1 for i in range(ranks)], [rank + 1] * ranks
    out = taeda.empty(sum(take), 2)
    dist.all_to_all_single(out, taeda.full((sum(give), 2), float(rank)), take, give)
    assert out[:, 0].tolist() == [float(other) for other in range(ranks) for _ in range(rank + 1)]
    strided = taeda.zeros(4, 6)[:, ::2]
    strided += rank
    dist.all_reduce(strided)
    assert strided.tolist() == [[sum(range(ranks))] * 3] * 4
    columns = (taeda.arange(6.0).view(2, 3) + rank).t()
    dist.broadcast(columns, 1)
    assert columns.tolist() == (taeda.arange(6.0).view(2, 3) + 1).t().tolist() and columns.stride() == (1, 3)
    half = taeda.zeros(4)[::2]
    dist.all_gather([half, *(taeda.empty(2) for _ in range(ranks - 1))], taeda.ones(2) + rank)
    assert half.tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="expanded"):
        dist.all_reduce(taeda.ones(1).expand(3))
    scaled = taeda.ones(3) + rank
    dist.all_reduce(scaled, dist._make_nccl_premul_sum(0.5))
    assert scaled.tolist() == [sum(range(1, ranks + 1)) / 2] * 3
    tensors = [taeda.ones(3), taeda.ones(2, 2) * rank]
    dist.all_reduce_coalesced(tensors)
    assert tensors[0][0] == ranks and tensors[1][0, 0] == sum(range(ranks))


@pytest.mark.parametrize("ranks", [2, 3])
def test_uneven_strided_and_scaled(ranks):
    run(ranks, uneven)


def messages(rank):
    ranks = dist.get_world_size()
    following, before = (rank + 1) % ranks, (rank - 1) % ranks
    for size in (1, LARGE, 0):
        got = taeda.empty(size)
        works = [dist.isend(data(rank, size), following, tag=7), dist.irecv(got, before, tag=7)]
        assert all(work.wait() for work in works) and works[1].source_rank() == before
        assert taeda.equal(got, data(before, size))
    out = [taeda.empty(3), taeda.empty(3)]
    ops = [dist.P2POp(dist.isend, taeda.full((3,), float(rank)), following), dist.P2POp(dist.irecv, out[0], before),
           dist.P2POp(dist.isend, taeda.full((3,), -float(rank)), following, tag=2),
           dist.P2POp(dist.irecv, out[1], before, tag=2)]  # fmt: skip
    for work in dist.batch_isend_irecv(ops):
        work.wait()
    assert (out[0] + out[1]).tolist() == [0, 0, 0] and out[0][0] == before
    if rank == 0:
        senders = {dist.recv(got := taeda.empty(LARGE)) for _ in range(1, ranks)}
        assert senders == {*range(1, ranks)} and got[0] > 0
    else:
        dist.send(taeda.ones(LARGE), 0)
    with pytest.raises(ValueError):
        dist.send(taeda.ones(1), rank)
    dist.barrier()


@pytest.mark.parametrize("ranks", [2, 3])
def test_messages(ranks):
    run(ranks, messages)


def objects(rank):
    ranks = dist.get_world_size()
    mine = {"rank": rank, "text": "x" * rank * 1000}
    all = [None] * ranks
    dist.all_gather_object(all, mine)
    assert [one["rank"] for one in all] == [*range(ranks)] and len(all[-1]["text"]) == 1000 * (ranks - 1)
    some = [None] * ranks if rank == 1 else None
    dist.gather_object(mine, some, dst=1)
    assert rank != 1 or some == all
    told = [mine, "b"] if rank == 1 else [None, None]
    dist.broadcast_object_list(told, src=1)
    assert told[0]["rank"] == 1 and told[1] == "b"
    own = [None]
    dist.scatter_object_list(own, [f"for {i}" for i in range(ranks)] if rank == 0 else None)
    assert own == [f"for {rank}"]
    if rank == 0:
        dist.send_object_list([1, "two"], 1)
    elif rank == 1:
        received = [None, None]
        assert dist.recv_object_list(received) == 0 and received == [1, "two"]


def test_objects():
    run(3, objects)


def later(rank):
    """Work under way, futures, callbacks that wait, one thread's calls beside another's."""
    ranks = dist.get_world_size()
    tensors = [taeda.full((LARGE,), float(i)) for i in range(8)]
    works = [dist.all_reduce(tensor, async_op=True) for tensor in tensors]
    for i, work in enumerate(works):
        assert work.wait() and work.is_completed() and work.is_success() and work.exception() is None
        assert tensors[i][0] == i * ranks and work.result()[0] is tensors[i]
    x = taeda.ones(4)

    def again(future):
        value = future.value()[0]
        dist.all_reduce(value, async_op=True).get_future().wait()
        return value * 2

    chained = dist.all_reduce(x, async_op=True).get_future().then(again).then(lambda future: future.value() + 1)
    assert chained.wait().tolist() == [2 * ranks * ranks + 1] * 4
    groups = [dist.new_group() for _ in range(2)]
    sums = [taeda.ones(LARGE) * i for i in range(2)]
    threads = [threading.Thread(target=lambda i=i: [dist.all_reduce(sums[i], group=groups[i]) for _ in range(5)])
               for i in range(2)]  # fmt: skip
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sums[0][0] == 0 and sums[1][0] == ranks**5
    with dist._coalescing_manager(async_ops=True) as manager:
        many = [taeda.ones(3) for _ in range(4)]
        for one in many:
            dist.all_reduce(one)
    manager.wait()
    assert [one[0] for one in many] == [ranks] * 4


@pytest.mark.parametrize("ranks", [2, 3])
def test_work_under_way(ranks):
    run(ranks, later)


def subgroups(rank):
    ranks = dist.get_world_size()
    odd = dist.new_group([1, 3])
    if rank in (1, 3):
        assert dist.get_group_rank(odd, rank) == rank // 2 and dist.get_process_group_ranks(odd) == [1, 3]
        x = taeda.ones(1) * rank
        dist.all_reduce(x, group=odd)
        assert x == 4
        dist.broadcast(x.fill_(rank), 3, group=odd)
        assert x == 3
    else:
        assert odd == dist.GroupMember.NON_GROUP_MEMBER and dist.all_reduce(taeda.ones(1), group=odd) is None
    own, all = dist.new_subgroups(2)
    assert len(all) == ranks // 2
    x = taeda.ones(1) * rank
    dist.all_reduce(x, group=own)
    assert x == 4 * (rank // 2) + 1
    split = dist.split_group(split_ranks=[[0, 2], [1, 3]])
    x = taeda.ones(1) * rank
    dist.all_reduce(x, group=split)
    assert x == (2 if rank % 2 == 0 else 4)
    if rank < 2:
        local = dist.new_group([0, 1], use_local_synchronization=True)
        dist.barrier(local)
    else:
        assert dist.new_group([0, 1], use_local_synchronization=True) is None
    dist.monitored_barrier(timeout=SOON)
    dist.destroy_process_group(own)
    with pytest.raises(ValueError):
        dist.all_reduce(x, group=own)


def test_subgroups():
    run(4, subgroups)


def meet_elsewhere(rank):
    """Ranks that are through with a collective wait for the others without a call of it."""
    store = dist.distributed_c10d._get_default_store()
    for turn in range(4):
        x = taeda.full((1 << 24,), float(rank))
        dist.all_reduce(x)
        assert x[0] == x[-1] == 6
        store.set(f"through/{turn}/{rank}", "")
        store.wait([f"through/{turn}/{other}" for other in range(4)], SOON)
    dist.barrier()  # the store ends with rank 0


def test_what_was_sent_arrives_while_its_sender_waits_for_something_else():
    run(4, meet_elsewhere)


def by(rank, address):
    dist.init_process_group("gloo", init_method=address, rank=rank, world_size=2, timeout=SOON)
    x = taeda.ones(2) * (rank + 1)
    dist.all_reduce(x)
    dist.destroy_process_group()
    assert x[0] == 3 and not [name for name in os.environ if name.startswith("PMI")]
    with open("/proc/self/maps") as maps:
        shared = {line.split()[5] for line in maps if "mpich_shm" in line}
    assert shared and not [path for path in shared if os.path.exists(path)]


@pytest.mark.parametrize("scheme", ["tcp", "file", "env"])
def test_rendezvous(scheme, tmp_path):
    address = {"tcp": f"tcp://127.0.0.1:{free_port()}", "file": f"file://{tmp_path}/store", "env": "env://"}[scheme]
    run(2, by, address, setup=False)


def again(rank, path):
    for turn in range(3):
        store = dist.FileStore(f"{path}/{turn}", 2)
        dist.init_process_group("gloo", store=store, rank=1 - rank if turn == 1 else rank, world_size=2, timeout=SOON)
        x = taeda.ones(1) * dist.get_rank()
        dist.broadcast(x, 1)
        assert x == 1
        dist.barrier()
        dist.destroy_process_group()


def test_groups_are_made_again_in_other_order(tmp_path):
    run(2, again, str(tmp_path), setup=False)


assert timedelta(seconds=20).total_seconds() < LIMIT
