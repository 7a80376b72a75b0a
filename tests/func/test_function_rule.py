"""Functions that say themselves how they run for a batch."""

from __future__ import annotations

from typing import Any

import pytest

import taeda
from taeda.func import grad, vmap

X = taeda.arange(6.0).reshape(2, 3)
seen: list[tuple[Any, ...]] = []


class Cube(taeda.autograd.Function):
    """By way of NumPy, which knows no batches; twice its gradient, to be told from that of its formula."""

    @staticmethod
    def forward(x: Any) -> Any:
        return taeda.from_numpy(x.detach().numpy() ** 3)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(inputs[0])

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        return gradient * 6 * ctx.saved_tensors[0] ** 2

    @staticmethod
    def vmap(info: Any, in_dims: Any, x: Any) -> Any:
        seen.append((info.batch_size, info.randomness, in_dims, x.shape))
        return Cube.apply(x), in_dims[0]


@pytest.mark.parametrize("call, expected", [
    (lambda: vmap(Cube.apply)(X), X**3),
    (lambda: grad(lambda x: vmap(Cube.apply)(x).sum())(X), 6 * X**2),
    (lambda: vmap(grad(lambda x: Cube.apply(x).sum()))(X), 6 * X**2),
    (lambda: grad(lambda x: vmap(grad(lambda x: Cube.apply(x).sum()))(x).sum())(X), 12 * X),
])  # fmt: skip
def test_the_rule_runs_once(call: Any, expected: Any) -> None:
    seen.clear()
    assert taeda.equal(call(), expected)
    assert seen == [(2, "error", (0,), (2, 3))]


def test_levels() -> None:
    seen.clear()
    assert taeda.equal(vmap(vmap(Cube.apply))(X), X**3) and len(seen) == 2
    assert taeda.equal(vmap(lambda a, b: Cube.apply(b) * a, in_dims=(0, None))(X, X[0]), X[0] ** 3 * X)
    assert len(seen) == 2  # what all share is no batch


def _with(rule: Any, **members: Any) -> Any:
    return type("Wrong", (Cube,), {"vmap": staticmethod(rule), **members})


@pytest.mark.parametrize("function, message", [
    (_with(lambda info, dims, x: x), "two returns"),
    (_with(lambda info, dims, x: (x, x, 0, 0)), "two returns"),
    (_with(lambda info, dims, x: (x, (None,))), "incompatible"),
    (_with(lambda info, dims, x: ([x], (None,))), "incompatible"),
    (_with(lambda info, dims, x: (x, 0), generate_vmap_rule=True), "generate_vmap_rule"),
])  # fmt: skip
def test_wrong_rules(function: Any, message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        vmap(function.apply)(X)


def test_arguments_by_keyword_alone_have_no_gradients() -> None:
    class Sum(Cube):
        @staticmethod
        def forward(x: Any, *, y: Any) -> Any:
            return x + y

    with pytest.raises(NotImplementedError, match="kwarg-only"):
        Sum.apply(X, y=X)
