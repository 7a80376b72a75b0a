"""What tests/test_random.py does not ask of the random ops: gradients, out=, layouts, meta tensors and wrong calls."""

from __future__ import annotations

import itertools

import pytest
from twin import check

import taeda
from taeda.autograd import gradcheck, gradgradcheck


def seeded(case):
    def run(T):
        T.manual_seed(5)
        return case(T)

    return run


EVERYWHERE = [
    lambda T: T.rand(2, 3, generator=T.Generator().manual_seed(3)),
    lambda T: T.rand((2, 3), out=T.empty(1, dtype=T.float64)),
    lambda T: T.randn(20, out=T.empty(20)),
    lambda T: T.randint(3, 9, (4,), out=T.empty(0, dtype=T.float32)),
    lambda T: T.randint(9, (4,), generator=T.Generator(), dtype=T.int16),
    lambda T: T.randperm(6, out=T.empty(0, dtype=T.int32)),
    lambda T: T.randperm(6, generator=T.Generator(), dtype=T.float64),
    lambda T: T.rand_like(T.zeros(3, 4).t()),
    lambda T: T.rand_like(T.zeros(3, 4), dtype=T.float64, generator=T.Generator()),
    lambda T: T.randn_like(T.zeros(30, dtype=T.complex64)),
    lambda T: T.randint_like(T.zeros(3, 4), 5),
    lambda T: T.randint_like(T.zeros(3, 4), 2, 5, dtype=T.int64),
    lambda T: T.randint_like(T.zeros(3, 4), T.tensor(5)),
    lambda T: T.normal(T.zeros(2, 1), T.ones(3)),
    lambda T: T.normal(T.arange(4.0), 0.5),
    lambda T: T.normal(2.0, T.arange(4.0)),
    lambda T: T.normal(2.0, 3.0, (4,), dtype=T.float64),
    lambda T: T.empty(3, 8)[:, ::2].uniform_(),
    lambda T: T.empty(2, 3, 4, 5).to(memory_format=T.channels_last).uniform_(),
    lambda T: T.empty(5, dtype=T.complex64).uniform_(),
    lambda T: T.empty(5, dtype=T.complex64).normal_(0, 2),
    lambda T: T.empty(50, dtype=T.float16).random_(5),
    lambda T: T.empty(50, dtype=T.uint16).random_(3, 70),
    lambda T: T.empty(50, dtype=T.uint8).random_(3, None),
    lambda T: T.multinomial(T.rand(3, 9).t(), 5, True),
    lambda T: T.binomial(T.full((3, 1), 20.0), T.tensor([0.2, 0.7])),
    lambda T: T.poisson(T.rand(3, 4).t() * 9),
    lambda T: T.bernoulli(T.rand(3, 4).t()),
    lambda T: T.empty(4, 3).bernoulli_(T.tensor([0.2, 0.5, 0.9])),
    lambda T: T.rand(3, device="meta").shape,
    lambda T: T.empty(3, device="meta").normal_().shape,
    # wrong calls
    lambda T: T.rand(-1),
    lambda T: T.rand(3, dtype=T.int64),
    lambda T: T.empty(3, dtype=T.int64).normal_(),
    lambda T: T.empty(1).expand(3).uniform_(),
    lambda T: T.empty(1).expand(3).normal_(),
    lambda T: T.empty(3, dtype=T.int64).exponential_(),
    lambda T: T.empty(3).cauchy_(0, -1),
    lambda T: T.empty(3).log_normal_(0, -1),
    lambda T: T.empty(3, dtype=T.bool).geometric_(0.3),
    lambda T: T.empty(3).uniform_(0, 1e39),
    lambda T: T.randint(0, 300, (3,), dtype=T.uint8),
    lambda T: T.randint(0, 3, (3,), dtype=T.bool),
    lambda T: T.empty(3, dtype=T.complex64).random_(),
    lambda T: T.empty(3, dtype=T.uint16).random_(),
    lambda T: T.randperm(300, dtype=T.uint8),
    lambda T: T.randperm(3000, dtype=T.float16),
    lambda T: T.multinomial(T.ones(3, 4, 5), 1),
    lambda T: T.multinomial(T.ones(3), 0),
    lambda T: T.multinomial(T.ones(3, dtype=T.int64), 1),
    lambda T: T.multinomial(T.zeros(3), 1),
    lambda T: T.multinomial(T.tensor([1, float("nan")]), 1, True),
    lambda T: T.multinomial(T.ones(0, 3), 2),
    lambda T: T.poisson(T.tensor([-1.0])),
    lambda T: T.poisson(T.tensor([1])),
    lambda T: T.binomial(T.tensor([1]), T.tensor([0.5])),
    lambda T: T.bernoulli(T.tensor([1.5])),
    lambda T: T.bernoulli(T.tensor([1])),
    lambda T: T.empty(2).bernoulli_(T.tensor([float("nan"), 1])),
    lambda T: T.normal(T.zeros(2), T.ones(3)),
    lambda T: T.normal(T.zeros(2), -1.0),
    lambda T: T.normal(T.zeros(2), -T.ones(2)),
    lambda T: T.randint(2.5, (3,)),
    lambda T: T.feature_dropout(T.ones(3), 0.5, True),
    lambda T: T.native_dropout(T.ones(3), 1.5, True),
]


