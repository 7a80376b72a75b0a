"""Rounding to the levels of quantised numbers, beside PyTorch's: values, masks, gradients, what observers keep."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

import taeda

INF = float("inf")


def test_levels_and_the_gradient_in_range() -> None:
    x = taeda.tensor([-3.0, -0.04, 0.35, 0.25, 1.6, float("nan"), INF], requires_grad=True)
    y = taeda.fake_quantize_per_tensor_affine(x, 0.1, 2, -8, 7)
    y.sum().backward()
    np.testing.assert_allclose(y.tolist(), [-1.0, 0.0, 0.4, 0.2, 0.5, -1.0, 0.5], rtol=1e-6)
    assert x.grad is not None and x.grad.tolist() == [0, 1, 1, 1, 0, 0, 0]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_types_compute_in_float(dtype: str) -> None:
    x = taeda.linspace(-2, 2, 100, dtype=getattr(taeda, dtype))
    wide = taeda.fake_quantize_per_tensor_affine(x.float(), 0.03, 5, -64, 63)
    assert taeda.equal(taeda.fake_quantize_per_tensor_affine(x, 0.03, 5, -64, 63), wide.to(x.dtype))


def test_errors() -> None:
    x, scale, zero = taeda.ones(3, 2), taeda.ones(2), taeda.zeros(2, dtype=taeda.int32)
    with pytest.raises(RuntimeError, match="zero_point must be from"):
        taeda.fake_quantize_per_tensor_affine(x, 0.1, 9, -8, 7)
    with pytest.raises(RuntimeError, match="zero_point must be from"):
        taeda.fake_quantize_per_channel_affine(x, scale, zero + 8, 1, 0, 7)
    with pytest.raises(RuntimeError, match="int32, float32 or float16"):
        taeda.fake_quantize_per_channel_affine(x, scale, zero.long(), 1, 0, 7)
    with pytest.raises(RuntimeError, match="as many scales"):
        taeda.fake_quantize_per_channel_affine(x, scale, zero, 0, 0, 7)
    with pytest.raises(IndexError):
        taeda.fake_quantize_per_channel_affine(x, scale, zero, 2, 0, 7)
    with pytest.raises(RuntimeError, match="ch_axis"):
        on, one = taeda.tensor([1]), taeda.ones(1)
        taeda.fused_moving_avg_obs_fake_quant(x, on, on, one, one, one, one.int(), 0.01, 0, 255, 5, True)


def _observe(**changed: Any) -> Any:
    one = taeda.ones(1)
    given: dict[str, Any] = {
        "self": taeda.ones(3, 2), "observer_on": taeda.ones(1), "fake_quant_on": taeda.ones(1), "running_min": -one,
        "running_max": one, "scale": one.clone(), "zero_point": one.int(), "averaging_const": 0.1, "quant_min": 0,
        "quant_max": 255, "ch_axis": 0,
    }  # fmt: skip
    return taeda.fused_moving_avg_obs_fake_quant(*(given | changed).values())


_CHANNELS = {"running_min": taeda.zeros(3), "running_max": taeda.ones(3), "scale": taeda.ones(3)}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"self": taeda.ones(2, dtype=taeda.int64)}, "self must be float32"),
        ({"running_min": taeda.ones(1, dtype=taeda.uint32)}, "running_min must be float32"),
        ({"running_max": taeda.ones(2)}, "running_max must have 1 element,"),
        ({"running_min": taeda.ones(0)}, "running_min must have 1 element,"),
        ({"scale": taeda.ones(0)}, "scale must have 1 element,"),
        ({"zero_point": taeda.ones(4)}, "zero_point must have 1 element,"),
        ({"quant_min": 255}, "quant_min must be below"),
        ({"quant_max": 2**62}, "of 32 bits"),
        ({**_CHANNELS, "zero_point": taeda.ones(2), "per_row": True}, "zero_point must have 3 elements"),
    ],
)
def test_what_an_observer_refuses(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        _observe(**changed)


def test_nothing_is_observed_of_no_elements() -> None:
    low, scale = taeda.tensor([INF]), taeda.tensor([0.5])
    x = taeda.ones(0, 5, requires_grad=True)
    y = _observe(self=x, running_min=low, scale=scale)
    y.sum().backward()
    assert y.shape == (0, 5) and x.grad is not None and x.grad.shape == (0, 5)
    assert (low.item(), scale.item()) == (INF, 0.5)


def test_an_axis_of_learned_scales_and_a_search_that_would_not_end() -> None:
    x, scale = taeda.ones(3, 2), taeda.ones(2)
    for axis in (2, -1, 2**62):
        with pytest.raises((RuntimeError, IndexError), match="axis must|out of range"):
            taeda.ops.aten._fake_quantize_learnable_per_channel_affine(x, scale, scale, axis, 0, 7)
    with pytest.raises(RuntimeError, match="ratio must"):
        taeda.choose_qparams_optimized(x, 6, 10, INF, 4)
    high, low = taeda.choose_qparams_optimized(taeda.arange(4.0), 4, 2**62, 1.0, 4)
    assert (low.item(), high.item()) == (0, 3)


def _learned(lib: ModuleType, x: Any, by_channel: bool) -> list[Any]:
    x = lib.tensor(x, requires_grad=True)
    scale = lib.tensor([0.1, 0.2, 0.3] if by_channel else [0.1], requires_grad=True)
    zero = lib.tensor([0.6, 1.5, 2.2] if by_channel else [2.3], requires_grad=True)
    aten = lib.ops.aten
    if by_channel:
        y = aten._fake_quantize_learnable_per_channel_affine(x, scale, zero, 0, -8, 7, 1.5)
    else:
        y = aten._fake_quantize_learnable_per_tensor_affine(x, scale, zero, -8, 7, 2.0)
    y.backward(lib.arange(12.0).reshape(3, 4))
    return [y.detach(), x.grad, scale.grad, zero.grad]


def _fused(lib: ModuleType, x: Any, by_channel: bool, symmetric: bool, levels: tuple[int, int]) -> list[Any]:
    n = 3 if by_channel else 1
    low, high, scale = lib.full((n,), INF), lib.full((n,), -INF), lib.ones(n)
    zero, on, found = lib.zeros(n, dtype=lib.int32), lib.tensor([1]), []
    for factor in (1.0, 2.0, 0.5):
        data = lib.tensor(x * np.float32(factor), requires_grad=True)
        y = lib.fused_moving_avg_obs_fake_quant(
            data, on, on, low, high, scale, zero, 0.01, *levels, 0 if by_channel else -1, by_channel, symmetric
        )
        y.sum().backward()
        found += [y.detach(), data.grad]
    return [*found, low, high, scale, zero]


def _same(ours: list[Any], theirs: list[Any]) -> None:
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(one.numpy(), other.numpy())


@pytest.mark.torch
@pytest.mark.parametrize("by_channel", [False, True])
def test_learned_scales_as_pytorch(by_channel: bool) -> None:
    torch = pytest.importorskip("torch")
    x = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
    for one, other in zip(_learned(taeda, x, by_channel), _learned(torch, x, by_channel), strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.torch
@pytest.mark.parametrize("levels", [(0, 255), (-128, 127), (0, 127), (-64, 63)])
@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("by_channel", [False, True])
def test_observed_ranges_as_pytorch(by_channel: bool, symmetric: bool, levels: tuple[int, int]) -> None:
    torch = pytest.importorskip("torch")
    x = np.random.default_rng(1).normal(size=(3, 40)).astype(np.float32) + np.float32([[0.0], [3.0], [-5.0]])
    _same(_fused(taeda, x, by_channel, symmetric, levels), _fused(torch, x, by_channel, symmetric, levels))


@pytest.mark.torch
@pytest.mark.parametrize(
    "x", [[0.0, 0.0], [1e-9, -2e-9], [1.0, 2.0], [-3.0, -1.0], [1e-5, 2e-5], [-3e-4, 2e-4], [-1e38, 3e38], [-1.0, 1.0]]
)
def test_scale_and_zero_point_of_data_as_pytorch(x: list[float]) -> None:
    torch = pytest.importorskip("torch")
    for reduced in (False, True):
        ours = taeda._choose_qparams_per_tensor(taeda.tensor(x), reduced)
        assert ours == torch._choose_qparams_per_tensor(torch.tensor(x), reduced)


@pytest.mark.torch
@pytest.mark.parametrize("case", [(200, 0.16, 8), (50, 0.5, 2), (200, 0.16, 4), (200, 0.16, 2)])
def test_the_search_for_a_range_as_pytorch(case: tuple[int, float, int]) -> None:
    torch = pytest.importorskip("torch")
    for seed in range(5):
        x = np.random.default_rng(seed).normal(size=64).astype(np.float32) ** 3
        for count in (64, 13):
            ours = taeda.choose_qparams_optimized(taeda.tensor(x), count, *case)
            theirs = torch.choose_qparams_optimized(torch.tensor(x), count, *case)
            assert [one.tolist() for one in ours] == [other.tolist() for other in theirs]
