"""Constructors: what they infer, and that nothing which breaks an invariant comes through."""

import itertools

import pytest

import taeda

I, V = [[0, 1, 1], [2, 0, 2]], [3.0, 4.0, 5.0]
COMPRESSED = {
    "csr": taeda.sparse_csr_tensor,
    "csc": taeda.sparse_csc_tensor,
    "bsr": taeda.sparse_bsr_tensor,
    "bsc": taeda.sparse_bsc_tensor,
}


class Endless:
    """A sequence that has an item at every place."""

    def __getitem__(self, place):
        return 1


def test_coordinates_know_what_they_are_made_of():
    x = taeda.sparse_coo_tensor(I, V)
    assert (x.shape, x._nnz(), x.sparse_dim(), x.dense_dim()) == ((2, 3), 3, 2, 0)
    assert x.is_sparse and not x.is_sparse_csr and x.layout == taeda.sparse_coo and not x.is_coalesced()
    assert x.to_dense().tolist() == [[0, 0, 3], [4, 0, 5]]
    for x in (taeda.sparse_coo_tensor((2, 3)), taeda.sparse_coo_tensor(size=(2, 3))):
        assert x.to_dense().tolist() == [[0] * 3] * 2
    for size in (3, "ab", Endless()):
        for parts in ((None, None), (I, V)):
            with pytest.raises(TypeError, match="size must be a tuple"):
                taeda.sparse_coo_tensor(*parts, size)
    with pytest.raises(TypeError, match="takes indices and values"):
        taeda.sparse_coo_tensor()
    with pytest.raises(TypeError, match="takes indices and values"):
        taeda.sparse_coo_tensor(values=V, size=(2, 3))
    hybrid = taeda.sparse_coo_tensor([[1, 1]], [[1.0, 2], [3, 4]], (2, 2), dtype=taeda.float64)
    assert (hybrid.sparse_dim(), hybrid.dense_dim(), hybrid.dtype) == (1, 1, taeda.float64)
    assert hybrid.coalesce().values().tolist() == [[4, 6]] and hybrid.coalesce().indices().tolist() == [[1]]


@pytest.mark.parametrize(
    "indices, values, size",
    [
        ([[0, 2]], [1.0, 2], (2,)),
        ([[0, -1]], [1.0, 2], (2,)),
        ([[0, 1]], [1.0], (2,)),
        ([[0, 1]], [1.0, 2], (2, 2)),
        (taeda.tensor([[0.5]]), [1.0], (2,)),
        ([[0]], [[1.0, 2]], (1, 3)),
        ([[[0]]], [1.0], (1,)),
        ([[0]], [1.0], (-1,)),
        ([[0], [2**62]], [1.0], (2**40, 2**40)),
    ],
)
def test_coordinates_that_do_not_fit_raise(indices, values, size):
    with pytest.raises(RuntimeError):
        taeda.sparse_coo_tensor(indices, values, size)


def test_indices_that_are_said_to_be_coalesced_must_rise():
    assert taeda.sparse_coo_tensor(I, V, is_coalesced=True).is_coalesced()
    for indices in ([[0, 0]], [[1, 0]]):
        with pytest.raises(RuntimeError, match="rise"):
            taeda.sparse_coo_tensor(indices, [1.0, 2], (2,), is_coalesced=True, check_invariants=True)
        with taeda.sparse.check_sparse_tensor_invariants(), pytest.raises(RuntimeError, match="rise"):
            taeda.sparse_coo_tensor(indices, [1.0, 2], (2,), is_coalesced=True)
        assert taeda.sparse_coo_tensor(indices, [1.0, 2], (2,), is_coalesced=True).is_coalesced()


def test_products_do_not_rely_on_the_order_that_a_program_claims():
    claimed = taeda.sparse_coo_tensor([[2, 0, 1], [0, 1, 1]], [1.0, 2, 3], (3, 2), is_coalesced=True)
    x = taeda.tensor([[1.0, 2], [3, 4]])
    assert taeda.equal(claimed @ x, claimed.to_dense() @ x) and taeda.equal(claimed @ x[0], claimed.to_dense() @ x[0])


