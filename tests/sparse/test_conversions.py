"""All layouts to all others, for drawn matrices, against what SciPy and NumPy make of them."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import taeda

LAYOUTS = ["sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc"]
DTYPES = [
    "float32",
    "float64",
    "float16",
    "bfloat16",
    "int8",
    "uint8",
    "int16",
    "int32",
    "int64",
    "bool",
    "complex64",
    "complex128",
]


def to(x, layout, block=(2, 3)):
    return x.to_sparse(layout=getattr(taeda, layout), **({"blocksize": block} if layout[7] == "b" else {}))


@st.composite
def matrices(draw):
    n, m = 2 * draw(st.integers(0, 4)), 3 * draw(st.integers(0, 3))
    density = draw(st.sampled_from([0.0, 0.1, 0.4, 1.0]))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    return rng.integers(-3, 4, (n, m)) * (rng.random((n, m)) < density)


@given(matrices(), st.sampled_from(LAYOUTS), st.sampled_from(LAYOUTS))
def test_there_and_on_and_back(dense, one, two):
    x = taeda.tensor(dense.tolist(), dtype=taeda.float64).reshape(dense.shape)
    first = to(x, one)
    second = to(first, two)
    assert (
        second.layout == getattr(taeda, two) and taeda.equal(first.to_dense(), x) and taeda.equal(second.to_dense(), x)
    )
    if "b" not in one[7:] + two[7:] and two != "sparse_coo":  # blocks keep zeros
        other = getattr(scipy.sparse, f"{two[7:]}_matrix")(dense)
        names = ("crow_indices", "col_indices") if two == "sparse_csr" else ("ccol_indices", "row_indices")
        for name, wanted in zip((*names, "values"), (other.indptr, other.indices, other.data), strict=True):
            assert getattr(second, name)().tolist() == wanted.tolist()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_dtype(layout, dtype):
    x = taeda.tensor([[0, 1, 0, 0, 2, 0], [0, 0, 0, 0, 0, 1]]).to(getattr(taeda, dtype))
    y = to(x, layout)
    assert y.dtype == x.dtype and taeda.equal(y.to_dense(), x)
    assert taeda.equal(y.clone().to_dense(), x) and taeda.equal(to(y, "sparse_coo").to_dense(), x)
    assert y.to(taeda.complex128).to_dense().tolist() == x.to(taeda.complex128).tolist()


@given(st.integers(1, 40), st.integers(0, 2**16), st.integers(1, 3), st.integers(0, 2))
def test_coalescing_sums_what_shares_a_place(count, seed, sparse, dense):
    rng = np.random.default_rng(seed)
    indices, values = rng.integers(0, 3, (sparse, count)), rng.integers(-4, 5, (count, *[2] * dense))
    x = taeda.sparse_coo_tensor(taeda.from_numpy(indices), taeda.from_numpy(values), (3,) * sparse + (2,) * dense)
    wanted = np.zeros((3,) * sparse + (2,) * dense, np.int64)
    np.add.at(wanted, tuple(indices), values)
    y = x.coalesce()
    keys = (np.array([9, 3, 1][3 - sparse :]) @ y.indices().numpy()).tolist()
    assert keys == sorted(set(keys)) and y.is_coalesced() and y.coalesce() is y
    assert (y.to_dense().numpy() == wanted).all() and (x.to_dense().numpy() == wanted).all()


def test_batches_and_dense_dimensions():
    x = taeda.tensor([[[0.0, 1], [2, 0]], [[3, 0], [0, 4]]])
    for layout in ("csr", "csc"):
        y = getattr(x, f"to_sparse_{layout}")()
        assert y.shape == (2, 2, 2) and y.values().shape == (2, 2) and taeda.equal(y.to_dense(), x)
        assert taeda.equal(y[1].to_dense(), x[1]) and taeda.equal(y.transpose(1, 2).to_dense(), x.mT)
    with pytest.raises(RuntimeError, match="same number of elements"):
        taeda.tensor([[[0.0, 1], [2, 0]], [[3, 5], [0, 4]]]).to_sparse_csr()
    blocks = taeda.randn(3, 4, 6).to_sparse_bsr((2, 3))
    assert blocks.values().shape == (3, 4, 2, 3)
    hybrid = taeda.randn(2, 3, 4).to_sparse_csr(dense_dim=1)
    assert hybrid.dense_dim() == 1 and hybrid.values().shape == (6, 4) and hybrid.to_dense().shape == (2, 3, 4)
    assert taeda.randn(2, 3, 4).to_sparse(1).sparse_dim() == 1


def test_what_cannot_be_converted_says_why():
    x = taeda.ones(4, 6)
    for call in (
        lambda: x.to_sparse_bsr((3, 3)),
        lambda: x.to_sparse_bsr((0, 2)),
        lambda: x[0].to_sparse_csr(),
        lambda: x.to_sparse(3),
        lambda: x.to_sparse(layout=taeda.sparse_bsr),
        lambda: x.to_sparse(1, layout=taeda.strided),
        lambda: x.to_sparse(1, layout=taeda.sparse_csr),
        lambda: taeda.ones(2, 2, 2).to_sparse().to_sparse_csr(),
        lambda: x.coalesce(),
        lambda: x.values(),
        lambda: x.to_sparse_csr(dense_dim=1),
    ):
        with pytest.raises(RuntimeError):
            call()


def test_scipy_both_ways():
    a = scipy.sparse.random(6, 5, 0.4, format="csr", random_state=0)
    x = taeda.sparse_csr_tensor(a.indptr, a.indices, a.data, a.shape)
    assert x.crow_indices().dtype == taeda.int32 and np.array_equal(x.to_dense().numpy(), a.toarray())
    back = scipy.sparse.csc_matrix(
        (
            x.to_sparse_csc().values().numpy(),
            x.to_sparse_csc().row_indices().numpy(),
            x.to_sparse_csc().ccol_indices().numpy(),
        ),
        x.shape,
    )
    assert (back != a).nnz == 0
    coo = a.tocoo()
    y = taeda.sparse_coo_tensor(np.stack([coo.row, coo.col]), coo.data, coo.shape)
    assert np.array_equal(y.to_dense().numpy(), a.toarray())


def test_indices_of_columns_are_contiguous():
    places = taeda.tensor([[0, 1], [1, 0]]).t()
    x = taeda.sparse_coo_tensor(places, [1.0, 2.0], (2, 2), is_coalesced=True).to_sparse_csr()
    assert x.col_indices().is_contiguous()
    taeda._validate_sparse_csr_tensor_args(x.crow_indices(), x.col_indices(), x.values(), x.shape)
