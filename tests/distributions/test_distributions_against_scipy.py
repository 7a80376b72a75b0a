"""Densities, distribution functions and moments beside SciPy's."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from distribution_cases import COVARIANCE, LOCS

import taeda

stats = pytest.importorskip("scipy.stats")
D = taeda.distributions

# our name, our parameters, SciPy's distribution
NUMBERS: list[tuple[str, dict[str, float], Any]] = [
    ("Bernoulli", {"probs": 0.3}, stats.bernoulli(0.3)),
    ("Beta", {"concentration1": 2.5, "concentration0": 0.7}, stats.beta(2.5, 0.7)),
    ("Binomial", {"total_count": 10, "probs": 0.3}, stats.binom(10, 0.3)),
    ("Cauchy", {"loc": 1.0, "scale": 2.0}, stats.cauchy(1, 2)),
    ("Chi2", {"df": 3.0}, stats.chi2(3)),
    ("Exponential", {"rate": 2.5}, stats.expon(scale=1 / 2.5)),
    ("FisherSnedecor", {"df1": 3.0, "df2": 7.0}, stats.f(3, 7)),
    ("Gamma", {"concentration": 2.5, "rate": 1.7}, stats.gamma(2.5, scale=1 / 1.7)),
    ("GeneralizedPareto", {"loc": 1.0, "scale": 2.0, "concentration": 0.2}, stats.genpareto(0.2, 1, 2)),
    ("GeneralizedPareto", {"loc": 1.0, "scale": 2.0, "concentration": 0.0}, stats.genpareto(0, 1, 2)),
    ("GeneralizedPareto", {"loc": 1.0, "scale": 2.0, "concentration": -0.4}, stats.genpareto(-0.4, 1, 2)),
    ("Geometric", {"probs": 0.3}, stats.geom(0.3, loc=-1)),
    ("Gumbel", {"loc": 1.0, "scale": 2.0}, stats.gumbel_r(1, 2)),
    ("HalfCauchy", {"scale": 2.0}, stats.halfcauchy(scale=2)),
    ("HalfNormal", {"scale": 2.0}, stats.halfnorm(scale=2)),
    ("InverseGamma", {"concentration": 3.5, "rate": 2.0}, stats.invgamma(3.5, scale=2)),
    ("Laplace", {"loc": 1.0, "scale": 2.0}, stats.laplace(1, 2)),
    ("LogNormal", {"loc": 0.5, "scale": 0.7}, stats.lognorm(0.7, scale=math.exp(0.5))),
    ("NegativeBinomial", {"total_count": 4.0, "probs": 0.3}, stats.nbinom(4, 0.7)),
    ("Normal", {"loc": 1.0, "scale": 2.0}, stats.norm(1, 2)),
    ("Pareto", {"scale": 2.0, "alpha": 3.5}, stats.pareto(3.5, scale=2)),
    ("Poisson", {"rate": 4.2}, stats.poisson(4.2)),
    ("StudentT", {"df": 5.0, "loc": 1.0, "scale": 2.0}, stats.t(5, 1, 2)),
    ("Uniform", {"low": -1.0, "high": 2.0}, stats.uniform(-1, 3)),
    ("VonMises", {"loc": 0.4, "concentration": 3.0}, stats.vonmises(3.0, loc=0.4)),
    ("Weibull", {"scale": 2.0, "concentration": 1.5}, stats.weibull_min(1.5, scale=2)),
]
numbers = pytest.mark.parametrize(
    "name, arguments, theirs", NUMBERS, ids=[f"{n}-{i}" for i, (n, _, _) in enumerate(NUMBERS)]
)


def double(value: Any) -> taeda.Tensor:
    return taeda.tensor(np.asarray(value).tolist(), dtype=taeda.float64)


def build(name: str, arguments: dict[str, float]) -> Any:
    return getattr(D, name)(**{key: double(value) for key, value in arguments.items()})


def close(ours: taeda.Tensor, theirs: Any) -> None:
    np.testing.assert_allclose(ours.numpy(), theirs, rtol=1e-7, atol=1e-9)


@numbers
def test_density_of_numbers(name: str, arguments: dict[str, float], theirs: Any) -> None:
    draws = theirs.rvs(40, random_state=np.random.default_rng(1))
    log_density = theirs.logpmf if hasattr(theirs, "logpmf") and hasattr(theirs.dist, "_pmf") else theirs.logpdf
    close(build(name, arguments).log_prob(double(draws)), log_density(draws))


@numbers
def test_moments_of_numbers(name: str, arguments: dict[str, float], theirs: Any) -> None:
    ours = build(name, arguments)
    if name not in ("Cauchy", "HalfCauchy", "VonMises"):  # no moments; circular ones
        close(ours.mean, theirs.mean())
        close(ours.variance, theirs.var())
        close(ours.stddev, theirs.std())
    try:
        entropy = ours.entropy()
    except NotImplementedError:
        return
    close(entropy, theirs.entropy())


@numbers
def test_distribution_function_of_numbers(name: str, arguments: dict[str, float], theirs: Any) -> None:
    ours = build(name, arguments)
    shares = np.linspace(0.02, 0.98, 25)
    try:
        cdf = ours.cdf(double(theirs.ppf(shares)))
    except NotImplementedError:
        return
    close(cdf, shares)
    try:
        close(ours.icdf(double(shares)), theirs.ppf(shares))
    except NotImplementedError:
        return


def test_normal_vectors() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=(20, 3))
    theirs = stats.multivariate_normal(LOCS[1], COVARIANCE)
    factor = np.linalg.cholesky(COVARIANCE)
    given = {
        "covariance_matrix": COVARIANCE,
        "precision_matrix": np.linalg.inv(COVARIANCE),
        "scale_tril": factor,
    }
    for key, matrix in given.items():
        ours = D.MultivariateNormal(double(LOCS[1]), **{key: double(matrix)})
        close(ours.log_prob(double(x)), theirs.logpdf(x))
        close(ours.entropy(), theirs.entropy())
        for attribute, value in given.items():
            close(getattr(ours, attribute), value)
    w, d = rng.normal(size=(3, 2)), np.array([1.0, 0.5, 2.0])
    covariance = w @ w.T + np.diag(d)
    theirs = stats.multivariate_normal(LOCS[1], covariance)
    ours = D.LowRankMultivariateNormal(double(LOCS[1]), double(w), double(d))
    close(ours.log_prob(double(x)), theirs.logpdf(x))
    close(ours.entropy(), theirs.entropy())
    close(ours.covariance_matrix, covariance)
    close(ours.precision_matrix, np.linalg.inv(covariance))
    close(ours.scale_tril, np.linalg.cholesky(covariance))
    close(ours.variance, np.diag(covariance))


def test_dirichlet() -> None:
    weights = [0.7, 2.0, 3.5]
    theirs, ours = stats.dirichlet(weights), D.Dirichlet(double(weights))
    x = theirs.rvs(20, random_state=np.random.default_rng(3))
    close(ours.log_prob(double(x)), theirs.logpdf(x.T))
    close(ours.mean, theirs.mean())
    close(ours.variance, theirs.var())
    close(ours.entropy(), theirs.entropy())


def test_multinomial() -> None:
    probs = [0.2, 0.3, 0.5]
    theirs, ours = stats.multinomial(6, probs), D.Multinomial(6, double(probs))
    x = theirs.rvs(20, random_state=np.random.default_rng(4)).astype(float)
    close(ours.log_prob(double(x)), theirs.logpmf(x))
    close(ours.entropy(), theirs.entropy())
    close(ours.variance, np.diag(theirs.cov()))


def test_wishart() -> None:
    theirs = stats.wishart(4.5, COVARIANCE)
    ours = D.Wishart(double(4.5), double(COVARIANCE))
    x = theirs.rvs(10, random_state=np.random.default_rng(5))
    close(ours.log_prob(double(x)), theirs.logpdf(np.moveaxis(x, 0, -1)))
    close(ours.mean, theirs.mean())
    close(ours.variance, theirs.var())
    close(ours.entropy(), theirs.entropy())
    close(ours.mode, np.full((3, 3), 0.5) * COVARIANCE)
    assert D.Wishart(double(3.5), double(COVARIANCE)).mode.isnan().all()


def test_categories() -> None:
    probs = np.array([0.2, 0.3, 0.5])
    for ours in (D.Categorical(double(probs)), D.OneHotCategorical(double(probs))):
        close(ours.entropy(), stats.entropy(probs))
        close(ours.log_prob(ours.enumerate_support()), np.log(probs))


@pytest.mark.parametrize("probs", [0.05, 0.3, 0.4991, 0.5, 0.5004, 0.9])
def test_continuous_bernoulli_by_quadrature(probs: float) -> None:
    from scipy.integrate import quad

    constant, _ = quad(lambda x: probs**x * (1 - probs) ** (1 - x), 0, 1)

    def density(x: float) -> float:
        return probs**x * (1 - probs) ** (1 - x) / constant

    ours = D.ContinuousBernoulli(double(probs))
    mean = quad(lambda x: x * density(x), 0, 1)[0]
    close(ours.log_prob(double(0.37)), math.log(density(0.37)))
    close(ours.mean, mean)
    close(ours.variance, quad(lambda x: (x - mean) ** 2 * density(x), 0, 1)[0])
    close(ours.entropy(), -quad(lambda x: density(x) * math.log(density(x)), 0, 1)[0])
    # Near 1/2 the distribution function is taken for that of the uniform one.
    near = abs(probs - 0.5) <= 0.001
    share = quad(density, 0, 0.37)[0]
    np.testing.assert_allclose(ours.cdf(double(0.37)).item(), share, atol=1e-3 if near else 1e-12)
    np.testing.assert_allclose(ours.icdf(double(share)).item(), 0.37, atol=1e-3 if near else 1e-12)


@pytest.mark.parametrize("a, b", [(2.0, 3.0), (0.7, 1.4), (1.0, 5.0)])
def test_kumaraswamy_by_quadrature(a: float, b: float) -> None:
    from scipy.integrate import quad

    def density(x: float) -> float:
        return a * b * x ** (a - 1) * (1 - x**a) ** (b - 1)

    ours = D.Kumaraswamy(double(a), double(b))
    mean = quad(lambda x: x * density(x), 0, 1)[0]
    close(ours.log_prob(double(0.4)), math.log(density(0.4)))
    close(ours.cdf(double(0.4)), 1 - (1 - 0.4**a) ** b)
    np.testing.assert_allclose(ours.mean.item(), mean, rtol=1e-6)
    np.testing.assert_allclose(ours.variance.item(), quad(lambda x: (x - mean) ** 2 * density(x), 0, 1)[0], rtol=1e-6)
    np.testing.assert_allclose(
        ours.entropy().item(), -quad(lambda x: density(x) * math.log(density(x)), 0, 1)[0], rtol=1e-6
    )
    grid = np.linspace(1e-4, 1 - 1e-4, 9999)
    if a >= 1:
        best = grid[np.argmax(a * b * grid ** (a - 1) * (1 - grid**a) ** (b - 1))]
        np.testing.assert_allclose(ours.mode.item(), best, atol=2e-4)
    else:
        assert ours.mode.isnan()


def test_modes_are_the_highest() -> None:
    """No density nearby is higher, for the modes that PyTorch gets wrong and some others."""
    for ours in (
        D.Weibull(double(2.0), double(1.0)),
        D.Weibull(double(2.0), double(3.0)),
        D.InverseGamma(double(2.0), double(3.0)),
        D.Beta(double(2.0), double(3.0)),
        D.FisherSnedecor(double(5.0), double(3.0)),
        D.LogNormal(double(0.3), double(0.5)),
    ):
        mode = ours.mode
        nearby = (mode + double([-1e-3, 1e-9, 1e-3])).clamp(min=1e-9)
        assert ours.log_prob(nearby).argmax() == (1 if mode > 0 else 0)
    assert D.Weibull(double(2.0), double(0.5)).mode == 0
