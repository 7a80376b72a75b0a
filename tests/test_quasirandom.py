"""Sobol's sequences: PyTorch's numbers, and that they are even."""

from __future__ import annotations

import pytest

import taeda
from taeda.quasirandom import SobolEngine


def test_the_first_points() -> None:
    engine = SobolEngine(3)
    wanted = [[0, 0, 0], [0.5, 0.5, 0.5], [0.75, 0.25, 0.25], [0.25, 0.75, 0.75]]
    assert engine.draw(4).tolist() == wanted
    assert engine.reset().fast_forward(2).draw(2).tolist() == wanted[2:]
    assert repr(SobolEngine(2, True, seed=3)) == "SobolEngine(dimension=2, scramble=True, seed=3)"


@pytest.mark.parametrize("scramble", [False, True])
def test_each_dimension_fills_every_interval_once(scramble: bool) -> None:
    points = SobolEngine(50, scramble, seed=1).draw_base2(7, dtype=taeda.float64)
    cells = (points * 128).long().sort(0).values
    assert taeda.equal(cells, taeda.arange(128)[:, None].expand(128, 50))


@pytest.mark.parametrize("call", [
    lambda: SobolEngine(0), lambda: SobolEngine(SobolEngine.MAXDIM + 1),
    lambda: SobolEngine(2).fast_forward(3).draw_base2(2),
])  # fmt: skip
def test_errors(call):
    with pytest.raises(ValueError, match="SobolEngine"):
        call()


@pytest.mark.torch
@pytest.mark.parametrize("scramble", [False, True])
@pytest.mark.parametrize("dimension", [1, 2, 11, 1111])
def test_as_pytorch(dimension: int, scramble: bool) -> None:
    torch = pytest.importorskip("torch")
    ours, theirs = (E(dimension, scramble, seed=7) for E in (SobolEngine, torch.quasirandom.SobolEngine))
    for count in (1, 5, 20):
        assert ours.draw(count).tolist() == theirs.draw(count).tolist()
    assert ours.fast_forward(9).draw(1).tolist() == theirs.fast_forward(9).draw(1).tolist()
