"""``taeda.masked`` beside NumPy's masked arrays, and beside the same function of the elements that are kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import taeda

INPUT = np.random.default_rng(5).uniform(-2, 2, (3, 4, 5))
MASK = np.random.default_rng(6).random((3, 4, 5)) < 0.6
MASK[0, 0] = False  # a slice of which nothing is kept


def masked(name: str, *args: Any, **kwargs: Any) -> np.ndarray:
    function = getattr(taeda.masked, name)
    return function(taeda.tensor(INPUT), *args, mask=taeda.tensor(MASK), **kwargs).numpy()


@pytest.mark.parametrize("name", ["sum", "prod", "mean"])
@pytest.mark.parametrize("dim", [None, 0, (0, 2), -1])
@pytest.mark.parametrize("keepdim", [False, True])
def test_reductions_agree_with_numpy(name: str, dim: Any, keepdim: bool) -> None:
    empty = {"sum": 0, "prod": 1, "mean": np.nan}[name]
    wanted = getattr(np.ma.array(INPUT, mask=~MASK), name)(axis=dim, keepdims=keepdim)
    got = masked(name, dim, keepdim=keepdim)
    np.testing.assert_allclose(got, np.ma.filled(wanted, empty), rtol=1e-12)


@pytest.mark.parametrize(
    ("name", "args", "function"),
    [
        ("amax", (1,), np.max), ("amin", (1,), np.min), ("var", (1,), lambda x: np.var(x, ddof=1)),
        ("std", (1, False), np.std), ("norm", (2.0, 1), np.linalg.norm),
        ("norm", (-np.inf, 1), lambda x: np.abs(x).min()), ("logsumexp", (1,), lambda x: np.log(np.exp(x).sum())),
        ("median", (1,), lambda x: np.sort(x)[(len(x) - 1) // 2]),
    ],
)  # fmt: skip
def test_a_reduction_is_that_of_the_kept_elements(name: str, args: Any, function: Callable[[Any], Any]) -> None:
    got = masked(name, *args)
    for i in range(3):
        for j in range(5):
            kept = INPUT[i, MASK[i, :, j], j]
            if len(kept) > 1:
                assert got[i, j] == pytest.approx(function(kept), rel=1e-12)


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("softmax", lambda x: np.exp(x) / np.exp(x).sum()), ("softmin", lambda x: np.exp(-x) / np.exp(-x).sum()),
        ("log_softmax", lambda x: x - np.log(np.exp(x).sum())), ("cumsum", np.cumsum), ("cumprod", np.cumprod),
    ],
)  # fmt: skip
def test_along_a_dimension_the_kept_elements_are_alone(name: str, function: Callable[[Any], Any]) -> None:
    got = masked(name, 2)
    for i, j in np.ndindex(3, 4):
        kept = MASK[i, j]
        if kept.any():
            np.testing.assert_allclose(got[i, j][kept], function(INPUT[i, j][kept]), rtol=1e-12)


def test_normalize_divides_by_the_norm_of_the_kept_elements() -> None:
    got = masked("normalize", 2.0, 2)
    assert not got[~MASK].any()
    np.testing.assert_allclose((got**2).sum(2), MASK.any(2), rtol=1e-12)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_positions_are_of_kept_elements_in_the_dtype_of_the_input(name: str) -> None:
    got = masked(name, 1)
    wanted = getattr(np.ma.array(INPUT, mask=~MASK), name)(axis=1)
    assert got.dtype == np.float64
    np.testing.assert_array_equal(got[MASK.any(1)], wanted[MASK.any(1)])


def test_logaddexp_takes_a_mask_for_each_operand() -> None:
    x, y = taeda.tensor([1.0, 2.0, 3.0]), taeda.tensor([1.0, 5.0, 0.0])
    first, second = taeda.tensor([True, True, False]), taeda.tensor([True, False, True])
    got = taeda.masked.logaddexp(x, y, input_mask=first, other_mask=second)
    assert got.tolist() == pytest.approx([1 + np.log(2), 2.0, 0.0])


def test_integers_sum_to_int64_and_a_mask_broadcasts() -> None:
    x = taeda.arange(6, dtype=taeda.int16).reshape(2, 3)
    got = taeda.masked.sum(x, 1, mask=taeda.tensor([True, False, True]))
    assert got.dtype == taeda.int64 and got.tolist() == [2, 8]


def test_what_is_left_out_has_no_gradient() -> None:
    x = taeda.tensor(INPUT, requires_grad=True)
    taeda.masked.mean(x, mask=taeda.tensor(MASK)).backward()
    np.testing.assert_allclose(x.grad.numpy(), MASK / MASK.sum(), rtol=1e-12)


def test_mistakes_are_named() -> None:
    x = taeda.ones(2, 3)
    with pytest.raises(IndexError, match="mask has 3 dimensions"):
        taeda.masked.sum(x, mask=taeda.ones(1, 2, 3, dtype=taeda.bool))
    with pytest.raises(IndexError, match="dim 2 is out of range"):
        taeda.masked.sum(x, 2)
    with pytest.raises(RuntimeError, match="twice"):
        taeda.masked.amax(x, (1, -1))
    with pytest.raises(ValueError, match="keeps nothing"):
        taeda.masked.median(x.long(), 1, mask=taeda.zeros(2, 3, dtype=taeda.bool))
