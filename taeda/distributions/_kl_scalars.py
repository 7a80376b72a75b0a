"""Divergences between distributions of numbers.

Between different families the divergence is ``-entropy(p)`` less the mean of ``log q(x)``, for which a few moments of
``p`` are enough: one function for each ``q`` serves many ``p``. Within a family the direct formula keeps more digits.
"""

from __future__ import annotations

import math
from typing import Any

import taeda
from taeda import Tensor
from taeda.distributions._kl_registry import register_kl
from taeda.distributions.bernoulli import Bernoulli
from taeda.distributions.beta import Beta
from taeda.distributions.binomial import Binomial
from taeda.distributions.cauchy import Cauchy
from taeda.distributions.continuous_bernoulli import ContinuousBernoulli
from taeda.distributions.exponential import Exponential
from taeda.distributions.gamma import Gamma
from taeda.distributions.geometric import Geometric
from taeda.distributions.gumbel import Gumbel
from taeda.distributions.half_normal import HalfNormal
from taeda.distributions.laplace import Laplace
from taeda.distributions.normal import Normal
from taeda.distributions.pareto import Pareto
from taeda.distributions.poisson import Poisson
from taeda.distributions.uniform import Uniform
from taeda.distributions.utils import euler_constant
from taeda.nn.functional import softplus

# --- infinite: p gives a probability to what q excludes -------------------------------------------------------------

_ON_UNIT_INTERVAL = (Beta, ContinuousBernoulli)
_INFINITE: dict[type, tuple[type, ...]] = {
    Beta: (Pareto,),
    ContinuousBernoulli: (Pareto,),
    Exponential: (*_ON_UNIT_INTERVAL, Pareto, Uniform),
    Gamma: (*_ON_UNIT_INTERVAL, Pareto, Uniform),
    Gumbel: (*_ON_UNIT_INTERVAL, Exponential, Gamma, Pareto, Uniform),
    Laplace: (*_ON_UNIT_INTERVAL, Exponential, Gamma, Pareto, Uniform),
    Normal: (*_ON_UNIT_INTERVAL, Exponential, Gamma, Pareto, Uniform),
    Pareto: (*_ON_UNIT_INTERVAL, Uniform),
    Poisson: (Bernoulli, Binomial),
}


def _infinite(p: Any, q: Any) -> Tensor:
    return p.mean.new_full(taeda.broadcast_shapes(p.batch_shape, q.batch_shape), math.inf)


for _p, _qs in _INFINITE.items():
    for _q in _qs:
        register_kl(_p, _q)(_infinite)


# --- moments of p ---------------------------------------------------------------------------------------------------


def _x_log_x(x: Tensor) -> Tensor:
    return taeda.xlogy(x, x)


def _mean_log(p: Any) -> Tensor:
    """The mean of ``log x``."""
    match p:
        case Beta():
            return p.concentration1.digamma() - (p.concentration1 + p.concentration0).digamma()
        case Exponential():
            return -euler_constant - p.rate.log()
        case Gamma():
            return p.concentration.digamma() - p.rate.log()
        case Pareto():
            return p.scale.log() + p.alpha.reciprocal()
        case _:  # uniform
            return (_x_log_x(p.high) - _x_log_x(p.low)) / (p.high - p.low) - 1


def _mean_log_rest(p: Any) -> Tensor:
    """The mean of ``log(1 - x)`` of uniform variables."""
    return (_x_log_x(1 - p.low) - _x_log_x(1 - p.high)) / (p.high - p.low) - 1


def _mean_exp(p: Any, loc: Tensor, scale: Tensor) -> Tensor:
    """The mean of ``exp((loc - x) / scale)``."""
    match p:
        case Exponential():
            return (loc / scale).exp() * p.rate / (p.rate + scale.reciprocal())
        case Gamma():
            return (loc / scale - p.concentration * (scale * p.rate).reciprocal().log1p()).exp()
        case Normal():
            return ((loc - p.loc) / scale + 0.5 * (p.scale / scale).pow(2)).exp()
        case Gumbel():
            return ((loc - p.loc) / scale + taeda.lgamma(p.scale / scale + 1)).exp()
        case _:  # uniform
            ends = ((loc - p.low) / scale).exp() - ((loc - p.high) / scale).exp()
            return ends * scale / (p.high - p.low)


