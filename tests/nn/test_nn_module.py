"""What Module does beyond PyTorch's story: its tables, its copies, its messages."""

from __future__ import annotations

import copy
import gc
import io
import pickle
import typing
import weakref
from typing import Any

import pytest

import taeda
import taeda.nn as nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 2)
        self.register_buffer("count", taeda.zeros(1), persistent=False)


def test_tables_and_attributes_agree() -> None:
    module = Net()
    new = nn.Linear(2, 2)
    module._modules["linear"] = new
    assert module.linear is new
    module._modules["more"] = nn.ReLU()
    assert isinstance(module.more, nn.ReLU)
    del module._modules["more"]
    assert not hasattr(module, "more")
    module._buffers["count"] = None
    assert module.count is None
    assert new._parameters.pop("bias") is not None
    assert not hasattr(new, "bias")
    assert new._parameters.pop("bias", 5) == 5
    new._parameters.setdefault("bias", None)
    new._parameters.update(extra=nn.Parameter(taeda.ones(1)))
    assert new.bias is None
    assert new.extra is new._parameters["extra"]
    new._parameters.clear()
    assert not hasattr(new, "weight")
    module._modules = {"other": nn.Tanh()}
    assert isinstance(module.other, nn.Tanh)
    assert not hasattr(module, "linear")
    module.other = nn.ReLU()
    assert list(module._modules.values()) == [module.other]


def test_a_copied_dictionary_does_not_reach_the_original() -> None:
    module = Net()
    for twin in (copy.copy(module), copy.deepcopy(module), module._replicate_for_data_parallel()):
        twin.linear = nn.ReLU()
        assert isinstance(module.linear, nn.Linear)
        assert isinstance(twin._modules["linear"], nn.ReLU)
    assert "linear" not in module.__getstate__()
    assert type(module.__getstate__()["_modules"]) is dict


def test_own_state_methods() -> None:
    class Own(Net):
        def __getstate__(self) -> dict[str, Any]:
            return self.__dict__.copy()

        def __setstate__(self, state: dict[str, Any]) -> None:
            self.__dict__.update(state)

    module = Own()
    twin = copy.deepcopy(module)
    assert isinstance(twin.linear, nn.Linear)
    assert twin.linear is twin._modules["linear"]
    assert twin.linear is not module.linear


def test_a_property_of_the_same_name_wins() -> None:
    class WithProperty(nn.Module):
        @property
        def weight(self) -> Any:
            return self._parameters["original"] * 2

    module = WithProperty()
    module.original = nn.Parameter(taeda.ones(1))
    assert module.weight.item() == 2
    with pytest.raises(KeyError):
        module.weight = nn.Parameter(taeda.ones(1))


def test_modules_go_away_without_the_collector() -> None:
    gc.disable()
    try:
        module = Net()
        gone = weakref.ref(module)
        weight = weakref.ref(module.linear)
        del module
        assert gone() is None
        assert weight() is None
    finally:
        gc.enable()


def test_hooks_of_a_class_whose_getattr_knows_none() -> None:
    class Closed(nn.Module):
        def forward(self, x: taeda.Tensor) -> taeda.Tensor:
            return x

        def __getattr__(self, name: str) -> Any:
            raise AttributeError(f"no {name}")

    module, seen = Closed(), []
    assert not hasattr(Closed, "_forward_hooks") and "_forward_hooks" not in vars(module)
    handles = [
        module.register_forward_pre_hook(lambda m, args, kwargs: seen.append("before"), with_kwargs=True),
        module.register_forward_hook(lambda m, args, kwargs, out: seen.append("behind"), with_kwargs=True),
        module.register_full_backward_hook(lambda m, gi, go: seen.append("backward")),
    ]
    module(taeda.ones(2, requires_grad=True)).sum().backward()
    assert seen == ["before", "behind", "backward"] and list(module._forward_hooks) == [handles[1].id]
    for handle in handles:
        handle.remove()
    assert not module._forward_hooks and not module._state_dict_hooks


def test_user_getattr_is_the_last_resort() -> None:
    class Wrapper(nn.Module):
        def __init__(self, inner: Any) -> None:
            super().__init__()
            self.inner = inner

        def __getattr__(self, name: str) -> Any:
            try:
                return super().__getattr__(name)
            except AttributeError:
                return getattr(self.inner, name)

    wrapper = Wrapper(nn.Linear(3, 2))
    assert wrapper.in_features == 3
    wrapper.register_forward_pre_hook(lambda m, args: None)
    assert len(wrapper._forward_pre_hooks) == 1
    assert len(wrapper.inner._forward_pre_hooks) == 0


