"""Typical programs, beside their PyTorch twins: the same seed, the same losses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import taeda

Losses = list[float]


def vae(torch: Any) -> Losses:
    """A variational autoencoder: reparametrised draws, a Bernoulli likelihood, the divergence from the prior."""
    nn, D = torch.nn, torch.distributions
    encoder = nn.Sequential(nn.Linear(16, 32), nn.Tanh(), nn.Linear(32, 8))
    decoder = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 16))
    optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-2)
    data = D.Bernoulli(torch.sigmoid(torch.randn(4, 16))).sample((16,)).reshape(64, 16)
    losses = []
    for _ in range(12):
        loc, log_scale = encoder(data).chunk(2, dim=-1)
        posterior = D.Independent(D.Normal(loc, log_scale.exp()), 1)
        prior = D.Independent(D.Normal(torch.zeros_like(loc), torch.ones_like(loc)), 1)
        likelihood = D.Independent(D.Bernoulli(logits=decoder(posterior.rsample())), 1)
        loss = (D.kl_divergence(posterior, prior) - likelihood.log_prob(data)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def policy_gradient(torch: Any) -> Losses:
    """REINFORCE on a small contextual bandit, with an entropy bonus."""
    nn, D = torch.nn, torch.distributions
    policy = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 4))
    optimizer = torch.optim.SGD(policy.parameters(), lr=0.1)
    losses = []
    for _ in range(12):
        states = torch.randn(32, 3)
        actions_of = D.Categorical(logits=policy(states))
        actions = actions_of.sample()
        rewards = (actions == states.argmax(-1)).float()
        loss = -(actions_of.log_prob(actions) * (rewards - rewards.mean()) + 0.01 * actions_of.entropy()).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def flow(torch: Any) -> Losses:
    """A normalising flow fitted by maximum likelihood to a skewed density."""
    D = torch.distributions
    data = D.LogNormal(0.3, 0.5).sample((64, 2)) - 1
    loc, log_scale = torch.zeros(2, requires_grad=True), torch.zeros(2, requires_grad=True)
    outer, log_outer = torch.zeros(2, requires_grad=True), torch.zeros(2, requires_grad=True)
    optimizer = torch.optim.Adam([loc, log_scale, outer, log_outer], lr=0.05)
    losses = []
    for _ in range(12):
        base = D.Independent(D.Normal(torch.zeros(2), torch.ones(2)), 1)
        transforms = [
            D.AffineTransform(loc, log_scale.exp(), event_dim=1),
            D.IndependentTransform(D.SoftplusTransform(), 1),
            D.AffineTransform(outer - 2, log_outer.exp(), event_dim=1),
        ]
        fitted = D.TransformedDistribution(base, transforms, validate_args=False)
        loss = -fitted.log_prob(data).mean() + 1e-3 * fitted.rsample((8,)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def mixture(torch: Any) -> Losses:
    """A mixture of normal vectors, with factors of covariances found through ``transform_to``."""
    D = torch.distributions
    true = D.MixtureSameFamily(
        D.Categorical(torch.tensor([0.3, 0.7])),
        D.MultivariateNormal(torch.tensor([[-2.0, 0.0], [2.0, 1.0]]), torch.eye(2) * 0.5),
    )
    data = true.sample((128,))
    logits, locs = torch.zeros(3, requires_grad=True), torch.randn(3, 2).requires_grad_()
    free = torch.zeros(3, 2, 2, requires_grad=True)
    optimizer = torch.optim.Adam([logits, locs, free], lr=0.1)
    losses = []
    for _ in range(12):
        factors = D.transform_to(D.constraints.lower_cholesky)(free)
        fitted = D.MixtureSameFamily(D.Categorical(logits=logits), D.MultivariateNormal(locs, scale_tril=factors))
        loss = -fitted.log_prob(data).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def relaxed(torch: Any) -> Losses:
    """Choices made differentiable by Gumbel noise, and gamma and Dirichlet draws with gradients."""
    D = torch.distributions
    weights = torch.zeros(5, requires_grad=True)
    shape = torch.ones(5, requires_grad=True)
    optimizer = torch.optim.SGD([weights, shape], lr=0.1)
    losses = []
    for _ in range(12):
        choice = D.RelaxedOneHotCategorical(torch.tensor(0.7), logits=weights).rsample((256,))
        amount = D.Gamma(shape.exp(), 2.0).rsample((256,))
        shares = D.Dirichlet(shape.exp()).rsample((256,))
        loss = ((choice * amount).sum(-1) - 2).pow(2).mean() + (shares[:, 0] - 0.5).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


PROGRAMS = [vae, policy_gradient, flow, mixture, relaxed]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_losses_fall(program: Any) -> None:
    taeda.manual_seed(0)
    losses = program(taeda)
    assert np.isfinite(losses).all()
    if program is not policy_gradient:  # whose loss is not what falls
        assert np.mean(losses[-3:]) < losses[0]


@pytest.mark.torch
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_losses_are_those_of_torch(program: Any) -> None:
    torch = pytest.importorskip("torch")
    found = []
    for library in (taeda, torch):
        library.manual_seed(0)
        found.append(program(library))
    np.testing.assert_allclose(*found, rtol=2e-4 if program is relaxed else 2e-5, atol=1e-5)
