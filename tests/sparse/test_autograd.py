"""Gradients: by finite differences over the stored values, with the pattern of what they belong to."""

import pytest

import taeda
from taeda import sparse

LAYOUTS = ["sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc"]
check = sparse.as_sparse_gradcheck(taeda.autograd.gradcheck)


def to(x, layout, block=(2, 3)):
    return x.to_sparse(layout=getattr(taeda, layout), **({"blocksize": block} if layout[7] == "b" else {}))


def matrix(layout="sparse_coo", n=4, m=6, requires_grad=True):
    x = taeda.randn(n, m, dtype=taeda.float64)
    return to(taeda.where(x.abs() > 0.7, x, 0), layout).requires_grad_(requires_grad)


FUNCTIONS = {
    "to_dense": lambda x: x.to_dense(),
    "mm": lambda x: x @ taeda.arange(18, dtype=x.dtype).reshape(6, 3),
    "rmm": lambda x: taeda.arange(8, dtype=x.dtype).reshape(2, 4) @ x,
    "matmul": lambda x: x @ x.t(),
    "mean": lambda x: sparse.mm(x, taeda.arange(18, dtype=x.dtype).reshape(6, 3), "mean"),
    "amax": lambda x: sparse.mm(x, taeda.arange(18, dtype=x.dtype).reshape(6, 3).sin(), "amax"),
    "sampled_addmm": lambda x: sparse.sampled_addmm(
        x, taeda.ones(4, 2, dtype=x.dtype), taeda.ones(2, 6, dtype=x.dtype), beta=2
    ),
    "transpose": lambda x: x.t(),
    "sin": taeda.sin,
    "neg": taeda.neg,
    "pow": lambda x: x**2,
    "scaled": lambda x: 3 * x / 2,
    "add": lambda x: x + 2 * x,
    "add_other": lambda x: x + taeda.eye(4, 6, dtype=x.dtype).to_sparse(),
    "mul": lambda x: x * x,
    "mul_other": lambda x: x * taeda.ones(4, 6, dtype=x.dtype).to_sparse(),
    "mul_dense": lambda x: x * taeda.arange(24, dtype=x.dtype).reshape(4, 6),
    "dense_plus": lambda x: taeda.ones(4, 6, dtype=x.dtype) + x,
    "sum": lambda x: x.sum(),
    "sum_dim": lambda x: sparse.sum(x, 1),
    "clone": lambda x: x.clone(),
    "cat": lambda x: taeda.cat([x, 2 * x]),
    "index_select": lambda x: x.index_select(0, taeda.tensor([3, 0, 3])),
    "slice": lambda x: x[1:3, ::2],
    "select": lambda x: x[2],
    "softmax": lambda x: sparse.softmax(x, 1),
    "log_softmax": lambda x: sparse.log_softmax(x, 0),
    "coo": lambda x: x.to_sparse_coo(),
    "norm": lambda x: x.norm(),
    "csr": lambda x: x.to_sparse_csr(),
    "mask": lambda x: x.sparse_mask(taeda.eye(4, 6).to_sparse()),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_by_stored_values(layout, name):
    assert check(FUNCTIONS[name], (matrix(layout),), masked=True)


@pytest.mark.parametrize("name", ["to_dense", "mm", "matmul", "sin", "scaled", "sum", "transpose"])
def test_by_all_elements(name):
    assert check(FUNCTIONS[name], (matrix(),), masked=False)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ["mm", "rmm", "matmul", "to_dense", "sin", "mul_dense"])
def test_a_gradient_has_the_pattern_of_its_leaf(layout, name):
    x = matrix(layout)
    made = FUNCTIONS[name](x)
    (made.to_dense() if made.layout != taeda.strided else made).sum().backward()
    assert x.grad.layout == x.layout and x.grad._nnz() == x._nnz() and x.grad.shape == x.shape
    indices = "_indices" if layout == "sparse_coo" else "crow_indices" if layout[-1] == "r" else "ccol_indices"
    assert taeda.equal(getattr(x.grad, indices)(), getattr(x, indices)())
    first = x.grad.to_dense()
    made = FUNCTIONS[name](x)
    (made.to_dense() if made.layout != taeda.strided else made).sum().backward()  # accumulates
    taeda.testing.assert_close(x.grad.to_dense(), 2 * first)
    assert x.grad._nnz() == x._nnz()


def test_a_large_leaf_never_has_a_dense_gradient():
    n = 200_000  # dense: 320 GB
    indices = taeda.stack([taeda.arange(n), (taeda.arange(n) * 7) % n])
    x = taeda.sparse_coo_tensor(indices, taeda.ones(n), (n, n), requires_grad=True)
    y = taeda.ones(n, 2, requires_grad=True)
    loss = ((x @ y) ** 2).sum() + (x @ x).sum() + sparse.sum(x * 2, 0).to_dense().sum()
    loss.backward()
    assert x.grad.is_sparse and x.grad._nnz() == n and y.grad.shape == (n, 2)


