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
    check(lambda T: getattr(T, name)(sample(T, dtype, 37)), rtol=RTOL.get(dtype, 1e-6))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", BINARY)
def test_binary(name, dtype):
    check(
        lambda T: getattr(T, name)(sample(T, dtype, 5, 7), sample(T, dtype, 7, shift=0.1)), rtol=RTOL.get(dtype, 1e-6)
    )


# Half and complex numbers together are complex32, which is not among the dtypes.
PAIRS = [(a, b) for a in DTYPES for b in DTYPES if {a, b} != {"float16", "complex64"}]


@pytest.mark.parametrize("left, right", PAIRS)
@pytest.mark.parametrize("sizes", [((3,), (3,)), ((), (3,)), ((3,), ()), ((), ())])
def test_promotion(left, right, sizes):
    check(lambda T: sample(T, left, *sizes[0]) * sample(T, right, *sizes[1]), rtol=2e-2)


@pytest.mark.parametrize(
    "dtype, number", [(d, n) for d in DTYPES for n in (True, 2, 2.5, 1j) if (d, n) != ("float16", 1j)]
)
def test_a_number_promotes_by_its_category(dtype, number):
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


def whole(T, dtype="int64"):
    return T.tensor([1, 2, 0]).to(getattr(T, dtype))


ALPHAS = [1, 2, 0.5, True, 1j]
PAIRS = [("int64", "int64"), ("bool", "bool"), ("bool", "int64"), ("int64", "float32"), ("float32", "complex64")]


@pytest.mark.parametrize("name", ["add", "sub", "rsub"])
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("left, right", PAIRS)
def test_alpha(name, alpha, left, right):
    check(lambda T: getattr(T, name)(whole(T, left), whole(T, right), alpha=alpha))
    check(lambda T: getattr(T, name)(whole(T, left), 2, alpha=alpha))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("number", [True, 2, 2.5])
def test_subtraction_of_truth_values(dtype, number):
    check(lambda T: whole(T, dtype) - number)
    check(lambda T: number - whole(T, dtype))
    check(lambda T: whole(T, dtype) - whole(T, "bool"))
    check(lambda T: whole(T, dtype).sub_(whole(T, "bool")))


@pytest.mark.parametrize("dtype", ["int64", "int8", "uint8", "bool", "float32"])
@pytest.mark.parametrize("exponent", [-1, 0, 1, 2, 3, 0.5, -1.0])
def test_powers_of_whole_numbers(dtype, exponent):
    check(lambda T: whole(T, dtype)[:2] ** exponent)
    check(lambda T: T.pow(whole(T, dtype)[:2], exponent, out=T.empty(2)))
    check(lambda T: whole(T, dtype)[:2].pow_(exponent))
    check(lambda T: exponent ** whole(T, dtype)[:2])
    check(lambda T: T.tensor([1, -1, 2, -2, 5]) ** T.tensor(-1))


