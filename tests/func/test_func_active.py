"""Libraries ask whether a transformed function is being run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import taeda
from taeda import func

ONE = taeda.ones(3)
active = taeda._C._are_functorch_transforms_active


@pytest.mark.parametrize(
    "run",
    [
        lambda f: func.vmap(f)(ONE),
        lambda f: func.grad(lambda x: f(x).sum())(ONE),
        lambda f: func.vjp(f, ONE),
        lambda f: func.jvp(f, (ONE,), (ONE,)),
        lambda f: func.jacfwd(f)(ONE),
        lambda f: func.vmap(func.grad(f))(ONE),
    ],
)
def test_inside_and_outside(run: Callable[..., Any]) -> None:
    seen = []

    def square(x: taeda.Tensor) -> taeda.Tensor:
        seen.append(active())
        return x * x

    assert not active()
    run(square)
    assert seen and all(seen) and not active()
    with pytest.raises(KeyError):
        run(lambda x: {}[x])
    assert not active()


def test_the_same_draw_serves_all_examples_or_none():
    def noise(x):
        return x + taeda.rand(2)

    drawn = taeda.func.vmap(noise, randomness="same")(taeda.zeros(3, 2))
    assert taeda.equal(drawn[0], drawn[2])
    for draw in (taeda.bernoulli, taeda.rand_like, lambda x: x.clone().normal_()):
        with pytest.raises(RuntimeError, match="same"):
            taeda.func.vmap(draw, randomness="same")(taeda.full((3, 2), 0.5))


def test_what_all_examples_write_alike_is_written_once():
    shared = taeda.ones(2)
    assert taeda.func.vmap(lambda x: x + shared.mul_(3))(taeda.zeros(3, 2)).tolist() == [[3.0, 3.0]] * 3
    assert shared.tolist() == [3.0, 3.0]
    with pytest.raises(RuntimeError, match="not mapped"):
        taeda.func.vmap(lambda x: shared.add_(x))(taeda.zeros(3, 2))
