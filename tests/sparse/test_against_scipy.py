"""Properties of sparse tensors that hypothesis looks for exceptions to, beside SciPy, in every layout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import taeda

hypothesis = pytest.importorskip("hypothesis")
scipy_sparse = pytest.importorskip("scipy.sparse")
from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

LAYOUTS = ("sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc")
FEW = settings(max_examples=40, deadline=None, derandomize=True, database=None)


@st.composite
def matrices(draw: Any, rows: int | None = None, columns: int | None = None) -> Any:
    """A matrix of SciPy's in which indices repeat, rows are empty, and zeros are stored."""
    m = draw(st.integers(1, 6)) if rows is None else rows
    n = draw(st.integers(1, 6)) if columns is None else columns
    count = draw(st.integers(0, 12))
    at = draw(st.lists(st.tuples(st.integers(0, m - 1), st.integers(0, n - 1)), min_size=count, max_size=count))
    values = draw(st.lists(st.integers(-4, 4), min_size=count, max_size=count))
    i, j = (np.array([place[d] for place in at], dtype=np.int64) for d in (0, 1))
    return scipy_sparse.coo_matrix((np.array(values, dtype=np.float64), (i, j)), (m, n))


def blocks_of(size: int) -> int:
    return max(d for d in range(1, size + 1) if size % d == 0 and d <= 3)


def ours(a: Any, layout: str) -> taeda.Tensor:
    """The tensor of a layout with the numbers of a matrix of SciPy's."""
    x = taeda.sparse_coo_tensor(taeda.tensor(np.stack([a.row, a.col])), taeda.tensor(a.data), a.shape)
    block = {"blocksize": tuple(map(blocks_of, a.shape))} if layout in ("sparse_bsr", "sparse_bsc") else {}
    return x if layout == "sparse_coo" else x.to_sparse(layout=getattr(taeda, layout), **block)


def same(x: Any, wanted: Any) -> None:
    dense = x.to_dense() if isinstance(x, taeda.Tensor) and x.layout != taeda.strided else x
    np.testing.assert_array_equal(np.asarray(dense), wanted.toarray() if scipy_sparse.issparse(wanted) else wanted)


@pytest.mark.parametrize("layout", LAYOUTS)
@FEW
@given(a=matrices(), to=st.sampled_from(LAYOUTS))
def test_conversions_keep_the_numbers(layout: str, a: Any, to: str) -> None:
    x = ours(a, layout)
    same(x, a)
    block = {"blocksize": tuple(map(blocks_of, a.shape))} if to in ("sparse_bsr", "sparse_bsc") else {}
    y = x.to_sparse(layout=getattr(taeda, to), **block)
    assert y.layout == getattr(taeda, to)
    same(y, a)
    same(y.t(), a.T)
    same(x.transpose(0, 1).to_dense(), a.T)


def test_parts_are_scipys() -> None:
    a = scipy_sparse.random(7, 5, 0.4, random_state=0)
    for layout, theirs in (("sparse_csr", a.tocsr()), ("sparse_csc", a.tocsc())):
        x = ours(a, layout)
        pointers, plain = (
            (x.crow_indices(), x.col_indices()) if layout == "sparse_csr" else (x.ccol_indices(), x.row_indices())
        )
        theirs.sort_indices()
        assert pointers.tolist() == theirs.indptr.tolist() and plain.tolist() == theirs.indices.tolist()
        assert x.values().tolist() == theirs.data.tolist()


@pytest.mark.parametrize("layout", LAYOUTS)
@FEW
@given(data=st.data(), other=st.sampled_from(LAYOUTS))
def test_products(layout: str, data: Any, other: str) -> None:
    a = data.draw(matrices())
    b = data.draw(matrices(rows=a.shape[1]))
    x, dense = ours(a, layout), b.toarray()
    same(x @ taeda.tensor(dense), a @ dense)
    same(taeda.tensor(a.toarray()) @ ours(b, other), a @ b)
    same(x @ taeda.tensor(dense[:, 0]), a @ dense[:, 0])
    same(x @ ours(b, other), a @ b)


@pytest.mark.parametrize("layout", LAYOUTS)
@FEW
@given(data=st.data())
def test_sums_and_pointwise_ops(layout: str, data: Any) -> None:
    a = data.draw(matrices())
    b = data.draw(matrices(*a.shape))
    x, y = ours(a, layout), ours(b, layout)
    same(x + y, a + b)
    same(x - y, a - b)
    same(x * y, a.multiply(b))
    same(x * 3, a * 3)
    same(-x, -a)
    same(x.abs(), abs(a))
    same(x.sum(), np.asarray(a.sum()))
    for dim in (0, 1):
        same(taeda.sparse.sum(x.to_sparse_coo(), dim), np.asarray(a.sum(dim)).reshape(-1))


@pytest.mark.parametrize("layout", ("sparse_coo", "sparse_csr", "sparse_csc"))
@FEW
@given(data=st.data())
def test_choosing(layout: str, data: Any) -> None:
    a = data.draw(matrices())
    x, rows = ours(a, layout), a.tocsr()
    at = data.draw(st.lists(st.integers(0, a.shape[0] - 1), min_size=1, max_size=4))
    first = data.draw(st.integers(0, a.shape[0] - 1))
    same(x.index_select(0, taeda.tensor(at)), rows[at])
    same(x[first], rows[[first]].toarray()[0])
    same(taeda.cat([x, x], 0), scipy_sparse.vstack([a, a]))


def differences(f: Callable[[Any], Any], values: Any) -> Any:
    """The gradient of a function that is at most quadratic, by central differences."""
    steps = np.eye(len(values))
    return np.array([(f(values + step) - f(values - step)) / 2 for step in steps])


@pytest.mark.parametrize("layout", LAYOUTS)
@settings(FEW, max_examples=15)
@given(data=st.data())
def test_gradients_of_products_are_those_of_scipys(layout: str, data: Any) -> None:
    a = data.draw(matrices()).tocsr()
    a.sum_duplicates()
    a = a.tocoo()
    b = data.draw(matrices(rows=a.shape[1])).toarray()

    def loss(values: Any) -> float:
        return float(((scipy_sparse.coo_matrix((values, (a.row, a.col)), a.shape) @ b) ** 2).sum())

    values = taeda.tensor(a.data, requires_grad=True)
    at = taeda.tensor(np.stack([a.row, a.col]))
    x = taeda.sparse_coo_tensor(at, values, a.shape)
    if layout != "sparse_coo":
        block = {"blocksize": tuple(map(blocks_of, a.shape))} if "_bs" in layout else {}
        x = x.to_sparse(layout=getattr(taeda, layout), **block)
    (x @ taeda.tensor(b)).square().sum().backward()
    wanted = differences(loss, a.data) if len(a.data) else np.zeros(0)
    gradient = np.zeros(0) if values.grad is None else values.grad.numpy()
    np.testing.assert_allclose(gradient, wanted, rtol=1e-9, atol=1e-9)