@pytest.mark.parametrize(
    "case",
    [
        lambda T: T.square(whole(T, "bool")),
        lambda T: whole(T, "bool").square_(),
        lambda T: T.addcdiv(T.ones(3), whole(T), whole(T)),
        lambda T: T.addcdiv(whole(T), T.ones(3), T.ones(3)),
        lambda T: T.addcdiv(T.ones(3), T.ones(3), whole(T) + 1),
        lambda T: T.nn.functional.hardtanh(whole(T, "uint8")),
        lambda T: T.nn.functional.hardtanh(whole(T, "uint8"), 0, 1),
        lambda T: T.nn.functional.hardtanh(whole(T, "bool")),
        lambda T: T.nn.functional.relu6(whole(T, "uint8")),
        lambda T: T.isclose(whole(T), whole(T) + 1, rtol=0.0, atol=1),
        lambda T: T.isclose(T.tensor([5, 100]), T.tensor([6, 101]), rtol=0.01),
        lambda T: T.isclose(whole(T, "bool"), ~whole(T, "bool"), atol=2),
        lambda T: T.isclose(whole(T), whole(T, "float32")),
        lambda T: T.allclose(whole(T), whole(T, "float32")),
        lambda T: T.isclose(T.ones(2), T.ones(2), rtol=-1),
        lambda T: T.isclose(T.ones(2), T.ones(2), atol=-1),
        lambda T: T.isclose(T.tensor([T.nan, T.inf]), T.tensor([T.nan, T.inf]), equal_nan=True),
        lambda T: T.nan_to_num(T.tensor([T.nan, T.inf, -T.inf], dtype=T.float16)),
        lambda T: T.nan_to_num(T.tensor([T.nan, T.inf, -T.inf], dtype=T.bfloat16), nan=7.0, posinf=1e39),
        lambda T: T.nan_to_num(T.tensor([T.nan, T.inf, -T.inf]), neginf=-1.0),
        lambda T: T.nan_to_num(T.tensor([complex(T.nan, T.inf), complex(1, -T.inf)]), posinf=1.0),
        lambda T: T.nan_to_num(whole(T, "bool"), nan=2.0),
        lambda T: T.tensor([T.nan, 1.0]).nan_to_num_(3.0),
        lambda T: T.logaddexp(T.tensor([5j, complex(700, 3), complex(-T.inf, 0)]), T.tensor([5j, complex(700, 3), 1])),
        lambda T: T.pow(2, T.ones(3, 4).t()),
        lambda T: T.complex(T.ones(3, 4).t(), T.ones(3, 4).t()),
        lambda T: T.polar(T.ones(3, 4).t(), T.ones(3, 4).t()),
        lambda T: T.nn.functional.logsigmoid(T.ones(3, 4).t()),
        lambda T: T.fill(whole(T, "bool"), 2),
    ],
)
def test_corners(case):
    check(case)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_nextafter(dtype):
    ends = {"float16": [65504.0, 6e-8, 6.1035e-05], "bfloat16": [3.3895e38, 1e-40, 1.1755e-38]}.get(
        dtype, [3e38, 1e-45]
    )

    def both(T):
        plain = [0.0, -0.0, 1.0, -1.0, 2.0, 0.3, T.inf, -T.inf, *ends, *(-x for x in ends)]
        x = T.tensor(plain, dtype=T.float64).to(getattr(T, dtype))
        towards = T.tensor([T.inf, -T.inf, 0.0, 1.0, T.nan], dtype=T.float64).to(getattr(T, dtype))
        return [T.nextafter(x[:, None], towards), x.clone().nextafter_(towards[0])]

    check(both)


def test_second_derivatives_of_complex_angles():
    z = taeda.tensor([1 + 2j, -0.5 + 0.3j, -1 - 1j], dtype=taeda.complex128, requires_grad=True)
    for function in (taeda.angle, taeda.sgn, taeda.nn.functional.silu):
        assert taeda.autograd.gradcheck(function, z) and taeda.autograd.gradgradcheck(function, z)


@pytest.mark.parametrize("name", ["none", "tanh"])
def test_third_derivative_of_gelu(name):
    x = taeda.linspace(-2, 2, 7, dtype=taeda.float64).requires_grad_()
    slope = lambda t: taeda.autograd.grad(
        taeda.nn.functional.gelu(t, approximate=name).sum(), t, create_graph=True)[0]  # fmt: skip
    assert taeda.autograd.gradcheck(slope, x) and taeda.autograd.gradgradcheck(slope, x)


@pytest.mark.parametrize("case", [
    lambda f: taeda.igamma(f, f.detach()), lambda f: taeda.igammac(f, f.detach()), lambda f: taeda.special.zeta(f, 2.0),
])  # fmt: skip
def test_gradients_that_nobody_knows_raise(case):
    with pytest.raises(NotImplementedError, match="derivative"):
        case(taeda.tensor([1.5, 2.0], requires_grad=True)).sum().backward()


