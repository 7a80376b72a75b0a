"""Functions written in Python name an argument that is no tensor, with the exception that PyTorch raises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import taeda
from taeda.nn import functional as F

ONE = taeda.ones(2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: F.mse_loss(3, ONE), "taeda.nn.functional.mse_loss: 'input' must be a Tensor, got int"),
        (lambda: F.huber_loss(ONE, target=[1.0]), "huber_loss: 'target' must be a Tensor, got list"),
        (lambda: F.mse_loss(ONE, ONE, weight=2), "'weight' must be a Tensor, got int"),
        (lambda: F.glu(3), "taeda.nn.functional.glu: 'input' must be a Tensor, got int"),
        (lambda: F.embedding_bag(3, ONE), "embedding_bag: 'input' must be a Tensor, got int"),
        (lambda: F.triplet_margin_with_distance_loss(ONE, ONE, ONE, distance_function=lambda a, b: a.no_such),
         "no attribute 'no_such'"),  # not ours to explain
    ],
)  # fmt: skip
def test_no_tensor(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(AttributeError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: F.group_norm(taeda.ones(2, 3), 0), ZeroDivisionError, "num_groups is 0"),
        (lambda: F.lp_pool1d(taeda.ones(2, 3, 4), 0, 2), ZeroDivisionError, "norm_type is 0"),
        (lambda: taeda.empty(0).expand(2**62, 0).unbind(0), RuntimeError, "taeda.unbind: no memory could hold"),
    ],
)
def test_numbers_that_mean_nothing(call: Callable[[], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()