def _outside(result: Tensor, excluded: Tensor) -> Tensor:
    """``result``, or infinity where ``p`` leaves the support of ``q``."""
    return result.masked_fill(excluded, math.inf)


# --- between families: -entropy(p) - the mean of log q(x) -----------------------------------------------------------


@register_kl(Beta, Normal)
@register_kl(ContinuousBernoulli, Normal)
@register_kl(Exponential, Normal)
@register_kl(Gamma, Normal)
@register_kl(Gumbel, Normal)
@register_kl(Laplace, Normal)
@register_kl(Pareto, Normal)
@register_kl(Uniform, Normal)
def _to_normal(p: Any, q: Normal) -> Tensor:
    squares = (p.variance + (p.mean - q.loc).pow(2)) / q.variance
    return 0.5 * (math.log(2 * math.pi) + squares) + q.scale.log() - p.entropy()


@register_kl(Beta, Exponential)
@register_kl(ContinuousBernoulli, Exponential)
@register_kl(Gamma, Exponential)
@register_kl(Pareto, Exponential)
def _to_exponential(p: Any, q: Exponential) -> Tensor:
    return q.rate * p.mean - q.rate.log() - p.entropy()


@register_kl(Uniform, Exponential)
def _uniform_to_exponential(p: Uniform, q: Exponential) -> Tensor:
    return _outside(_to_exponential(p, q), p.low < 0)


@register_kl(Beta, Gamma)
@register_kl(Exponential, Gamma)
@register_kl(Pareto, Gamma)
def _to_gamma(p: Any, q: Gamma) -> Tensor:
    a, b = q.concentration, q.rate
    return taeda.lgamma(a) - a * b.log() - (a - 1) * _mean_log(p) + b * p.mean - p.entropy()


@register_kl(Uniform, Gamma)
def _uniform_to_gamma(p: Uniform, q: Gamma) -> Tensor:
    return _outside(_to_gamma(p, q), p.low < 0)


@register_kl(Exponential, Gumbel)
@register_kl(Gamma, Gumbel)
@register_kl(Normal, Gumbel)
@register_kl(Uniform, Gumbel)
@register_kl(Gumbel, Gumbel)
def _to_gumbel(p: Any, q: Gumbel) -> Tensor:
    return q.scale.log() + (p.mean - q.loc) / q.scale + _mean_exp(p, q.loc, q.scale) - p.entropy()


@register_kl(Normal, Laplace)
def _normal_to_laplace(p: Normal, q: Laplace) -> Tensor:
    distance = p.loc - q.loc
    z = distance / p.scale
    mean_abs = p.scale * math.sqrt(2 / math.pi) * (-0.5 * z.pow(2)).exp() + distance * (math.sqrt(0.5) * z).erf()
    return (2 * q.scale).log() + mean_abs / q.scale - p.entropy()


@register_kl(Beta, ContinuousBernoulli)
@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _to_continuous_bernoulli(p: Any, q: ContinuousBernoulli) -> Tensor:
    return -p.entropy() - p.mean * q.logits - (-q.probs).log1p() - q._log_constant()


@register_kl(Uniform, ContinuousBernoulli)
def _uniform_to_continuous_bernoulli(p: Uniform, q: ContinuousBernoulli) -> Tensor:
    return _outside(_to_continuous_bernoulli(p, q), (p.low < 0) | (p.high > 1))


@register_kl(Uniform, Beta)
def _uniform_to_beta(p: Uniform, q: Beta) -> Tensor:
    a, b = q.concentration1, q.concentration0
    log_beta = a.lgamma() + b.lgamma() - (a + b).lgamma()
    result = log_beta - (a - 1) * _mean_log(p) - (b - 1) * _mean_log_rest(p) - p.entropy()
    return _outside(result, (p.low < 0) | (p.high > 1))


