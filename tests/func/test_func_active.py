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