@pytest.mark.parametrize(
    "case",
    [
        lambda T: T.ones(3, 3).fill_diagonal_(5),
        lambda T: T.ones(7, 3).fill_diagonal_(5),
        lambda T: T.ones(7, 3).fill_diagonal_(5, wrap=True),
        lambda T: T.ones(3, 7).fill_diagonal_(5, True),
        lambda T: T.ones(3, 3, 3).fill_diagonal_(5),
        lambda T: T.ones(2, 3, 3).fill_diagonal_(5),
        lambda T: T.ones(3).fill_diagonal_(5),
        lambda T: T.arange(3.0).apply_(lambda x: x + 1),
        lambda T: T.arange(6).reshape(2, 3).t().apply_(lambda x: x + 0.7),
        lambda T: T.ones(2, 2).map_(T.arange(2.0), lambda a, b: a + b),
        lambda T: T.ones(2).map2_(T.arange(2.0), T.arange(2.0), lambda a, b, c: a + b * c),
        lambda T: T.ones(2).map_(T.ones(2, dtype=T.int64), max),
        lambda T: T.ones(2).map_(T.ones(3), max),
        lambda T: T.ones(2, requires_grad=True).apply_(abs),
        lambda T: T.ones(2).apply_(str),
    ],
)
def test_filled_and_mapped(case):
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


def test_square_roots_are_rounded_as_ieee_754_says():
    bits = np.arange(0, 2**32, 65521, dtype=np.uint32)  # every exponent, both signs
    x = np.concatenate([bits, bits // 512 + 2**23 * 80]).view(np.float32)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(taeda.from_numpy(x).sqrt().numpy(), np.sqrt(x))
    assert taeda.tensor([-0.0]).sqrt().signbit()


@pytest.mark.parametrize("width", [1, 2, 65, 129, 200, 255, 256, 257, 1000])
@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "int32"])
def test_converted_operands_repeat_in_rows_and_along_them(dtype: str, width: int) -> None:
    kind = getattr(taeda, dtype)
    x = (taeda.arange(5 * width) % 100).reshape(5, width).to(kind)
    row, column = x[1].clone(), x[:, :1].clone() + 1
    for a, b in ((x, row), (x, column), (x.t().contiguous().t(), column), (row, column), (x, x[2, 0])):
        got = taeda.true_divide(taeda.add(a, b), 3)
        wanted = taeda.true_divide(taeda.add(a.float(), b.float()).to(kind).float(), 3).to(got.dtype)
        assert taeda.equal(got, wanted)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_remainders_are_exact(dtype):
    size = {np.float32: 30, np.float64: 250}[dtype]
    x = np.concatenate([np.geomspace(10.0**-size, 10.0**size, 301), -np.geomspace(1e-3, 1e9, 301),
                        [0.0, -0.0, np.inf, np.nan, 5.0, 7.0, -7.0, 1e-45]]).astype(dtype)  # fmt: skip
    a, b = (side.ravel() for side in np.meshgrid(x, x[::7]))
    with np.errstate(all="ignore"):
        wanted = np.fmod(a, b)
    got = taeda.fmod(taeda.from_numpy(a), taeda.from_numpy(b)).numpy()
    np.testing.assert_array_equal(got, wanted)
    np.testing.assert_array_equal(np.signbit(got)[wanted == 0], np.signbit(a)[wanted == 0])
    up = (wanted != 0) & ((wanted < 0) != (b < 0))
    np.testing.assert_array_equal(
        taeda.remainder(taeda.from_numpy(a), taeda.from_numpy(b)).numpy(), np.where(up, wanted + b, wanted)
    )


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "int64", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("width", [2, 3, 5, 32, 33, 100])
def test_elements_fill_short_rows(dtype: str, width: int) -> None:
    x = (np.arange(60 * width) % 7).astype(dtype).reshape(6, 10, width)
    for other in (x[:, :, :1], x[:, :1, :1], x[:1, :, :1], x[:, :1], x[:, :, 1:2][:, ::-1].copy()):
        got = taeda.mul(taeda.from_numpy(x), taeda.from_numpy(other)).numpy()
        np.testing.assert_array_equal(got, x * other)