@pytest.mark.parametrize(
    "pointers, plain, values, size",
    [
        ([0, 2, 1], [0, 1], [1.0, 2], (2, 2)),  # falls
        ([1, 1, 2], [0, 1], [1.0, 2], (2, 2)),  # begins late
        ([0, 1, 1], [0, 1], [1.0, 2], (2, 2)),  # ends early
        ([0, 1, 2], [0, 2], [1.0, 2], (2, 2)),  # outside
        ([0, 1, 2], [0, -1], [1.0, 2], (2, 2)),
        ([0, 1, 2], [0, 1], [1.0], (2, 2)),
        ([0, 1, 2], [0, 1], [1.0, 2], (3, 3)),
        ([0, 1, 2], [0, 1], [1.0, 2], (2,)),
        ([[0, 1, 2]], [0, 1], [1.0, 2], (2, 2)),
        ([0.0, 1, 2], taeda.tensor([0.5, 1]), [1.0, 2], (2, 2)),
    ],
)
@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_compressed_indices_that_do_not_fit_raise(kind, pointers, plain, values, size):
    with pytest.raises(RuntimeError):
        COMPRESSED[kind](pointers, plain, values, size)


@pytest.mark.parametrize(
    "pointers, plain, values, total",
    [
        ([0, 2, 2], [1, 0], [1.0, 2], [[2, 1], [0, 0]]),
        ([0, 2, 2], [0, 0], [1.0, 2], [[3, 0], [0, 0]]),  # twice
        ([0, 3, 5], [0, 1, 1, 1, 0], [1.0, 2, 3, 4, 5], [[1, 5], [5, 4]]),  # more than there is room for
    ],
)
@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_lines_out_of_order_are_put_in_order_and_summed(kind, pointers, plain, values, total):
    """As edges of a graph come; where invariants are checked they are an error."""
    v = taeda.tensor(values, requires_grad=True)
    x = COMPRESSED[kind](pointers, plain, v, (2, 2))
    dense = x.to_dense() if kind == "csr" else x.to_dense().T
    assert dense.tolist() == total and (x + x).to_dense().tolist() == (2 * x.to_dense()).tolist()
    (x.to_dense() * taeda.tensor([[1.0, 2], [3, 4]])).sum().backward()
    rows = [r for r, (a, b) in enumerate(itertools.pairwise(pointers)) for _ in range(a, b)]
    place = [(r, c) if kind == "csr" else (c, r) for r, c in zip(rows, plain, strict=True)]
    assert v.grad.tolist() == [1 + 2 * r + c for r, c in place]
    for asked in ({"check_invariants": True}, {}):
        with taeda.sparse.check_sparse_tensor_invariants(not asked), pytest.raises(RuntimeError, match="must rise"):
            COMPRESSED[kind](pointers, plain, values, (2, 2), **asked)


def test_blocks_out_of_order():
    values = taeda.arange(12.0).reshape(3, 2, 2)
    x = taeda.sparse_bsr_tensor(*(taeda.tensor(i, dtype=taeda.int32) for i in ([0, 3], [1, 0, 1])), values, (2, 4))
    assert x.to_dense().tolist() == [[4, 5, 8, 10], [6, 7, 12, 14]] and x.col_indices().dtype == taeda.int32
    with pytest.raises(RuntimeError, match="must rise"):
        taeda.sparse_csr_tensor([[0, 2], [0, 2]], [[0, 1], [1, 0]], [[1.0, 2], [3, 4]], (2, 1, 2))


@pytest.mark.parametrize("kind", COMPRESSED)
def test_compressed_layouts(kind):
    values = [[[1.0, 2]], [[3.0, 4]]] if kind[0] == "b" else [1.0, 2]
    x = COMPRESSED[kind]([0, 1, 2], [1, 0], values)
    assert x.layout == getattr(taeda, f"sparse_{kind}") and x._nnz() == 2 and not x.is_sparse
    assert x.is_sparse_csr == (kind == "csr")
    by_rows = kind in ("csr", "bsr")
    first, second = ("crow_indices", "col_indices") if by_rows else ("ccol_indices", "row_indices")
    assert getattr(x, first)().tolist() == [0, 1, 2] and getattr(x, second)().tolist() == [1, 0]
    with pytest.raises(RuntimeError, match="is for tensors of layout"):
        x.ccol_indices() if by_rows else x.crow_indices()
    with pytest.raises(RuntimeError):
        x.indices()
    if kind == "csr":
        assert x.to_dense().tolist() == [[0, 1], [2, 0]]
    if kind == "bsr":
        assert x.to_dense().tolist() == [[0, 0, 1, 2], [3, 4, 0, 0]]
    if kind == "bsc":
        assert x.to_dense().tolist() == [[0, 0, 3, 4], [1, 2, 0, 0]]
    with pytest.raises(RuntimeError, match="blocks|values"):
        COMPRESSED["bsr"]([0, 1], [0], [[[1.0, 2]]], (1, 3))