@register_kl(Beta, Uniform)
@register_kl(ContinuousBernoulli, Uniform)
def _unit_interval_to_uniform(p: Any, q: Uniform) -> Tensor:
    return _outside((q.high - q.low).log() - p.entropy(), (q.low > 0) | (q.high < 1))


@register_kl(Uniform, Pareto)
def _uniform_to_pareto(p: Uniform, q: Pareto) -> Tensor:
    result = (q.alpha + 1) * _mean_log(p) - q.alpha.log() - q.alpha * q.scale.log() - p.entropy()
    return _outside(result, p.low < q.scale)


@register_kl(Bernoulli, Poisson)
def _bernoulli_to_poisson(p: Bernoulli, q: Poisson) -> Tensor:
    return q.rate - taeda.xlogy(p.probs, q.rate) - p.entropy()


# --- within a family ------------------------------------------------------------------------------------------------


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Bernoulli, q: Bernoulli) -> Tensor:
    one = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    one = one.masked_fill(q.probs == 0, math.inf).masked_fill(p.probs == 0, 0)
    zero = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    zero = zero.masked_fill(q.probs == 1, math.inf).masked_fill(p.probs == 1, 0)
    return one + zero


@register_kl(Binomial, Binomial)
def _binomial(p: Binomial, q: Binomial) -> Tensor:
    if (p.total_count < q.total_count).any():
        raise NotImplementedError("kl_divergence(Binomial, Binomial) is not implemented for q with more trials than p")
    trial = p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p()
    return _outside(p.total_count * trial, p.total_count > q.total_count)


@register_kl(Geometric, Geometric)
def _geometric(p: Geometric, q: Geometric) -> Tensor:
    return -p.entropy() - (-q.probs).log1p() / p.probs - q.logits


@register_kl(Poisson, Poisson)
def _poisson(p: Poisson, q: Poisson) -> Tensor:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Normal, Normal)
def _normal(p: Normal, q: Normal) -> Tensor:
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p: HalfNormal, q: HalfNormal) -> Tensor:
    return _normal(p.base_dist, q.base_dist)


@register_kl(Laplace, Laplace)
def _laplace(p: Laplace, q: Laplace) -> Tensor:
    ratio, distance = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + distance / q.scale + ratio * (-distance / p.scale).exp() - 1


@register_kl(Cauchy, Cauchy)
def _cauchy(p: Cauchy, q: Cauchy) -> Tensor:
    numerator = (p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)
    return numerator.log() - (4 * p.scale * q.scale).log()


@register_kl(Exponential, Exponential)
def _exponential(p: Exponential, q: Exponential) -> Tensor:
    ratio = q.rate / p.rate
    return ratio - ratio.log() - 1


@register_kl(Gamma, Gamma)
def _gamma(p: Gamma, q: Gamma) -> Tensor:
    return (
        q.concentration * (p.rate / q.rate).log()
        + taeda.lgamma(q.concentration)
        - taeda.lgamma(p.concentration)
        + (p.concentration - q.concentration) * p.concentration.digamma()
        + (q.rate - p.rate) * (p.concentration / p.rate)
    )


@register_kl(Beta, Beta)
def _beta(p: Beta, q: Beta) -> Tensor:
    total_p, total_q = p.concentration1 + p.concentration0, q.concentration1 + q.concentration0
    log_betas = (
        q.concentration1.lgamma()
        + q.concentration0.lgamma()
        + total_p.lgamma()
        - p.concentration1.lgamma()
        - p.concentration0.lgamma()
        - total_q.lgamma()
    )
    return (
        log_betas
        + (p.concentration1 - q.concentration1) * p.concentration1.digamma()
        + (p.concentration0 - q.concentration0) * p.concentration0.digamma()
        + (total_q - total_p) * total_p.digamma()
    )


@register_kl(Pareto, Pareto)
def _pareto(p: Pareto, q: Pareto) -> Tensor:
    ratio = q.alpha / p.alpha
    result = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return _outside(result, p.scale < q.scale)


@register_kl(Uniform, Uniform)
def _uniform(p: Uniform, q: Uniform) -> Tensor:
    result = ((q.high - q.low) / (p.high - p.low)).log()
    return _outside(result, (q.low > p.low) | (q.high < p.high))
