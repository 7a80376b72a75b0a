"""What all distributions share: validation, expansion, lazy attributes, derivatives of densities; and some of each."""

from __future__ import annotations

import copy
import subprocess
import sys
import warnings
from typing import Any

import pytest
from distribution_cases import CASES, COVARIANCE, case_id, make, parameters

import taeda

D, C = taeda.distributions, taeda.distributions.constraints
tensor = taeda.tensor
each = pytest.mark.parametrize("case", CASES, ids=case_id)
NAN = float("nan")


def test_importing_is_left_to_first_use() -> None:
    code = "import sys, taeda; assert not [m for m in sys.modules if 'distributions' in m]; taeda.distributions.Normal"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.torch
def test_the_same_names() -> None:
    torch = pytest.importorskip("torch")
    import importlib
    import pkgutil

    assert set(D.__all__) == set(torch.distributions.__all__)
    for module in pkgutil.iter_modules(torch.distributions.__path__):
        theirs = importlib.import_module(f"torch.distributions.{module.name}")
        ours = importlib.import_module(f"taeda.distributions.{module.name}")
        missing = [name for name in getattr(theirs, "__all__", ()) if not hasattr(ours, name)]
        assert not missing, (module.name, missing)


# --- validation -----------------------------------------------------------------------------------------------------

WRONG_PARAMETERS: list[tuple[Any, str]] = [
    (lambda: D.Normal(0.0, -1.0), "scale.*GreaterThan"),
    (lambda: D.Normal(NAN, 1.0), "loc.*Real"),
    (lambda: D.Normal("a", 1.0), "tensors"),
    (lambda: D.Bernoulli(1.2), "probs.*Interval"),
    (lambda: D.Bernoulli(), "one of probs and logits"),
    (lambda: D.Bernoulli(0.3, 0.2), "one of probs and logits"),
    (lambda: D.Binomial(-1, 0.5), "total_count.*IntegerGreaterThan"),
    (lambda: D.Binomial(1.5, 0.5), "total_count"),
    (lambda: D.NegativeBinomial(2, 1.0), "probs.*HalfOpenInterval"),
    (lambda: D.Geometric(0.0), "positive"),
    (lambda: D.Categorical(tensor(0.5)), "at least one dimension"),
    (lambda: D.Categorical(tensor([0.5, -0.5, 1.0])), "probs.*Simplex"),
    (lambda: D.Categorical(logits=tensor([0.5, NAN])), "logits"),
    (lambda: D.ContinuousBernoulli(1.2, validate_args=True), "probs"),
    (lambda: D.Dirichlet(tensor(1.0)), "at least one dimension"),
    (lambda: D.Dirichlet(tensor([1.0, 0.0])), "concentration"),
    (lambda: D.Beta(1.0, 0.0), "concentration"),
    (lambda: D.Gamma(1.0, -2.0), "rate"),
    (lambda: D.Poisson(-1.0), "rate"),
    (lambda: D.Uniform(1.0, 0.0), "low.*LessThan"),
    (lambda: D.HalfNormal(-1.0), "scale"),
    (lambda: D.LKJCholesky(1), "at least 2"),
    (lambda: D.MultivariateNormal(tensor(0.0), taeda.eye(2)), "loc"),
    (lambda: D.MultivariateNormal(taeda.zeros(2)), "one of"),
    (lambda: D.MultivariateNormal(taeda.zeros(2), taeda.eye(2), taeda.eye(2)), "one of"),
    (lambda: D.MultivariateNormal(taeda.zeros(2), taeda.ones(2)), "two dimensions"),
    (lambda: D.MultivariateNormal(taeda.zeros(2), -taeda.eye(2)), "covariance_matrix.*PositiveDefinite"),
    (lambda: D.MultivariateNormal(taeda.zeros(2), scale_tril=taeda.ones(2, 2)), "scale_tril.*LowerCholesky"),
    (lambda: D.LowRankMultivariateNormal(tensor(0.0), taeda.ones(2, 1), taeda.ones(2)), "loc"),
    (lambda: D.LowRankMultivariateNormal(taeda.zeros(2), taeda.ones(3, 1), taeda.ones(2)), "cov_factor"),
    (lambda: D.LowRankMultivariateNormal(taeda.zeros(2), taeda.ones(2, 1), taeda.ones(3)), "cov_diag"),
    (lambda: D.LowRankMultivariateNormal(taeda.zeros(4, 2), taeda.ones(3, 2, 1), taeda.ones(2)), "broadcast"),
    (lambda: D.Wishart(tensor(0.5), taeda.eye(2)), "df"),
    (lambda: D.Wishart(tensor(3.0), taeda.ones(2)), "two dimensions"),
    (lambda: D.Independent(D.Normal(taeda.zeros(2), 1.0), 2), "batch dimensions"),
    (lambda: D.MixtureSameFamily(D.Normal(0, 1), D.Normal(taeda.zeros(2), 1)), "Categorical"),
    (lambda: D.MixtureSameFamily(D.Categorical(taeda.ones(2)), 3), "Distribution"),
    (lambda: D.MixtureSameFamily(D.Categorical(taeda.ones(2)), D.Normal(taeda.zeros(3), 1)), "components"),
    (lambda: D.MixtureSameFamily(D.Categorical(taeda.ones(4, 2)), D.Normal(taeda.zeros(3, 2), 1)), "batch_shape"),
    (lambda: D.TransformedDistribution(D.Normal(0, 1), 3), "Transform"),
    (lambda: D.TransformedDistribution(D.Normal(0, 1), [3]), "Transform"),
    (lambda: D.TransformedDistribution(D.Normal(0, 1), D.StickBreakingTransform()), "1 dimensions"),
]  # fmt: skip


