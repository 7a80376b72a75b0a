"""Products of matrices and decompositions beside PyTorch's, and their gradients by finite differences."""

import pytest
from twin import check

import taeda
from taeda.autograd import gradcheck, gradgradcheck


def a(T, *sizes, dtype="float64"):
    """Different numbers of both signs, well conditioned as a matrix."""
    count = 1
    for size in sizes:
        count *= size
    x = T.arange(count, dtype=T.float64)
    if dtype.startswith("complex"):
        return (T.sin(x * x + 1) + 1j * T.cos(x * x * 2)).reshape(sizes).to(getattr(T, dtype))
    return (T.sin(x * x + 1) * (3 if "int" in dtype else 1)).reshape(sizes).to(getattr(T, dtype))


def spd(T, n, *batch, dtype="float64"):
    x = a(T, *batch, n, n, dtype=dtype)
    return x @ x.mH + n * T.eye(n, dtype=x.dtype)


RTOL = {"float32": 1e-5, "complex64": 1e-5, "bfloat16": 2e-2, "float16": 4e-3}
DTYPES = ["float32", "float64", "complex64", "complex128", "bfloat16", "float16", "int64", "int32", "uint8"]
SIZES = [(1, 1, 1), (3, 4, 5), (17, 1, 9), (1, 70, 33), (65, 40, 1), (0, 3, 2), (2, 0, 3), (70, 130, 90)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("m, k, n", SIZES)
def test_mm(dtype, m, k, n):
    check(lambda T: T.mm(a(T, m, k, dtype=dtype), a(T, k, n, dtype=dtype)), rtol=RTOL.get(dtype, 1e-10))


LAYOUTS = [
    lambda x: x,
    lambda x: x.mT.contiguous().mT,
    lambda x: x.repeat(1, 2)[:, ::2],
    lambda x: x[:, :1].expand(x.shape),
    lambda x: x[:1].expand(x.shape),
]


@pytest.mark.parametrize("left", LAYOUTS)
@pytest.mark.parametrize("right", LAYOUTS)
def test_any_strides(left, right):
    check(lambda T: left(a(T, 40, 30)) @ right(a(T, 30, 20)))


PRODUCTS = [
    lambda T: T.addmm(T.full((4,), T.nan), a(T, 3, 2), a(T, 2, 4), beta=0),
    lambda T: T.addmm(a(T, 3, 1), a(T, 3, 2), a(T, 2, 4), beta=0.5, alpha=-2),
    lambda T: T.addmm(a(T, 3, 4, dtype="int64"), a(T, 3, 2, dtype="int64"), a(T, 2, 4, dtype="int64"), alpha=2),
    lambda T: T.addmm(
        a(T, 3, 4, dtype="bfloat16"), a(T, 3, 20, dtype="bfloat16"), a(T, 20, 4, dtype="bfloat16"), alpha=2
    ),
    lambda T: a(T, 3, 4).addmm_(a(T, 3, 2), a(T, 2, 4)),
    lambda T: T.mm(a(T, 3, 2), a(T, 2, 4), out=T.empty(4, 3, dtype=T.float64).t()).stride(),
    lambda T: T.baddbmm(a(T, 4), a(T, 5, 3, 2), a(T, 5, 2, 4), beta=2),
    lambda T: T.addbmm(a(T, 3, 4), a(T, 5, 3, 2), a(T, 5, 2, 4), beta=2, alpha=3),
    lambda T: T.bmm(a(T, 1, 3, 2).expand(5, 3, 2), a(T, 5, 4, 2).mT),
    lambda T: T.mv(a(T, 3, 2), a(T, 4)[::2]),
    lambda T: T.addmv(a(T, 1), a(T, 3, 2), a(T, 2), alpha=2),
    lambda T: T.dot(a(T, 5), a(T, 1).expand(5)),
    lambda T: T.dot(a(T, 0), a(T, 0)),
    lambda T: T.vdot(a(T, 5, dtype="complex64"), a(T, 5, dtype="complex64")),
    lambda T: T.outer(a(T, 3), a(T, 4, dtype="int64")),
    lambda T: T.addr(a(T, 3, 4), a(T, 3), a(T, 4), beta=2, alpha=3),
    lambda T: T.addr(a(T, 3), a(T, 4, dtype="int64"), a(T, 3), beta=0),
    lambda T: T.addmv_(a(T, 3), a(T, 3, 2), a(T, 2), beta=2),
    lambda T: T.inner(a(T, 2, 3), a(T, 4, 3)),
    lambda T: T.inner(a(T), a(T, 4, 3)),
    lambda T: T.kron(a(T, 2, 3), a(T, 4)),
    lambda T: T.trace(a(T, 3, 4, dtype="int32")),
    lambda T: T.linalg.cross(a(T, 2, 3), a(T, 1, 3)),
    lambda T: T.cross(a(T, 3, 2), a(T, 3, 2)),
    lambda T: T.linalg.vecdot(a(T, 2, 3, dtype="complex128"), a(T, 3, dtype="complex128")),
    lambda T: T.tensordot(a(T, 2, 3, 4), a(T, 4, 3, 5), ([1, 2], [1, 0])),
    lambda T: T.linalg.multi_dot([a(T, 3), a(T, 3, 20), a(T, 20, 4), a(T, 4)]),
    lambda T: T.chain_matmul(a(T, 3, 20), a(T, 20, 4), a(T, 4, 5)),
    lambda T: T.matrix_power(a(T, 2, 3, 3), 5),
    lambda T: T.matrix_power(spd(T, 3), -3),
    lambda T: T.matrix_power(a(T, 2, 3, 3), 0),
    lambda T: T.nn.functional.linear(a(T, 2, 3, 5), a(T, 4, 5), a(T, 4)),
    lambda T: T.nn.functional.linear(a(T, 5, 3).t(), a(T, 4, 5)),
    lambda T: T.nn.functional.linear(a(T, 3, 5), a(T, 5)),
    lambda T: T.nn.functional.bilinear(a(T, 2, 3, 5), a(T, 2, 3, 4), a(T, 6, 5, 4), a(T, 6)),
]


@pytest.mark.parametrize("case", PRODUCTS)
def test_products(case):
    check(case, strides=False)


def test_product_into_its_own_factor():
    x = taeda.linspace(0, 1, 9).view(3, 3)
    expected = x @ x
    assert taeda.mm(x, x, out=x) is x and taeda.equal(x, expected)


MATMULS = [
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((3,), (3, 4)),
    ((5, 2, 3), (3,)),
    ((3,), (5, 3, 2)),
    ((5, 2, 3), (3, 4)),
    ((2, 3), (5, 3, 4)),
    ((5, 1, 2, 3), (4, 3, 6)),
    ((0, 2, 3), (3, 4)),
    ((5, 2, 0), (0, 4)),
    ((1, 2, 3), (7, 3, 2)),
]


@pytest.mark.parametrize("left, right", MATMULS)
def test_matmul_broadcasts(left, right):
    check(lambda T: a(T, *left) @ a(T, *right))
    if 0 not in (*left, *right):
        x, y = (a(taeda, *s).requires_grad_() for s in (left, right))
        assert gradcheck(taeda.matmul, (x, y)) and gradgradcheck(taeda.matmul, (x, y))


EINSUMS = [
    ("ij,jk->ik", (2, 3), (3, 4)),
    ("ij,jk", (2, 3), (3, 4)),
    ("bij,bjk->bik", (5, 2, 3), (5, 3, 4)),
    ("ii->i", (3, 3)),
    ("ii", (3, 3)),
    ("ij->ji", (2, 3)),
    ("...ij,...jk->...ik", (5, 2, 3), (3, 4)),
    ("i,j->ij", (2,), (3,)),
    ("bi,bi->b", (5, 3), (5, 3)),
    ("ij,jk,kl->il", (2, 3), (3, 4), (4, 5)),
    ("ij,kj->", (2, 3), (4, 3)),
    ("bhqd,bhkd->bhqk", (2, 3, 4, 5), (2, 3, 6, 5)),
    ("i j , j -> i", (2, 3), (3,)),
    ("ab...,b...->a...", (2, 3, 4), (3, 1)),
    ("Ab,bA->bA", (2, 3), (3, 2)),
    ("ij,jk->ik", (2, 1), (3, 4)),
    ("...,...", (2, 3), (3,)),
    ("ijk,jil,kl->li", (2, 3, 4), (3, 2, 5), (4, 5)),
    ("i,j,k->kji", (2,), (3,), (4,)),
    ("bij,bkj->kbi", (2, 3, 4), (2, 5, 4)),
]


@pytest.mark.parametrize("case", EINSUMS, ids=lambda c: c[0])
def test_einsum(case):
    equation, *shapes = case
    check(lambda T: T.einsum(equation, *(a(T, *s) for s in shapes)), strides=False)
    assert gradcheck(lambda *x: taeda.einsum(equation, *x), tuple(a(taeda, *s).requires_grad_() for s in shapes))


NORMS = [
    lambda T: T.linalg.norm(a(T, 3, 4)),
    lambda T: T.linalg.norm(a(T, 3, 4), T.inf),
    lambda T: T.linalg.norm(a(T, 2, 3, 4), "nuc", (1, 2)),
]
NORMS += [
    lambda T, p=p, k=k: T.linalg.matrix_norm(a(T, 2, 3, 4), p, (0, -1), k)
    for p in ("fro", "nuc", 1, -1, 2, -2)
    for k in (False, True)
]


@pytest.mark.parametrize("case", NORMS)
def test_matrix_norms(case):
    check(case, strides=False)


DECOMPOSITIONS = [
    lambda T, d: T.linalg.inv(spd(T, 4, 3, dtype=d)),
    lambda T, d: T.linalg.solve(spd(T, 4, 3, dtype=d), a(T, 4, 2, dtype=d)),
    lambda T, d: T.linalg.solve(spd(T, 4, dtype=d), a(T, 4, dtype=d)),
    lambda T, d: T.linalg.solve(spd(T, 4, dtype=d), a(T, 3, 2, 4, dtype=d), left=False),
    lambda T, d: T.linalg.cholesky(spd(T, 4, 2, dtype=d)),
    lambda T, d: T.linalg.cholesky(spd(T, 4, dtype=d), upper=True),
    lambda T, d: T.cholesky_solve(a(T, 4, 2, dtype=d), T.linalg.cholesky(spd(T, 4, dtype=d))),
    lambda T, d: T.cholesky_inverse(T.linalg.cholesky(spd(T, 4, dtype=d))),
    lambda T, d: T.linalg.qr(a(T, 5, 3, dtype=d)),
    lambda T, d: T.linalg.qr(a(T, 5, 3, dtype=d), "complete"),
    lambda T, d: T.geqrf(a(T, 2, 5, 3, dtype=d)),
    lambda T, d: a(T, 3, 5, dtype=d).geqrf(),
    lambda T, d: T.linalg.householder_product(*T.geqrf(a(T, 2, 5, 3, dtype=d))),
    lambda T, d: T.orgqr(a(T, 5, 3, dtype=d), a(T, 2, dtype=d)),
    lambda T, d: T.ormqr(*T.geqrf(a(T, 5, 3, dtype=d)), a(T, 5, 2, dtype=d)),
    lambda T, d: T.ormqr(*T.geqrf(a(T, 5, 3, dtype=d)), a(T, 2, 5, dtype=d), left=False, transpose=True),
    lambda T, d: T.linalg.ldl_factor(hermitian(a(T, 3, 3, dtype=d)), hermitian=True),
    lambda T, d: T.linalg.ldl_factor_ex(a(T, 2, 3, 3, dtype=d)),
    lambda T, d: T.linalg.ldl_solve(*T.linalg.ldl_factor(a(T, 3, 3, dtype=d)), a(T, 3, 2, dtype=d)),
    lambda T, d: T.linalg.ldl_solve(
        *T.linalg.ldl_factor(hermitian(a(T, 2, 3, 3, dtype=d)), hermitian=True), a(T, 2, 3, 1, dtype=d), hermitian=True
    ),
    lambda T, d: T.triangular_solve(a(T, 2, 3, 2, dtype=d), spd(T, 3, dtype=d)),
    lambda T, d: T.linalg.qr(a(T, 2, 3, 5, dtype=d)),
    lambda T, d: T.linalg.qr(a(T, 3, 5, dtype=d), "r"),
    lambda T, d: T.linalg.svdvals(a(T, 2, 3, 5, dtype=d)),
    lambda T, d: T.linalg.eigvalsh(spd(T, 4, dtype=d)),
    lambda T, d: T.linalg.det(a(T, 2, 4, 4, dtype=d)),
    lambda T, d: T.linalg.slogdet(a(T, 2, 4, 4, dtype=d)),
    lambda T, d: T.linalg.lu_factor(a(T, 5, 3, dtype=d)),
    lambda T, d: T.linalg.lu(a(T, 2, 3, 5, dtype=d)),
    lambda T, d: T.linalg.lu_solve(*T.linalg.lu_factor(spd(T, 3, dtype=d)), a(T, 3, 2, dtype=d)),
    lambda T, d: T.linalg.lu_solve(
        *T.linalg.lu_factor(spd(T, 3, dtype=d)), a(T, 2, 3, dtype=d), left=False, adjoint=True
    ),
    lambda T, d: T.linalg.solve_triangular(spd(T, 3, dtype=d), a(T, 2, 3, 2, dtype=d), upper=True),
    lambda T, d: T.linalg.solve_triangular(
        spd(T, 3, dtype=d), a(T, 2, 3, dtype=d), upper=False, left=False, unitriangular=True
    ),
    lambda T, d: T.linalg.pinv(a(T, 5, 3, dtype=d)),
    lambda T, d: T.linalg.matrix_rank(a(T, 5, 1, dtype=d) @ a(T, 1, 4, dtype=d)),
    lambda T, d: T.linalg.cond(spd(T, 3, dtype=d)),
    lambda T, d: T.linalg.lstsq(a(T, 5, 3, dtype=d), a(T, 5, 2, dtype=d)).solution,
    lambda T, d: T.linalg.lstsq(a(T, 5, 3, dtype=d), a(T, 5, 2, dtype=d), driver="gelsd").residuals,
    lambda T, d: T.linalg.lstsq(a(T, 2, 3, 5, dtype=d), a(T, 2, 3, 2, dtype=d)),
    lambda T, d: T.linalg.lstsq(a(T, 5, 1, dtype=d).expand(5, 3), a(T, 5, 2, dtype=d))[:3],
    lambda T, d: T.linalg.lstsq(a(T, 3, 0, dtype=d), a(T, 3, 2, dtype=d), driver="gelss"),
]


@pytest.mark.parametrize("case", DECOMPOSITIONS)
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_decompositions(case, dtype):
    check(lambda T: case(T, dtype), strides=False)


def hermitian(x):
    return x + x.mH


GRADIENTS = [
    taeda.linalg.inv,
    taeda.linalg.det,
    lambda x: taeda.linalg.slogdet(x)[1],
    lambda x: taeda.linalg.solve(x, x[..., :2]),
    lambda x: taeda.linalg.solve(x, x[..., 0]),
    lambda x: taeda.linalg.solve(x, x, left=False),
    lambda x: taeda.linalg.cholesky(x @ x.mH),
    lambda x: taeda.linalg.cholesky(x @ x.mH, upper=True),
    lambda x: taeda.linalg.qr(x),
    lambda x: taeda.linalg.qr(x[..., :2]),
    lambda x: taeda.linalg.qr(x[:2]),
    lambda x: taeda.linalg.svdvals(x[:2]),
    lambda x: (u := taeda.linalg.svd(x[:2], full_matrices=False))[0] @ taeda.diag_embed(u[1].exp()).to(x.dtype) @ u[2],
    lambda x: (u := taeda.linalg.svd(x[..., :2], full_matrices=False))[0].abs() + u[2].abs().sum(),
    lambda x: taeda.linalg.eigvalsh(hermitian(x)),
    lambda x: (e := taeda.linalg.eigh(hermitian(x)))[1] @ taeda.diag_embed(e[0].exp()).to(x.dtype) @ e[1].mH,
    lambda x: taeda.linalg.eigvals(x),
    lambda x: taeda.linalg.eig(x)[1].abs(),
    lambda x: taeda.linalg.lu_factor(x)[0],
    lambda x: taeda.linalg.lu(x[:2])[1:],
    lambda x: taeda.linalg.lu(x[..., :2])[1:],
    lambda x: taeda.linalg.solve_triangular(x + 3 * taeda.eye(3), x, upper=True),
    lambda x: taeda.linalg.solve_triangular(x, x, upper=False, left=False, unitriangular=True),
    lambda x: taeda.linalg.pinv(x[:2]),
    lambda x: taeda.linalg.lstsq(x[..., :2], x, driver="gelsd")[:2],
    lambda x: taeda.linalg.lstsq(x[..., :2], x[:, 2], driver="gels").residuals,
    lambda x: taeda.linalg.lstsq(x[:2], x[:2, 0]).solution,
    lambda x: taeda.matrix_power(x, -2),
    lambda x: taeda.matrix_exp(x),
    lambda x: taeda.linalg.householder_product(x, x[0]),
    lambda x: taeda.linalg.householder_product(x, x[0, :2]),
    lambda x: taeda.ormqr(x[:, :2], x[0, :2], x[1:].mT),
    lambda x: taeda.ormqr(x, x[0], x[1:], left=False, transpose=True),
    lambda x: taeda.cov(x),
    lambda x: taeda.cov(x, aweights=taeda.tensor([0.5, 2.0, 1.0], dtype=taeda.float64)),
    lambda x: taeda.corrcoef(x),
    lambda x: taeda.logcumsumexp(x, 0),
    lambda x: taeda.logsumexp(x, 1),
    lambda x: taeda.var(x, 0),
    lambda x: taeda.var_mean(x, (0, 1), correction=2.5, keepdim=True),
    lambda x: taeda.std(x),
    lambda x: taeda.std_mean(x, 1),
]


PHASES = [
    lambda x: taeda.linalg.svd(x).U,
    lambda x: taeda.linalg.eigh(hermitian(x)).eigenvectors,
    lambda x: taeda.linalg.eig(x).eigenvectors,
]


@pytest.mark.parametrize("f", PHASES)
def test_a_gradient_that_depends_on_the_phase_raises(f):
    x = a(taeda, 3, 3, dtype="complex128").requires_grad_()
    with pytest.raises(RuntimeError, match="phase"):
        (f(x) * a(taeda, 3, 3)).real.sum().backward()


@pytest.mark.parametrize("f", GRADIENTS)
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_gradients(f, dtype):
    x = (a(taeda, 3, 3, dtype=dtype) + taeda.eye(3, dtype=taeda.float64)).requires_grad_()
    assert gradcheck(f, (x,)) and gradgradcheck(f, (x,), atol=1e-4)


PRODUCT_GRADIENTS = [
    (taeda.mm, (3, 2), (2, 4)),
    (taeda.bmm, (2, 3, 2), (2, 2, 4)),
    (taeda.mv, (3, 2), (2,)),
    (taeda.dot, (3,), (3,)),
    (taeda.vdot, (3,), (3,)),
    (lambda *x: taeda.addmm(*x, beta=2, alpha=3), (4,), (3, 2), (2, 4)),
    (lambda *x: taeda.baddbmm(*x, beta=2, alpha=3), (3, 1), (2, 3, 2), (2, 2, 4)),
    (lambda *x: taeda.addmv(*x, beta=2, alpha=3), (3,), (3, 2), (2,)),
    (taeda.nn.functional.linear, (2, 3, 4), (5, 4), (5,)),
    (taeda.nn.functional.linear, (2, 4), (4,), ()),
    (taeda.nn.functional.bilinear, (2, 3), (2, 4), (5, 3, 4), (5,)),
]


@pytest.mark.parametrize("f, shapes", [(f, s) for f, *s in PRODUCT_GRADIENTS])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_product_gradients(f, shapes, dtype):
    x = tuple(a(taeda, *s, dtype=dtype).requires_grad_() for s in shapes)
    assert gradcheck(f, x) and gradgradcheck(f, x)


def test_gradients_of_a_singular_determinant():
    x = taeda.tensor([[1.0, 2.0], [2.0, 4.0]], dtype=taeda.float64, requires_grad=True)
    taeda.linalg.det(x).backward()
    assert (x.grad - taeda.tensor([[4.0, -2.0], [-2.0, 1.0]], dtype=taeda.float64)).abs().max().item() < 1e-12


ERRORS = [
    (RuntimeError, lambda T: T.mm(T.ones(2, 3), T.ones(4, 5))),
    (RuntimeError, lambda T: T.mm(T.ones(2, 3), T.ones(3))),
    (RuntimeError, lambda T: T.mm(T.ones(2, 3), T.ones(3, 2).double())),
    (RuntimeError, lambda T: T.mm(T.ones(2, 3).bool(), T.ones(3, 2).bool())),
    (RuntimeError, lambda T: T.ones(2, 3) @ T.ones(4)),
    (RuntimeError, lambda T: T.ones(5, 2, 3) @ T.ones(4, 3, 2)),
    (RuntimeError, lambda T: T.ones(()) @ T.ones(3)),
    (RuntimeError, lambda T: T.dot(T.ones(2), T.ones(3))),
    (RuntimeError, lambda T: T.addmm(T.ones(3), T.ones(2, 3), T.ones(3, 4))),
    (RuntimeError, lambda T: T.einsum("ij,jk->iz", T.ones(2, 3), T.ones(3, 4))),
    (RuntimeError, lambda T: T.einsum("ij,jk", T.ones(2, 3), T.ones(4, 4))),
    (RuntimeError, lambda T: T.linalg.inv(T.zeros(2, 2))),
    (RuntimeError, lambda T: T.linalg.cholesky(-T.eye(2))),
    (RuntimeError, lambda T: T.linalg.inv(T.ones(2, 3))),
    (RuntimeError, lambda T: T.linalg.solve(T.ones(2, 2).long(), T.ones(2).long())),
]


@pytest.mark.parametrize("kind, case", ERRORS)
def test_errors(kind, case):
    with pytest.raises(kind) as caught:
        case(taeda)
    assert "taeda." in str(caught.value)


@pytest.mark.parametrize("dtype", [taeda.bfloat16, taeda.float16])
@pytest.mark.parametrize("m", [255, 256, 600])
@pytest.mark.parametrize(("n", "k"), [(64, 32), (128, 96), (63, 33), (1, 64), (64, 1)])
@pytest.mark.parametrize("transposed", [False, True])
def test_products_of_halves_in_pieces(dtype, m, n, k, transposed):
    """The right side is packed for several pieces; where it does not fit the layout, by the library."""
    a = (taeda.arange(m * k) % 5 - 2).view(m, k).to(dtype)
    b = (taeda.arange(k * n) % 7 - 3).to(dtype)
    b = b.view(n, k).t() if transposed else b.view(k, n)
    exact = a.float() @ b.float()  # of small integers, so that halves hold it but for the last rounding
    assert taeda.equal(a @ b, exact.to(dtype))
    assert taeda.equal(taeda.addmm(taeda.ones(n, dtype=dtype), a, b, alpha=2), (2 * exact + 1).to(dtype))
    threads = taeda.get_num_threads()
    taeda.set_num_threads(1)
    assert taeda.equal(a @ b, exact.to(dtype))
    taeda.set_num_threads(threads)


def test_inverses_have_no_negative_zeros_and_of_singular_matrices_are_infinite():
    assert not taeda.linalg.inv(taeda.tensor([[2.0, 0.0], [0.0, 4.0]])).signbit().any()
    inverse, info = taeda.linalg.inv_ex(taeda.ones(2, 2))
    assert info == 2 and not inverse.isfinite().any()
    assert taeda.linalg.inv_ex(taeda.zeros(3, 0, 0)).info.tolist() == [0, 0, 0]
