"""Methods of process groups as ops."""

from __future__ import annotations

import pytest

import taeda
import taeda.distributed as dist
from taeda.distributed._threads import run_ranks

c10d = taeda.ops.c10d


def collectives():
    rank, group = dist.get_rank(), dist.group.WORLD
    x = taeda.full((2,), rank + 1.0)
    (same,), work = c10d.allreduce_([x], group, dist.ReduceOp.SUM, None)
    work.wait()
    assert same is x and x.tolist() == [3, 3]
    x = taeda.full((2,), float(rank))
    c10d.broadcast_([x], group, 1, 0, False, 10_000)[1].wait()
    assert x.tolist() == [1, 1]
    parts = [taeda.empty(1) for _ in range(2)]
    c10d.allgather_([parts], [taeda.tensor([rank + 5.0])], group)[1].wait()
    assert [part.item() for part in parts] == [5, 6]
    whole = taeda.empty(2)
    c10d._allgather_base_(whole, taeda.tensor([rank + 5.0]), group)[1].wait()
    assert whole.tolist() == [5, 6]
    part = taeda.empty(1)
    c10d._reduce_scatter_base_(part, taeda.tensor([1.0, 2.0]), group, dist.ReduceOp.SUM)[1].wait()
    assert part.item() == 2 * (rank + 1)
    c10d.scatter_([part], [list(taeda.tensor([7.0, 8.0]).split(1))] if rank == 0 else [], group, 0)[1].wait()
    assert part.item() == 7 + rank
    c10d.alltoall_base_(whole, taeda.tensor([1.0, 2.0]) * (rank + 1), group, [], []).wait()
    assert whole.tolist() == [rank + 1, 2 * (rank + 1)]
    if rank == 0:
        c10d.send([part], group, 1, 3).wait()
    else:
        c10d.recv_([part], group, 0, 3).wait()
        assert part.item() == 7
    c10d.barrier(part, group, []).wait()
    return True


def test_ops_are_methods_of_the_group():
    assert run_ranks(2, collectives) == [True, True]


@pytest.mark.torch
def test_schemas_are_those_of_pytorch():
    torch = pytest.importorskip("torch")
    for name in dir(c10d):
        theirs = getattr(torch.ops.c10d, name).default._schema
        assert str(getattr(c10d, name).default._schema) == str(theirs)
