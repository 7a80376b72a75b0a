"""Products of all layouts against SciPy, whatever the number of threads."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import taeda

LAYOUTS = ["sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc"]
DTYPES = ["float32", "float64", "float16", "bfloat16", "int8", "int32", "int64", "complex64", "complex128"]


def to(x, layout, block=(2, 3)):
    return x.to_sparse(layout=getattr(taeda, layout), **({"blocksize": block} if layout[7] == "b" else {}))


def drawn(seed, n, m, density=0.3):
    rng = np.random.default_rng(seed)
    return rng.integers(-4, 5, (n, m)).astype(np.float64) * (rng.random((n, m)) < density)


def near(made, wanted, **tolerance):
    taeda.testing.assert_close(made.to_dense(), taeda.as_tensor(wanted), check_dtype=False, **tolerance)


@given(st.integers(0, 4), st.integers(0, 4), st.integers(0, 70), st.sampled_from(LAYOUTS), st.integers(0, 999))
def test_with_dense(n, m, k, layout, seed):
    a, b, c = drawn(seed, 2 * n, 3 * m), drawn(seed + 1, 3 * m, k), drawn(seed + 2, k, 2 * n)
    x, y, z = (taeda.from_numpy(t) for t in (a, b, c))
    s = to(x, layout)
    near(s @ y, a @ b)
    near(z @ s, c @ a)
    near(taeda.addmm(taeda.ones(2 * n, k, dtype=taeda.float64), s, y, beta=2, alpha=3), 2 + 3 * (a @ b))
    near(s.t() @ z.t(), a.T @ c.T)


@given(
    st.integers(0, 5),
    st.integers(0, 5),
    st.integers(0, 5),
    st.sampled_from(LAYOUTS),
    st.sampled_from(LAYOUTS),
    st.integers(0, 999),
)
def test_sparse_with_sparse(n, m, k, one, two, seed):
    a, b = drawn(seed, 2 * n, 6 * m), drawn(seed + 1, 6 * m, 6 * k)
    x, y = to(taeda.from_numpy(a), one), to(taeda.from_numpy(b), two)
    made = x @ y
    assert made.layout == (taeda.sparse_csr if one == "sparse_csc" else x.layout)  # as PyTorch's
    near(made, a @ b)
    if "b" not in one[7:] + two[7:]:  # blocks keep zeros
        assert made._nnz() == np.count_nonzero(abs(a) @ abs(b))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_dtypes(layout, dtype):
    a, b = drawn(0, 4, 6, 0.5), drawn(1, 6, 5, 0.7)
    x, y = (taeda.from_numpy(t).to(getattr(taeda, dtype)) for t in (a, b))
    assert (to(x, layout) @ y).dtype == x.dtype
    near(to(x, layout) @ y, (a @ b).astype(np.complex128 if "complex" in dtype else np.float64), rtol=1e-2, atol=1e-2)
    near(
        to(x, layout) @ to(y.t().contiguous(), "sparse_csr").t(),
        (a @ b).astype(np.complex128 if "complex" in dtype else np.float64),
        rtol=1e-2,
        atol=1e-2,
    )


@pytest.mark.parametrize("width", [1, 3, 17, 64, 130])
def test_threads_change_nothing(width):
    x = taeda.randn(300, 300).relu().sub(1).relu().to_sparse_csr()
    dense = taeda.randn(300, width)
    results = []
    for threads in (1, 2):
        taeda.set_num_threads(threads)
        results.append(
            [x @ dense, x.t() @ dense, (x @ x).values(), taeda.sparse.sampled_addmm(x, dense, dense.t()).values()]
        )
    assert all(taeda.equal(a, b) for a, b in zip(*results, strict=True))
    near(x.to_dense() @ dense, results[0][0], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("reduce", ["sum", "mean", "amax", "amin"])
def test_reductions_other_than_sums(reduce):
    a, b = drawn(3, 5, 6, 0.5), drawn(4, 6, 3, 0.9)
    a[2] = 0
    x, y = taeda.from_numpy(a).to_sparse_csr(), taeda.from_numpy(b)
    wanted = np.zeros((5, 3))
    for i in range(5):
        rows = [a[i, j] * b[j] for j in np.flatnonzero(a[i])]
        if rows:
            wanted[i] = {"sum": np.sum, "mean": np.mean, "amax": np.max, "amin": np.min}[reduce](rows, axis=0)
    near(taeda.sparse.mm(x, y, reduce), wanted)
    with pytest.raises(RuntimeError, match="reduce"):
        taeda.sparse.mm(x, y, "median")


def test_all_the_other_names():
    a, b = drawn(5, 4, 6), drawn(6, 6, 5)
    x, y = taeda.from_numpy(a).to_sparse(), taeda.from_numpy(b)
    base = taeda.from_numpy(drawn(7, 4, 5))
    wanted = a @ b
    for made in (
        taeda.sparse.mm(x, y),
        taeda.spmm(x, y),
        taeda.dsmm(x, y),
        taeda.hspmm(x, y),
        taeda.smm(x, y),
        x.smm(y),
        x.matmul(y),
        taeda.mm(x, y),
        taeda.stack([x @ y[:, i] for i in range(5)], 1),
        taeda.stack([taeda.mv(x, y[:, i]) for i in range(5)], 1),
    ):
        near(made, wanted)
    assert taeda.smm(x, y).is_sparse and taeda.hspmm(x, y).sparse_dim() == 1
    near(taeda.sspaddmm(base.to_sparse(), x, y, beta=2, alpha=3), 2 * base.numpy() + 3 * wanted)
    near(taeda.saddmm(base.to_sparse(), x, y, beta=2, alpha=3), 2 * base.numpy() + 3 * wanted)
    near(taeda.sparse.addmm(base, x, y), base.numpy() + wanted)
    near(taeda.addmv(base[:, 0], x, y[:, 0]), base.numpy()[:, 0] + wanted[:, 0])
    near(taeda.nn.functional.linear(y.t(), x), wanted.T)
    near(x @ taeda.from_numpy(np.stack([b, 2 * b])), np.stack([wanted, 2 * wanted]))


def test_batches():
    a, b = np.stack([drawn(i, 4, 6) for i in range(3)]), np.stack([drawn(9 + i, 6, 5) for i in range(3)])
    x, y = taeda.from_numpy(a).to_sparse(), taeda.from_numpy(b)
    near(taeda.bmm(x, y), a @ b)
    near(taeda.bmm(y.mT, x.transpose(1, 2)), b.transpose(0, 2, 1) @ a.transpose(0, 2, 1))
    near(taeda.bmm(x, y.to_sparse()), a @ b)
    near(taeda.baddbmm(taeda.ones(3, 4, 5, dtype=taeda.float64), x, y), 1 + a @ b)
    near(x @ y, a @ b)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_sampled(layout):
    a = drawn(1, 4, 6, 0.5)
    x, y, z = (
        to(taeda.from_numpy(a), layout),
        taeda.from_numpy(drawn(2, 4, 20, 1)),
        taeda.from_numpy(drawn(3, 20, 6, 1)),
    )
    made = taeda.sparse.sampled_addmm(x, y, z, beta=2, alpha=3)
    marks = to(taeda.ones(4, 6), layout) if "b" in layout[7] else None
    pattern = x.to_dense() != 0 if marks is None else made.to_dense() != 0
    assert made.layout == x.layout
    near(made.to_dense() * pattern, (2 * a + 3 * (y @ z).numpy()) * pattern.numpy())


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize("unit", [False, True])
def test_triangles(upper, transpose, unit):
    a = drawn(8, 6, 6, 0.5) + 9 * np.eye(6)
    b = drawn(9, 6, 2, 1)
    x = taeda.triangular_solve(taeda.from_numpy(b), taeda.from_numpy(a).to_sparse_csr(), upper, transpose, unit)[0]
    triangle = np.triu(a) if upper else np.tril(a)
    if unit:
        triangle = triangle - np.diag(np.diag(triangle)) + np.eye(6)
    near(taeda.from_numpy((triangle.T if transpose else triangle) @ x.numpy()), b)


@given(st.integers(1, 12), st.sampled_from(LAYOUTS[:3]), st.integers(0, 9999))
def test_equations(n, layout, seed):
    a = drawn(seed, n, n, 0.4) + np.diag(np.random.default_rng(seed).permutation(n) + 5.5)
    a = a[np.random.default_rng(seed).permutation(n)]  # so that pivots must be looked for
    b = drawn(seed + 1, n, 2, 1)
    if abs(np.linalg.det(a)) < 1e-3:
        return
    x = taeda.sparse.spsolve(to(taeda.from_numpy(a), layout), taeda.from_numpy(b))
    np.testing.assert_allclose(x.numpy(), np.linalg.solve(a, b), rtol=1e-6, atol=1e-8)


def test_equations_that_have_no_solution():
    with pytest.raises(RuntimeError, match="singular"):
        taeda.sparse.spsolve(taeda.tensor([[1.0, 2], [2, 4]]).to_sparse_csr(), taeda.ones(2))
    with pytest.raises(RuntimeError, match="square"):
        taeda.sparse.spsolve(taeda.ones(2, 3).to_sparse_csr(), taeda.ones(2))


def test_shapes_and_dtypes_that_do_not_fit():
    x = taeda.eye(3).to_sparse()
    for call in (
        lambda: x @ taeda.ones(2, 3),
        lambda: x @ taeda.ones(3, 3).double(),
        lambda: x @ taeda.ones(2, 3).to_sparse(),
        lambda: taeda.bmm(x.unsqueeze(0), taeda.ones(2, 3, 3)),
        lambda: taeda.mv(x, taeda.ones(2)),
        lambda: taeda.addmm(x, x, taeda.ones(3, 3)),
        lambda: x.bool() @ taeda.ones(3, 3).bool(),
        lambda: taeda.sparse.sampled_addmm(x, taeda.ones(3, 2), taeda.ones(3, 3)),
    ):
        with pytest.raises(RuntimeError):
            call()


def test_vectors_and_batches():
    v, batch = taeda.tensor([0.0, 2, 3]), taeda.randn(2, 3, 4)
    taeda.testing.assert_close(v.to_sparse() @ batch, v @ batch)
    rows = taeda.randn(2, 4, 3) * (taeda.rand(2, 4, 3) > 0.5)
    taeda.testing.assert_close(rows.to_sparse() @ v, rows @ v)


def test_addition_keeps_the_layout_of_what_is_added_to():
    x = taeda.randn(3, 3)
    for layout in ("sparse_csr", "sparse_csc", "sparse_coo"):
        total = x.to_sparse(layout=getattr(taeda, layout))
        for beta in (0, 2):
            made = taeda.addmm(total, x.to_sparse_csc(), x.to_sparse_csr(), beta=beta)
            assert made.layout == total.layout
            taeda.testing.assert_close(made.to_dense(), beta * x + x @ x)


def test_a_triangle_without_elements_solves_nothing():
    x = taeda.triangular_solve(taeda.ones(2, 1), taeda.zeros(2, 2).to_sparse_csr()).solution
    assert x.isnan().all()


def test_halves_of_complex_numbers():
    x = taeda.sparse_csc_tensor([0, 1, 2], [0, 0], taeda.tensor([1 + 1j, 2j]).to(taeda.complex32), (1, 2))
    assert x.to_dense().dtype == taeda.complex32 and x.to_dense().to(taeda.complex64).tolist() == [[1 + 1j, 2j]]