@pytest.mark.parametrize("dtype", ["bool", "int32", "int64", "uint8", "float32", "complex64"])
@pytest.mark.parametrize("alpha", [1, 0, 3])
def test_factors_of_sums(dtype: str, alpha: int) -> None:
    a, b = (np.arange(100) % n for n in (5, 3))
    a, b = a.astype(dtype), b.astype(dtype)
    x, y = taeda.from_numpy(a), taeda.from_numpy(b)
    wanted = a | (b & bool(alpha)) if dtype == "bool" else (a + alpha * b).astype(dtype)
    np.testing.assert_array_equal(taeda.add(x, y, alpha=alpha).numpy(), wanted)
    np.testing.assert_array_equal(x.clone().add_(y, alpha=alpha).numpy(), wanted)
    if dtype != "bool":
        np.testing.assert_array_equal(taeda.sub(x, 1, alpha=alpha).numpy(), (a - alpha).astype(dtype))


SHORT = {
    "add": lambda x, y, m: x + y,
    "with a product": lambda x, y, m: taeda.addcmul(x, x, y),
    "quotient": lambda x, y, m: x / y,
    "in place": lambda x, y, m: x.clone().add_(y),
    "of a number": lambda x, y, m: x * 2.001,
    "with alpha": lambda x, y, m: taeda.sub(x, y, alpha=0.3),
    "larger": lambda x, y, m: taeda.maximum(x, y),
    "relu": lambda x, y, m: x.relu(),
    "negative": lambda x, y, m: -x,
    "chosen": lambda x, y, m: taeda.where(m, x, y),
    "compared": lambda x, y, m: x > y,
    "mixed": lambda x, y, m: x * taeda.tensor(0.3001, dtype=taeda.float64),
}


@pytest.mark.parametrize("name", SHORT)
@pytest.mark.parametrize("layout", ["plain", "transposed", "stepped", "rows", "short rows", "wide"])
@pytest.mark.parametrize("size", [1, 15, 33, 600])
def test_bfloat16_is_float_rounded_once(name, layout, size):
    taeda.manual_seed(size)
    x, y = taeda.randn(5, size).bfloat16(), taeda.randn(5, size).bfloat16()
    x[0, 0], y[1, -1], x[2, 0], x[3, 0] = float("nan"), float("inf"), -0.0, 3.39e38
    if layout == "transposed":
        x = x.t().contiguous().t()
    elif layout == "stepped":
        x, y = x.repeat(1, 2)[:, ::2], y.flip(0)
    elif layout == "rows":
        y = y[0]
    elif layout == "short rows":
        x, y = x.t()[:, :, None].expand(-1, -1, 3), y.t()[:, :, None]
    mask = (y > 0).expand(x.shape)
    got = SHORT[name](x, y, mask)
    wanted = SHORT[name](x.float(), y.float(), mask).to(got.dtype)
    taeda.testing.assert_close(got, wanted, rtol=0, atol=0, equal_nan=True)
    if got.is_floating_point():
        assert taeda.equal(got.signbit() | got.isnan(), wanted.signbit() | wanted.isnan())
        if layout == "wide":  # into the dtype that it was computed in
            into = taeda.empty(got.shape)
            taeda.add(x, y, out=into)
            assert taeda.equal(into.nan_to_num(), (x + y).float().nan_to_num())


@pytest.mark.parametrize(
    "case",
    [
        lambda T: T.add(T.tensor([100, 3], dtype=T.int8), 100, out=T.zeros(2, dtype=T.int32)),
        lambda T: T.mul(T.tensor([200, 3], dtype=T.uint8), T.tensor(2), out=T.zeros(2)),
        lambda T: T.exp(T.tensor([0.3, 1.7]).half(), out=T.zeros(2)),
        lambda T: T.add(T.tensor([0.3, 1.7]).bfloat16(), T.tensor([0.31, 2]).bfloat16(), out=T.zeros(3)[1:]),
        lambda T: T.lt(T.tensor([1, 2], dtype=T.int16), 2, out=T.zeros(2, dtype=T.complex64)),
    ],
)
def test_wider_results_show_the_common_dtype(case):
    check(case)
