"""Divergences between distributions of vectors, and between those made of others."""

from __future__ import annotations

import math
from typing import Any

import taeda
from taeda import Tensor
from taeda.distributions._gaussian import log_diagonal, mahalanobis
from taeda.distributions._kl_registry import kl_divergence, register_kl
from taeda.distributions.categorical import Categorical
from taeda.distributions.dirichlet import Dirichlet
from taeda.distributions.exp_family import ExponentialFamily
from taeda.distributions.independent import Independent
from taeda.distributions.lowrank_multivariate_normal import (
    LowRankMultivariateNormal,
    lowrank_log_determinant,
    lowrank_mahalanobis,
)
from taeda.distributions.multivariate_normal import MultivariateNormal
from taeda.distributions.one_hot_categorical import OneHotCategorical
from taeda.distributions.transformed_distribution import TransformedDistribution
from taeda.distributions.utils import _sum_rightmost


@register_kl(Categorical, Categorical)
def _categorical(p: Categorical, q: Categorical) -> Tensor:
    terms = p.probs * (p.logits - q.logits)
    return terms.masked_fill(q.probs == 0, math.inf).masked_fill(p.probs == 0, 0).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot(p: OneHotCategorical, q: OneHotCategorical) -> Tensor:
    return _categorical(p._categorical, q._categorical)


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Dirichlet, q: Dirichlet) -> Tensor:
    a, b = p.concentration, q.concentration
    total = a.sum(-1)
    mean_logs = a.digamma() - total.digamma().unsqueeze(-1)
    return total.lgamma() - b.sum(-1).lgamma() - (a.lgamma() - b.lgamma()).sum(-1) + ((a - b) * mean_logs).sum(-1)


# --- normal vectors: a covariance is a factor, or a low-rank factor and a diagonal -----------------------------------


def _half_log_determinant(p: Any) -> Tensor:
    if isinstance(p, MultivariateNormal):
        return log_diagonal(p._unbroadcasted_scale_tril)
    return 0.5 * lowrank_log_determinant(p._unbroadcasted_cov_diag, p._capacitance_tril)


def _distance(q: Any, x: Tensor) -> Tensor:
    if isinstance(q, MultivariateNormal):
        return mahalanobis(q._unbroadcasted_scale_tril, x)
    return lowrank_mahalanobis(q._unbroadcasted_cov_factor, q._unbroadcasted_cov_diag, x, q._capacitance_tril)


def _squares(matrix: Tensor) -> Tensor:
    return matrix.pow(2).sum((-2, -1))


def _mean_distance(q: Any, p: Any) -> Tensor:
    """The trace of ``q``'s precision times ``p``'s covariance."""
    whole = isinstance(p, MultivariateNormal)
    factor = p._unbroadcasted_scale_tril if whole else p._unbroadcasted_cov_factor
    diagonal = None if whole else p._unbroadcasted_cov_diag
    if isinstance(q, MultivariateNormal):
        roots = [factor] if diagonal is None else [factor, diagonal.sqrt().diag_embed()]
        solved = [taeda.linalg.solve_triangular(q._unbroadcasted_scale_tril, root, upper=False) for root in roots]
        return sum(_squares(part) for part in solved)  # type: ignore[return-value]
    d = q._unbroadcasted_cov_diag
    # q's precision is 1 / d less a.mT @ a.
    scaled = q._unbroadcasted_cov_factor.mT / d.unsqueeze(-2)
    a = taeda.linalg.solve_triangular(q._capacitance_tril, scaled, upper=False)
    trace = _squares(factor / d.sqrt().unsqueeze(-1)) - _squares(a @ factor)
    if diagonal is not None:
        trace = trace + (diagonal / d).sum(-1) - _squares(a * diagonal.sqrt().unsqueeze(-2))
    return trace


@register_kl(MultivariateNormal, MultivariateNormal)
@register_kl(MultivariateNormal, LowRankMultivariateNormal)
@register_kl(LowRankMultivariateNormal, MultivariateNormal)
@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
def _normal_vectors(p: Any, q: Any) -> Tensor:
    if p.event_shape != q.event_shape:
        raise ValueError(f"kl_divergence: the vectors differ in length, {p.event_shape[0]} and {q.event_shape[0]}")
    log_ratio = _half_log_determinant(q) - _half_log_determinant(p)
    return log_ratio + 0.5 * (_mean_distance(q, p) + _distance(q, q.loc - p.loc) - p.event_shape[0])


# --- any of a kind --------------------------------------------------------------------------------------------------


@register_kl(ExponentialFamily, ExponentialFamily)
def _exponential_family(p: ExponentialFamily, q: ExponentialFamily) -> Tensor:
    if type(p) is not type(q):
        raise NotImplementedError(
            f"kl_divergence from {type(p).__name__} to {type(q).__name__}: it is known only within a family"
        )
    theta_p, normalizer, means = p._normalizer_and_gradients()
    theta_q = q._natural_params
    result = q._log_normalizer(*theta_q) - normalizer
    for mine, other, mean in zip(theta_p, theta_q, means):
        result = result - _sum_rightmost((other - mine) * mean, mine.dim() - len(p.batch_shape))
    return result


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: TransformedDistribution, q: TransformedDistribution) -> Tensor:
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError("kl_divergence of transformed distributions is known only for equal transforms")
    return _sum_rightmost(kl_divergence(p.base_dist, q.base_dist), len(p.event_shape) - len(p.base_dist.event_shape))


@register_kl(Independent, Independent)
def _independent(p: Independent, q: Independent) -> Tensor:
    taken = p.reinterpreted_batch_ndims
    if taken != q.reinterpreted_batch_ndims:
        raise NotImplementedError(
            "kl_divergence of Independent distributions is known only for equal reinterpreted_batch_ndims"
        )
    return _sum_rightmost(kl_divergence(p.base_dist, q.base_dist), taken)
