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
