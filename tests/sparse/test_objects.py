"""Sparse tensors as objects of programs: printed, copied, pickled, saved, shared, loaded in workers, trained with."""

import copy
import io
import pickle

import numpy as np
import pytest

import taeda
from taeda import nn

LAYOUTS = ["sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc"]


def made(layout, dtype=taeda.float32):
    x = taeda.tensor([[0, 1, 0], [2, 0, 3], [0, 0, 0], [0, 4, 0]], dtype=dtype)
    block = {"blocksize": (2, 3)} if layout[7] == "b" else {}
    return x.to_sparse(layout=getattr(taeda, layout), **block)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_copies(layout):
    x = made(layout).requires_grad_()
    for y in (copy.deepcopy(x), pickle.loads(pickle.dumps(x)), copy.copy(x)):
        assert y.layout == x.layout and y.requires_grad and taeda.equal(y.detach(), x.detach())
    assert copy.deepcopy(x)._values().data_ptr() != x._values().data_ptr()
    assert x.detach()._values().data_ptr() == x._values().data_ptr() and not x.detach().requires_grad
    buffer = io.BytesIO()
    taeda.save({"x": x, "same": x}, buffer)
    buffer.seek(0)
    loaded = taeda.load(buffer)
    assert taeda.equal(loaded["x"], x.detach())
    assert type(pickle.loads(pickle.dumps(nn.Parameter(made(layout))))) is nn.Parameter


@pytest.mark.torch
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int64", "complex64"])
def test_files_of_pytorch(tmp_path, layout, dtype):
    import torch

    mine = made(layout, getattr(taeda, dtype))
    taeda.save({"x": mine}, tmp_path / "ours")
    theirs = torch.load(tmp_path / "ours")["x"]
    assert str(theirs.layout) == f"torch.{layout}" and theirs.to_dense().tolist() == mine.to_dense().tolist()
    torch.save({"x": theirs}, tmp_path / "theirs")
    back = taeda.load(tmp_path / "theirs")["x"]
    assert back.layout == mine.layout and taeda.equal(back, mine)
    if layout == "sparse_coo":
        assert back.is_coalesced() == theirs.is_coalesced()


def test_a_damaged_file_is_refused():
    x = made("sparse_csr")
    x.col_indices()[0] = 77
    buffer = io.BytesIO()
    taeda.save(x, buffer)
    buffer.seek(0)
    with pytest.raises(Exception, match="col_indices|must be"):
        taeda.load(buffer)


@pytest.mark.torch
def test_prints_as_pytorch():
    import torch

    for layout in LAYOUTS:
        for dtype in ("float32", "int64", "float64", "bool"):
            x = made(layout, getattr(taeda, dtype))
            block = {"blocksize": (2, 3)} if layout[7] == "b" else {}
            y = torch.tensor(x.to_dense().tolist(), dtype=getattr(torch, dtype)).to_sparse(
                layout=getattr(torch, layout), **block
            )
            assert repr(x) == repr(y)
    assert repr(taeda.sparse_coo_tensor((2, 3))) == repr(torch.sparse_coo_tensor((2, 3)))
    assert repr(taeda.ones(2).to_sparse().requires_grad_()) == repr(torch.ones(2).to_sparse().requires_grad_())


@pytest.mark.parametrize("layout", LAYOUTS)
def test_memory_that_processes_share(layout):
    x = made(layout)
    assert not x.is_shared() and x.share_memory_() is x and x.is_shared()


class Rows(taeda.utils.data.Dataset):
    def __len__(self):
        return 3

    def __getitem__(self, i):
        return made("sparse_coo") * (i + 1)


@pytest.mark.parametrize("workers", [0, 1])
def test_data_loader(workers):
    loader = taeda.utils.data.DataLoader(Rows(), batch_size=None, num_workers=workers)
    assert [x.sum().item() for x in loader] == [10, 20, 30]


def test_devices_dtypes_and_modules():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("a", made("sparse_csr"))

        def forward(self, x):
            return self.a @ x

    net = Net().double()
    assert net.a.dtype == taeda.float64 and net.to("cpu").a.layout == taeda.sparse_csr
    other = Net().double()
    other.load_state_dict(net.state_dict())
    assert taeda.equal(net(taeda.ones(3, 1).double()), other(taeda.ones(3, 1).double()))


# --- training with sparse gradients


def table(sparse, **options):
    taeda.manual_seed(3)
    return nn.Embedding(7, 3, sparse=sparse, **options)


