"""Branches, loops and scans as functions of functions."""

from __future__ import annotations

from typing import Any

import pytest

import taeda
from taeda._higher_order_ops import associative_scan, cond, map, scan, while_loop

MODES = ["pointwise", "generic"]


def recurrence(left: Any, right: Any) -> Any:
    """Of h <- a h + b: not commutative, so that an exchanged order shows."""
    return {"a": left["a"] * right["a"], "b": left["b"] * right["a"] + right["b"]}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("length", [1, 2, 3, 4, 7, 16, 33])
def test_associative_scan(length: int, reverse: bool, mode: str) -> None:
    taeda.manual_seed(length)
    xs = {name: taeda.rand(2, length, 3, dtype=taeda.float64, requires_grad=True) for name in "ab"}
    got = associative_scan(recurrence, xs, 1, reverse, mode)
    order = range(length - 1, -1, -1) if reverse else range(length)
    state = taeda.zeros(2, 3, dtype=taeda.float64)
    for i in order:
        state = state * xs["a"][:, i] + xs["b"][:, i]
        taeda.testing.assert_close(got["b"][:, i], state)
    assert taeda.allclose(got["a"], xs["a"].cumprod(1) if not reverse else xs["a"].flip(1).cumprod(1).flip(1))
    got["b"].sum().backward()
    assert xs["b"].grad is not None and (xs["b"].grad > 0).all()


def test_associative_scan_of_one_tensor() -> None:
    x = taeda.arange(1.0, 6.0)
    assert associative_scan(taeda.add, x, 0).tolist() == [1, 3, 6, 10, 15]
    assert associative_scan(taeda.mul, x, -1, reverse=True).tolist() == [120, 120, 60, 20, 5]


def test_scan_map_and_loop() -> None:
    x = taeda.arange(1.0, 6.0)
    carry, ys = scan(lambda state, y: (state + y, state * y), taeda.zeros(()), x)
    assert carry.item() == 15 and ys.tolist() == [0, 2, 9, 24, 50]
    carry, ys = scan(lambda state, y: (state + y, {"s": state + y}), taeda.zeros(()), x, reverse=True)
    assert ys["s"].tolist() == [15, 14, 12, 9, 5]
    assert map(lambda y, k: y * k, x, 2).tolist() == [2, 4, 6, 8, 10]
    count, doubled = while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * 2), (taeda.tensor(0), x))
    assert count.item() == 3 and doubled.tolist() == [8, 16, 24, 32, 40]


def test_cond() -> None:
    x = taeda.ones(2, requires_grad=True)
    for pred, wanted in ((True, 4), (False, 2), (taeda.tensor([True]), 4), (taeda.tensor(0.0), 2)):
        result = taeda.cond(pred, lambda a: (3 * a).sin() * 0 + a * 2, lambda a: a, (x,))
        assert result.sum().item() == wanted
    taeda.cond(x.sum() > 1, lambda a: a * 5, lambda a: a, (x,)).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [5, 5]


@pytest.mark.parametrize(
    ("kind", "call"),
    [
        (ValueError, lambda x: associative_scan(3, x, 0)),  # type: ignore[arg-type]
        (ValueError, lambda x: associative_scan(taeda.add, x, 0, combine_mode="other")),
        (IndexError, lambda x: associative_scan(taeda.add, x, 1)),
        (RuntimeError, lambda x: associative_scan(taeda.add, (x, x[1:]), 0)),
        (RuntimeError, lambda x: associative_scan(taeda.add, [], 0)),
        (RuntimeError, lambda x: scan(None, x, x)),  # type: ignore[arg-type]
        (RuntimeError, lambda x: cond(x, lambda a: a, lambda a: a, (x,))),
        (RuntimeError, lambda x: cond("yes", lambda a: a, lambda a: a, (x,))),  # type: ignore[arg-type]
        (RuntimeError, lambda x: cond(True, None, lambda a: a, (x,))),  # type: ignore[arg-type]
        (RuntimeError, lambda x: cond(True, lambda a: a, lambda a: a, x)),
        (RuntimeError, lambda x: while_loop(lambda a: True, lambda a: (a, a), (x,))),
    ],
)
def test_bad_arguments(kind: type[Exception], call: Any) -> None:
    with pytest.raises(kind):
        call(taeda.arange(3.0))
