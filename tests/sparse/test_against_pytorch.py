"""Calls whose results PyTorch's documentation shows, beside PyTorch."""

import warnings

import pytest

import taeda

pytestmark = pytest.mark.torch


def both(call):
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call(taeda), call(torch)


def s(t, layout="sparse_coo"):
    x = t.tensor([[0.0, 1, 0, -2], [3, 0, 0, 4], [0, 0, 0, 0]])
    return x.to_sparse(layout=getattr(t, layout))


CALLS = {
    "constructor": lambda t: t.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], [3, 4, 5], (2, 4)),
    "hybrid": lambda t: t.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], [[3, 4], [5, 6], [7, 8]], (2, 3, 2)).coalesce(),
    "empty": lambda t: t.sparse_coo_tensor(t.empty([1, 0]), [], [1]),
    "mixed": lambda t: t.sparse_coo_tensor(t.empty([1, 0], dtype=t.int64), t.empty([0, 2]), [1, 2]),
    "csr": lambda t: t.sparse_csr_tensor([0, 2, 4], [0, 1, 0, 1], [1, 2, 3, 4], dtype=t.double),
    "bsr": lambda t: t.sparse_bsr_tensor([0, 1, 2], [0, 1], [[[1, 2], [3, 4]], [[5, 6], [7, 8]]], dtype=t.double),
    "compressed": lambda t: t.sparse_compressed_tensor([0, 2, 4], [0, 1, 0, 1], [1, 2, 3, 4], layout=t.sparse_csc),
    "to_sparse": lambda t: t.tensor([[0, 2.0], [3, 0]]).to_sparse(1),
    "csc": lambda t: s(t).to_sparse_csc(),
    "batch": lambda t: t.tensor([[[1, 0, 2.0], [0, 3, 0]], [[4, 0, 0], [0, 5, 6]]]).to_sparse_csr(),
    "blocks": lambda t: t.eye(4).to_sparse_bsc((2, 2)),
    "dense dim": lambda t: t.ones(2, 2, 3).to_sparse_csr(dense_dim=1),
    "sum": lambda t: t.sparse.sum(s(t), 0),
    "all": lambda t: t.sparse.sum(s(t)),
    "csr sum": lambda t: s(t, "sparse_csr").sum(0, keepdim=True),
    "csr sum of all": lambda t: s(t, "sparse_csr").sum((0, 1), keepdim=True),
    "csr sum_to_size": lambda t: s(t, "sparse_csr").sum_to_size(1, 4),
    "by a tensor of one": lambda t: s(t) / t.tensor(4.0),
    "floor by one": lambda t: t.floor_divide(s(t), t.tensor(2.0)),
    "csc csc": lambda t: (s(t, "sparse_csc") @ s(t, "sparse_csc").t().to_sparse_csc()).layout,
    "csr angle": lambda t: s(t, "sparse_csr").angle(),
    "softmax": lambda t: t.sparse.softmax(s(t), 1),
    "log_softmax": lambda t: t.sparse.log_softmax(s(t), 0),
    "mul": lambda t: s(t) * s(t) * 2,
    "neg": lambda t: -s(t),
    "sparse mm": lambda t: t.sparse.mm(s(t), s(t).t()),
    "mm": lambda t: s(t) @ t.ones(4, 2),
    "csr mm": lambda t: s(t, "sparse_csr") @ t.ones(4, 2),
    "csr csr": lambda t: (s(t, "sparse_csr") @ s(t, "sparse_csr").t().to_sparse_csr()).to_dense(),
    "add": lambda t: s(t) + 2 * s(t),
    "hspmm": lambda t: t.hspmm(s(t), t.ones(4, 2)),
    "smm": lambda t: t.smm(s(t), t.ones(4, 2)).to_dense(),
    "sampled": lambda t: t.sparse.sampled_addmm(s(t, "sparse_csr"), t.ones(3, 2), t.ones(2, 4), beta=0.5, alpha=2),
    "cat": lambda t: t.cat([s(t), s(t)], 1).coalesce(),
    "index_select": lambda t: s(t).index_select(1, t.tensor([3, 1])).coalesce(),
    "select": lambda t: s(t)[1],
    "csr row": lambda t: s(t, "sparse_csr")[1],
    "csr element": lambda t: s(t, "sparse_csr")[1, 3],
    "transpose": lambda t: s(t).t().coalesce(),
    "csr t": lambda t: s(t, "sparse_csr").t(),
    "mask": lambda t: t.arange(12.0).reshape(3, 4).sparse_mask(s(t)),
    "unsqueeze": lambda t: s(t).unsqueeze(1),
    "permute": lambda t: s(t).permute(1, 0).coalesce(),
    "double": lambda t: s(t).double(),
    "sin": lambda t: s(t, "sparse_csr").sin(),
    "relu": lambda t: s(t).relu(),
    "isnan": lambda t: s(t).isnan(),
    "pow": lambda t: s(t) ** 2,
    "spdiags": lambda t: t.sparse.spdiags(t.arange(9.0).reshape(3, 3), t.tensor([0, -1, 2]), (3, 3)),
    "div": lambda t: s(t) / 2,
    "zeros_like": lambda t: t.zeros_like(s(t, "sparse_csr")),
    "zeros": lambda t: t.zeros(2, 3, layout=t.sparse_coo),
    "unbind": lambda t: s(t).unbind()[0],
    "norm": lambda t: s(t).norm(),
    "grad": lambda t: gradient(t),
    "any": lambda t: s(t).any(),
    "int": lambda t: s(t).int().sum(),
    "addmm": lambda t: t.sparse.addmm(t.ones(3, 2), s(t), t.ones(4, 2), beta=2, alpha=3),
    "sspaddmm": lambda t: t.sspaddmm(s(t), t.eye(3).to_sparse(), t.ones(3, 4)).to_dense(),
    "zero_": lambda t: [s(t, layout).zero_() for layout in ("sparse_coo", "sparse_csr", "sparse_csc")],
    "resize_as_": lambda t: t.eye(2).to_sparse().resize_as_(t.eye(3).to_sparse()),
    "resize_as_ of dense dims": lambda t: hybrid(t).resize_as_(t.ones(2, 3).to_sparse(1))._values()[0, :2],
    "transpose_": lambda t: s(t).transpose_(0, 1).coalesce(),
    "a batch turned": lambda t: t.ones(2, 3, 2, 2).to_sparse_csr().transpose(0, 1),
    "blocks of a batch": lambda t: t.stack([t.eye(4), t.eye(4).flip(0)]).to_sparse_bsr((2, 2)),
    "sampled for a batch": lambda t: t.sparse.sampled_addmm(t.eye(2).to_sparse_csr(), t.ones(3, 2, 2), t.ones(3, 2, 2)),
    "truth": lambda t: [bool(t.tensor([[x]]).to_sparse()) for x in (0.0, 2.0)],
    "imag": lambda t: t.eye(2, dtype=t.complex64).to_sparse().imag,
    "real": lambda t: t.eye(2, dtype=t.complex64).to_sparse().real,
    "broadcast": lambda t: t._sparse_broadcast_to(t.ones(1, 2).to_sparse(), (2, 2)).to_dense(),
    "mask with repeats": lambda t: t.arange(4.0).sparse_mask(t.sparse_coo_tensor([[3, 1, 3]], [1.0, 1, 1], (4,))),
    "zeros of another layout": lambda t: [
        t.zeros_like(t.ones(2, 2), layout=t.sparse_coo),
        t.zeros_like(s(t), layout=t.strided),
    ],
    "nothing added": lambda t: t.zeros(2, 2).to_sparse() + hybrid(t),
    "order 0": lambda t: s(t).norm(0),
    "sum of repeats": lambda t: t.sparse.sum(t.sparse_coo_tensor([[1, 1]], [[1.0, 2], [3, 4]], (3, 2)), 1),
    "gradient of nothing": lambda t: gradient_of_sum(t, t.zeros(2, 2).to_sparse()),
    "indices of two dtypes": lambda t: t.sparse_csr_tensor(t.tensor([0, 1], dtype=t.int32), t.tensor([1]), t.ones(1)),
    "reduce": lambda t: t.sparse.mm(s(t, "sparse_csr"), t.arange(8.0).reshape(4, 2), "amax"),
}