def test_a_getattr_of_its_own_is_asked_for_what_a_module_holds() -> None:
    class Asked(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.asked: list[str] = []
            self.child, self.weight = nn.ReLU(), nn.Parameter(taeda.ones(1))
            self.register_buffer("bias", taeda.zeros(1))

        def __getattr__(self, name: str) -> Any:
            found = super().__getattr__(name)
            self.__dict__["asked"].append(name)
            return found

        def forward(self, x: Any) -> Any:
            return self.child(x) * self.weight + self.bias

    module = copy.deepcopy(Asked())
    for _ in range(2):
        assert module(taeda.ones(1)).item() == 1
    assert module.asked == 2 * ["child", "weight", "bias"] and "weight" not in vars(module)
    del module.weight
    assert not hasattr(module, "weight") and list(module.state_dict()) == ["bias"]


def test_instance_forward_and_call_super_init() -> None:
    module = nn.ReLU()
    module.forward = lambda x: "replaced"
    assert module(1) == "replaced"

    class Mixin:
        def __init__(self, tag: str) -> None:
            self.tag = tag

    class Mixed(nn.Module, Mixin):
        call_super_init = True

    assert Mixed("x").tag == "x"


def test_hooks_survive_pickling() -> None:
    module = nn.Linear(1, 1)
    module.register_forward_hook(_zero)
    assert pickle.loads(pickle.dumps(module))(taeda.ones(1)).item() == 0
    assert "_forward_hooks" not in vars(nn.Linear(1, 1))


def test_the_plain_call_returns_after_global_hooks() -> None:
    module = nn.ReLU()
    seen: list[Any] = []
    handle = nn.modules.module.register_module_forward_hook(lambda *args: seen.append(args))
    module(taeda.ones(1))
    assert module._instrumented
    handle.remove()
    module(taeda.ones(1))
    assert not module._instrumented
    assert len(seen) == 1


def _zero(module: Any, args: Any, output: Any) -> Any:
    return output * 0


def test_dir_and_messages() -> None:
    module = Net()
    assert {"linear", "count", "forward", "state_dict"} <= set(dir(module))
    with pytest.raises(AttributeError, match="'Net' object has no attribute 'nothing'"):
        module.nothing  # noqa: B018
    with pytest.raises(
        RuntimeError, match=r"size mismatch for linear\.weight: the module has shape \(2, 2\), the state has \(3,\)"
    ):
        module.load_state_dict({"linear.weight": taeda.ones(3), "linear.bias": taeda.ones(2)})
    with pytest.raises(RuntimeError, match=r'Missing key\(s\) in state_dict: "linear.weight", "linear.bias"'):
        module.load_state_dict({})
    with pytest.raises(RuntimeError, match=r'Unexpected key\(s\) in state_dict: "more"'):
        module.load_state_dict({**module.state_dict(), "more": taeda.ones(1)})


def test_state_dict_goes_through_a_file() -> None:
    module = nn.Sequential(nn.BatchNorm1d(2), nn.Linear(2, 1))
    file = io.BytesIO()
    pickle.dump(module.state_dict(), file)
    file.seek(0)
    state = pickle.load(file)
    assert state._metadata == module.state_dict()._metadata
    assert repr(module.load_state_dict(state)) == "<All keys matched successfully>"


def test_annotations_can_be_evaluated() -> None:
    for name in dir(nn):
        kind = getattr(nn, name)
        if isinstance(kind, type):
            typing.get_type_hints(kind)  # as libraries do with their own subclasses


def test_what_the_arguments_of_to_ask_for():
    parse, cpu, half = taeda._C._nn._parse_to, taeda.device("cpu"), taeda.float16
    assert parse() == (None, None, False, None) and parse("cpu") == (cpu, None, False, None)
    assert parse(half) == (None, half, False, None) and parse(taeda.ones(1, dtype=half)) == (cpu, half, False, None)
    assert parse("cpu", half, True) == parse(device=cpu, dtype=half, non_blocking=True) == (cpu, half, True, None)
    assert parse(memory_format=taeda.channels_last)[3] is taeda.channels_last
    for args, kwargs in (((3, "x"), {}), (("cpu",), {"copy": True}), (([],), {})):
        with pytest.raises(TypeError):
            parse(*args, **kwargs)


def test_the_class_of_a_table_makes_plain_dicts() -> None:
    table = Net()._modules
    rebuilt = type(table)({"linear": 1})
    rebuilt["other"] = 2
    assert rebuilt == {"linear": 1, "other": 2}


def test_copies_of_a_parameter_dict_keep_the_order():
    names = ["z", "a", "m"]
    one = taeda.nn.ParameterDict([(name, taeda.ones(1)) for name in names])
    assert list(one.copy()) == names == list(one | {})


def test_a_network_runs_with_the_weights_in_its_list() -> None:
    net, x = nn.LSTM(3, 4, 2), taeda.randn(2, 1, 3)
    plain = net(x)[0]
    net._flat_weights = [weight * 2 for weight in net._flat_weights]
    doubled = net(x)[0]
    assert not taeda.allclose(doubled, plain)
    net.weight_ih_l0 = nn.Parameter(net.weight_ih_l0.detach().clone())  # from then on the parameters count again
    assert taeda.equal(net(x)[0], plain)
    net._flat_weights[0] = taeda.zeros(16, 3)
    changed = net(x)[0]
    assert not taeda.allclose(changed, plain) and taeda.equal(copy.deepcopy(net)(x)[0], changed)
    assert taeda.equal(net.to("cpu")(x)[0], plain)