@pytest.mark.parametrize("options", [{}, {"padding_idx": 2}])
def test_gradients_of_tables(options):
    ids = taeda.tensor([[1, 2, 1], [6, 2, 0]])
    a, b = table(False, **options), table(True, **options)
    for t in (a, b):
        (t(ids) ** 2).sum().backward()
        (t(ids[:1]) * 3).sum().backward()
    assert b.weight.grad.is_sparse and not b.weight.grad.is_coalesced()
    taeda.testing.assert_close(b.weight.grad.to_dense(), a.weight.grad)
    with pytest.raises(RuntimeError, match="scale_grad_by_freq"):
        nn.functional.embedding(ids, b.weight, scale_grad_by_freq=True, sparse=True).sum().backward()
    empty = table(True)
    empty(ids[:, :0]).sum().backward()
    assert empty.weight.grad._nnz() == 0


@pytest.mark.parametrize("mode", ["sum", "mean"])
def test_gradients_of_bags(mode):
    ids, offsets = taeda.tensor([1, 2, 4, 4, 0]), taeda.tensor([0, 3])
    bags = []
    for sparse in (False, True):
        taeda.manual_seed(1)
        bag = nn.EmbeddingBag(6, 3, mode=mode, sparse=sparse)
        (bag(ids, offsets) ** 2).sum().backward()
        bags.append(bag)
    assert bags[1].weight.grad.is_sparse
    taeda.testing.assert_close(bags[1].weight.grad.to_dense(), bags[0].weight.grad)


@pytest.mark.parametrize(
    "make",
    [
        lambda p: taeda.optim.SGD(p, 0.1),
        lambda p: taeda.optim.SGD(p, 0.1, momentum=0.9),
        lambda p: taeda.optim.Adagrad(p, 0.1),
        lambda p: taeda.optim.SGD(p, 0.1, maximize=True),
    ],
)
def test_optimisers_that_take_both(make):
    ids = taeda.tensor([[1, 2, 1], [6, 2, 0]])
    tables = [table(False), table(True)]
    for t in tables:
        optimizer = make(t.parameters())
        for i in range(4):
            optimizer.zero_grad()
            (t(ids[i % 2]) ** 2).sum().backward()
            optimizer.step()
    taeda.testing.assert_close(tables[1].weight, tables[0].weight)


def test_gradients_with_gaps_are_stored_without():
    class Spread(taeda.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            values = taeda.tensor([1.0]).expand(3)
            return taeda.sparse_coo_tensor(taeda.tensor([[0, 1, 2]]), values, (3,), check_invariants=False)

    x = taeda.ones(3, requires_grad=True)
    Spread.apply(x).sum().backward()
    assert x.grad.is_sparse and x.grad._values().is_contiguous() and x.grad.to_dense().tolist() == [1.0] * 3


def test_optimisers_that_do_not():
    t = table(True)
    t(taeda.tensor([1])).sum().backward()
    with pytest.raises(RuntimeError, match="sparse"):
        taeda.optim.Adam(t.parameters()).step()
    dense = table(False)
    dense(taeda.tensor([1])).sum().backward()
    with pytest.raises(RuntimeError, match="sparse"):
        taeda.optim.SparseAdam(dense.parameters()).step()
    for options in ({"lr": 0.0}, {"eps": 0.0}, {"betas": (1.0, 0.9)}):
        with pytest.raises(ValueError):
            taeda.optim.SparseAdam(dense.parameters(), **options)
    with pytest.raises(ValueError, match="real"):
        taeda.optim.SparseAdam([taeda.zeros(2, dtype=taeda.cfloat)])


def test_sparse_adam_by_its_formula():
    t = table(True)
    p, m, v = t.weight.detach().numpy().astype(np.float64), np.zeros((7, 3)), np.zeros((7, 3))
    optimizer = taeda.optim.SparseAdam(t.parameters(), lr=0.01)
    for step, ids in enumerate(([1, 2, 1], [6, 0], [1]), 1):
        optimizer.zero_grad()
        (t(taeda.tensor(ids)) ** 2).sum().backward()
        optimizer.step()
        g = np.zeros((7, 3))
        np.add.at(g, ids, 2 * p[ids])
        rows = sorted(set(ids))
        m[rows] += 0.1 * (g - m)[rows]
        v[rows] += 0.001 * (g * g - v)[rows]
        rate = 0.01 * np.sqrt(1 - 0.999**step) / (1 - 0.9**step)
        p[rows] -= rate * m[rows] / (np.sqrt(v[rows]) + 1e-8)
    np.testing.assert_allclose(t.weight.detach().numpy(), p, rtol=1e-5, atol=1e-7)


def test_a_graph_network_learns():
    n = 30
    a = (taeda.rand(n, n) < 0.1).float() + taeda.eye(n)
    a = (a / a.sum(1, keepdim=True)).to_sparse_csr()
    x, target = taeda.randn(n, 8), taeda.randint(3, (n,))
    first, second = nn.Linear(8, 16), nn.Linear(16, 3)
    optimizer = taeda.optim.Adam([*first.parameters(), *second.parameters()], 0.05)
    losses = []
    for _ in range(40):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(a @ second((a @ first(x)).relu()), target)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.6 * losses[0]
