"""Random numbers: a seed gives PyTorch's numbers, and the generator ends in PyTorch's state.

With torch installed every case is laid beside it; the recorded numbers (torch 2.13.0, CPU) stand in where it is absent.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

import taeda

try:
    import torch
except ImportError:
    torch = None  # type: ignore[assignment]

needs_torch = pytest.mark.skipif(torch is None, reason="torch is not installed")
CACHED_NORMAL = slice(5024, 5032)  # the bytes of a saved state that hold a computed double
FLOATS = ["float32", "float64", "float16", "bfloat16"]
TOLERANCE = {"float32": 1e-6, "float64": 1e-13, "float16": 2e-3, "bfloat16": 2e-2}

# Each draws with the module that it is given, so that the same program runs on both.
Program = Callable[[Any], Any]
EVERY_MACHINE: dict[str, Program] = {
    "uniform_float32_wide": lambda t: t.empty(1025).uniform_(-3, 7),
    "uniform_excludes_the_end": lambda t: t.empty(100).uniform_(1, 1 + 3 * 2**-23),
    "uniform_in_order_of_memory": lambda t: t.empty(4, 6).t().uniform_(),
    "normal_mean_std": lambda t: t.empty(40).normal_(1.5, 2),
    "normal_tensors": lambda t: t.normal(t.arange(20.0), t.full((20,), 0.5)),
    "normal_not_contiguous": lambda t: t.empty(4, 6).t().normal_(),
    "normal_strided": lambda t: t.empty(4, 12)[:, ::2].normal_(),
    "randn_complex": lambda t: t.view_as_real(t.randn(9, dtype=t.complex64)),
    "randn_like": lambda t: t.randn_like(t.zeros(3, 7)),
    "rand_like": lambda t: t.rand_like(t.zeros(3, 7)),
    "randint": lambda t: t.randint(0, 10, (33,)),
    "randint_negative": lambda t: t.randint(-5, 5, (33,), dtype=t.int8),
    "randint_below_2_28": lambda t: t.randint(0, 2**28 - 1, (9,)),
    "randint_from_2_28": lambda t: t.randint(0, 2**28, (9,)),
    "randint_wide": lambda t: t.randint(-(2**62), 2**62, (9,)),
    "random_full_range": lambda t: t.empty(9, dtype=t.int64).random_(-(2**63), None),
    "randperm": lambda t: t.randperm(1000),
    "randperm_int32": lambda t: t.randperm(17, dtype=t.int32),
    "randperm_empty": lambda t: t.randperm(0),
    "bernoulli_tensor_float32": lambda t: t.bernoulli(t.linspace(0, 1, 50)),
    "bernoulli_tensor_float64": lambda t: t.bernoulli(t.linspace(0, 1, 50, dtype=t.float64)),
    "bernoulli_int_out": lambda t: t.empty(50, dtype=t.int32).bernoulli_(t.linspace(0, 1, 50)),
    "cauchy": lambda t: t.empty(33).cauchy_(0.5, 2),
    "log_normal": lambda t: t.empty(33).log_normal_(0.5, 0.3),
    "geometric": lambda t: t.empty(33).geometric_(0.2),
    "geometric_int": lambda t: t.empty(33, dtype=t.int64).geometric_(0.2),
    "multinomial_replacement": lambda t: t.multinomial(t.tensor([[0.1, 0, 3, 1], [1, 1, 1, 0]]), 9, True),
    "poisson": lambda t: t.poisson(t.tensor([0.0, 0.5, 3, 9.9, 10, 50, 1e4])),
    "binomial": lambda t: t.binomial(t.tensor([5.0, 5, 100, 1000, 7]), t.tensor([0.3, 0.8, 0.3, 0.9, 0])),
    "standard_gamma": lambda t: t._standard_gamma(t.tensor([0.0, 0.01, 0.5, 1, 7, 100])),
    "dirichlet": lambda t: t._sample_dirichlet(t.tensor([[0.5, 1, 3], [10, 10, 0.1]])),
    "rrelu": lambda t: t.nn.functional.rrelu(t.linspace(-1, 1, 21), training=True),
}
# PyTorch uses another generator for these on Intel processors.
NOT_ON_INTEL: dict[str, Program] = {
    "bernoulli": lambda t: t.empty(50).bernoulli_(0.3),
    "bernoulli_bool": lambda t: t.empty(50, dtype=t.bool).bernoulli_(0.3),
    "bernoulli_certain": lambda t: t.empty(5).bernoulli_(1.0),
    "exponential": lambda t: t.empty(33).exponential_(1.5),
    "multinomial_one": lambda t: t.multinomial(t.tensor([[0.1, 0, 3, 1], [1, 1, 1, 0]]), 1),
    "multinomial_distinct": lambda t: t.multinomial(t.arange(1.0, 100), 60),
    "dropout": lambda t: t.nn.functional.dropout(t.ones(5, 7), 0.3),
    "dropout_off": lambda t: t.nn.functional.dropout(t.ones(5, 7), 0.3, training=False),
    "dropout_all": lambda t: t.nn.functional.dropout(t.ones(5, 7), 1.0),
    "dropout_transposed": lambda t: t.nn.functional.dropout(t.ones(5, 7).t(), 0.3),
    "native_dropout": lambda t: t.native_dropout(t.ones(5, 7), 0.3, True)[1],
    "dropout2d": lambda t: t.nn.functional.dropout2d(t.ones(2, 5, 3, 3), 0.3),
    "alpha_dropout": lambda t: t.nn.functional.alpha_dropout(t.ones(5, 7), 0.3, True),
    "feature_alpha_dropout": lambda t: t.nn.functional.feature_alpha_dropout(t.ones(2, 5, 3), 0.3, True),
    "gumbel_softmax": lambda t: t.nn.functional.gumbel_softmax(t.zeros(3, 5)),
}


@functools.cache
def torch_uses_the_default_generator() -> bool:
    program, expected = RECORDED["bernoulli"]
    torch.manual_seed(0)
    return program(torch).tolist() == expected


def run(module: Any, programs: list[Program], seed: int) -> tuple[list[Any], list[int]]:
    """What the programs return, one after another from the seed, and the generator's state after them."""
    module.manual_seed(seed)
    results = [program(module) for program in programs]
    state = module.get_rng_state().tolist()
    del state[CACHED_NORMAL]
    return results, state