def test_unchecked_indices_raise_where_they_are_used():
    """Nobody reads outside of memory, whatever a program claims."""
    bad = [
        taeda.sparse_coo_tensor([[5, 0], [0, 9]], [1.0, 2], (2, 2), check_invariants=False),
        taeda.sparse_coo_tensor([[-5, 0], [0, 1]], [1.0, 2], (2, 2), check_invariants=False),
        taeda.sparse_csr_tensor([0, 1, 2], [7, 0], [1.0, 2], (2, 2), check_invariants=False),
        taeda.sparse_csr_tensor([0, 9, 2], [1, 0], [1.0, 2], (2, 2), check_invariants=False),
        taeda.sparse_csc_tensor([0, -3, 2], [1, 0], [1.0, 2], (2, 2), check_invariants=False),
        taeda.sparse_csc_tensor([0, 2**63 - 1, -2, 2], [1, 0], [1.0, 2], (2, 3), check_invariants=False),
        taeda.sparse_csc_tensor([0, 1, 2], [1, -8], [1.0, 2], (2, 2), check_invariants=False),
        taeda.sparse_bsr_tensor([0, 1, 2], [1, 50], [[[1.0]], [[2.0]]], (2, 2), check_invariants=False),
    ]
    dense = taeda.ones(2, 2)
    calls = [
        lambda x: x.to_dense(),
        lambda x: x @ dense,
        lambda x: dense @ x,
        lambda x: x @ x,
        lambda x: x.sparse_mask(x) * dense,
        lambda x: dense + x,
        lambda x: dense.clone().add_(x),
        lambda x: (x + x).to_dense(),
        lambda x: x * dense,
        lambda x: x.to_sparse_csr().to_dense(),
        lambda x: taeda.sparse.softmax(x, 1).to_dense(),
        lambda x: x.index_select(0, taeda.tensor([0, 1])).to_dense(),
        lambda x: taeda.sparse.sampled_addmm(x, dense, dense).to_dense(),
        lambda x: taeda.sparse.mm(x, dense, "amax"),
        lambda x: taeda.sparse.spsolve(x, dense),
    ]
    for x in bad:
        for call in calls:
            try:
                result = call(x)
            except (RuntimeError, IndexError):
                continue
            assert result.to_dense().numel() == 4  # pragma: no cover
    x = taeda.sparse_csr_tensor([0, 1, 2], [1, 0], [1.0, 2], (2, 2))
    x.col_indices()[0] = 1000  # after the check
    for call in (lambda: x @ dense, lambda: x.to_dense(), lambda: x @ x):
        with pytest.raises(RuntimeError):
            call()


def test_what_shares_a_place_unchecked_is_summed() -> None:
    values = taeda.tensor([1.0, 2, 4], requires_grad=True)
    x = taeda.sparse_csr_tensor([0, 3, 3], [1, 0, 1], values, (2, 2), check_invariants=False)
    assert x.to_dense().tolist() == (x @ taeda.eye(2)).tolist() == [[2, 5], [0, 0]]
    x.to_dense()[0, 1].backward()
    assert values.grad is not None and values.grad.tolist() == [1, 0, 1]
    for dtype in (taeda.bool, taeda.uint8, taeda.bfloat16, taeda.complex64):
        lines = taeda.tensor([[1, 0], [0, 1], [1, 1]]).to(dtype)
        x = taeda.sparse_csr_tensor([0, 3, 3], [1, 0, 1], lines, (2, 2, 2), check_invariants=False)
        assert x.to_dense().equal(taeda.tensor([[[0, 1], [2, 1]], [[0, 0], [0, 0]]]).to(dtype))


@pytest.mark.parametrize("wrong", [20, -1, 2**32 + 1, 1 - 2**32, -(2**63)])
@pytest.mark.parametrize("place", [0, 7, 8, 19])
def test_one_wrong_index_of_a_long_row_is_found(wrong, place):
    columns = taeda.arange(20)
    columns[place] = wrong
    x = taeda.sparse_csr_tensor([0, 20], columns, [1.0] * 20, (1, 20), check_invariants=False)
    for call in (lambda: x @ taeda.ones(20, 1), lambda: x @ taeda.ones(20, 3), lambda: x.to_dense()):
        with pytest.raises(RuntimeError, match=f"got {wrong}$"):
            call()


def test_the_switch_that_programs_ask(monkeypatch):
    monkeypatch.setattr(taeda.sparse.check_sparse_tensor_invariants, "_enabled", None)
    switch = taeda.sparse.check_sparse_tensor_invariants
    assert not switch.is_enabled()
    with switch():
        assert switch.is_enabled()
        with switch(False):
            assert not switch.is_enabled()
    assert not switch.is_enabled()
    switch.enable()
    assert switch.is_enabled()
    switch.disable()
    assert switch(True)(switch.is_enabled)() and not switch.is_enabled()


