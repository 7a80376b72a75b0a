"""Numbers far beyond any tensor's size where sizes, steps and degrees are wanted: an answer or an error, soon."""

from __future__ import annotations

import itertools

import pytest
from twin import check

import taeda

MOST = 2**63 - 1
CASES = [
    lambda T: T.tril_indices(1, MOST),
    lambda T: T.triu_indices(2**60, 1),
    lambda T: T.triu_indices(2**60, 3, -1 - 2**60),
    lambda T: T.triu_indices(2**60, 3, 1),
    lambda T: T.tril_indices(MOST, 1),
    lambda T: T.triu_indices(1, MOST),
    lambda T: T.ones(2, 3).triu(-MOST),
    lambda T: T.ones(2, 3).tril(-MOST),
    lambda T: T.mvlgamma(T.ones(2), MOST),
    lambda T: T.mvlgamma(T.full((2,), 60.0), 100),
    lambda T: T.conv2d(T.ones(1, 3, 6, 5), T.ones(2, 3, 2, 2), padding=(0, MOST)),
    lambda T: T.conv_transpose2d(T.ones(1, 3, 6, 5), T.ones(3, 2, 2, 2), stride=(1, MOST)),
    lambda T: T.conv_transpose2d(T.ones(1, 3, 6, 5), T.ones(3, 2, 2, 2), padding=(1, MOST)),
    lambda T: T.nn.functional.unfold(T.ones(1, 3, 6, 5), 2, padding=(0, 2**62)),
    lambda T: T.nn.functional.unfold(T.ones(1, 3, 6, 5), 2, dilation=(1, 2**62)),
    lambda T: T.nn.functional.unfold(T.ones(1, 3, 6, 5), (2, MOST)),
    lambda T: T.nn.functional.unfold(T.ones(1, 3, 6, 5), 2, stride=(1, MOST)),
    lambda T: T.nn.functional.max_pool2d(T.ones(1, 3, 6, 5), 2, stride=(1, MOST)),
    lambda T: T.nn.functional.avg_pool2d(T.ones(1, 3, 6, 5), (2, 2**31)),
    lambda T: T.nn.functional.max_pool2d(T.ones(1, 3, 6, 5), 2, dilation=(1, 2**62)),
    lambda T: T.nn.functional.fractional_max_pool2d(T.ones(1, 3, 6, 5), (2**62, 2), (3, 3)),
    lambda T: T.nn.functional.fractional_max_pool2d(T.ones(1, 3, 6, 5), 2, (MOST, 3)),
    lambda T: T.diagflat(T.ones(3), -MOST - 1),
    lambda T: T.diag_embed(T.ones(3), MOST),
    lambda T: T.constant_pad_nd(T.ones(2, 3), (MOST, MOST)),
    lambda T: T.nn.functional.conv2d(T.ones(1, 3, 6, 5), T.ones(2, 3, 3, 2), padding="same", dilation=(MOST, 1)),
    lambda T: -T.tensor([-MOST - 1]) - T.tensor([MOST]) * 3,
]


@pytest.mark.parametrize("case", CASES)
def test_huge_numbers(case):
    check(case)


@pytest.mark.parametrize("rows, columns", itertools.product((0, 1, 3, 5), repeat=2))
def test_places_of_a_triangle(rows, columns):
    for offset in range(-7, 8):
        check(lambda T, k=offset: T.tril_indices(rows, columns, k))
        check(lambda T, k=offset: T.triu_indices(rows, columns, k))


@pytest.mark.parametrize("name", ["legendre_polynomial_p", "laguerre_polynomial_l"])
def test_large_degrees(name):
    x = [0.0, 1e-4, 0.3, 0.9, 1.0] + ([-1.0, -0.7, -1e-9] if name.startswith("legendre") else [5.0])
    for degree in (2**20 + 1, 2**20 + 2, 2**21):
        check(
            lambda T, n=degree: getattr(T.special, name)(T.tensor(x, dtype=T.float64), n), rtol=1e-6
        )  # what PyTorch gives is off by that
    result = getattr(taeda.special, name)(taeda.tensor([0.5, taeda.nan], dtype=taeda.float64), 2**50)
    assert abs(result[0]) < 1e-3 and result[1].isnan()


# Beyond the interval where they swing; the numbers are of the hypergeometric functions 2F1 and 1F1 with 40 digits.
def test_large_degrees_where_polynomials_grow():
    points = taeda.tensor([1 + 2.0**-40, -1 - 2.0**-40, 2.0, -2.0], dtype=taeda.float64)
    got = taeda.special.legendre_polynomial_p(points, 2**20 + 1)
    near = 1.566084748972965
    assert got.tolist() == [pytest.approx(near, rel=1e-9), pytest.approx(-near, rel=1e-9), taeda.inf, -taeda.inf]
    points = taeda.tensor([-(2.0**-22), -1.0, -taeda.inf, taeda.inf], dtype=taeda.float64)
    got = taeda.special.laguerre_polynomial_l(points, 2**20 + 1)
    assert got.tolist() == [pytest.approx(1.266066131058486, rel=1e-9), taeda.inf, taeda.inf, -taeda.inf]


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("sample", [-1e30, -300.7, 1000.0, 1e17, float("nan"), float("inf")])
def test_fractional_pooling_stays_inside(dtype, sample):
    image = taeda.arange(56.0).reshape(1, 1, 7, 8).to(getattr(taeda, dtype))
    samples = taeda.full((1, 1, 2), sample, dtype=image.dtype)
    values, places = taeda.ops.aten.fractional_max_pool2d(image, [3, 3], [4, 5], samples)
    assert taeda.equal(image.flatten()[places.flatten()], values.flatten())
    with pytest.raises(RuntimeError):
        taeda.ops.aten.fractional_max_pool2d(image, [-MOST, 3], [4, 5], samples)


def test_the_last_row_of_an_endless_matrix():
    assert taeda.tril_indices(MOST, 2, 1 - MOST).tolist() == [[MOST - 1], [0]]
