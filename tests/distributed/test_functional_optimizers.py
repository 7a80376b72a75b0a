"""Optimisers that are handed gradients, and those that file their state under names."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import taeda
from taeda import nn, optim
from taeda.distributed.optim import _NamedOptimizer, as_functional_optim
from taeda.distributed.optim.utils import functional_optim_map, register_functional_optim

OPTIONS: dict[Any, dict[str, Any]] = {
    optim.Adam: {"lr": 0.1, "amsgrad": True}, optim.AdamW: {"lr": 0.1, "weight_decay": 0.3},
    optim.SGD: {"lr": 0.1, "momentum": 0.9, "nesterov": True}, optim.RMSprop: {"centered": True, "momentum": 0.5},
    optim.Adamax: {"lr": 0.1}, optim.Adagrad: {"initial_accumulator_value": 0.1},
    optim.Adadelta: {"rho": 0.8, "maximize": True},
}  # fmt: skip


@pytest.mark.parametrize("kind", functional_optim_map, ids=lambda kind: kind.__name__)
def test_handed_gradients(kind: Any) -> None:
    options = OPTIONS.get(kind, {})
    plain, given, single = ([taeda.linspace(-1, 1, 6).view(2, 3), taeda.ones(4)] for _ in range(3))
    usual = kind([p.requires_grad_() for p in plain], **options)
    handed = functional_optim_map[kind](given, **options)
    alone = as_functional_optim(kind, **options)
    for step in range(3):
        gradients = [taeda.cos(p.detach() * (step + 2)) for p in plain]
        for parameter, gradient in zip(plain, gradients, strict=True):
            parameter.grad = gradient
        usual.step()
        handed.step(gradients)
        for parameter, gradient in zip(single, gradients, strict=True):
            alone.step_param(parameter, gradient)
    for one, *others in zip(plain, given, single, strict=True):
        assert all(taeda.equal(one, other) and other.grad is None for other in others)
    assert handed.state.keys() == set(given)
    before = given[1].clone()
    handed.step([taeda.ones(2, 3), None])
    assert taeda.equal(given[1], before)
    with pytest.raises(ValueError, match="each of 2 parameters; got 1"):
        handed.step([None])
    with pytest.raises(ValueError, match="got an empty one"):
        functional_optim_map[kind]([])


def test_forms_are_registered() -> None:
    with pytest.raises(ValueError, match="NAdam.*has no form"):
        as_functional_optim(optim.NAdam)
    register_functional_optim("mine", functional_optim_map[optim.SGD])
    try:
        assert as_functional_optim("mine", 0.5).defaults["lr"] == 0.5  # type: ignore[arg-type]
    finally:
        del functional_optim_map["mine"]


def _net() -> nn.Module:
    taeda.manual_seed(0)
    return nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))


def _trained(named: Any, module: nn.Module) -> list[Any]:
    named.zero_grad()
    module(taeda.ones(1, 2)).sum().backward()
    named.step()
    return [parameter.detach().clone() for parameter in module.parameters()]


def test_named_state() -> None:
    first, second = _net(), _net()
    groups = [{"params": second[0].parameters()}, {"params": second[1].parameters(), "lr": 0.3}]  # type: ignore[index]
    one = _NamedOptimizer(first.named_parameters(), optim.SGD, lr=0.1, momentum=0.9)
    two = _NamedOptimizer(second.named_parameters(), optim.Adam, groups, lr=0.1)
    before = _trained(one, first)
    saved = one.state_dict()
    assert list(saved["state"]) == ["0.weight", "0.bias", "1.weight", "1.bias"]
    assert saved["param_groups"][0]["params"] == ["0.bias", "0.weight", "1.bias", "1.weight"]
    again = _net()
    again.load_state_dict(first.state_dict())
    other = _NamedOptimizer(again.named_parameters(), optim.SGD, lr=0.7, momentum=0.9)
    with pytest.raises(ValueError, match="init_state"):
        other.load_state_dict(saved)
    other.init_state()
    assert all(taeda.equal(p, q) for p, q in zip(again.parameters(), before, strict=True))
    other.load_state_dict(copy.deepcopy(saved))
    assert all(taeda.equal(*both) for both in zip(_trained(one, first), _trained(other, again), strict=True))
    kept = other.state_dict()["state"]["1.bias"]["momentum_buffer"].clone()
    other.load_state_dict({**saved, "state": {}})
    assert taeda.equal(other.state_dict()["state"]["1.bias"]["momentum_buffer"], kept)
    _trained(two, second)
    assert [group["lr"] for group in two.state_dict()["param_groups"]] == [0.1, 0.3]
    for wrong, words in (
        ({**saved, "state": {name: {} for name in saved["state"]}}, "differs in .'momentum_buffer'"),
        ({**saved, "param_groups": [{"params": saved["param_groups"][0]["params"]}]}, "lacks .'dampening'"),
    ):
        with pytest.raises(ValueError, match=words):
            other.load_state_dict(wrong)
    with pytest.raises(ValueError, match=r"shape \(1,\) without a name"):
        other.add_param_group({"params": taeda.ones(1)})
