"""Functions with a derivative by hand, called with nested tensors."""

from __future__ import annotations

from typing import Any

import pytest

import taeda
from taeda import Tensor, nested
from taeda.autograd import Function

LAYOUTS = [taeda.strided, taeda.jagged]


class Two(Function):
    @staticmethod
    def forward(ctx: Any, x: Any, k: float) -> Any:
        ctx.save_for_backward(x)
        ctx.k = k
        return x + 1, x * k, "named"

    @staticmethod
    def backward(ctx: Any, a: Any, b: Any, none: None) -> Any:  # type: ignore[override]
        assert ctx.saved_tensors[0].is_nested and ctx.needs_input_grad == (True, False) and none is None
        return a + b * ctx.k, None


class Sine(Function):
    @staticmethod
    def forward(x: Any) -> Any:
        return x.sin()

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:  # type: ignore[override]
        return grad * ctx.saved_tensors[0].cos()


class Scaled(Function):
    @staticmethod
    def forward(ctx: Any, x: Any, w: Tensor) -> Any:
        ctx.save_for_backward(x, w)
        return x * w, x.sum(-1) > 0

    @staticmethod
    def backward(ctx: Any, grad: Any, _: Any) -> Any:  # type: ignore[override]
        x, w = ctx.saved_tensors
        return grad * w, sum(part.sum(0) for part in (grad * x).unbind())


class OnlyIfThere(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.set_materialize_grads(False)
        return x * 2, x * 3

    @staticmethod
    def backward(ctx: Any, a: Any, b: Any) -> Any:  # type: ignore[override]
        assert a is None
        return b * 3


def leaf(layout: taeda.layout) -> Any:
    parts = [taeda.arange(6.0).view(2, 3), taeda.ones(1, 3)]
    return nested.nested_tensor(parts, layout=layout, requires_grad=True)


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_results_are_in_the_graph(layout: taeda.layout) -> None:
    x = leaf(layout)
    a, b, named = Two.apply(x, 3.0)
    assert a.requires_grad and b.requires_grad and named == "named" and a.layout == b.layout == layout
    a.backward(taeda.ones_like(a))
    assert bool((x.grad[0] == 1).all())
    (2 * b).backward(taeda.ones_like(b))
    assert bool((x.grad[1] == 7).all()) and not Two.apply(x.detach(), 3.0)[0].requires_grad
    with taeda.no_grad():
        assert not Two.apply(x, 3.0)[0].requires_grad


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_with_a_context_of_its_own_and_twice(layout: taeda.layout) -> None:
    x = leaf(layout)
    y = Sine.apply(x * 2)
    (grad,) = taeda.autograd.grad(y, x, taeda.ones_like(y), create_graph=True)
    for part, plain in zip(grad.unbind(), x.detach().unbind(), strict=True):
        taeda.testing.assert_close(part, 2 * (2 * plain).cos())
    grad.sum().backward()
    taeda.testing.assert_close(x.grad[0], -4 * (2 * x.detach()[0]).sin())


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_beside_plain_tensors(layout: taeda.layout) -> None:
    x, w = leaf(layout), taeda.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y, positive = Scaled.apply(x, w)
    assert not positive.requires_grad and positive[0].tolist() == [True, True]
    y.sum().backward()
    assert x.grad[1].tolist() == [[1, 2, 3]] and w.grad is not None and w.grad.tolist() == [4, 6, 8]


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_a_gradient_that_is_not_there_is_none(layout: taeda.layout) -> None:
    x = leaf(layout)
    OnlyIfThere.apply(x)[1].sum().backward()
    assert bool((x.grad[0] == 3).all())