@pytest.mark.parametrize("wrong, words", WRONG_PARAMETERS)
def test_wrong_parameters(wrong: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        wrong()


WRONG_VALUES: list[tuple[Any, Any, str]] = [
    (D.Normal(0.0, 1.0), 3.0, "tensor"),
    (D.Normal(0.0, 1.0), tensor(NAN), "support"),
    (D.Normal(taeda.zeros(2), 1.0), taeda.zeros(3), "broadcast"),
    (D.Dirichlet(taeda.ones(3)), taeda.ones(2) / 2, "event_shape"),
    (D.Dirichlet(taeda.ones(3)), taeda.ones(3), "support"),
    (D.Bernoulli(0.5), tensor(0.5), "support"),
    (D.Categorical(taeda.ones(3)), tensor(3), "support"),
    (D.Categorical(taeda.ones(3)), tensor(-1), "support"),
    (D.Binomial(3, 0.5), tensor(4.0), "support"),
    (D.Exponential(1.0), tensor(-1.0), "support"),
    (D.Uniform(0.0, 1.0), tensor(1.5), "support"),
    (D.HalfNormal(1.0), tensor(-1.0), "support"),
    (D.Multinomial(3, taeda.ones(2)), tensor([2.0, 2.0]), "support"),
    (D.OneHotCategorical(taeda.ones(2)), tensor([1.0, 1.0]), "support"),
    (D.Pareto(2.0, 1.0), tensor(1.5), "support"),
    (D.Wishart(3.0, taeda.eye(2)), taeda.zeros(2, 2), "support"),
    (D.GeneralizedPareto(0.0, 1.0, -0.5), tensor(2.5), "support"),
]  # fmt: skip


@pytest.mark.parametrize("p, value, words", WRONG_VALUES, ids=lambda x: type(x).__name__)
def test_wrong_values(p: Any, value: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        p.log_prob(value)


def test_unchecked() -> None:
    assert D.Normal(0.0, -1.0, validate_args=False).scale == -1
    assert D.Uniform(0.0, 1.0, validate_args=False).log_prob(tensor(2.0)) == -taeda.inf
    assert D.HalfNormal(1.0, validate_args=False).log_prob(tensor(-1.0)) == -taeda.inf
    outside = D.GeneralizedPareto(0.0, 1.0, tensor([-0.5, 0.5]), validate_args=False)
    assert outside.log_prob(tensor([2.5, -1.0])).isinf().all()
    assert outside.cdf(tensor([2.5, -1.0])).tolist() == [1.0, 0.0]
    assert D.ContinuousBernoulli(1.5, validate_args=False).probs < 1
    D.Distribution.set_default_validate_args(False)
    try:
        assert D.Normal(0.0, -1.0).scale == -1
        with pytest.raises(ValueError, match="scale"):
            D.Normal(0.0, -1.0, validate_args=True)
    finally:
        D.Distribution.set_default_validate_args(True)
    with pytest.raises(ValueError, match="bool"):
        D.Distribution.set_default_validate_args("yes")  # type: ignore[arg-type]


def test_own_distribution() -> None:
    class Die(D.Distribution):
        arg_constraints: Any = {}

        def __init__(self, sides: int) -> None:
            self.sides = sides
            super().__init__()

        def sample(self, sample_shape: Any = ()) -> Any:
            return taeda.randint(1, self.sides + 1, sample_shape)

        def log_prob(self, value: Any) -> Any:
            self._validate_sample(value)
            return -tensor(float(self.sides)).log().expand(value.shape)

    die = Die(6)
    assert die.sample((100,)).max() <= 6 and repr(die) == "Die()"
    with pytest.warns(UserWarning, match="support"):
        assert taeda.allclose(die.log_prob(tensor([1, 2])).exp(), tensor(1 / 6))
    for method in (die.rsample, die.entropy, die.enumerate_support, die.perplexity):
        with pytest.raises(NotImplementedError):
            method()
    for method in (die.cdf, die.icdf):
        with pytest.raises(NotImplementedError):
            method(tensor(1.0))
    for name in ("mean", "mode", "variance", "stddev", "support"):
        with pytest.raises(NotImplementedError):
            getattr(die, name)
    with pytest.raises(NotImplementedError):
        die.expand((2,))

    class Bare(D.Distribution): ...

    with pytest.warns(UserWarning, match="arg_constraints"):
        Bare()

    class Shifted(D.Normal):
        def __init__(self, loc: Any) -> None:
            super().__init__(loc, 1.0)

    with pytest.raises(NotImplementedError, match="expand"):
        Shifted(0.0).expand((2,))


# --- expansion, copies ----------------------------------------------------------------------------------------------


@each
def test_expand(case: Any) -> None:
    p = make(case, taeda)
    wide = p.expand((4, *p.batch_shape))
    assert type(wide) is type(p) and wide.batch_shape == (4, *p.batch_shape) and wide.event_shape == p.event_shape
    draws = wide.sample((2,))
    assert draws.shape == (2, 4, *p.batch_shape, *p.event_shape)
    assert taeda.allclose(wide.log_prob(draws), p.log_prob(draws), equal_nan=True)
    for attribute in ("mean", "variance"):
        try:
            value = getattr(p, attribute)
        except NotImplementedError:
            continue
        assert taeda.allclose(getattr(wide, attribute), value.expand(wide._extended_shape()), equal_nan=True)
    try:
        entropy = p.entropy()
    except NotImplementedError:
        return
    assert taeda.allclose(wide.entropy(), entropy.expand(wide.batch_shape))


@each
def test_copies_and_subclasses(case: Any) -> None:
    p = make(case, taeda)
    value = p.sample()
    for other in (copy.deepcopy(p), copy.copy(p)):
        assert taeda.equal(other.log_prob(value), p.log_prob(value))
    plain = type("Plain", (type(p),), {})(**parameters(case[1], taeda, "float64"))
    assert type(plain.expand((2, *p.batch_shape))).__name__ == "Plain"


def test_lazy_forms() -> None:
    for kind in (D.Bernoulli, D.Geometric):
        p = kind(probs=tensor(0.3))
        assert "logits" not in vars(p) and taeda.allclose(p.logits.sigmoid(), tensor(0.3)) and "logits" in vars(p)
        q = kind(logits=tensor(0.3))
        assert "probs" not in vars(q) and taeda.allclose(q.probs.logit(), tensor(0.3))
    p = D.Categorical(logits=tensor([1.0, 2.0], requires_grad=True))
    with taeda.no_grad():
        probs = p.probs
    assert probs.requires_grad and p.probs is probs and isinstance(D.Bernoulli.probs, D.utils.lazy_property)
    assert taeda.allclose(p.logits.exp().sum(), tensor(1.0))
    assert D.Bernoulli(tensor([0.0, 1.0])).logits.isfinite().all()
    n = D.MultivariateNormal(taeda.zeros(3), tensor(COVARIANCE))
    assert "precision_matrix" not in vars(n) and taeda.allclose(
        n.precision_matrix @ n.covariance_matrix, taeda.eye(3), atol=1e-5
    )


# --- derivatives ----------------------------------------------------------------------------------------------------

INTEGERS = {"Bernoulli", "Binomial", "Categorical", "Geometric", "Multinomial", "NegativeBinomial", "OneHotCategorical",
            "OneHotCategoricalStraightThrough", "Poisson"}  # fmt: skip
ONLY_PARAMETERS = INTEGERS | {"LKJCholesky", "Wishart"}  # values of a surface in their space


@each
def test_derivatives_of_densities(case: Any) -> None:
    name, arguments = case
    given = parameters(arguments, taeda, "float64")
    names = [key for key, argument in given.items() if isinstance(argument, taeda.Tensor) and key != "total_count"]
    if not names:
        return  # numbers are single precision
    if "probs" in given and not ((given["probs"] > 0) & (given["probs"] < 1)).all():
        return  # at the ends of the interval there is a derivative on one side only
    if {"scale_tril", "precision_matrix", "covariance_matrix"} & given.keys():
        names = [key for key in names if not key.endswith(("_tril", "_matrix"))]  # differences would leave symmetry
    if name == "GeneralizedPareto":
        names.remove("concentration")  # at 0 the derivative is left out
    value = make(case, taeda).sample((2,)).detach()
    if name in ("Chi2", "Gamma", "FisherSnedecor", "InverseGamma"):
        value = value.clamp(min=0.05)  # where densities do not bend too fast for differences

    def log_prob(at: Any, *tensors: Any) -> Any:
        return getattr(D, name)(**{**given, **dict(zip(names, tensors))}, validate_args=False).log_prob(at)

    leaves = [given[key].detach().clone().requires_grad_() for key in names]
    if name not in ONLY_PARAMETERS | {"Dirichlet", "LogisticNormal", "RelaxedOneHotCategorical"}:
        value = value.clone().requires_grad_()
    if leaves or value.requires_grad:
        assert taeda.autograd.gradcheck(log_prob, (value, *leaves), eps=1e-7, atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("key", ["covariance_matrix", "precision_matrix", "scale_tril"])
def test_derivatives_by_matrices(key: str) -> None:
    free = taeda.tensor([0.3, -0.2, 0.1, 0.5, 0.4, -0.3], dtype=taeda.float64, requires_grad=True)
    value = taeda.randn(4, 3, dtype=taeda.float64)

    def both(free: Any) -> Any:
        factor = D.transform_to(C.lower_cholesky)(D.utils.vec_to_tril_matrix(free))
        matrix = factor if key == "scale_tril" else factor @ factor.mT
        normal = D.MultivariateNormal(taeda.zeros(3, dtype=taeda.float64), **{key: matrix})
        wishart = D.Wishart(tensor(4.5, dtype=taeda.float64), **{key: matrix})
        at = taeda.tensor(COVARIANCE, dtype=taeda.float64)
        return normal.log_prob(value).sum(), wishart.log_prob(at), normal.entropy(), wishart.entropy()

    assert taeda.autograd.gradcheck(both, free)


def test_exponential_families() -> None:
    """Entropies by the gradient of the log-normaliser, beside the closed forms; differentiable in the parameters."""
    both = {"dtype": taeda.float64, "requires_grad": True}
    families = [
        D.Normal(tensor(0.3, **both), tensor(1.2, **both)), D.Exponential(tensor([0.4, 2.0], **both)),
        D.Gamma(tensor(2.0, **both), tensor(1.5, **both)), D.Bernoulli(tensor([0.3, 0.6], **both)),
        D.ContinuousBernoulli(tensor([0.3, 0.5, 0.8], **both)),
    ]  # fmt: skip
    for p in families:
        general = D.ExponentialFamily.entropy(p)
        assert taeda.allclose(general, p.entropy()), p
        leaf = p.scale if isinstance(p, D.Normal) else next(iter(getattr(p, k) for k in p.arg_constraints))
        (mine,) = taeda.autograd.grad(general.sum(), leaf, retain_graph=True)
        (other,) = taeda.autograd.grad(p.entropy().sum(), leaf)
        assert taeda.allclose(mine, other, rtol=1e-6)


# --- some of each ---------------------------------------------------------------------------------------------------


def test_discrete_supports() -> None:
    for p in (D.Bernoulli(taeda.rand(3)), D.Binomial(4, taeda.rand(3)), D.Categorical(taeda.rand(3, 5)),
              D.OneHotCategorical(taeda.rand(3, 5))):  # fmt: skip
        values = p.enumerate_support()
        assert values.shape[1:] == (3, *p.event_shape)
        assert taeda.allclose(p.log_prob(values).exp().sum(0), taeda.ones(3))
        assert p.enumerate_support(expand=False).shape[1:] == (1, *p.event_shape)
    with pytest.raises(NotImplementedError, match="total_count"):
        D.Binomial(tensor([2.0, 3.0]), 0.5).enumerate_support()
    with pytest.raises(NotImplementedError, match="total_count"):
        D.Multinomial(tensor([2, 3]), taeda.ones(2))  # type: ignore[arg-type]
    with pytest.raises(NotImplementedError):
        D.Independent(D.Bernoulli(taeda.rand(3)), 1).enumerate_support()
    assert D.Independent(D.Bernoulli(taeda.rand(3)), 0).enumerate_support().shape == (2, 3)


def test_edges_of_discrete_densities() -> None:
    certain = D.Geometric(1.0)
    assert certain.log_prob(tensor([0.0, 1.0])).tolist() == [0.0, -taeda.inf]
    assert D.Poisson(0.0).log_prob(tensor([0.0, 1.0])).tolist() == [0.0, -taeda.inf]
    assert D.Multinomial(2, logits=tensor([0.0, -taeda.inf])).log_prob(tensor([2.0, 0.0])) == 0
    assert D.NegativeBinomial(0.0, 0.5).log_prob(tensor(0.0)) == 0
    assert D.Categorical(tensor([1.0, 0.0])).entropy().abs() < 1e-6
    assert D.Bernoulli(0.5).mode.isnan()
    logits = tensor([0.0, 50.0, -50.0], requires_grad=True)
    D.Binomial(3, logits=logits).log_prob(tensor([3.0, 3.0, 0.0])).sum().backward()
    assert logits.grad is not None and taeda.allclose(logits.grad, tensor([1.5, 0.0, 0.0]))


def test_independent() -> None:
    base = D.Normal(taeda.randn(2, 3, 4), 1.0)
    p = D.Independent(base, 2)
    value = p.rsample((5,))
    assert (p.batch_shape, p.event_shape, value.shape) == ((2,), (3, 4), (5, 2, 3, 4)) and p.has_rsample
    assert taeda.allclose(p.log_prob(value), base.log_prob(value).sum((-1, -2)))
    assert taeda.allclose(p.entropy(), base.entropy().sum((-1, -2))) and p.support.event_dim == 2
    assert p.expand((7, 2)).base_dist.batch_shape == (7, 2, 3, 4) and p.mean is base.mean


def test_transformed_shapes() -> None:
    base = D.Normal(taeda.zeros(2, 3), taeda.ones(2, 3))
    p = D.TransformedDistribution(base, [D.ExpTransform(), D.StickBreakingTransform()])
    assert (p.batch_shape, p.event_shape) == ((2,), (4,)) and p.support is C.simplex
    assert p.log_prob(p.sample((5,))).shape == (5, 2)
    wide = D.TransformedDistribution(D.Normal(0.0, 1.0), D.AffineTransform(taeda.zeros(3), 2.0))
    assert wide.batch_shape == (3,) and wide.sample().shape == (3,)
    vector = D.TransformedDistribution(
        D.MultivariateNormal(taeda.zeros(4), taeda.eye(4)), D.ReshapeTransform((4,), (2, 2))
    )
    assert vector.event_shape == (2, 2) and vector.log_prob(vector.sample((3,))).shape == (3,)
    nothing = D.TransformedDistribution(base, [])
    assert nothing.support is C.real and nothing.sample().shape == (2, 3)
    falling = D.TransformedDistribution(D.Exponential(1.0), D.AffineTransform(0.0, -1.0))
    assert taeda.allclose(falling.cdf(tensor(-1.0)), tensor(-1.0).exp())
    assert taeda.allclose(falling.icdf(falling.cdf(tensor(-1.3))), tensor(-1.3))


def test_deprecated_and_small_things() -> None:
    with pytest.warns(FutureWarning, match="sample_n"):
        assert D.Normal(0.0, 1.0).sample_n(3).shape == (3,)
    with pytest.warns(UserWarning, match="singular"):
        D.Wishart(1.5, taeda.eye(2))
    assert D.Wishart(3.0, taeda.eye(2)).rsample((2,), max_try_correction=0).shape == (2, 2, 2)
    assert taeda.allclose(D.Categorical(taeda.ones(4)).perplexity(), tensor(4.0))
    assert D.Normal(tensor([0, 1]), 1.5, validate_args=False).scale.dtype == taeda.int64  # that of the first tensor
    assert D.Gamma(1.0, 1.0).log_prob(2.0) == -2  # type: ignore[arg-type]
    p = D.GeneralizedPareto(0.0, 1.0, 0.3)
    assert taeda.allclose(p.log_cdf(tensor(1.0)).exp() + p.log_survival_function(tensor(1.0)).exp(), tensor(1.0))
    assert (
        D.RelaxedBernoulli(0.5, 0.3).log_prob(tensor(0.5)).isfinite()
        and D.RelaxedBernoulli(0.5, 0.3).temperature == 0.5
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        D.MultivariateNormal(taeda.zeros(2), taeda.eye(2)).log_prob(taeda.zeros(2))
    half = D.Normal(taeda.zeros(3, dtype=taeda.bfloat16), 1.0)
    assert half.sample().dtype == half.log_prob(half.sample()).dtype == taeda.bfloat16
    meta = D.Normal(taeda.zeros(3, device="meta"), taeda.ones(3, device="meta"), validate_args=False)
    assert meta.rsample((2,)).shape == (2, 3) and meta.rsample().device.type == "meta"


def test_utils() -> None:
    U = D.utils
    a, b, c = U.broadcast_all(taeda.zeros(2, 1, dtype=taeda.float64), 1, taeda.ones(3))
    assert a.shape == b.shape == c.shape == (2, 3) and b.dtype == taeda.float64 and c.dtype == taeda.float32
    assert U.broadcast_all(1, 2.5)[0].dtype == taeda.float32
    with pytest.raises(ValueError, match="str"):
        U.broadcast_all(1, "a")
    square = taeda.arange(9.0).reshape(3, 3)
    for diag in (-2, -1, 0, 1, 2):
        vector = U.tril_matrix_to_vec(square, diag)
        assert taeda.equal(U.vec_to_tril_matrix(vector, diag), square.tril(diag)) or diag == 2 or diag == -2
    with pytest.raises(ValueError, match="diag"):
        U.tril_matrix_to_vec(square, 3)
    with pytest.raises(ValueError, match="5 elements"):
        U.vec_to_tril_matrix(taeda.ones(5))
    assert taeda.equal(U.probs_to_logits(tensor([0.5, 0.5])), tensor([0.5, 0.5]).log())
    assert taeda.allclose(U.logits_to_probs(U.probs_to_logits(tensor(0.3), True), True), tensor(0.3))


# --- constraints ----------------------------------------------------------------------------------------------------

INSIDE: list[tuple[Any, Any, Any]] = [
    (C.boolean, [0.0, 1.0, 0.5], [True, True, False]),
    (C.one_hot, [[0, 1, 0], [1, 1, 0], [0, 0, 0]], [True, False, False]),
    (C.nonnegative_integer, [0.0, 2.0, -1.0, 0.5], [True, True, False, False]),
    (C.positive_integer, [0.0, 2.0], [False, True]),
    (C.integer_interval(1, 3), [0.0, 1.0, 3.0, 4.0, 2.5], [False, True, True, False, False]),
    (C.real, [0.0, NAN, float("inf")], [True, False, True]),
    (C.greater_than(1.0), [1.0, 1.5], [False, True]),
    (C.greater_than_eq(1.0), [1.0, 0.5], [True, False]),
    (C.less_than(1.0), [1.0, 0.5], [False, True]),
    (C.interval(0, 1), [0.0, 1.0, 1.1, NAN], [True, True, False, False]),
    (C.half_open_interval(0, 1), [0.0, 1.0], [True, False]),
    (C.simplex, [[0.5, 0.5], [0.5, 0.6], [-0.5, 1.5]], [True, False, False]),
    (C.multinomial(3), [[1.0, 2.0], [2.0, 2.0], [-1.0, 2.0]], [True, False, False]),
    (C.lower_triangular, [[[1.0, 0.0], [2.0, -3.0]], [[1.0, 1.0], [0.0, 1.0]]], [True, False]),
    (C.lower_cholesky, [[[1.0, 0.0], [2.0, 3.0]], [[1.0, 0.0], [2.0, -3.0]]], [True, False]),
    (C.corr_cholesky, [[[1.0, 0.0], [0.6, 0.8]], [[1.0, 0.0], [0.6, 0.7]]], [True, False]),
    (C.square, [[[1.0, 2.0]], [[1.0, 2.0]]], [False, False]),
    (C.symmetric, [[[1.0, 2.0], [2.0, 1.0]], [[1.0, 2.0], [2.5, 1.0]]], False),
    (C.symmetric, [[1.0, 2.0], [2.0, 1.0]], True),
    (C.positive_semidefinite, [[1.0, 1.0], [1.0, 1.0]], True),
    (C.positive_definite, [[1.0, 1.0], [1.0, 1.0]], False),
    (C.positive_definite, [[2.0, 1.0], [1.0, 2.0]], True),
    (C.independent(C.positive, 1), [[1.0, 2.0], [1.0, -2.0]], [True, False]),
    (C.cat([C.positive, C.real], lengths=[1, 2]), [-1.0, -1.0, 1.0], [False, True, True]),
    (C.stack([C.positive, C.real]), [-1.0, -1.0], [False, True]),
    (C.MixtureSameFamilyConstraint(C.positive), [1.0, -1.0], [True, False]),
]  # fmt: skip


@pytest.mark.parametrize("constraint, value, expected", INSIDE, ids=[f"{c!r}-{i}" for i, (c, *_) in enumerate(INSIDE)])
def test_constraints(constraint: Any, value: Any, expected: Any) -> None:
    inside = constraint.check(tensor(value))
    assert inside.dtype == taeda.bool
    assert (inside.tolist() if isinstance(expected, list) else bool(inside.all())) == expected


def test_facts_of_constraints() -> None:
    assert C.boolean.is_discrete and not C.real.is_discrete and C.real_vector.event_dim == 1
    assert repr(C.interval(0, 1)) == "Interval(lower_bound=0, upper_bound=1)" and repr(C.real) == "Real()"
    assert repr(C.independent(C.real, 2)) == "IndependentConstraint(Real(), 2)"
    assert C.stack([C.real, C.boolean]).is_discrete and C.stack([C.simplex, C.simplex], -1).event_dim == 1
    assert C.is_dependent(C.dependent) and C.is_dependent(D.Uniform.support) and not C.is_dependent(C.real)
    for name in ("is_discrete", "event_dim"):
        with pytest.raises(NotImplementedError, match=name):
            getattr(C.dependent, name)
    assert D.Uniform.support.event_dim == 0 and not D.Uniform.support.is_discrete
    assert C.dependent(event_dim=1).event_dim == 1
    with pytest.raises(ValueError, match="dependent"):
        C.dependent.check(tensor(1.0))
    with pytest.raises(ValueError, match="dimensions"):
        C.independent(C.real, 2).check(tensor([1.0]))
    for wrong in (lambda: C.independent(C.real, -1), lambda: C.independent(3, 1), lambda: C.cat([3]),
                  lambda: C.cat([C.real], lengths=[1, 2]), lambda: C.MixtureSameFamilyConstraint(3)):  # fmt: skip
        with pytest.raises(AssertionError):
            wrong()  # type: ignore[no-untyped-call]


def test_the_entropy_of_every_exponential_family() -> None:
    concentration, scale = taeda.tensor([4.0, 5.0]), taeda.eye(2) * 2
    d = taeda.distributions.Wishart(concentration, covariance_matrix=scale)  # one parameter is a number, one a matrix
    expected = taeda.distributions.ExponentialFamily.entropy(d)
    assert expected.shape == (2,)
    assert taeda.allclose(expected, d.entropy())
