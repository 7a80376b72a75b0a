"""``segment_reduce`` against NumPy, stretch by stretch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import taeda

REDUCTIONS: dict[str, Callable[..., Any]] = {
    "sum": np.sum,
    "mean": np.mean,
    "max": np.max,
    "min": np.min,
    "prod": np.prod,
}
IDENTITY = {"sum": 0.0, "mean": np.nan, "max": -np.inf, "min": np.inf, "prod": 1.0}


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_stretches_are_reduced(name: str, dtype: str) -> None:
    data = taeda.from_numpy(np.random.default_rng(0).standard_normal((2, 7, 3))).to(getattr(taeda, dtype))
    lengths = taeda.tensor([[3, 0, 4], [1, 5, 1]])
    got = taeda.segment_reduce(data, name, lengths=lengths, axis=1)
    offsets = taeda.tensor([[0, 3, 3, 7], [0, 1, 6, 7]], dtype=taeda.int32)
    assert taeda.equal(taeda.segment_reduce(data, name, offsets=offsets, axis=1).nan_to_num(), got.nan_to_num())
    wanted = np.full((2, 3, 3), IDENTITY[name])
    for i, bounds in enumerate(offsets.tolist()):
        for j, (begin, end) in enumerate(zip(bounds, bounds[1:])):
            if end > begin:
                wanted[i, j] = REDUCTIONS[name](data[i, begin:end].double().numpy(), axis=0)
    taeda.testing.assert_close(got, taeda.from_numpy(wanted).to(data.dtype), equal_nan=True)


@pytest.mark.parametrize("name", REDUCTIONS)
def test_long_stretches_of_numbers(name: str) -> None:
    data = taeda.from_numpy(np.random.default_rng(1).standard_normal(600))
    got = taeda.segment_reduce(data, name, lengths=taeda.tensor([17, 0, 583]), initial=0.5)
    parts = [np.append(part, 0.5) for part in np.split(data.numpy(), [17, 17])]
    wanted = np.array([REDUCTIONS["sum" if name == "mean" else name](part) for part in parts])
    if name == "mean":
        wanted /= np.array([17, 1, 583])
    taeda.testing.assert_close(got.nan_to_num(), taeda.from_numpy(wanted).nan_to_num())


@pytest.mark.parametrize("step", [1, 2])
def test_sums_of_special_numbers(step: int) -> None:
    data = taeda.ones(120)
    data[3], data[50], data[90] = np.inf, np.nan, -np.inf
    got = taeda.segment_reduce(data[::step], "sum", lengths=taeda.tensor([20, 20, 20, 60] if step == 1 else [10, 50]))
    assert str(got.tolist()) == ("[inf, 20.0, nan, -inf]" if step == 1 else "[10.0, nan]")


def test_equal_extrema_share_the_gradient() -> None:
    x = taeda.tensor([1.0, 2.0, 2.0, 5.0], requires_grad=True)
    taeda.segment_reduce(x, "max", lengths=taeda.tensor([3, 1])).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [0.0, 0.5, 0.5, 1.0]


def test_products_with_zeros_have_gradients() -> None:
    x = taeda.tensor([0.0, 2.0, 3.0, 4.0], requires_grad=True)
    taeda.segment_reduce(x, "prod", lengths=taeda.tensor([3, 1]), initial=2).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [12.0, 0.0, 0.0, 2.0]


@pytest.mark.parametrize("options, error", [
    ({}, RuntimeError),
    ({"lengths": taeda.tensor([1, 2])}, RuntimeError),
    ({"lengths": taeda.tensor([5]), "unsafe": True}, RuntimeError),
    ({"lengths": taeda.tensor([-1, 5])}, RuntimeError),
    ({"lengths": taeda.tensor([4.0])}, NotImplementedError),
    ({"lengths": taeda.tensor([4]), "axis": 1}, RuntimeError),
    ({"offsets": taeda.tensor([0, 5])}, RuntimeError),
    ({"offsets": taeda.tensor([2, 1])}, RuntimeError),
    ({"indices": taeda.tensor([0, 0, 1, 1])}, RuntimeError),
])  # fmt: skip
def test_mistakes_raise(options: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        taeda.segment_reduce(taeda.ones(4, 2), "sum", **options)
    with pytest.raises(RuntimeError):
        taeda.segment_reduce(taeda.ones(4, 2), "median", lengths=taeda.tensor([4]))
