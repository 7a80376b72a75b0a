"""Divergences beside the mean of log-ratios over draws, beside PyTorch's, and how the function is found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from distribution_cases import COVARIANCE

import taeda

D = taeda.distributions
LOC = [0.3, -0.5, 1.0]
W, DIAGONAL = [[1.0, 0.5], [0.2, 0.3], [0.1, 0.9]], [1.0, 2.0, 0.5]

# For each distribution two instances, such that most pairs have a finite divergence.
SAMPLES: dict[str, list[dict[str, Any]]] = {
    "Bernoulli": [{"probs": [0.3, 0.6]}, {"logits": [0.2, -1.0]}],
    "Beta": [
        {"concentration1": [2.0, 3.0], "concentration0": [1.5, 4.0]},
        {"concentration1": [0.7, 2.0], "concentration0": [1.5, 1.0]},
    ],
    "Binomial": [{"total_count": 6, "probs": [0.3, 0.6]}, {"total_count": 6, "probs": [0.4, 0.2]}],
    "Categorical": [{"probs": [[0.2, 0.3, 0.5]]}, {"logits": [[0.2, 0.3, -0.5], [1.0, 0.0, 0.0]]}],
    "Cauchy": [{"loc": [0.0, 1.0], "scale": [1.0, 2.0]}, {"loc": [0.5, 3.0], "scale": [2.0, 1.0]}],
    "ContinuousBernoulli": [{"probs": [0.2, 0.7]}, {"probs": [0.5, 0.3]}],
    "Dirichlet": [{"concentration": [[1.0, 2.0, 3.0]]}, {"concentration": [[2.0, 2.0, 1.5]]}],
    "Exponential": [{"rate": [0.5, 2.0]}, {"rate": [1.5, 1.0]}],
    "Gamma": [
        {"concentration": [2.0, 3.0], "rate": [1.0, 2.0]},
        {"concentration": [1.5, 4.0], "rate": [2.0, 0.5]},
    ],
    "Geometric": [{"probs": [0.3, 0.6]}, {"probs": [0.5, 0.4]}],
    "Gumbel": [{"loc": [0.0, 1.0], "scale": [1.0, 0.5]}, {"loc": [0.5, 2.0], "scale": [1.5, 1.0]}],
    "HalfNormal": [{"scale": [1.0, 2.0]}, {"scale": [1.5, 1.0]}],
    "Laplace": [{"loc": [0.0, 1.0], "scale": [1.0, 0.5]}, {"loc": [0.5, 2.0], "scale": [1.5, 1.0]}],
    "LogNormal": [{"loc": [0.0, 1.0], "scale": [1.0, 0.5]}, {"loc": [0.5, 2.0], "scale": [1.5, 1.0]}],
    "LowRankMultivariateNormal": [
        {"loc": LOC, "cov_factor": W, "cov_diag": DIAGONAL},
        {"loc": [LOC, LOC], "cov_factor": [[0.3], [1.0], [0.2]], "cov_diag": [2.0, 1.0, 1.0]},
    ],
    "MultivariateNormal": [
        {"loc": LOC, "covariance_matrix": COVARIANCE},
        {"loc": [LOC, [0.0, 0.0, 0.0]], "precision_matrix": COVARIANCE},
    ],
    "Normal": [{"loc": [0.0, 1.0], "scale": [1.0, 0.5]}, {"loc": [0.5, 2.0], "scale": [1.5, 1.0]}],
    "OneHotCategorical": [{"probs": [0.2, 0.3, 0.5]}, {"logits": [0.2, 0.3, -0.5]}],
    "Pareto": [{"scale": [1.0, 2.0], "alpha": [4.5, 5.0]}, {"scale": [0.5, 1.0], "alpha": [1.5, 3.0]}],
    "Poisson": [{"rate": [0.5, 3.0]}, {"rate": [1.5, 2.0]}],
    "Uniform": [{"low": [0.2, 0.5], "high": [0.9, 0.7]}, {"low": [-1.0, -0.5], "high": [3.0, 1.5]}],
    "Wishart": [{"df": [4.0, 5.5], "covariance_matrix": COVARIANCE}, {"df": 6.0, "precision_matrix": COVARIANCE}],
}
PAIRS = sorted(
    (p.__name__, q.__name__)
    for p, q in D.kl._KL_REGISTRY
    if p.__name__ in SAMPLES and q.__name__ in SAMPLES
)  # fmt: skip
PAIRS += [("LogNormal", "LogNormal"), ("Wishart", "Wishart")]


def build(library: Any, name: str, index: int) -> Any:
    arguments = SAMPLES[name][index]
    given = {k: library.tensor(v, dtype=library.float64) if isinstance(v, list) else v for k, v in arguments.items()}
    return getattr(library.distributions, name)(**given)


def test_all_pairs_are_tried() -> None:
    untried = {
        (p.__name__, q.__name__) for p, q in D.kl._KL_REGISTRY if (p.__name__, q.__name__) not in PAIRS
    }  # fmt: skip
    kinds = ("ExponentialFamily", "Independent", "TransformedDistribution")
    assert untried == {(kind, kind) for kind in kinds}


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_beside_draws(pair: tuple[str, str]) -> None:
    first, second = pair
    p, q = build(taeda, first, 0), build(taeda, second, 1)
    exact = D.kl_divergence(p, q)
    shape = taeda.broadcast_shapes(p.batch_shape, q.batch_shape)
    assert exact.shape == shape
    if exact.isinf().all():
        return
    taeda.manual_seed(1)
    draws = p.expand(shape).sample((40_000,))
    q._validate_args = p._validate_args = False
    ratio = p.log_prob(draws) - q.log_prob(draws)
    error = (ratio.mean(0) - exact).abs()
    assert (error <= 6 * ratio.std(0) / 40_000**0.5 + 1e-9).all(), (exact, ratio.mean(0))


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_of_itself_is_zero(name: str) -> None:
    p = build(taeda, name, 0)
    divergence = D.kl_divergence(p, build(taeda, name, 0))
    assert taeda.allclose(divergence, taeda.zeros_like(divergence), atol=1e-9)


@pytest.mark.torch
@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_beside_torch(pair: tuple[str, str]) -> None:
    torch = pytest.importorskip("torch")
    (p, q), (first, second) = ([build(lib, name, i) for i, name in enumerate(pair)] for lib in (taeda, torch))
    ours = D.kl_divergence(p, q)
    if pair == ("Wishart", "Wishart"):  # of a batch PyTorch adds up terms of different shapes
        ones = map(type(first), first.df, first.covariance_matrix)
        theirs = torch.stack([torch.distributions.kl_divergence(one, second) for one in ones])
    else:
        theirs = torch.distributions.kl_divergence(first, second)
    np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().expand(ours.shape).numpy(), rtol=1e-6, atol=1e-8)


@pytest.mark.torch
def test_registered_pairs() -> None:
    pytest.importorskip("torch")
    from torch.distributions.kl import _KL_REGISTRY

    def names(registry: Any) -> set[tuple[str, str]]:
        return {(p.__name__, q.__name__) for p, q in registry}

    assert names(D.kl._KL_REGISTRY) == names(_KL_REGISTRY)


@pytest.mark.parametrize("first, second", [("Normal", "Normal"), ("Gamma", "Normal"), ("Uniform", "Gumbel"),
                                           ("MultivariateNormal", "LowRankMultivariateNormal")])  # fmt: skip
def test_gradients(first: str, second: str) -> None:
    def leaves(name: str, index: int) -> dict[str, taeda.Tensor]:
        return {k: taeda.tensor(v, dtype=taeda.float64, requires_grad=True) for k, v in SAMPLES[name][index].items()}

    p, q = leaves(first, 0), leaves(second, 1)

    def divergence(*values: taeda.Tensor) -> taeda.Tensor:
        of_p, of_q = values[: len(p)], values[len(p) :]
        options = {"validate_args": False}
        return D.kl_divergence(
            getattr(D, first)(**dict(zip(p, of_p)), **options), getattr(D, second)(**dict(zip(q, of_q)), **options)
        )

    if first == "MultivariateNormal":  # by a factor, whose elements are free
        p["scale_tril"] = taeda.linalg.cholesky(p.pop("covariance_matrix")).detach().requires_grad_()
    assert taeda.autograd.gradcheck(divergence, (*p.values(), *q.values()))


def test_edges() -> None:
    certain, fair = D.Bernoulli(taeda.tensor([0.0, 1.0])), D.Bernoulli(taeda.tensor([0.5, 0.5]))
    assert taeda.allclose(D.kl_divergence(certain, fair), taeda.tensor(2.0).log())
    assert D.kl_divergence(fair, certain).isinf().all()
    one, two = D.Categorical(taeda.tensor([1.0, 0.0])), D.Categorical(taeda.tensor([0.5, 0.5]))
    assert D.kl_divergence(two, one).isinf() and taeda.allclose(D.kl_divergence(one, two), taeda.tensor(2.0).log())
    assert D.kl_divergence(D.Uniform(-1.0, 1.0), D.Exponential(1.0)).isinf()
    assert D.kl_divergence(D.Uniform(0.0, 2.0), D.Uniform(0.0, 1.0)).isinf()
    assert D.kl_divergence(D.Pareto(1.0, 1.5), D.Normal(0.0, 1.0)).isinf()
    assert D.kl_divergence(D.Binomial(5, 0.3), D.Binomial(4, 0.3)).isinf()
    with pytest.raises(NotImplementedError, match="trials"):
        D.kl_divergence(D.Binomial(4, 0.3), D.Binomial(5, 0.3))
    with pytest.raises(NotImplementedError, match="Poisson"):
        D.kl_divergence(D.Poisson(1.0), D.Normal(0.0, 1.0))
    with pytest.raises(NotImplementedError, match="Normal to Categorical"):
        D.kl_divergence(D.Normal(0, 1), D.Categorical(taeda.ones(2)))
    with pytest.raises(ValueError, match="length"):
        D.kl_divergence(*(D.MultivariateNormal(taeda.zeros(n), taeda.eye(n)) for n in (2, 3)))


def test_made_of_others() -> None:
    p, q = D.Normal(taeda.randn(2, 3), 1.0), D.Normal(taeda.randn(2, 3), 2.0)
    inner = D.kl_divergence(p, q)
    assert taeda.allclose(D.kl_divergence(D.Independent(p, 1), D.Independent(q, 1)), inner.sum(-1))
    with pytest.raises(NotImplementedError):
        D.kl_divergence(D.Independent(p, 1), D.Independent(q, 2))
    exp, tanh = D.ExpTransform(), D.TanhTransform()
    moved = [D.TransformedDistribution(base, [exp]) for base in (p, q)]
    assert taeda.allclose(D.kl_divergence(*moved), inner)
    with pytest.raises(NotImplementedError, match="transforms"):
        D.kl_divergence(moved[0], D.TransformedDistribution(q, [tanh]))
    softmax = [D.TransformedDistribution(base, [D.StickBreakingTransform()]) for base in (p, q)]
    assert taeda.allclose(D.kl_divergence(*softmax), inner.sum(-1))


def test_which_function_is_called() -> None:
    class A(D.Distribution): ...

    class B(A): ...

    @D.register_kl(A, A)
    def general(p: Any, q: Any) -> str:
        return "general"

    @D.register_kl(A, B)
    def right(p: Any, q: Any) -> str:
        return "right"

    a, b = A(validate_args=False), B(validate_args=False)
    try:
        assert D.kl_divergence(a, a) == D.kl_divergence(b, a) == "general"
        assert D.kl_divergence(a, b) == D.kl_divergence(b, b) == "right"

        @D.register_kl(B, A)
        def left(p: Any, q: Any) -> str:
            return "left"

        with pytest.warns(RuntimeWarning, match="ambiguous"):
            assert D.kl_divergence(b, b) == "left"
        D.register_kl(B, B)(lambda p, q: "both")
        assert D.kl_divergence(b, b) == "both"
    finally:
        for pair in ((A, A), (A, B), (B, A), (B, B)):
            D.kl._KL_REGISTRY.pop(pair, None)
    with pytest.raises(TypeError, match="classes"):
        D.register_kl(3, D.Normal)
