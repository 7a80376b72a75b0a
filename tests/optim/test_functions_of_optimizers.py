"""The optimisers' rules as functions of lists, which programs with loops of their own call."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

import taeda
from taeda import optim

# Function and optimiser, the lists that it takes and the state that each is, what the function wants besides.
BETAS = {"beta1": 0.9, "beta2": 0.999, "lr": 0.1, "eps": 1e-8, "weight_decay": 0.01}
CASES: dict[str, tuple[Any, dict[str, str], dict[str, Any], dict[str, Any]]] = {
    "adadelta": (optim.Adadelta, {"square_avgs": "square_avg", "acc_deltas": "acc_delta"}, {"rho": 0.9},
                 {"rho": 0.9, "lr": 0.1, "eps": 1e-6, "weight_decay": 0.01, "maximize": True}),
    "adagrad": (optim.Adagrad, {"state_sums": "sum"}, {"lr_decay": 0.5},
                {"lr_decay": 0.5, "lr": 0.1, "eps": 1e-10, "weight_decay": 0.01, "maximize": True}),
    "adam": (optim.Adam, {"exp_avgs": "exp_avg", "exp_avg_sqs": "exp_avg_sq", "max_exp_avg_sqs": "max_exp_avg_sq"},
             {"amsgrad": True}, {"amsgrad": True, "maximize": True, **BETAS}),
    "adamax": (optim.Adamax, {"exp_avgs": "exp_avg", "exp_infs": "exp_inf"}, {}, {"maximize": True, **BETAS}),
    "adamw": (optim.AdamW, {"exp_avgs": "exp_avg", "exp_avg_sqs": "exp_avg_sq", "max_exp_avg_sqs": ""}, {},
              {"amsgrad": False, "maximize": True, **BETAS}),
    "asgd": (optim.ASGD, {"axs": "ax", "mus": "mu", "etas": "eta"}, {},
             {"lambd": 1e-4, "lr": 0.1, "t0": 1e6, "alpha": 0.75, "weight_decay": 0.01, "maximize": True}),
    "nadam": (optim.NAdam, {"exp_avgs": "exp_avg", "exp_avg_sqs": "exp_avg_sq", "mu_products": "mu_product"}, {},
              {"momentum_decay": 4e-3, "maximize": True, **BETAS}),
    "radam": (optim.RAdam, {"exp_avgs": "exp_avg", "exp_avg_sqs": "exp_avg_sq"}, {}, {"maximize": True, **BETAS}),
    "rmsprop": (optim.RMSprop, {"square_avgs": "square_avg", "grad_avgs": "grad_avg",
                                "momentum_buffer_list": "momentum_buffer"}, {"centered": True, "momentum": 0.5},
                {"lr": 0.1, "alpha": 0.99, "eps": 1e-8, "weight_decay": 0.01, "momentum": 0.5, "centered": True,
                 "maximize": True}),
    "rprop": (optim.Rprop, {"prevs": "prev", "step_sizes": "step_size"}, {},
              {"step_size_min": 1e-6, "step_size_max": 50, "etaminus": 0.5, "etaplus": 1.2, "maximize": True}),
    "sgd": (optim.SGD, {"momentum_buffer_list": "momentum_buffer"}, {"momentum": 0.5, "dampening": 0.1},
            {"lr": 0.1, "momentum": 0.5, "dampening": 0.1, "weight_decay": 0.01, "nesterov": False, "maximize": True}),
}  # fmt: skip


def problem() -> list[Any]:
    taeda.manual_seed(0)
    params = [taeda.randn(3), taeda.randn(2, 2)]
    for p in params:
        p.requires_grad_().grad = taeda.randn(p.shape)
    return params


@pytest.mark.parametrize("name", CASES)
def test_a_step_on_lists_is_the_optimizers(name: str) -> None:
    make, lists, options, wanted = CASES[name]
    decay = {} if name == "rprop" else {"weight_decay": 0.01}
    params = problem()
    optimizer = make(params, lr=0.1, maximize=True, **decay, **options)
    optimizer.step()
    copies = [p.detach().clone() for p in params]
    states = [{k: taeda.as_tensor(v).clone() for k, v in optimizer.state[p].items()} for p in params]
    given = {key: [state[of] for state in states] if of else [] for key, of in lists.items()}
    if name != "sgd":
        given["state_steps"] = [state["step"] for state in states]
    optimizer.step()
    function = getattr(importlib.import_module(f"taeda.optim.{name}"), name)
    assert function(copies, [p.grad for p in params], **given, **wanted) is None
    for p, copy, state in zip(params, copies, states, strict=True):
        taeda.testing.assert_close(copy, p.detach())
        for key, value in state.items():
            taeda.testing.assert_close(value, optimizer.state[p][key])


def test_a_first_momentum_is_put_into_the_list() -> None:
    params, buffers = problem(), [None, None]
    from taeda.optim.sgd import sgd

    with taeda.no_grad():
        sgd(params, [p.grad for p in params], buffers, weight_decay=0, momentum=0.9, lr=0.1, dampening=0.0,
            nesterov=False, maximize=False)  # fmt: skip
    assert all(taeda.equal(buffer, p.grad) for buffer, p in zip(buffers, params, strict=True))
