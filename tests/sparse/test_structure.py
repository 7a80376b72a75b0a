"""Rearranging, selecting, joining: as dense tensors do it."""

import pytest

import taeda

LAYOUTS = ["sparse_coo", "sparse_csr", "sparse_csc"]


def to(x, layout):
    return x.to_sparse(layout=getattr(taeda, layout))


def matrix():
    x = taeda.randn(4, 6)
    return taeda.where(x > 0.3, x, 0)


CALLS = {
    "t": lambda x: x.t(),
    "mT": lambda x: x.mT,
    "transpose": lambda x: x.transpose(-1, 0),
    "row": lambda x: x[2],
    "element": lambda x: x[2, 3],
    "last": lambda x: x[-1],
    "rows": lambda x: x[1:3],
    "columns": lambda x: x[:, 1:5:2],
    "chosen": lambda x: x[taeda.tensor([2, 0, 2])],
    "chosen columns": lambda x: x[:, taeda.tensor([5, -1])],
    "marked": lambda x: x[taeda.tensor([True, False, True, False])],
    "narrow": lambda x: x.narrow(1, 2, 3),
    "select": lambda x: x.select(1, 4),
    "index_select": lambda x: x.index_select(1, taeda.tensor([1, 1, 0])),
    "cat": lambda x: taeda.cat([x, x]),
    "cat columns": lambda x: taeda.cat([x, 2 * x], 1),
    "stack": lambda x: taeda.stack([x, x], 1),
    "unbind": lambda x: x.unbind(1)[3],
    "iteration": lambda x: list(x)[1],
    "permute": lambda x: x.permute(1, 0),
    "split": lambda x: x.split(3, 1)[1],
    "sizes": lambda x: x.split([1, 3])[1],
    "chunk": lambda x: x.chunk(2)[1],
    "unsafe_split": lambda x: x.unsafe_split(4)[0],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", CALLS)
def test_as_dense(name, layout):
    x = matrix()
    taeda.testing.assert_close(CALLS[name](to(x, layout)).to_dense(), CALLS[name](x))


HYBRID = {
    "permute": lambda x: x.permute(1, 0, 3, 2),
    "unsqueeze": lambda x: x.unsqueeze(1),
    "unsqueeze last": lambda x: x.unsqueeze(-1),
    "squeeze": lambda x: x.unsqueeze(0).squeeze(0),
    "squeeze all": lambda x: x[:1].squeeze(),
    "dense select": lambda x: x[:, :, 1],
    "dense slice": lambda x: x[..., 1:],
    "dense index": lambda x: x.index_select(3, taeda.tensor([1, 0])),
    "dense cat": lambda x: taeda.cat([x, 3 * x], 2),
    "movedim": lambda x: x.movedim(0, 1),
    "one": lambda x: x[1, 2],
}


@pytest.mark.parametrize("name", HYBRID)
def test_with_dense_dimensions(name):
    x = taeda.randn(2, 3, 2, 2) * (taeda.rand(2, 3, 1, 1) > 0.4)
    taeda.testing.assert_close(HYBRID[name](x.to_sparse(2)).to_dense(), HYBRID[name](x))


def test_shapes():
    x = matrix()
    for shape in ((24,), (2, 12), (2, 2, -1), (6, 4)):
        assert taeda.equal(x.to_sparse().reshape(shape).to_dense(), x.reshape(shape))
    for call in (
        lambda s: s.reshape(5, 5),
        lambda s: s.to_sparse(1).reshape(24),
        lambda s: s.permute(0, 0),
        lambda s: s.transpose(0, 5),
        lambda s: s[7],
        lambda s: s.index_select(0, taeda.tensor([9])),
        lambda s: taeda.cat([s, taeda.ones(4, 6)]),
        lambda s: taeda.cat([s, s[:, :2]]),
        lambda s: s[taeda.tensor([[0]])],
    ):
        with pytest.raises((RuntimeError, IndexError, NotImplementedError)):
            call(x.to_sparse())


def test_diagonals():
    import numpy as np
    import scipy.sparse

    d = np.arange(1.0, 10).reshape(3, 3)
    for offsets, shape in (([0, 1, 2], (3, 3)), ([-1, 0, 2], (4, 5)), ([0, -2, 1], (2, 3))):
        for layout in (None, taeda.sparse_csr, taeda.sparse_csc):
            made = taeda.sparse.spdiags(taeda.from_numpy(d), taeda.tensor(offsets), shape, layout)
            assert made.layout == (layout or taeda.sparse_coo)
            assert np.array_equal(made.to_dense().numpy(), scipy.sparse.spdiags(d, offsets, *shape).toarray())
    for offsets in ([0, 0, 1], [0, 1]):
        with pytest.raises(RuntimeError):
            taeda.sparse.spdiags(taeda.from_numpy(d), taeda.tensor(offsets), (3, 3))


def test_masks():
    x, mask = taeda.randn(4, 6), matrix()
    for layout in LAYOUTS:
        made = x.sparse_mask(to(mask, layout))
        assert made.layout == getattr(taeda, layout)
        taeda.testing.assert_close(made.to_dense(), x * (mask != 0))
        taeda.testing.assert_close(
            to(matrix(), layout).sparse_mask(to(mask, "sparse_coo")).to_dense().bool().sum() <= mask.bool().sum(),
            taeda.tensor(True),
        )
    with pytest.raises(RuntimeError):
        x.sparse_mask(mask)
    with pytest.raises(RuntimeError):
        x[:2].sparse_mask(mask.to_sparse())


def test_indices_from_the_end():
    x = taeda.arange(6.0).view(2, 3)
    for dim, index in ((0, [-1, 0, -2]), (1, [-3, 2])):
        got = x.to_sparse().index_select(dim, taeda.tensor(index))
        assert taeda.equal(got.to_dense(), x.index_select(dim, taeda.tensor(index) % x.shape[dim]))
    with pytest.raises(IndexError, match="from -3 to 2; got -4"):
        x.to_sparse().index_select(1, taeda.tensor([-4]))


def test_resized_as_another_keeps_the_dtype_of_its_indices():
    a = taeda.sparse_csr_tensor(taeda.tensor([0, 1], dtype=taeda.int32), taeda.tensor([0], dtype=taeda.int32), [1.0])
    a.resize_as_sparse_(taeda.eye(3).to_sparse_csr())
    assert a.shape == (3, 3) and a.crow_indices().dtype == a.col_indices().dtype == taeda.int32 and a._nnz() == 3


@pytest.mark.parametrize("layout", ["sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc"])
def test_a_compressed_transposed_is_a_view(layout):
    block = (2, 3) if "sparse_b" in layout else None
    x = matrix().to_sparse(layout=getattr(taeda, layout), blocksize=block)
    turned = x.t()
    back = turned.transpose(1, 0)
    for view in (turned, back, x.transpose(0, 0)):
        assert view._is_view() and view._base is x and view.values()._is_view()
    assert back.layout == x.layout and taeda.equal(back.to_dense(), x.to_dense())
    with taeda.no_grad():
        assert taeda.equal(x.t().to_dense(), x.to_dense().t())
    weight = x.detach().requires_grad_()
    (weight.t() @ taeda.ones(4, 2)).sum().backward()
    assert weight.grad.layout == x.layout


def test_likenesses_in_another_layout():
    hybrid = taeda.randn(2, 3, 4).to_sparse_csr(dense_dim=1)
    made = taeda.zeros_like(hybrid, layout=taeda.sparse_csc)
    assert made.layout == taeda.sparse_csc and made.dense_dim() == 1 and made.shape == (2, 3, 4)
    assert taeda.zeros_like(hybrid, layout=taeda.sparse_coo).dense_dim() == 1
    blocks = taeda.zeros_like(matrix().to_sparse_bsr((2, 3)), layout=taeda.sparse_bsc)
    assert blocks.values().shape == (0, 2, 3) and blocks.ccol_indices().tolist() == [0, 0, 0]
    with pytest.raises(RuntimeError):
        taeda.zeros_like(hybrid, layout=taeda.sparse_bsr)


def test_stored_elements_filled():
    x = matrix().to_sparse_csr()
    assert taeda.equal(taeda.fill(x, 2).values(), taeda.full_like(x.values(), 2))
    taeda.manual_seed(1)
    x.normal_(3, 0.1)
    assert (x.values() - 3).abs().max() < 1 and (x.to_dense() == 0).any()


def test_rows_of_a_sparse_table():
    table, index = matrix(), taeda.tensor([[3, 0], [1, 1]])
    made = taeda.nn.functional.embedding(index, table.to_sparse())
    assert made.is_sparse and taeda.equal(made.to_dense(), table[index])
