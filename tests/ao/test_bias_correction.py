"""Biases without what quantisation adds to the means."""

from __future__ import annotations

import copy

import pytest

import taeda
from taeda import nn
from taeda.ao.ns._numeric_suite import Shadow
from taeda.ao.quantization import QuantWrapper, convert, default_qconfig, prepare
from taeda.ao.quantization import _correct_bias as correct


@pytest.mark.filterwarnings("ignore")
def test_biases_that_are_off_come_back() -> None:
    taeda.manual_seed(0)
    model = QuantWrapper(nn.Sequential(nn.Conv2d(3, 4, 2), nn.Conv2d(4, 5, 2))).eval()
    model.qconfig = default_qconfig  # type: ignore[assignment]
    batches = [(taeda.rand(4, 3, 8, 8), 1) for _ in range(6)]
    prepared = prepare(model)
    for x, _ in batches:
        prepared(x)
    off = convert(prepared)
    for layer in off.module:
        layer.set_weight_bias(layer.weight(), layer.bias().detach() + 0.05)

    def away() -> taeda.Tensor:
        means = [(off(x) - model(x)).mean((0, 2, 3)) for x, _ in batches]
        return taeda.stack(means).mean(0).abs().max()

    before = away()
    correct.bias_correction(copy.deepcopy(model), off, batches)
    assert away() < before / 10
    for layer, plain in zip(off.module, model.module, strict=True):
        assert isinstance(layer, Shadow)
        taeda.testing.assert_close(layer.orig_module.bias(), plain.bias, atol=5e-3, rtol=0)
    assert correct.parent_child_names("a.b.c") == ("a.b", "c")
    assert correct.get_module(off, "module.1.orig_module") is off.module[1].orig_module


def test_means_are_over_all_batches() -> None:
    logger = correct.MeanShadowLogger()
    for value in (1.0, 2.0, 6.0):
        logger(taeda.quantize_per_tensor(taeda.full((2, 1), value), 1.0, 0, taeda.quint8), taeda.full((2, 1), -value))
    assert logger.stats["quantized"].tolist() == [[3], [3]]
    assert logger.stats["float"].tolist() == [[-3], [-3]]
