"""Sparse tensors between processes: their sum, and gradients that stay sparse under DistributedDataParallel."""

from __future__ import annotations

import pytest
from ranks import needs_mpi, run

import taeda
import taeda.distributed as dist

pytestmark = needs_mpi


def entries(rank):
    """COO tensors, a dense dimension, repeated indices and none at all among them."""
    yield taeda.sparse_coo_tensor([[0, rank + 1, rank + 1]], [1.0, 2.0, 3.0], (5,))
    yield taeda.sparse_coo_tensor([[0, 1], [rank, 2]], taeda.arange(6.0).view(2, 3) + rank, (2, 4, 3))
    yield taeda.zeros(4).to_sparse() if rank else taeda.sparse_coo_tensor([[1]], [2.0], (4,))
    yield taeda.sparse_coo_tensor([[1, 2]], [rank, 5], (4,))


def sums(rank):
    ranks = dist.get_world_size()
    of_all = [[one.to_dense() for one in entries(other)] for other in range(ranks)]
    wanted = [sum(alike[1:], alike[0]) for alike in zip(*of_all, strict=True)]
    for ask in (False, True):
        given = list(entries(rank))
        works = [dist.all_reduce(one, async_op=ask) for one in given]
        for work in works if ask else ():
            assert work.get_future().wait()[0].is_sparse and work.wait() and work.is_completed()
        for one, want in zip(given, wanted, strict=True):
            assert one.is_sparse and one.is_coalesced() and taeda.equal(one.to_dense(), want)
    two = [next(entries(rank)), next(entries(rank))]
    dist.group.WORLD.allreduce(two).wait()
    assert all(taeda.equal(one.to_dense(), 2 * wanted[0]) for one in two)
    with pytest.raises(RuntimeError, match="can be added"):
        dist.all_reduce(two[0], dist.ReduceOp.MAX)
    with pytest.raises(RuntimeError, match="all alike"):
        dist.group.WORLD.allreduce([two[0], taeda.ones(5)])
    with pytest.raises(RuntimeError, match="different shapes"):
        dist.all_reduce(taeda.ones(3 + rank).to_sparse())
    twice = taeda.ones(1)
    dist.all_reduce_coalesced([twice, twice])
    assert twice == ranks


@pytest.mark.parametrize("ranks", [2, 3])
def test_sums(ranks):
    run(ranks, sums)


def network(sparse):
    taeda.manual_seed(0)
    return taeda.nn.Sequential(taeda.nn.EmbeddingBag(10, 3, sparse=sparse, mode="sum"), taeda.nn.Linear(3, 2))


def trained(net, inner, batches):
    optimizer = taeda.optim.SGD(inner.parameters(), lr=0.1)
    for batch in batches:
        optimizer.zero_grad()
        net(batch).square().mean().backward()
        optimizer.step()
    return [parameter.detach() for parameter in inner.parameters()]


def embeddings(rank):
    words = taeda.tensor([[[1, 2], [2, 9]], [[0, 5], [5, 5]], [[7, 1], [2, 2]]])
    alone = network(False)
    wanted = trained(alone, alone, words)
    for views in (False, True):
        inner = network(True)
        net = taeda.nn.parallel.DistributedDataParallel(inner, gradient_as_bucket_view=views)
        got = trained(net, inner, words[:, rank : rank + 1])
        assert inner[0].weight.grad.is_sparse
        for one, want in zip(got, wanted, strict=True):
            assert taeda.allclose(one, want)


def test_gradients_of_embeddings():
    run(2, embeddings)