def hybrid(t):
    return t.sparse_coo_tensor([[1]], [[1.0, 2]], (2, 2))


def gradient_of_sum(t, x):
    t.sparse.sum(x.requires_grad_()).backward()
    return x.grad


def gradient(t):
    x = s(t).requires_grad_()
    t.sparse.mm(x, t.arange(8.0).reshape(4, 2)).sum().backward()
    return x.grad


@pytest.mark.parametrize("name", CALLS)
def test_shows_what_pytorch_shows(name):
    mine, theirs = both(CALLS[name])
    assert repr(mine) == repr(theirs)


REFUSED = [
    lambda t: t.sparse_coo_tensor([[0, 5]], [1.0, 2], (3,), check_invariants=True),
    lambda t: t.sparse_coo_tensor([[0, -1]], [1.0, 2]),
    lambda t: t.sparse_csr_tensor([0, 2, 1], [0, 1], [1.0, 2], (2, 2), check_invariants=True),
    lambda t: s(t) @ t.ones(2, 2),
    lambda t: t.sparse_coo_tensor([[0, 0]], [1.0, 2]).indices(),
    lambda t: t.ones(2).coalesce(),
    lambda t: s(t).crow_indices(),
    lambda t: s(t).exp(),
    lambda t: s(t).stride(3),
    lambda t: s(t)[9],
    lambda t: t.eye(3).to_sparse_bsr((2, 2)),
    lambda t: s(t).item(),
    lambda t: s(t) == s(t),
    lambda t: s(t).scatter_(0, t.tensor([[0]]), 1.0),
    lambda t: t.zeros_like(s(t), memory_format=t.preserve_format),
    lambda t: t.eye(2).to_sparse().resize_as_(t.eye(2)),
    lambda t: s(t, "sparse_csr").resize_((3, 3)),
    lambda t: t.stack([t.eye(2), t.ones(2, 2)]).to_sparse_bsr((1, 1)),
    lambda t: t.zeros(0, 2, 2).to_sparse_csr(),
    lambda t: t.addmm(t.ones(1, 3, 2), s(t), t.ones(4, 2)),
    lambda t: t._sparse_broadcast_to(s(t), (3, 5)),
    lambda t: t._validate_sparse_csr_tensor_args(t.tensor([0, 1.0]), t.tensor([1]), t.ones(1), (1, 2)),
]


@pytest.mark.parametrize("which", range(len(REFUSED)))
def test_refuses_what_pytorch_refuses(which):
    import torch

    kinds = []
    for t in (taeda, torch):
        with pytest.raises((RuntimeError, IndexError, NotImplementedError)) as caught:
            both(lambda _, t=t: REFUSED[which](t))
        kinds.append(next(k for k in (NotImplementedError, IndexError, RuntimeError) if isinstance(caught.value, k)))
    assert kinds[0] is kinds[1] or issubclass(kinds[0], kinds[1]) or issubclass(kinds[1], kinds[0])
