"""What becomes of a module's parameters when it is converted or loads a state."""

from __future__ import annotations

import copy

import pytest

import taeda
from taeda import nn

FUTURE = taeda.__future__


@pytest.fixture(params=["plain", "overwrite", "swap"])
def way(request):
    FUTURE.set_overwrite_module_params_on_conversion(request.param == "overwrite")
    FUTURE.set_swap_module_params_on_conversion(request.param == "swap")
    yield request.param
    FUTURE.set_overwrite_module_params_on_conversion(False)
    FUTURE.set_swap_module_params_on_conversion(False)


def test_a_conversion_keeps_or_makes_parameters(way: str) -> None:
    module = nn.Linear(3, 2)
    module(taeda.ones(3)).sum().backward()
    weight, grad = module.weight, module.weight.grad
    before = weight.detach().clone()
    assert module.double() is module and module.weight.dtype == module.weight.grad.dtype == taeda.float64
    assert (module.weight is weight) == (way != "overwrite") and isinstance(module.weight, nn.Parameter)
    assert weight.dtype == (taeda.float32 if way == "overwrite" else taeda.float64)
    assert (module.weight.grad is grad) == (way == "swap") or way == "plain"
    assert taeda.equal(module.weight, before.double()) and module.weight.requires_grad


@pytest.mark.parametrize("assign", [False, True])
def test_a_state_is_copied_taken_or_exchanged(way: str, assign: bool) -> None:
    module, state = nn.Linear(3, 2), nn.Linear(3, 2).state_dict()
    weight = module.weight
    module.load_state_dict(state, assign=assign)
    assert taeda.equal(module.weight, state["weight"]) and type(module.weight) is nn.Parameter
    assert (module.weight is weight) == (way == "swap" or not assign)


def test_a_class_of_tensors_says_what_to_load() -> None:
    class Loud(taeda.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            if func is taeda.Tensor.module_load:
                return cls(args[1] * 2)
            with taeda._C.DisableTorchFunctionSubclass():
                result = func(*args, **(kwargs or {}))
                return cls(result) if func is taeda.Tensor.detach else result

    class Wrong(Loud):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            if func is taeda.Tensor.module_load:
                return args[1]
            return super().__torch_function__(func, types, args, kwargs)

    module = nn.Linear(2, 2, bias=False)
    FUTURE.set_swap_module_params_on_conversion(True)
    try:
        module.weight = nn.Parameter(Loud(taeda.ones(2, 2)))
        weight = module.weight
        module.load_state_dict({"weight": taeda.ones(2, 2)})
        assert module.weight is weight and module.weight.tolist() == [[2, 2], [2, 2]]
        with pytest.raises(RuntimeError, match="returned one of its arguments"):
            nn.Linear(2, 2, bias=False).load_state_dict({"weight": Wrong(taeda.ones(2, 2))})
    finally:
        FUTURE.set_swap_module_params_on_conversion(False)


def test_a_module_is_not_copied_by_to() -> None:
    with pytest.raises(RuntimeError, match="deepcopy"):
        nn.Linear(2, 2).to("cpu", copy=True)


def test_hooks_for_all_modules_can_be_replaced() -> None:
    calls: list[int] = []
    nn.modules.module.register_module_forward_hook(lambda *_: calls.append(1))
    nn.Identity()(1)
    kept = copy.copy(nn.modules.module._global_forward_hooks)
    nn.modules.module._global_forward_hooks = {}
    nn.Identity()(1)
    assert len(calls) == len(kept) == 1 and not nn.modules.module._global_forward_hooks
    with pytest.raises(AttributeError):
        _ = nn.modules.module._global_nothing
