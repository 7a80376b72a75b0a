"""What condition numbers, factors and powers are at their edges; and out= with gradients."""

from __future__ import annotations

import math

import pytest

import taeda


@pytest.mark.parametrize("p", [None, "fro", "nuc", 1, -1, 2, -2, math.inf])
def test_condition_numbers(p: object) -> None:
    assert taeda.linalg.cond(taeda.zeros(0, 0), p) == 0
    assert taeda.linalg.cond(taeda.zeros(2, 0, 0), p).tolist() == [0, 0]
    batch = taeda.eye(2).repeat(2, 1, 1)
    batch[1, 1, 1] = 0
    found = taeda.linalg.cond(batch, p)
    assert math.isfinite(found[0]) and found[1] == (0 if p == -2 else math.inf)


def test_a_factor_without_inverse() -> None:
    with pytest.raises(taeda.linalg.LinAlgError):
        taeda.cholesky_inverse(taeda.tensor([[1.0, 0.0], [1.0, 0.0]]))
    with pytest.raises(RuntimeError, match="real"):
        taeda.linalg.pinv(taeda.eye(2), rtol=taeda.tensor(1j))
    A = taeda.tensor([[2.0]])
    assert taeda.linalg.lstsq(A, A, rcond=1.0, driver="gelss").solution.item() == 0


def test_powers_and_logarithms_of_complex_numbers() -> None:
    zero = taeda.tensor([0j, 1 + 1j])
    assert taeda.pow(zero, 0).tolist() == [1, 1] and taeda.vander(zero, 2)[0].tolist() == [0, 1]
    huge = taeda.tensor([1e250 + 1e250j], dtype=taeda.complex128)
    assert taeda.allclose(taeda.log1p(huge), taeda.log(huge))


def test_gradients_of_symmetric_matrices_are_symmetric() -> None:
    for side in "LU":
        A = taeda.tensor([[2.0, 0.5], [1.0, 3.0]], dtype=taeda.float64, requires_grad=True)
        (grad,) = taeda.autograd.grad(taeda.linalg.eigh(A, UPLO=side)[1].abs()[0, 0], A)
        assert taeda.allclose(grad, grad.T)


def test_out_is_not_for_what_is_recorded() -> None:
    leaf, out = taeda.ones(2, 2, requires_grad=True), taeda.empty(2, 2)
    for call in (taeda.matmul, taeda.kron, taeda.mm, taeda.add):
        with pytest.raises(RuntimeError, match="out="):
            call(leaf, leaf, out=out)
        with taeda.no_grad():
            call(leaf.detach(), leaf, out=taeda.empty(0))


def test_sizes_of_one_have_the_strides_of_unsqueeze() -> None:
    x = taeda.rand(5)
    assert x.expand(1, 1, 5).stride() == (5, 5, 1) and x.expand(3, 1, 5).stride() == (0, 5, 1)
    assert taeda.rand(()).expand(1, 1).stride() == (0, 0) and x[:0].data_ptr() == 0
