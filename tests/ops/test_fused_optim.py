"""The fused optimiser steps with all their switches, beside PyTorch's."""

from __future__ import annotations

import pytest
from twin import check

import taeda


def lists(T, count, dtype="float32", strided=False):
    """``count`` lists of tensors of odd sizes; each list has values of its own."""
    made = []
    for k in range(count):
        values = [T.linspace(0.1 + k, 1.3 + k, n, dtype=T.float64).to(getattr(T, dtype)) for n in (7, 40, 1)]
        made.append([v.clone() if not strided else T.stack([v, v], 1)[:, 0] for v in values])
    return made


def adam(T, name, dtype="float32", strided=False, **options):
    self, grads, means, squares, largest = lists(T, 5, dtype, strided)
    steps = [T.tensor(3.0)] * 3
    chosen = {"lr": 0.1, "beta1": 0.9, "beta2": 0.99, "weight_decay": 0.1, "eps": 1e-6, "amsgrad": False}
    chosen |= {"maximize": False} | options
    assert getattr(T, name)(self, grads, means, squares, largest if chosen["amsgrad"] else [], steps, **chosen) is None
    return [*self, *grads, *means, *squares, *largest]


def sgd(T, **options):
    self, grads, buffers = lists(T, 3)
    chosen = {"weight_decay": 0.1, "momentum": 0.9, "lr": 0.1, "dampening": 0.0, "nesterov": False, "maximize": False}
    chosen |= {"is_first_step": False} | options
    T._fused_sgd_(self, grads, buffers if chosen["momentum"] else [], **chosen)
    return [*self, *grads, *buffers]


def adagrad(T, **options):
    self, grads, sums = lists(T, 3)
    chosen = {"lr": 0.1, "lr_decay": 0.2, "weight_decay": 0.1, "eps": 1e-6, "maximize": False} | options
    T._fused_adagrad_(self, grads, sums, [T.tensor(3.0)] * 3, **chosen)
    return [*self, *grads, *sums]


ADAM = [
    {},
    {"amsgrad": True},
    {"maximize": True},
    {"dtype": "float64"},
    {"dtype": "bfloat16"},
]


@pytest.mark.parametrize("name", ["_fused_adam_", "_fused_adamw_"])
@pytest.mark.parametrize("options", ADAM)
def test_adam(name, options):
    check(lambda T: adam(T, name, **options), rtol=1e-2 if options.get("dtype") == "bfloat16" else 2e-6)


def test_strided_parameters():
    plain, strided = (adam(taeda, "_fused_adam_", amsgrad=True, strided=s) for s in (False, True))
    assert [t.tolist() for t in strided] == [t.tolist() for t in plain]


@pytest.mark.parametrize("name", ["_fused_adam_", "_fused_adamw_"])
@pytest.mark.parametrize("found", [0.0, 1.0])
def test_scaled_gradients(name, found):
    check(lambda T: adam(T, name, grad_scale=T.tensor(4.0), found_inf=T.tensor(found)), rtol=2e-6)
    check(lambda T: sgd(T, grad_scale=T.tensor(4.0), found_inf=T.tensor(found)), rtol=2e-6)


def test_learning_rate_in_a_tensor():
    check(lambda T: adam(T, "_fused_adam_", lr=T.tensor(0.1)), rtol=2e-6)
    check(lambda T: sgd(T, lr=T.tensor(0.1)), rtol=2e-6)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"momentum": 0.0},
        {"is_first_step": True},
        {"nesterov": True},
        {"nesterov": True, "is_first_step": True},
        {"dampening": 0.3, "maximize": True},
    ],
)
def test_sgd(options):
    check(lambda T: sgd(T, **options), rtol=2e-6)


@pytest.mark.parametrize("options", [{}, {"maximize": True}, {"lr": 1.0, "weight_decay": 0.0}])
def test_adagrad(options):
    check(lambda T: adagrad(T, **options), rtol=2e-6)
