"""Helpers of sparse tensors that take dense ones."""

import pytest

import taeda


def test_a_sparse_product_by_name():
    a, b, c = (taeda.randn(3, 3, dtype=taeda.float64, requires_grad=True) for _ in range(3))
    product = taeda.ops.aten._sparse_addmm
    assert taeda.equal(product(a, b, c, beta=2, alpha=3), taeda.addmm(a, b, c, beta=2, alpha=3))
    assert taeda.autograd.gradcheck(lambda *abc: product(*abc, beta=2, alpha=3), (a, b, c))


def test_rows_by_number_and_by_beginning():
    numbers, begins = taeda.tensor([0, 0, 1, 3, 3]), taeda.tensor([0, 2, 3, 3, 5, 5])
    columns = taeda.tensor([1, 2, 0, 1, 3])
    to_csr, to_coo = taeda._convert_indices_from_coo_to_csr, taeda._convert_indices_from_csr_to_coo
    assert taeda.equal(to_csr(numbers, 5), begins) and to_csr(numbers[:0], 2).tolist() == [0, 0, 0]
    assert taeda.equal(to_coo(begins, columns), taeda.stack([numbers, columns]))
    assert taeda.equal(to_coo(begins, columns, transpose=True), taeda.stack([columns, numbers]))
    assert to_csr(numbers, 5, out_int32=True).dtype == to_coo(begins, columns, out_int32=True).dtype == taeda.int32
    for call in (
        lambda: to_csr(numbers[None], 5),
        lambda: to_csr(numbers, -2),
        lambda: to_csr(numbers, 2**63 - 1),
        lambda: to_coo(begins[:0], columns),
        lambda: to_coo(begins, begins[None]),
    ):
        with pytest.raises(RuntimeError, match="dimension|empty|rows"):
            call()


def test_dense_tensors():
    x = taeda.ones(2, 3, requires_grad=True)
    assert x.to_dense() is x and x.to_dense(taeda.float64).dtype == taeda.float64
    assert (x.sparse_dim(), x.dense_dim()) == (0, 2)