@pytest.mark.parametrize("layout", ["sparse_coo", "sparse_csr", "sparse_csc"])
def test_factories_take_layouts(layout):
    kind = getattr(taeda, layout)
    for x in (taeda.zeros(2, 3, layout=kind), taeda.empty(2, 3, layout=kind)):
        assert x.layout == kind and x.shape == (2, 3) and x._nnz() == 0
    x = taeda.eye(3).to_sparse(layout=kind)
    assert taeda.zeros_like(x)._nnz() == 0 and taeda.zeros_like(x).layout == kind
    assert taeda.zeros_like(x, layout=taeda.strided).shape == (3, 3) and x.new_zeros((2, 2)).layout == kind
    if layout == "sparse_coo":
        with pytest.raises(NotImplementedError, match="not sparse"):
            taeda.ones_like(x)
    else:
        assert taeda.full_like(x, 7).to_dense().tolist() == (7 * taeda.eye(3)).tolist()
        taeda.manual_seed(0)
        assert taeda.randn_like(x).values().tolist() == taeda.randn(3, generator=taeda.manual_seed(0)).tolist()
    with pytest.raises(NotImplementedError):
        taeda.ones(2, 3, layout=kind)


def test_sizes_in_place():
    x = taeda.sparse_coo_tensor(I, V)
    assert x.sparse_resize_((4, 5), 2, 0) is x and x.shape == (4, 5) and x._nnz() == 3
    with pytest.raises(RuntimeError, match="fit"):
        x.sparse_resize_((1, 5), 2, 0)
    assert x.sparse_resize_and_clear_((3, 2, 2), 1, 2)._nnz() == 0 and x.dense_dim() == 2
    assert taeda.sparse_coo_tensor((1, 1)).resize_as_sparse_(taeda.sparse_coo_tensor(I, V)).shape == (2, 3)
    y = taeda.eye(3).to_sparse_csr()
    assert y.resize_((2, 4)).to_dense().tolist() == [[1, 0, 0, 0], [0, 1, 0, 0]]


def test_semi_structured_is_refused_clearly():
    for call in (
        lambda: taeda.sparse.to_sparse_semi_structured(taeda.ones(4, 4)),
        lambda: taeda.sparse.SparseSemiStructuredTensor.from_dense(taeda.ones(4, 4)),
    ):
        with pytest.raises(NotImplementedError, match="CUDA"):
            call()


@pytest.mark.parametrize(
    ("layout", "block", "lines"),
    [("sparse_csr", (), 5), ("sparse_csc", (), 7), ("sparse_bsr", (2, 3), 3), ("sparse_bsc", (2, 3), 3)],
)
def test_compressed_of_so_many_elements(layout, block, lines):
    x = taeda.ops.aten._sparse_compressed_tensor_with_dims(
        0, 1, (2, 4, 6, 5), block, taeda.int32, dtype=taeda.float64, layout=getattr(taeda, layout)
    )
    pointers = x.crow_indices() if "sr" in layout else x.ccol_indices()
    assert pointers.shape == (2, lines) and pointers.dtype == taeda.int32
    assert x.values().shape == (2, 0, *block, 5) and x.dtype == taeda.float64


@pytest.mark.parametrize("convert", [lambda x: x.to_sparse(), lambda x: x.to_sparse_csr(), lambda x: x.to_sparse_csc()])
def test_zeros_into_a_sparse_tensor(convert):
    for make in (taeda.zeros, taeda.empty):
        out = convert(taeda.ones(2, 2, dtype=taeda.float64))
        layout = out.layout
        assert make(2, 3, out=out, device="cpu") is out
        assert (out.layout, out.shape, out.dtype, out._nnz()) == (layout, (2, 3), taeda.float64, 0)
        with pytest.raises(RuntimeError, match="got dtype=torch.int32"):
            make(2, 3, out=out, dtype=taeda.int32)


def test_checks_can_be_left_out(monkeypatch):
    checks = taeda.sparse.check_sparse_tensor_invariants
    monkeypatch.setattr(checks, "_enabled", None)
    with checks(enable=False):
        assert not checks.is_enabled()
        assert taeda.sparse_coo_tensor([[5]], [1.0], (2,))._nnz() == 1
        with checks(), pytest.raises(RuntimeError, match="does not fit"):
            taeda.sparse_coo_tensor([[5]], [1.0], (2,))
    with pytest.raises(RuntimeError, match="does not fit"):
        taeda.sparse_coo_tensor([[5]], [1.0], (2,))
    again = checks()
    with again, pytest.raises(RuntimeError, match="entered"), again:
        pass
