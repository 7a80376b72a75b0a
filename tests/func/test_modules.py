"""functional_call and stack_module_state."""

from __future__ import annotations

from typing import Any

import pytest

import taeda
from taeda import func, nn


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 3)
        self.second = nn.Linear(3, 3)
        self.second.weight = self.first.weight
        self.register_buffer("count", taeda.zeros(()))

    def forward(self, x: Any, scale: float = 1.0) -> Any:
        self.count.add_(1)
        return self.second(self.first(x)) * scale


def state(model: nn.Module) -> dict[str, Any]:
    return {**dict(model.named_parameters()), **dict(model.named_buffers())}


def test_the_module_is_called_with_other_tensors_and_left_as_it_was() -> None:
    model, x = Tied(), taeda.ones(2, 3)
    before, expected = state(model), model(x)
    zeros = {name: taeda.zeros_like(p) for name, p in before.items()}
    assert not func.functional_call(model, zeros, x).any()
    assert all(now is then for now, then in zip(state(model).values(), before.values()))
    assert taeda.equal(func.functional_call(model, {}, (x,), {"scale": 2.0}), expected * 2)
    assert zeros["count"].item() == 1


def test_tied_weights() -> None:
    model, x = Tied(), taeda.ones(2, 3)
    eye = {"first.weight": taeda.eye(3)}
    biases = model.first.bias + model.second.bias
    assert taeda.allclose(func.functional_call(model, eye, x), x + biases)
    untied = func.functional_call(model, eye, x, tie_weights=False)
    assert taeda.allclose(untied, model.second(x + model.first.bias))
    with pytest.raises(ValueError, match="several"):
        func.functional_call(model, {**eye, "second.weight": taeda.zeros(3, 3)}, x)


class Counts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", taeda.zeros(()))

    def forward(self, x: Any) -> Any:
        self.count = self.count + 1
        return x + self.count


def test_what_the_module_sets_goes_into_a_single_dict() -> None:
    model, given = Counts(), {"count": taeda.zeros(())}
    assert func.functional_call(model, given, taeda.ones(1)).item() == 2
    assert (given["count"].item(), model.count.item()) == (1, 0)
    assert func.functional_call(model, (given, {}), taeda.ones(1)).item() == 3
    assert given["count"].item() == 1


def test_several_dicts_and_gradients() -> None:
    model, x = nn.Linear(3, 2), taeda.ones(4, 3)
    weight, bias = {"weight": taeda.ones(2, 3)}, {"bias": taeda.zeros(2)}
    loss = lambda w: func.functional_call(model, (w, bias), x).pow(2).sum()
    assert func.grad(loss)(weight)["weight"].tolist() == [[24.0] * 3] * 2
    assert model.weight.grad is None


@pytest.mark.parametrize(
    ("dicts", "options", "error"),
    [
        ([{"weight": taeda.ones(2, 3)}, {"weight": taeda.ones(2, 3)}], {}, ValueError),
        (3, {}, ValueError),
        ({"weight": 3}, {}, TypeError),
        ({"forward": taeda.ones(2)}, {}, TypeError),
        ({"weight": taeda.ones(2, 3)}, {"strict": True}, RuntimeError),
        ({"weight": taeda.ones(2, 3), "bias": taeda.ones(2), "more": taeda.ones(2)}, {"strict": True}, RuntimeError),
    ],
)
def test_refusals(dicts: Any, options: dict[str, Any], error: type) -> None:
    with pytest.raises(error, match=r"taeda\.func"):
        func.functional_call(nn.Linear(3, 2), dicts, taeda.ones(4, 3), **options)


def test_an_ensemble() -> None:
    models = [nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)) for _ in range(3)]
    params, buffers = func.stack_module_state(models)
    assert not buffers and all(p.is_leaf and p.requires_grad and p.shape[0] == 3 for p in params.values())
    x = taeda.randn(5, 3)
    found = func.vmap(lambda p, b, x: func.functional_call(models[0], (p, b), x), in_dims=(0, 0, None))(
        params, buffers, x
    )
    assert taeda.allclose(found, taeda.stack([m(x) for m in models]))
    found.sum().backward()
    assert all(p.grad is not None for p in params.values())
    with pytest.raises(RuntimeError, match="model"):
        func.stack_module_state([])
    with pytest.raises(RuntimeError, match="class"):
        func.stack_module_state([nn.Linear(1, 1), nn.Tanh()])
    with pytest.raises(RuntimeError, match="mode"):
        func.stack_module_state([nn.Tanh(), nn.Tanh().eval()])


def test_batch_norm_without_state() -> None:
    model = func.replace_all_batch_norm_modules_(nn.Sequential(nn.BatchNorm1d(3)).eval())
    assert model[0].running_mean is None
    assert abs(model(taeda.randn(8, 3)).mean().item()) < 1e-5
