"""Gradients that do not change with their input: differentiated again they give zeros, not an error."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import taeda
from taeda import Tensor
from taeda.nn import functional as F

FLAT: dict[str, Callable[[Tensor], Tensor]] = {
    "max_pool2d": lambda x: F.max_pool2d(x, 2),
    "max_pool3d": lambda x: F.max_pool3d(x[None], 2),
    "avg_pool1d": lambda x: F.avg_pool1d(x[0], 2),
    "avg_pool2d": lambda x: F.avg_pool2d(x, 2),
    "avg_pool3d": lambda x: F.avg_pool3d(x[None], 2),
    "adaptive_avg_pool2d": lambda x: F.adaptive_avg_pool2d(x, 2),
    "adaptive_max_pool2d": lambda x: F.adaptive_max_pool2d(x, 2),
    "fractional_max_pool2d": lambda x: F.fractional_max_pool2d(x, 2, 3, _random_samples=taeda.zeros(1, 2, 2).double()),
    "reflection": lambda x: F.pad(x, (1, 1, 1, 1), "reflect"),
    "replication": lambda x: F.pad(x, (1, 1, 1, 1), "replicate"),
    "leaky_relu": F.leaky_relu,
    "hardtanh": F.hardtanh,
    "relu6": F.relu6,
    "prelu": lambda x: F.prelu(x, taeda.tensor([0.2], dtype=taeda.float64)),
    "rrelu": F.rrelu,
    "rrelu in training": lambda x: F.rrelu(x, training=True),
    "softshrink": F.softshrink,
    "hardshrink": F.hardshrink,
    "threshold": lambda x: F.threshold(x, 0.0, 0.0),
    "area": lambda x: F.interpolate(x, 3, mode="area"),
    "nll_loss": lambda x: F.nll_loss(x.reshape(-1, 6), taeda.zeros(12, dtype=taeda.int64)),
    "stft": lambda x: taeda.stft(x.reshape(1, -1), 8, window=taeda.ones(8).double(), return_complex=True).real,
}  # fmt: skip


@pytest.mark.parametrize("name", FLAT)
def test_the_second_derivative_is_zero(name: str) -> None:
    x = taeda.randn(1, 2, 6, 6, dtype=taeda.float64, requires_grad=True)
    made = FLAT[name](x)
    weight = taeda.ones_like(made, requires_grad=True)
    (grad,) = taeda.autograd.grad(made, x, weight, create_graph=True)
    of_x, of_weight = taeda.autograd.grad(grad.square().sum(), (x, weight))
    assert of_x.shape == x.shape and not of_x.any()
    assert of_weight.any()


def test_what_is_not_recorded_has_no_second_graph() -> None:
    x = taeda.randn(4, requires_grad=True)
    (grad,) = taeda.autograd.grad(F.leaky_relu(x).sum(), x)
    assert not grad.requires_grad
    assert taeda.autograd.gradgradcheck(F.leaky_relu, x.detach().double().requires_grad_(), check_fwd_over_rev=True)
