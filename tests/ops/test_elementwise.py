"""Elementwise ops beside PyTorch's: values, promotion, broadcasting, strides of results, errors; and what they
promise."""

from __future__ import annotations

import numpy as np
import pytest
from twin import check

import taeda

DTYPES = ("float32", "float64", "float16", "bfloat16", "int64", "int32", "int8", "uint8", "bool", "complex64")
RTOL = {"float16": 3e-3, "bfloat16": 2e-2, "float32": 2e-5, "complex64": 5e-5}
FLOAT_UNARY = [
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sqrt",
    "rsqrt",
    "reciprocal",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "atanh",
    "sigmoid",
    "square",
    "erf",
    "erfc",
    "erfinv",
    "lgamma",
    "digamma",
    "i0",
    "sinc",
    "neg",
    "abs",
    "sign",
    "sgn",
    "floor",
    "ceil",
    "round",
    "trunc",
    "frac",
    "isnan",
    "isfinite",
    "logical_not",
    "angle",
]
BINARY = [
    "add",
    "sub",
    "mul",
    "div",
    "floor_divide",
    "remainder",
    "fmod",
    "pow",
    "atan2",
    "maximum",
    "fmin",
    "eq",
    "lt",
    "logical_and",
    "bitwise_xor",
    "copysign",
    "xlogy",
]


def sample(T, dtype, *sizes, shift=0.0):
    """Numbers in (0, 1) (or small integers), the same for both libraries."""
    count = int(np.prod(sizes, dtype=int))
    plain = (np.arange(count) * 7 % 11 + 1) / 13 + shift
    if dtype in ("int64", "int32", "int8", "uint8", "bool"):
        plain = (np.arange(count) * 7 % 11 + (dtype != "bool")) % (2 if dtype == "bool" else 12) + (dtype != "bool")
    return T.tensor(plain.tolist()).to(getattr(T, dtype)).reshape(sizes)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FLOAT_UNARY)
def test_unary(name, dtype):
    if (name, dtype) == ("square", "bool"):
        pytest.skip("PyTorch makes it int64 through pow")
    check(lambda T: getattr(T, name)(sample(T, dtype, 37)), rtol=RTOL.get(dtype, 1e-6))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", BINARY)
def test_binary(name, dtype):
    check(
        lambda T: getattr(T, name)(sample(T, dtype, 5, 7), sample(T, dtype, 7, shift=0.1)), rtol=RTOL.get(dtype, 1e-6)
    )


@pytest.mark.parametrize("left", DTYPES)
@pytest.mark.parametrize("right", DTYPES)
@pytest.mark.parametrize("sizes", [((3,), (3,)), ((), (3,)), ((3,), ()), ((), ())])
def test_promotion(left, right, sizes):
    if "complex64" in (left, right) and "float16" in (left, right):
        pytest.skip("there is no complex32")
    check(lambda T: sample(T, left, *sizes[0]) * sample(T, right, *sizes[1]), rtol=2e-2)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("number", [True, 2, 2.5, 1j])
def test_a_number_promotes_by_its_category(dtype, number):
    if (dtype, number) == ("float16", 1j):
        pytest.skip("there is no complex32")
    check(lambda T: sample(T, dtype, 3) + number, rtol=2e-2)


def cl(T):
    return sample(T, "float32", 2, 3, 4, 5).to(memory_format=T.channels_last)


@pytest.mark.parametrize(
    "case",
    [
        lambda T: cl(T) + cl(T),
        lambda T: cl(T) + sample(T, "float32", 2, 3, 4, 5),
        lambda T: sample(T, "float32", 2, 3, 4, 5) + cl(T),
        lambda T: cl(T) * sample(T, "float32", 3, 1, 1),
        lambda T: sample(T, "float32", 5, 4).t() + sample(T, "float32", 5, 4).t(),
        lambda T: sample(T, "float32", 5, 4).t() + sample(T, "float32", 4, 5),
        lambda T: sample(T, "float32", 4, 5) + sample(T, "float32", 5, 4).t(),
        lambda T: sample(T, "float32", 3, 4, 5).permute(2, 0, 1).exp(),
        lambda T: sample(T, "float32", 4, 1).expand(4, 5) * 2,
        lambda T: sample(T, "float32", 4, 10)[:, ::2].exp(),
        lambda T: sample(T, "float32", 7, 1) + sample(T, "float32", 1, 9),
        lambda T: sample(T, "float32", 900, 8) + sample(T, "float32", 8),
        lambda T: sample(T, "float32", 8, 900).t() + sample(T, "float32", 8),
        lambda T: sample(T, "float32", 30, 2000) + sample(T, "bfloat16", 30, 1),
        lambda T: sample(T, "float32", 0, 3) + sample(T, "float32", 3),
    ],
)
def test_strides_of_results(case):
    check(case)


@pytest.mark.parametrize(
    "case",
    [
        lambda T: T.ones(3) + T.ones(4),
        lambda T: T.ones(3).add_(T.ones(2, 3)),
        lambda T: T.ones(3, dtype=T.int32).add_(1.5),
        lambda T: T.ones(1).expand(3).add_(1),
        lambda T: T.ones(3, dtype=T.bool) - T.ones(3, dtype=T.bool),
        lambda T: T.ones(3).clamp(),
        lambda T: T.ones(3, dtype=T.int64) // T.zeros(3, dtype=T.int64),
        lambda T: T.lerp(T.ones(2), T.ones(2).double(), 0.5),
        lambda T: T.ones(6)[:4].add_(T.ones(6)[2:].fill_(2).clone()),
        lambda T: T.add(T.ones(2), T.ones(2), out=T.ones(2, dtype=T.int64)),
    ],
)
def test_errors(case):
    check(case)


def test_partial_overlap_is_refused():
    x = taeda.arange(6.0)
    with pytest.raises(RuntimeError, match="share part of their memory"):
        x[:4].add_(x[1:5])


@pytest.mark.parametrize("size", [*range(0, 35), 1023, 1025, 32769])
def test_tails(size):
    plain = np.arange(1, size + 1, dtype=np.float32)
    np.testing.assert_array_equal((taeda.from_numpy(plain) * 2 + 1).numpy(), plain * 2 + 1)
    whole = plain.astype(np.int64)
    np.testing.assert_array_equal((taeda.from_numpy(whole) // 3).numpy(), whole // 3)


def test_bits_do_not_depend_on_position_or_threads():
    x = taeda.linspace(-5, 5, 100_003)
    before = taeda.get_num_threads()
    try:
        taeda.set_num_threads(1)
        one = x.exp()
        taeda.set_num_threads(2)
        two = x.exp()
    finally:
        taeda.set_num_threads(before)
    assert one.equal(two)
    assert one[5:9].equal(x[5:9].exp())
