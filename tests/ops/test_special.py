"""Special functions beside SciPy's, and what is made of them; the numbers in formulas are conformance's business."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special as wanted
from twin import check

import taeda
from taeda import special

POINTS = {
    "airy_ai": (np.linspace(-60, 60, 2401), lambda x: wanted.airy(x)[0]),
    "bessel_j0": (np.linspace(-40, 40, 401), wanted.j0),
    "bessel_j1": (np.linspace(-40, 40, 401), wanted.j1),
    "bessel_y0": (np.linspace(0.01, 40, 400), wanted.y0),
    "bessel_y1": (np.linspace(0.01, 40, 400), wanted.y1),
    "modified_bessel_i0": (np.linspace(-50, 50, 401), wanted.i0),
    "modified_bessel_i1": (np.linspace(-50, 50, 401), wanted.i1),
    "modified_bessel_k0": (np.geomspace(1e-300, 600, 999), wanted.k0),
    "modified_bessel_k1": (np.geomspace(1e-300, 600, 999), wanted.k1),
    "scaled_modified_bessel_k0": (np.geomspace(1e-300, 1e9, 999), wanted.k0e),
    "scaled_modified_bessel_k1": (np.geomspace(1e-300, 1e9, 999), wanted.k1e),
    "spherical_bessel_j0": (np.linspace(-40, 40, 401), lambda x: wanted.spherical_jn(0, np.abs(x))),
}
U = wanted.eval_chebyu
POLYNOMIALS = {
    "chebyshev_polynomial_t": wanted.eval_chebyt,
    "chebyshev_polynomial_u": U,
    "chebyshev_polynomial_v": lambda n, x: U(n, x) - U(n - 1, x),
    "chebyshev_polynomial_w": lambda n, x: U(n, x) + U(n - 1, x),
    "hermite_polynomial_h": wanted.eval_hermite,
    "hermite_polynomial_he": wanted.eval_hermitenorm,
    "laguerre_polynomial_l": wanted.eval_laguerre,
    "legendre_polynomial_p": wanted.eval_legendre,
}


@pytest.mark.parametrize("name", POINTS)
def test_functions(name):
    x, function = POINTS[name]
    scale = np.abs(x) ** -0.5 if name.startswith("bessel") else 0 * x  # near their zeros only the size is exact
    if name == "airy_ai":
        scale = np.where(x < 0, 1, 0)
    for dtype, rtol in ((taeda.float64, 2e-12), (taeda.float32, 2e-6)):
        got = getattr(special, name)(taeda.from_numpy(x).to(dtype))
        assert got.dtype == dtype and not got.requires_grad
        with np.errstate(over="ignore"):
            exact = function(taeda.from_numpy(x).to(dtype).double().numpy())
            exact = exact.astype(got.numpy().dtype)
        np.testing.assert_array_less(np.abs(got.numpy() - exact)[np.isfinite(exact)],
                                     (rtol * (np.abs(exact) + scale) + 1e-37)[np.isfinite(exact)])  # fmt: skip


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_polynomials(name):
    x, n = np.meshgrid(np.linspace(-3, 3, 121), np.arange(0, 40))
    points, degrees = taeda.from_numpy(x), taeda.from_numpy(n.astype(float))
    exact = POLYNOMIALS[name](n, x)
    np.testing.assert_allclose(getattr(special, name)(points, degrees).numpy(), exact, rtol=1e-8, atol=1e-8)
    if name.startswith("chebyshev"):
        shifted = getattr(special, f"shifted_{name}")((points + 1) / 2, degrees)
        np.testing.assert_allclose(shifted.numpy(), exact, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", [*POLYNOMIALS, *(f"shifted_{n}" for n in POLYNOMIALS if n.startswith("chebyshev"))])
def test_polynomials_at_their_edges(name):
    x, n = [1.0, -1.0, 0.0, 0.3, 2.0, 1.0, -1.0, 0.7], [100, 101, 64, 300, 3, -1, 0, 2.9]
    check(lambda T: getattr(T.special, name)(T.tensor(x).double(), T.tensor(n).double()), rtol=1e-7)
    check(lambda T: getattr(T.special, name)(T.tensor(x), 3), rtol=1e-5)
    check(lambda T: getattr(T.special, name)(2, T.arange(5)), rtol=1e-5)


@pytest.mark.parametrize("name", POINTS)
@pytest.mark.parametrize("dtype", ["int64", "bool", "uint8"])
def test_whole_numbers_become_floating(name, dtype):
    check(lambda T: getattr(T.special, name)(T.ones(3).to(getattr(T, dtype))))


def test_limits():
    ends = taeda.tensor([0.0, taeda.inf, -taeda.inf, taeda.nan], dtype=taeda.float64)
    nan, inf = taeda.nan, taeda.inf
    np.testing.assert_array_equal(special.spherical_bessel_j0(ends).numpy(), [1, 0, 0, nan])
    np.testing.assert_array_equal(special.modified_bessel_k1(ends).numpy(), [inf, 0, nan, nan])
    np.testing.assert_array_equal(special.scaled_modified_bessel_k0(ends).numpy(), [inf, 0, nan, nan])
    np.testing.assert_allclose(special.airy_ai(ends).numpy(), [0.3550280538878172, 0, 0, nan])


@pytest.mark.parametrize(
    "case",
    [
        lambda T: T.mvlgamma(T.tensor([1.2, 3.0]), 3),
        lambda T: T.special.multigammaln(T.tensor([2, 3]), 2),
        lambda T: T.tensor([2.5, 3.0]).mvlgamma_(2),
        lambda T: T.tensor([2, 3]).mvlgamma_(2),
        lambda T: T.mvlgamma(T.ones(2), 0),
        lambda T: T.polygamma(-1, T.ones(2)),
        lambda T: T.ones(2).polygamma(1),
        lambda T: T.ones(2).polygamma_(2),
        lambda T: T.ones(2, dtype=T.int64).polygamma_(2),
    ],
)
def test_gamma(case):
    check(case)


def test_incomplete_gamma_functions_of_any_size():
    a = np.logspace(-1, 5, 31)[:, None]  # beyond which SciPy loses digits
    x = np.abs(np.concatenate([a * [0.1, 0.69, 0.71, 1, 1.29, 1.31, 3], a + np.sqrt(a) * [-6, -1, 0.001, 2, 7]], 1))
    for name in ("gammainc", "gammaincc"):
        found, expected = (
            getattr(of, name)(*args) for of, args in ((special, map(taeda.tensor, (a, x))), (wanted, (a, x)))
        )
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-10, atol=1e-250)


@pytest.mark.parametrize(
    ("a", "x", "exact"),  # integrated numerically with 60 digits
    [
        (965283678243.842, 965278696107.2787, 1.97923019917269076e-7),
        (12135908364.576107, 12135410769.963125, 3.13685293290948399e-6),
        (1e20, 1e20, 0.5),
    ],
)
def test_large_arguments_of_the_incomplete_gamma_function(a, x, exact):
    found = special.gammainc(*taeda.tensor([[a], [x]], dtype=taeda.float64)).item()
    assert found == pytest.approx(exact, rel=1e-9 if a > 1e15 else 1e-14)


def test_standard_gamma_gradient():
    a, x = np.linspace(0.5, 3, 40), np.linspace(0.4, 4, 40)
    u, h = wanted.gammainc(a, x), 1e-5
    exact = (wanted.gammaincinv(a + h, u) - wanted.gammaincinv(a - h, u)) / (2 * h)
    np.testing.assert_allclose(taeda._standard_gamma_grad(taeda.tensor(a), taeda.tensor(x)).numpy(), exact, rtol=1e-7)


@pytest.mark.parametrize(
    "case",
    [
        lambda T: T.frexp(T.tensor([0.0, -0.0, 1.0, -3.5, 1e-300, 5e-324], dtype=T.float64)),
        lambda T: T.frexp(T.tensor([T.inf, -T.inf, T.nan, 6e4])),
        lambda T: T.frexp(T.tensor([1.5, 6e4, 6e-8], dtype=T.float16)),
        lambda T: T.ones(2, 3).t().frexp().exponent,
        lambda T: T.frexp(T.ones(2, dtype=T.int64)),
        lambda T: T.frexp(T.ones(2), out=(T.ones(2), T.ones(2, dtype=T.int32))),
    ],
)
def test_frexp(case):
    check(case)


def test_frexp_gradient():
    x = taeda.tensor([1.5, -3.0, 0.2], dtype=taeda.float64, requires_grad=True)
    mantissa, exponent = taeda.frexp(x)
    assert not exponent.requires_grad
    assert taeda.autograd.gradcheck(lambda t: taeda.frexp(t)[0], x)
    mantissa.sum().backward()
    assert x.grad.tolist() == [0.5, 0.25, 4.0]


SPREAD = np.concatenate([np.linspace(-100, 100, 4001), np.linspace(-12, 12, 4001), np.geomspace(1e-44, 3e38, 999),
                         [0.0, -0.0, np.inf, -np.inf, np.nan, 88.7, 90.0]])  # fmt: skip
INSIDE = np.concatenate([np.linspace(-1, 1, 4001), 1 - np.geomspace(6e-8, 1, 999), np.geomspace(1e-44, 1, 999),
                         [-0.0, 1.5, -2.0, np.nan, np.inf]])  # fmt: skip
POSITIVE = np.concatenate([np.linspace(0, 12, 4001), 1 + np.linspace(-1e-4, 1e-4, 99), 2 + np.linspace(-1e-4, 1e-4, 99),
                           np.geomspace(1e-44, 3e38, 999)])  # fmt: skip


@pytest.mark.parametrize(
    ("function", "exact", "x", "ulps"),
    [
        *((getattr(special, n), getattr(wanted, n), SPREAD, 0.6) for n in ("i0", "i1", "i0e", "i1e")),
        (taeda.erfinv, wanted.erfinv, INSIDE, 4),
        (taeda.lgamma, wanted.gammaln, POSITIVE, 2),
        (taeda.lgamma, wanted.gammaln, SPREAD[~np.isneginf(SPREAD)], 2),
    ],
)
def test_float_within_a_few_units_of_the_last_place(function, exact, x, ulps):
    x = x.astype(np.float32)
    got = function(taeda.from_numpy(x)).numpy()
    with np.errstate(all="ignore"):
        value = exact(x.astype(np.float64))
        rounded = value.astype(np.float32)
        off = np.abs(got - value) / np.spacing(np.abs(rounded))
    np.testing.assert_array_equal(got[~np.isfinite(rounded)], rounded[~np.isfinite(rounded)])
    assert off[np.isfinite(rounded)].max() < ulps