@pytest.mark.parametrize("case", range(len(EVERYWHERE)))
def test_beside_torch(case):
    check(seeded(EVERYWHERE[case]))


CONCENTRATIONS = [1e-3, 0.1, 0.7, 1.0, 3.0, 20.0, 150.0, 900.0, 2000.0]


def test_gamma_gradient():
    torch = pytest.importorskip("torch")
    a = torch.tensor(CONCENTRATIONS, dtype=torch.float64).repeat_interleave(5)
    x = a * torch.tensor([0.5, 0.8, 1.0, 1.2, 1.5] * len(CONCENTRATIONS))
    wanted = torch._standard_gamma_grad(a, x)
    got = taeda._standard_gamma_grad(*(taeda.tensor(v.tolist(), dtype=taeda.float64) for v in (a, x)))
    assert got.tolist() == pytest.approx(wanted.tolist(), rel=2e-3)


def test_dirichlet_gradient():
    torch = pytest.importorskip("torch")
    rows = list(itertools.product([0.02, 0.3, 0.5, 0.9], [0.2, 1.0, 4.0, 30.0], [0.3, 2.0, 15.0]))
    x, alpha, beta = (list(c) for c in zip(*rows, strict=True))
    total = [a + b for a, b in zip(alpha, beta, strict=True)]
    wanted = torch._dirichlet_grad(*(torch.tensor(v, dtype=torch.float64) for v in (x, alpha, total)))
    got = taeda._dirichlet_grad(*(taeda.tensor(v, dtype=taeda.float64) for v in (x, alpha, total)))
    assert got.tolist() == pytest.approx(wanted.tolist(), rel=2e-2)


def again(function):
    """Draws the same numbers in every call."""

    def run(*args):
        taeda.manual_seed(0)
        return function(*args)

    return run


@pytest.mark.parametrize(
    "function",
    [
        lambda x: taeda.dropout(x, 0.4, True),
        lambda x: taeda.dropout(x, 1.0, True),
        lambda x: taeda.dropout_(x * 1, 0.4, True),
        lambda x: taeda.native_dropout(x, 0.4, True)[0],
        lambda x: taeda.native_dropout(x, 0.4, False)[0],
        lambda x: taeda.feature_dropout(x, 0.4, True),
        lambda x: taeda.feature_dropout_(x * 1, 0.4, True),
        lambda x: taeda.alpha_dropout(x, 0.4, True),
        lambda x: taeda.alpha_dropout_(x * 1, 0.4, True),
        lambda x: taeda.feature_alpha_dropout(x, 0.4, True),
        lambda x: taeda.rrelu(x, 0.1, 0.3, True),
        lambda x: taeda.rrelu(x, 0.1, 0.3, False),
    ],
)
def test_gradients_of_masks(function):
    x = taeda.linspace(-2, 3, 12, dtype=taeda.float64).reshape(2, 3, 2).requires_grad_()
    assert gradcheck(again(function), (x,))
    assert gradgradcheck(again(function), (x,))


def test_samples_have_no_gradient_but_gammas_do():
    x = taeda.full((3,), 0.5, requires_grad=True)
    for sample in (taeda.bernoulli(x), taeda.normal(x, 1.0), taeda.poisson(x), x.clone().uniform_()):
        (grad,) = taeda.autograd.grad(sample.sum(), x)
        assert grad.tolist() == [0, 0, 0]
    (grad,) = taeda.autograd.grad(taeda._standard_gamma(x).sum(), x)
    assert all(g > 0 for g in grad.tolist())


@pytest.mark.parametrize("dtype", ["bool", "int64", "uint8", "float64"])
def test_truth_values_go_into_any_dtype(dtype):
    p = taeda.rand(50)
    taeda.manual_seed(1)
    drawn = taeda.bernoulli(p)
    taeda.manual_seed(1)
    out = taeda.bernoulli(p, out=taeda.empty(0, dtype=getattr(taeda, dtype)))
    assert out.tolist() == drawn.to(out.dtype).tolist()
