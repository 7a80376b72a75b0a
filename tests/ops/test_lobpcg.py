"""``lobpcg`` beside all eigenvalues, and its gradients by finite differences."""

import pytest

import taeda
from taeda.autograd import gradcheck, gradgradcheck


def definite(size, *batch, dtype=taeda.float64):
    x = taeda.randn(*batch, size, size, dtype=dtype, generator=taeda.Generator().manual_seed(size))
    return x @ x.mH + taeda.eye(size)


def all_values(A, B=None):
    if B is None:
        return taeda.linalg.eigvalsh(A)
    inverse = taeda.linalg.cholesky(B).inverse()
    return taeda.linalg.eigvalsh(inverse @ A @ inverse.mH)


KINDS = [("ortho", taeda.float32), *((m, d) for m in ("ortho", "basic") for d in (taeda.float64, taeda.complex128))]


@pytest.mark.parametrize(("method", "dtype"), KINDS)  # basic steps may break down in float32, as documented
@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("batch", [(), (2, 3)])
@pytest.mark.parametrize("general", [False, True])
def test_pairs(method, dtype, largest, batch, general):
    A = definite(20, *batch, dtype=dtype)
    B = definite(20, dtype=dtype) + 20 * taeda.eye(20) if general else None
    values, X = taeda.lobpcg(A, 2, B, n=3, method=method, largest=largest)
    every = all_values(A, B)
    wanted = every.flip(-1)[..., :2] if largest else every[..., :2]
    tolerance = 1e-3 if dtype == taeda.float32 else 1e-6
    taeda.testing.assert_close(values, wanted, rtol=tolerance, atol=tolerance * float(every.max()))
    BX = X if B is None else B @ X
    assert float((A @ X - BX * values.unsqueeze(-2)).abs().max()) < 50 * tolerance * float(every.max())
    taeda.testing.assert_close(X.mH @ BX, taeda.eye(2, dtype=dtype).expand(*batch, 2, 2), rtol=0, atol=1e-4)


def test_a_preconditioner_saves_steps():
    A = taeda.diag(taeda.arange(1.0, 201, dtype=taeda.float64)) + 0.01
    steps = []
    for iK in (None, taeda.linalg.inv(A)):
        found = []
        values, _ = taeda.lobpcg(
            A, 2, iK=iK, largest=False, tracker=lambda state, found=found: found.append(state.ivars["istep"])
        )
        steps.append(len(found))
        taeda.testing.assert_close(values, taeda.linalg.eigvalsh(A)[:2])
    assert steps[1] < steps[0] / 3


def test_the_tracker_can_stop():
    seen = []

    def stop(state):
        seen.append((state.ivars["istep"], state.X.shape, state.E.shape, state.tvars["rerr"].shape))
        state.bvars["force_stop"] = True

    X = taeda.randn(30, 4, dtype=taeda.float64)
    values, vectors = taeda.lobpcg(definite(30), 2, X=X, tracker=stop)
    assert seen == [(1, (30, 4), (4,), (4,))] and values.shape == (2,) and vectors.shape == (30, 2)


def test_equal_and_vanishing_eigenvalues():
    taeda.testing.assert_close(taeda.lobpcg(taeda.eye(9), 2)[0], taeda.ones(2))
    taeda.testing.assert_close(taeda.lobpcg(taeda.zeros(9, 9), 2)[0], taeda.zeros(2))
    assert taeda.lobpcg(taeda.zeros(0, 9, 9), 2)[1].shape == (0, 9, 2)


@pytest.mark.parametrize("batch", [(), (2,)])
@pytest.mark.parametrize("largest", [True, False])
def test_gradients(batch, largest):
    A = definite(8, *batch).requires_grad_()
    X = taeda.randn(8, 2, dtype=taeda.float64, generator=taeda.Generator().manual_seed(1)).expand(*batch, 8, 2)

    def function(A):
        values, vectors = taeda.lobpcg(A, 2, X=X, largest=largest, tol=1e-13)
        return values, vectors * vectors[..., :1, :].sgn()

    assert gradcheck(function, (A,), atol=1e-4)
    assert gradgradcheck(function, (A,), atol=1e-3)


def test_what_has_no_gradient_says_so():
    for A, B in ((definite(9), taeda.eye(9, dtype=taeda.float64)), (definite(9, dtype=taeda.complex128), None)):
        values, _ = taeda.lobpcg(A.requires_grad_(), 2, B)
        with pytest.raises(RuntimeError, match="gradient for real A without B"):
            values.sum().backward()


def test_errors():
    for arguments, message in (
        ((taeda.eye(9), 4), "1 to 3 pairs"),
        ((taeda.ones(9, 3), 1), "square"),
        ((taeda.ones(9), 1), "square"),
        ((taeda.eye(9), 0), "1 to 3 pairs"),
    ):
        with pytest.raises(ValueError, match=message):
            taeda.lobpcg(*arguments)
    with pytest.raises(ValueError, match="method"):
        taeda.lobpcg(taeda.eye(9), method="other")