def assert_same(programs: list[Program], seed: int, tolerance: float = 1e-6) -> None:
    (ours, our_state), (theirs, their_state) = run(taeda, programs, seed), run(torch, programs, seed)
    for result, expected in zip(ours, theirs, strict=True):
        assert (tuple(result.shape), str(result.dtype)) == (tuple(expected.shape), str(expected.dtype))
        numbers = (
            expected.double().flatten().tolist() if expected.dtype.is_floating_point else expected.flatten().tolist()
        )
        if expected.dtype.is_floating_point:
            assert result.double().flatten().tolist() == pytest.approx(numbers, rel=tolerance, abs=tolerance)
        else:
            assert result.flatten().tolist() == numbers
    assert our_state == their_state


@needs_torch
@pytest.mark.parametrize("name", EVERY_MACHINE)
@pytest.mark.parametrize("seed", [0, 2**40 + 7])
def test_same_as_torch(name: str, seed: int) -> None:
    assert_same([EVERY_MACHINE[name]], seed)


@needs_torch
@pytest.mark.parametrize("name", NOT_ON_INTEL)
def test_same_as_torch_without_mkl(name: str) -> None:
    if not torch_uses_the_default_generator():
        pytest.skip("torch uses MKL's generator for this op on this processor")
    assert_same([NOT_ON_INTEL[name]], 3)


@needs_torch
@pytest.mark.parametrize("n", [0, 1, 2, 15, 16, 17, 32, 33, 1000, 1025])
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["rand", "randn"])
def test_sizes_and_dtypes(name: str, dtype: str, n: int) -> None:
    assert_same([lambda t: getattr(t, name)(n, dtype=getattr(t, dtype))], n, TOLERANCE[dtype])


@needs_torch
@pytest.mark.parametrize("dtype", [*FLOATS, "uint8", "int8", "int16", "int32", "int64", "bool"])
def test_random_of_every_dtype(dtype: str) -> None:
    assert_same([lambda t: t.empty(50, dtype=getattr(t, dtype)).random_()], 1)


@needs_torch
def test_interleaved_calls_keep_the_streams_together() -> None:
    programs = list(EVERY_MACHINE.values())
    assert_same(programs + [lambda t: t.randn(3)] * 2 + programs[::-1], 11)


@needs_torch
@pytest.mark.parametrize("draws", [0, 1, 3, 623, 624, 700])
def test_states_move_between_the_systems(draws: int) -> None:
    def start(t: Any) -> Any:
        t.rand(draws)
        return t.randn(1)  # leaves a second normal in the state

    def finish(t: Any) -> list[float]:
        return [*t.randn(1).tolist(), *t.rand(5).tolist()]

    for source, target in ((torch, taeda), (taeda, torch)):
        source.manual_seed(5)
        start(source)
        state = source.get_rng_state().tolist()
        expected = finish(source)
        target.set_rng_state(target.tensor(state, dtype=target.uint8))
        assert target.initial_seed() == 5
        assert finish(target) == pytest.approx(expected, rel=1e-6)