def test_both_factors_and_the_values_of_a_constructor():
    i = taeda.tensor([[0, 1, 1], [2, 0, 2]])
    v, d = (
        taeda.randn(3, dtype=taeda.float64, requires_grad=True),
        taeda.randn(3, 2, dtype=taeda.float64, requires_grad=True),
    )
    built = lambda v: taeda.sparse_coo_tensor(i, v, (2, 3))
    assert taeda.autograd.gradcheck(lambda v, d: built(v) @ d, (v, d))
    assert taeda.autograd.gradgradcheck(lambda v, d: built(v) @ d, (v, d))
    assert taeda.autograd.gradcheck(lambda v: (built(v) @ built(v).t()).to_dense(), (v,))
    assert taeda.autograd.gradgradcheck(lambda v: (built(v) @ built(v).t()).to_dense(), (v,))
    cube = lambda v: ((built(v) @ built(1j * v).t()) @ built(v)).to_dense().abs() ** 2
    assert taeda.autograd.gradgradcheck(cube, (v.detach() * (1 + 0.5j)).requires_grad_())
    assert taeda.autograd.gradcheck(lambda v: sparse.softmax(built(v), 1).values(), (v,))
    twice = taeda.tensor([[0, 1, 1], [2, 0, 0]])
    assert taeda.autograd.gradcheck(lambda v: (3 * taeda.sparse_coo_tensor(twice, v, (2, 3))).to_dense() ** 2, (v,))
    csr = lambda v: taeda.sparse_csr_tensor([0, 1, 3], [2, 0, 2], v, (2, 3))
    assert taeda.autograd.gradcheck(lambda v, d: csr(v) @ d, (v, d)) and taeda.autograd.gradcheck(
        lambda v: csr(v).to_dense(), (v,)
    )
    square = lambda v: taeda.sparse_csr_tensor([0, 1, 3], [0, 0, 1], v, (2, 2))
    b = taeda.randn(2, 2, dtype=taeda.float64, requires_grad=True)
    w = taeda.tensor([2.0, 1.0, 3.0], dtype=taeda.float64, requires_grad=True)
    assert taeda.autograd.gradcheck(lambda w, b: sparse.spsolve(square(w), b), (w, b))
    assert taeda.autograd.gradcheck(lambda w, b: taeda.triangular_solve(b, square(w), upper=False)[0], (w, b))


def test_complex_values():
    v = taeda.randn(3, dtype=taeda.complex128, requires_grad=True)
    d = taeda.randn(3, 2, dtype=taeda.complex128, requires_grad=True)
    built = lambda v: taeda.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], v, (2, 3))
    assert taeda.autograd.gradcheck(lambda v, d: built(v) @ d, (v, d))
    assert taeda.autograd.gradcheck(lambda v: (built(v) @ built(v).mH).to_dense(), (v,))


def test_a_gradient_that_is_not_restricted_to_the_pattern():
    x = taeda.eye(3).to_sparse().requires_grad_()
    x.to_dense(masked_grad=False).sum().backward()
    assert x.grad.to_dense().sum() == 9


def test_leaves_are_not_written_to():
    x = taeda.eye(3).to_sparse().requires_grad_()
    with pytest.raises(RuntimeError, match="leaf"):
        x.mul_(2)
    y = x * 1
    y.mul_(3)
    (y.to_dense() * taeda.arange(9.0).reshape(3, 3)).sum().backward()
    assert x.grad.to_dense().diagonal().tolist() == [0, 12, 24]
    with taeda.no_grad():
        assert x.mul_(2).to_dense()[1, 1] == 2


def test_dense_leaves_beside_sparse_ones():
    a = taeda.eye(3).to_sparse()
    d = taeda.randn(3, 3, requires_grad=True)
    (d + a).sum().backward()
    assert taeda.equal(d.grad, taeda.ones(3, 3))
    d.grad = None
    (a * d).sum().backward()
    assert taeda.equal(d.grad.to_dense(), taeda.eye(3))


@pytest.mark.parametrize("make", [lambda x: x.sum().abs(), lambda x: 3 * x.sum(), lambda x: taeda.sparse.sum(x) ** 2])
def test_dense_gradients_of_sparse_leaves(make):
    """Whatever memory a gradient lies in, a leaf without strides takes it."""
    x = taeda.arange(1.0, 7).view(2, 3).to_sparse().requires_grad_()
    make(x).backward()
    dense = taeda.arange(1.0, 7).view(2, 3).requires_grad_()
    make(dense.to_sparse()).backward()
    assert taeda.equal(x.grad.to_dense() if x.grad.is_sparse else x.grad, dense.grad)
