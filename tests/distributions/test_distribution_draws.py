"""Draws have the moments that the distributions state, and their gradients are those of the quantiles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from distribution_cases import CASES, case_id, make

import taeda

D = taeda.distributions
COUNT = 20_000
# Draws whose fourth moment is infinite, or nearly so, do not tell the variance.
HEAVY = {"Cauchy", "HalfCauchy", "StudentT", "FisherSnedecor", "InverseGamma", "Pareto", "GeneralizedPareto"}
WITHOUT_MOMENTS = {
    "Categorical", "LKJCholesky", "LogisticNormal", "RelaxedBernoulli", "RelaxedOneHotCategorical", "VonMises",
}  # fmt: skip


@pytest.mark.parametrize("case", [case for case in CASES if case[0] not in HEAVY | WITHOUT_MOMENTS], ids=case_id)
def test_moments_of_draws(case: Any) -> None:
    p = make(case, taeda)
    draws = p.sample((COUNT,)).double()
    deviation = p.stddev.double()
    error = (draws.mean(0) - p.mean).abs()
    assert (error <= 5 * deviation / COUNT**0.5 + 1e-9).all()
    spread = (draws.var(0) - p.variance).abs()
    assert (spread <= 0.15 * p.variance + 1e-9).all()


@pytest.mark.parametrize("case", [case for case in CASES if case[0] in HEAVY], ids=case_id)
def test_quantiles_of_heavy_draws(case: Any) -> None:
    """By the densities: the share of draws near a point is the density times the width."""
    p = make(case, taeda)
    draws = p.sample((COUNT,)).double()
    centre = draws.median(0).values
    width = 0.05 * (draws.quantile(0.75, 0) - draws.quantile(0.25, 0))
    found = ((draws - centre).abs() <= width / 2).double().mean(0)
    expected = p.log_prob(centre).exp() * width
    assert ((found - expected).abs() <= 6 * (expected / COUNT).sqrt()).all()


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_draws_are_in_the_support(case: Any) -> None:
    p = make(case, taeda)
    for shape in ((), (3,), (2, 3)):
        draws = p.sample(shape)
        assert draws.shape == (*shape, *p.batch_shape, *p.event_shape) and not draws.requires_grad
        assert p.support.check(draws).all()
        assert p.log_prob(draws).shape == (*shape, *p.batch_shape)


def test_circular_moments() -> None:
    p = D.VonMises(taeda.tensor([0.0, 3.0]), taeda.tensor([1.0, 5.0]))
    draws = p.sample((COUNT,))
    assert (draws >= -np.pi).all() and (draws < np.pi).all()
    x, y = draws.cos().mean(0), draws.sin().mean(0)
    assert taeda.allclose(1 - (x**2 + y**2).sqrt(), p.variance, atol=0.02)
    assert taeda.allclose(taeda.atan2(y, x), p.mean, atol=0.03)


@pytest.mark.parametrize("size, concentration", [(2, 1.0), (3, 0.5), (4, 2.0)])
def test_correlations(size: int, concentration: float) -> None:
    """An off-diagonal element of an LKJ correlation matrix is a beta variable stretched to [-1, 1]."""
    p = D.LKJCholesky(size, concentration)
    factors = p.sample((COUNT,))
    correlations = factors @ factors.mT
    assert taeda.allclose(correlations.diagonal(dim1=-2, dim2=-1), taeda.ones(1), atol=1e-5)
    shape = concentration - 1 + size / 2
    beta = D.Beta(shape, shape)
    for row in range(1, size):
        for column in range(row):
            element = correlations[:, row, column]
            assert element.mean().abs() < 5 * 2 * beta.stddev / COUNT**0.5
            assert taeda.allclose(element.var(), 4 * beta.variance, rtol=0.1)


def test_densities_of_correlations_integrate_to_one() -> None:
    p = D.LKJCholesky(2, taeda.tensor([0.5, 1.0, 3.0], dtype=taeda.float64))
    angle = taeda.linspace(1e-3, np.pi - 1e-3, 20_001, dtype=taeda.float64)
    factors = taeda.zeros(len(angle), 1, 2, 2, dtype=taeda.float64)
    factors[:, 0, 0, 0] = 1
    factors[:, 0, 1, 0], factors[:, 0, 1, 1] = angle.cos(), angle.sin()
    # The factor's free element is cos(angle), d cos = sin d angle; the row's length is fixed.
    density = p.log_prob(factors).exp() * angle.sin().unsqueeze(-1)
    total = taeda.trapezoid(density, angle, dim=0)
    assert taeda.allclose(total, taeda.ones(3, dtype=taeda.float64), atol=2e-2)


BY_QUANTILE = [
    ("Normal", {"loc": 0.3, "scale": 1.2}), ("Laplace", {"loc": 0.3, "scale": 1.2}),
    ("Cauchy", {"loc": 0.3, "scale": 1.2}), ("Exponential", {"rate": 0.7}), ("Uniform", {"low": 0.2, "high": 1.5}),
    ("Gamma", {"concentration": 0.4, "rate": 2.0}), ("Gamma", {"concentration": 3.0, "rate": 0.5}),
    ("Chi2", {"df": 3.0}), ("Gumbel", {"loc": 0.3, "scale": 1.2}), ("LogNormal", {"loc": 0.3, "scale": 0.5}),
    ("HalfNormal", {"scale": 1.3}), ("HalfCauchy", {"scale": 1.3}), ("Weibull", {"scale": 1.3, "concentration": 2.0}),
    ("Pareto", {"scale": 1.3, "alpha": 2.0}), ("Kumaraswamy", {"concentration1": 2.0, "concentration0": 3.0}),
    ("ContinuousBernoulli", {"probs": 0.2}), ("InverseGamma", {"concentration": 2.0, "rate": 1.5}),
    ("GeneralizedPareto", {"loc": 0.1, "scale": 1.5, "concentration": 0.3}),
]  # fmt: skip


@pytest.mark.parametrize("name, arguments", BY_QUANTILE, ids=[f"{n}-{i}" for i, (n, _) in enumerate(BY_QUANTILE)])
def test_gradients_of_draws(name: str, arguments: dict[str, float]) -> None:
    """A draw moves with a parameter so that its share stays: ``dx/da = -(dF/da) / (dF/dx)``, F by differences."""
    double = {"dtype": taeda.float64}
    given = {key: taeda.tensor(value, requires_grad=True, **double) for key, value in arguments.items()}
    kind = getattr(D, name)
    draws = kind(**given).rsample((6,))
    fixed = draws.detach()
    step = 1e-6

    def share(values: taeda.Tensor, **changed: taeda.Tensor) -> taeda.Tensor:
        with taeda.no_grad():
            return kind(**{**given, **changed}, validate_args=False).cdf(values)

    slope = (share(fixed + step) - share(fixed - step)) / (2 * step)
    for key, value in given.items():
        rise = (share(fixed, **{key: value + step}) - share(fixed, **{key: value - step})) / (2 * step)
        (gradient,) = taeda.autograd.grad(draws.sum(), value, retain_graph=True)
        assert taeda.allclose(gradient, -(rise / slope).sum(), rtol=1e-4, atol=1e-6), key


def test_gradients_of_means() -> None:
    """The mean of the gradients of draws is the gradient of the mean, where no distribution function is at hand."""

    def check(make: Any, *parameters: Any, atol: float = 0.05) -> None:
        leaves = [taeda.tensor(parameter, dtype=taeda.float64, requires_grad=True) for parameter in parameters]
        p = make(*leaves)
        weights = taeda.linspace(0.5, 1.5, p.mean.numel(), dtype=taeda.float64).reshape(p.mean.shape)
        sampled = taeda.autograd.grad((p.rsample((COUNT,)).mean(0) * weights).sum(), leaves, retain_graph=True)
        exact = taeda.autograd.grad((p.mean * weights).sum() + 0 * sum(leaf.sum() for leaf in leaves), leaves)
        for mine, other in zip(sampled, exact):
            if other.dim() == 2 and other.shape[0] == other.shape[1]:  # of symmetric matrices
                other = (other + other.mT) / 2
            assert taeda.allclose(mine, other, atol=atol), (mine, other)

    check(D.Dirichlet, [0.8, 2.0, 3.0])
    check(D.Beta, 2.0, 3.0)
    check(lambda loc, df: D.StudentT(df, loc, 1.0), 0.5, 8.0)
    check(D.FisherSnedecor, 4.0, 9.0)
    check(lambda m, w, d: D.LowRankMultivariateNormal(m, w, d), [0.0, 1.0], [[1.0], [0.5]], [1.0, 2.0])
    check(lambda m, c: D.MultivariateNormal(m, c), [0.0, 1.0], [[2.0, 0.3], [0.3, 1.0]])
    check(lambda df, c: D.Wishart(df, c), 5.5, [[1.0, 0.3], [0.3, 1.5]], atol=0.15)
    check(lambda logits: D.OneHotCategoricalStraightThrough(logits=logits), [0.1, 0.5, 0.3])


def test_gamma_draws_stay_positive() -> None:
    draws = D.Gamma(taeda.full((1000,), 1e-3), 1.0).sample()
    assert (draws > 0).all() and draws.log().isfinite().all()


def test_relaxed_draws_approach_the_real_ones() -> None:
    p = D.RelaxedBernoulli(0.01, 0.3)
    draws = p.rsample((COUNT,))
    assert ((draws - 0.5).abs() > 0.45).float().mean() > 0.97 and abs(draws.mean().item() - 0.3) < 0.02
    q = D.RelaxedOneHotCategorical(0.01, taeda.tensor([0.2, 0.3, 0.5]))
    draws = q.rsample((COUNT,))
    assert taeda.allclose(draws.mean(0), q.probs, atol=0.02) and (draws.max(-1).values > 0.95).float().mean() > 0.95


def test_mixtures() -> None:
    weights, locs = taeda.tensor([0.2, 0.5, 0.3]), taeda.tensor([[-3.0, 0.0, 4.0], [1.0, 2.0, 3.0]])
    p = D.MixtureSameFamily(D.Categorical(weights), D.Normal(locs, taeda.tensor([0.5, 1.0, 2.0])))
    draws = p.sample((COUNT,))
    assert draws.shape == (COUNT, 2)
    assert taeda.allclose(draws.mean(0), p.mean, atol=0.1) and taeda.allclose(draws.var(0), p.variance, rtol=0.06)
    at = p.mean
    assert taeda.allclose((draws <= at).float().mean(0), p.cdf(at), atol=0.02)
    vectors = D.MixtureSameFamily(
        D.Categorical(weights), D.Independent(D.Normal(taeda.randn(2, 3, 4), taeda.rand(2, 3, 4) + 0.1), 1)
    )
    draws = vectors.sample((COUNT,))
    assert draws.shape == (COUNT, 2, 4) and vectors.log_prob(draws).shape == (COUNT, 2)
    assert taeda.allclose(draws.mean(0), vectors.mean, atol=0.1)
    assert taeda.allclose(draws.var(0), vectors.variance, rtol=0.1)
