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
    x, noise = taeda.rand(3, 2), {}
    for name, draw in {
        "like": taeda.rand_like, "written": lambda x: x.clone().normal_(),
        "dropout": lambda x: taeda.nn.functional.dropout(x, 0.5), "features": taeda.nn.functional.alpha_dropout,
    }.items():  # fmt: skip
        for one_by_one in (False, True):
            taeda.manual_seed(0)
            noise[one_by_one] = (
                taeda.func.vmap(draw, randomness="same")(x) if not one_by_one else draw(x[0]),
                taeda.rand(1).item(),
            )
        assert taeda.allclose(noise[False][0][0], noise[True][0]) and noise[False][1] == noise[True][1], name
    for draw in (taeda.bernoulli, lambda x: taeda.normal(x, x), lambda x: taeda.ones(2).bernoulli_(x)):
        with pytest.raises(RuntimeError, match="same"):
            taeda.func.vmap(draw, randomness="same")(taeda.full((3, 2), 0.5))


def test_what_all_examples_write_alike_is_written_once():
    shared = taeda.ones(2)
    assert taeda.func.vmap(lambda x: x + shared.mul_(3))(taeda.zeros(3, 2)).tolist() == [[3.0, 3.0]] * 3
    assert shared.tolist() == [3.0, 3.0]
    with pytest.raises(RuntimeError, match="not mapped"):
        taeda.func.vmap(lambda x: shared.add_(x))(taeda.zeros(3, 2))


@pytest.mark.parametrize("inner, outer, rows_differ, columns_differ", [
    ("different", "different", True, True),
    ("same", "different", True, False),
    ("different", "same", False, True),
    ("same", "same", False, False),
])  # fmt: skip
@pytest.mark.parametrize("draw", [lambda x: taeda.rand(()), taeda.rand_like, lambda x: x.clone().uniform_()])
def test_who_draws_with_whom_in_batches_of_batches(draw, inner, outer, rows_differ, columns_differ):
    vmap = taeda.func.vmap
    drawn = vmap(vmap(lambda x: x * 0 + draw(x), randomness=inner), randomness=outer)(taeda.zeros(2, 3))
    assert taeda.equal(drawn[0], drawn[1]) is not rows_differ
    assert taeda.equal(drawn[:, 0], drawn[:, 1]) is not columns_differ


def test_results_that_are_one_for_all_may_be_anything():
    x = taeda.ones(2, 3)
    result = taeda.func.vmap(lambda x: (x, "text", None), out_dims=(0, None, None))(x)
    assert taeda.equal(result[0], x) and result[1:] == ("text", None)
    assert taeda.func.vmap(lambda x: [x, 2], out_dims=[1, None])(x)[0].shape == (3, 2)
    with pytest.raises(ValueError, match="tensors only"):
        taeda.func.vmap(lambda x: "text")(x)


def test_products_of_wrong_dimensions_are_refused():
    for function in (taeda.mm, taeda.bmm, taeda.mv):
        with pytest.raises(RuntimeError):
            taeda.func.vmap(function)(taeda.ones(3, 2), taeda.ones(3, 2, 2))
