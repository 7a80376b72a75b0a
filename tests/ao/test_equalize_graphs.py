"""Equalisation of graphs: the same numbers before quantising, and nearer ones after it."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import taeda
from taeda import Tensor, nn
from taeda.ao.quantization import default_qconfig
from taeda.ao.quantization.fx._equalize import (
    _convert_equalization_ref,
    _InputEqualizationObserver,
    _WeightEqualizationObserver,
    default_equalization_qconfig,
    get_equalization_qconfig_dict,
    get_layer_sqnr_dict,
)
from taeda.ao.quantization.quantize_fx import convert_fx, prepare_fx
from taeda.nn import functional as F


class Functional(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(taeda.randn(6, 4)), nn.Parameter(taeda.randn(6))
        self.second = nn.Parameter(taeda.randn(3, 6))

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(F.relu(F.linear(x, self.weight, self.bias)), self.second)


class Branches(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.left, self.right, self.end = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.end(self.left(x) + self.right(x))


MODELS: dict[str, Any] = {
    "linear": lambda: nn.Sequential(nn.Linear(4, 3)),
    "two": lambda: nn.Sequential(nn.Linear(4, 6), nn.Linear(6, 3)),
    "relu": lambda: nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 3, bias=False)),
    "pool": lambda: nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3)),
    "functions": Functional,
    "branches": Branches,
    "conv": lambda: nn.Sequential(nn.Conv2d(4, 6, 3), nn.ReLU(), nn.Conv2d(6, 2, 1), nn.Conv2d(2, 2, 1, groups=2)),
}
KINDS = (nn.Linear, nn.Conv2d, nn.ReLU, F.linear, F.relu)


def of(config: Any) -> dict[str, Any]:
    return {"": None, "object_type": [(kind, config) for kind in KINDS]}


def prepared(name: str, equalised: bool = True) -> tuple[Any, Any, Tensor]:
    taeda.manual_seed(0)
    model = MODELS[name]().eval()
    x = taeda.randn(8, 4, 5, 5) if name == "conv" else taeda.randn(8, 4)
    x = x * taeda.tensor([1.0, 100.0, 0.1, 3.0]).view(1, 4, *[1] * (x.dim() - 2))
    with taeda.no_grad():  # small columns meet large channels
        next(p for p in model.parameters() if p.dim() > 1)[:, 1] *= 0.01
    config = of(default_equalization_qconfig) if equalised else None
    made = prepare_fx(copy.deepcopy(model), of(default_qconfig), (x,), _equalization_config=config)
    made(x)
    return model, made, x


def count(model: Any, kind: Any) -> int:
    return sum(isinstance(module, kind) for module in model.modules())


@pytest.mark.parametrize("name", MODELS)
def test_scales_leave_the_numbers_as_they_are(name: str) -> None:
    model, made, x = prepared(name)
    assert count(made, _InputEqualizationObserver) == {"linear": 1, "branches": 1}.get(name, 2)
    assert count(made, _WeightEqualizationObserver) == (2 if name == "functions" else 0)
    flat = _convert_equalization_ref(made)
    taeda.testing.assert_close(flat(x), model(x), rtol=1e-4, atol=1e-4)
    assert not any("input_equalization" in str(node.target) for node in flat.graph.nodes)
    muls = [node for node in flat.graph.nodes if node.target is taeda.mul]
    assert len(muls) == (2 if name == "pool" else 1)  # elsewhere the layer before has the scale in its rows


@pytest.mark.parametrize("name", ["linear", "relu", "functions", "conv"])
def test_quantised_models_err_less(name: str) -> None:
    errors = []
    for equalised in (True, False):
        model, made, x = prepared(name, equalised)
        errors.append(float((convert_fx(made)(x) - model(x)).abs().mean()))
    assert errors[0] < 0.8 * errors[1]


def test_without_data_the_scale_is_one() -> None:
    model = nn.Sequential(nn.Linear(4, 3)).eval()
    config = of(default_equalization_qconfig)
    made = convert_fx(prepare_fx(model, of(default_qconfig), (taeda.ones(1, 4),), _equalization_config=config))
    assert [float(value) for name, value in made.named_buffers() if "equalization_scale" in name] == [1]


def test_the_worst_layers() -> None:
    model, made, x = prepared("relu", equalised=False)
    ratios = get_layer_sqnr_dict(made, convert_fx(copy.deepcopy(made)), x)
    assert (
        set(ratios) == {"0", "2"}
        and ratios["0"] < 35
        and get_equalization_qconfig_dict(ratios, 1)
        == {"module_name": [(min(ratios, key=lambda name: ratios[name]), default_equalization_qconfig)]}
    )
    chosen = get_equalization_qconfig_dict({"a": 30.0, "b": 10.0, "c": 20.0}, 2)
    assert chosen == {"module_name": [("b", default_equalization_qconfig), ("c", default_equalization_qconfig)]}
