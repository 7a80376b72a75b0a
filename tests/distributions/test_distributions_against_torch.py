"""Every distribution beside its PyTorch twin: shapes, moments, densities, and the same draws from the same seed."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
import pytest
from distribution_cases import CASES, case_id, make, parameters

import taeda

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

WRONG_THERE = {("Kumaraswamy", "mode")}  # NaN for all
# PyTorch approximates Bessel functions, and computes a part of the multinomial entropy in single precision.
LOOSE = {"VonMises": 1e-4, "Multinomial": 1e-7}

twins = pytest.mark.parametrize("case", CASES, ids=case_id)
dtypes = pytest.mark.parametrize("dtype", ["float32", "float64"])


def outcome(function: Any) -> Any:
    """The value, or the type of what was raised."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function()
        except Exception as error:
            return type(error)


def same(ours: Any, theirs: Any, rtol: float, atol: float) -> None:
    if isinstance(theirs, type):
        assert ours is theirs
        return
    assert not isinstance(ours, type), ours
    assert str(ours.dtype) == str(theirs.dtype) and tuple(ours.shape) == tuple(theirs.shape)
    np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol, atol)


def to_taeda(value: Any) -> Any:
    return taeda.tensor(value.tolist(), dtype=getattr(taeda, str(value.dtype).split(".")[1]))


def tolerance(name: str, dtype: Any) -> dict[str, float]:
    rtol = max(LOOSE.get(name, 0), 3e-5 if str(dtype) == "torch.float32" else 1e-7)
    return {"rtol": rtol, "atol": rtol}


@dtypes
@twins
def test_facts(case: Any, dtype: str) -> None:
    ours, theirs = make(case, taeda, dtype), make(case, torch, dtype)
    for p, q in ((ours, theirs), (ours.expand((2, *ours.batch_shape)), theirs.expand((2, *theirs.batch_shape)))):
        assert repr(p) == repr(q)
        for name in ("batch_shape", "event_shape", "has_rsample", "has_enumerate_support"):
            assert str(getattr(p, name)) == str(getattr(q, name)), name
        assert repr(p.support) == repr(q.support) and repr(p.arg_constraints) == repr(q.arg_constraints)


@dtypes
@twins
def test_moments(case: Any, dtype: str) -> None:
    name, _ = case
    ours, theirs = make(case, taeda, dtype), make(case, torch, dtype)
    close = tolerance(name, getattr(outcome(lambda: theirs.mean), "dtype", "torch.float32"))
    wide = (2, *theirs.batch_shape)
    for p, q in ((ours, theirs), (ours.expand(wide), theirs.expand(wide))):
        for attribute in ("mean", "mode", "variance", "stddev", *q.arg_constraints):
            if (name, attribute) not in WRONG_THERE:
                same(outcome(partial(getattr, p, attribute)), outcome(partial(getattr, q, attribute)), **close)
        for method in ("entropy", "perplexity", "enumerate_support"):
            there = outcome(getattr(q, method))
            if there is not AttributeError:  # an expanded multinomial of theirs has no entropy
                same(outcome(getattr(p, method)), there, **close)


@dtypes
@twins
@pytest.mark.parametrize("method", ["sample", "rsample"])
def test_same_seed_same_draws(case: Any, dtype: str, method: str) -> None:
    # PyTorch draws rows of other lengths, not from the density that it states: test_distribution_draws looks at ours.
    is_other = case[0] == "LKJCholesky" and case[1]["dim"] > 2 and method == "sample"
    draws = []
    for library in (taeda, torch):
        distribution = make(case, library, dtype)
        for p in (distribution, distribution.expand((2, *distribution.batch_shape))):
            library.manual_seed(3)
            draws.append(outcome(lambda p=p: getattr(p, method)((4, 2))))
    for ours, theirs in zip(draws[:2], draws[2:]):
        close = 1e-4 if str(getattr(theirs, "dtype", "")) == "torch.float32" else 1e-9
        if is_other:
            assert str(ours.dtype) == str(theirs.dtype) and tuple(ours.shape) == tuple(theirs.shape)
        else:
            same(ours, theirs, rtol=close, atol=close / 10)


@dtypes
@twins
def test_densities(case: Any, dtype: str) -> None:
    name, _ = case
    ours, theirs = make(case, taeda, dtype), make(case, torch, dtype)
    torch.manual_seed(0)
    draws = theirs.sample((4,))
    shares = torch.linspace(0.05, 0.95, draws.numel(), dtype=draws.dtype).reshape(draws.shape)
    for method, values in (("log_prob", draws), ("cdf", draws), ("icdf", shares)):
        if name == "GeneralizedPareto" and dtype == "float64" and method != "icdf":
            there = getattr(make(case, torch, "float32"), method)(values.float()).double()  # in double it raises
        else:
            there = outcome(lambda method=method, values=values: getattr(theirs, method)(values))
        here = outcome(lambda method=method, values=values: getattr(ours, method)(to_taeda(values)))
        close = tolerance(name, "torch.float32" if name == "GeneralizedPareto" else getattr(there, "dtype", None))
        same(here, there, rtol=10 * close["rtol"], atol=10 * close["atol"])


@twins
def test_gradients(case: Any) -> None:
    """Of draws (from the same seed), densities and entropies, with respect to the parameters."""
    name, arguments = case
    dtype = (
        "float32" if name == "GeneralizedPareto" else "float64"
    )  # whose density PyTorch has in single precision only
    found: list[dict[str, Any]] = []
    for library in (taeda, torch):
        given = parameters(arguments, library, dtype, grad=True)
        leaves = [value for value in given.values() if isinstance(value, library.Tensor)]
        if not leaves:
            return
        p = getattr(library.distributions, name)(**given)
        torch.manual_seed(1)
        draws = make(case, torch, dtype).sample((5,))
        draws = to_taeda(draws) if library is taeda else draws
        results = {"log_prob": p.log_prob(draws), "entropy": outcome(p.entropy)}
        if p.has_rsample and name != "Wishart":  # whose draws PyTorch cannot differentiate
            library.manual_seed(1)
            draws = p.rsample((5,))
            results["rsample"] = draws * library.arange(1.0, draws.numel() + 1).reshape(draws.shape)
        found.append({})
        for what, result in results.items():
            if not isinstance(result, type):
                total = result.sum() + 0 * sum(leaf.sum() for leaf in leaves)
                found[-1][what] = library.autograd.grad(total, leaves, retain_graph=True)
    ours, theirs = found
    assert set(ours) == set(theirs)
    for what, gradients in ours.items():
        for mine, other in zip(gradients, theirs[what]):
            if name == "Wishart" and mine.dim() == 2:  # the upper triangle of a factor is not read
                mine, other = mine.tril(), other.tril()
            # PyTorch's derivatives of gamma draws are good to about 1e-4.
            exact = max(3e-5 if dtype == "float32" else 1e-6, LOOSE.get(name, 0))
            same(mine, other, rtol=2e-3 if what == "rsample" else exact, atol=1e-3)
