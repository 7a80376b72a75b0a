"""Equalisation across layers."""

from __future__ import annotations

from typing import Any

import pytest

import taeda
from taeda import nn
from taeda.ao.quantization import _equalize


def relu_pair() -> Any:
    return nn.intrinsic.ConvReLU2d(nn.Conv2d(3, 4, 2), nn.ReLU())


MODELS = {
    "linear": lambda: nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 5), nn.Linear(5, 6, bias=False)),
    "conv": lambda: nn.Sequential(relu_pair(), nn.Conv2d(4, 5, 3), nn.Conv2d(5, 2, 1)),
}


@pytest.mark.parametrize("name", MODELS)
def test_ranges_become_equal_and_results_stay(name: str) -> None:
    taeda.manual_seed(0)
    model, x = MODELS[name](), taeda.randn(2, 3, 8, 8) if name == "conv" else taeda.randn(2, 3)
    pairs = [["0", "1"], ["1", "2"]]
    made = _equalize.equalize(model, pairs, 1e-6, inplace=False)
    taeda.testing.assert_close(made(x), model(x))
    layers = [_equalize._layer(layer).weight for layer in made]
    for first, second in zip(layers, layers[1:], strict=False):
        taeda.testing.assert_close(_equalize.channel_range(first, 0), _equalize.channel_range(second, 1))
    assert not taeda.equal(layers[1], model[1].weight)
    assert _equalize.equalize(model, pairs, 1e-6) is model and taeda.equal(model[1].weight, layers[1])


def test_a_channel_of_zeros_is_left_alone() -> None:
    first, second = nn.Linear(2, 2), nn.Linear(2, 2)
    with taeda.no_grad():
        first.weight[0] = 0
    _equalize.cross_layer_equalization(first, second)
    assert first.weight.isfinite().all() and second.weight.isfinite().all() and first.bias.isfinite().all()


@pytest.mark.parametrize("odd", [float("nan"), float("inf")])
def test_weights_that_are_not_finite_come_to_an_end(odd: float) -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    with taeda.no_grad():
        model[0].weight[0, 0] = odd
    _equalize.equalize(model, [["0", "1"]])
    assert not model[0].weight[0, 0].isfinite() and model[1].weight.isfinite().all()


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(TypeError, match="no layer of class ReLU"):
        _equalize.cross_layer_equalization(nn.ReLU(), nn.Linear(2, 2))
    with pytest.raises(ValueError, match="as many channels"):
        _equalize.cross_layer_equalization(nn.Linear(2, 3), nn.Linear(2, 2))
    with pytest.raises(ValueError, match="same names"):
        _equalize.converged({"a": nn.Linear(2, 2)}, {})