RECORDED: dict[str, tuple[Program, list[float]]] = {
    "rand": (lambda t: t.rand(3), [0.49625659, 0.768221796, 0.0884774327]),
    "rand_float64": (lambda t: t.rand(2, dtype=t.float64), [0.9700530018065531, 0.707819864399788]),
    "randn": (lambda t: t.randn(3), [1.54099607, -0.293428898, -2.17878938]),
    "randn_block": (lambda t: t.randn(17)[::5], [-1.12583983, -1.55509508, -0.173396751, -0.843676746]),
    "randn_float64_block": (
        lambda t: t.randn(17, dtype=t.float64)[::5],
        [-2.310411800234176, 0.2102998901016947, -0.7730112772958181, -0.8910030351707375],
    ),
    "randint": (lambda t: t.randint(0, 100, (6,)), [44, 39, 33, 60, 63, 79]),
    "randint_wide": (lambda t: t.randint(0, 2**40, (2,)), [741280623151, 506137267392]),
    "randperm": (lambda t: t.randperm(8), [4, 0, 7, 3, 2, 5, 1, 6]),
    "bernoulli": (lambda t: t.empty(8).bernoulli_(0.5), [0, 0, 1, 0, 0, 0, 1, 1]),
    "bernoulli_tensor": (lambda t: t.bernoulli(t.full((8,), 0.5)), [1, 0, 1, 1, 1, 0, 1, 0]),
    "exponential": (lambda t: t.empty(3).exponential_(), [3.50832629, 1.23038471, 0.615044117]),
    "multinomial": (lambda t: t.multinomial(t.ones(9), 5), [6, 7, 2, 8, 4]),
    "multinomial_replacement": (lambda t: t.multinomial(t.ones(9), 5, True), [8, 6, 4, 8, 5]),
    "dropout": (lambda t: t.nn.functional.dropout(t.ones(8), 0.5), [0, 0, 2, 0, 0, 0, 2, 2]),
    "poisson": (lambda t: t.poisson(t.tensor([2.0, 30.0, 1e4])), [6, 27, 9937]),
    "geometric": (lambda t: t.empty(4).geometric_(0.2), [1, 2, 4, 1]),
    "standard_gamma": (lambda t: t._standard_gamma(t.tensor([0.5, 2.0])), [0.000789358164, 0.631540596]),
    "linear_weight": (lambda t: t.nn.Linear(2, 1).weight.detach().flatten(), [-0.00529398117, 0.379322886]),
}


@pytest.mark.parametrize("name", RECORDED)
def test_recorded_numbers(name: str) -> None:
    program, expected = RECORDED[name]
    taeda.manual_seed(0)
    assert program(taeda).tolist() == pytest.approx(expected, rel=1e-6)


def test_threads_do_not_change_the_stream() -> None:
    threads, results = taeda.get_num_threads(), []
    try:
        for count in (1, 2):
            taeda.set_num_threads(count)
            taeda.manual_seed(0)
            results.append([taeda.randn(50_000).tolist(), taeda.empty(50_000).bernoulli_(0.5).tolist()])
    finally:
        taeda.set_num_threads(threads)
    assert results[0] == results[1]


def test_generator_objects() -> None:
    assert taeda.Generator(device=None).device == taeda.Generator().device == taeda.device("cpu")
    generator = taeda.Generator()
    assert generator.initial_seed() == 67280421310721
    assert generator.device.type == "cpu"
    assert generator.manual_seed(7) is generator
    taeda.manual_seed(7)
    default = taeda.get_rng_state().tolist()
    assert generator.get_state().tolist() == default
    first = taeda.rand(4, generator=generator).tolist()
    assert taeda.get_rng_state().tolist() == default, "an op with its own generator must leave the default alone"
    assert taeda.rand(4).tolist() == first
    copy = generator.clone_state()
    assert taeda.randperm(9, generator=copy).tolist() == taeda.randperm(9, generator=generator).tolist()
    seed = generator.seed()
    assert generator.initial_seed() == seed


def test_states() -> None:
    taeda.manual_seed(0)
    taeda.randn(3)
    state = taeda.get_rng_state()
    assert (state.dtype, tuple(state.shape)) == (taeda.uint8, (5056,))
    expected = taeda.randn(5).tolist()
    taeda.set_rng_state(state)
    assert taeda.randn(5).tolist() == expected
    with taeda.random.fork_rng():
        taeda.manual_seed(99)
    taeda.set_rng_state(state)
    with taeda.random.fork_rng():
        taeda.rand(3)
    assert taeda.randn(5).tolist() == expected


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda: taeda.set_rng_state(taeda.zeros(10, dtype=taeda.uint8)), RuntimeError),
        (lambda: taeda.set_rng_state(taeda.zeros(5056, dtype=taeda.uint8)), RuntimeError),
        (lambda: taeda.set_rng_state(taeda.zeros(5056)), TypeError),
        (lambda: taeda.manual_seed(2**64), ValueError),
        (lambda: taeda.empty(3).uniform_(2, 1), RuntimeError),
        (lambda: taeda.empty(3).normal_(0, -1), RuntimeError),
        (lambda: taeda.empty(3).bernoulli_(1.5), RuntimeError),
        (lambda: taeda.empty(3).exponential_(-1), RuntimeError),
        (lambda: taeda.empty(3).geometric_(1.5), RuntimeError),
        (lambda: taeda.randint(5, 5, (2,)), RuntimeError),
        (lambda: taeda.randperm(-1), RuntimeError),
        (lambda: taeda.multinomial(taeda.ones(3), 4), RuntimeError),
        (lambda: taeda.multinomial(taeda.tensor([1.0, -1.0]), 1), RuntimeError),
        (lambda: taeda.nn.functional.dropout(taeda.ones(3), 1.5), ValueError),
    ],
)
def test_errors(call: Callable[[], Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        call()
