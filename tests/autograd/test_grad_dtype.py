"""``grad_dtype``: what the gradient of a leaf is cast to."""

import pytest

import taeda


class AsDouble(taeda.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, grad):
        return grad.double()


def leaf():
    return taeda.tensor([1.0, 2.0], requires_grad=True)


def test_the_default_is_the_own_dtype():
    x = leaf()
    assert x.grad_dtype == taeda.float32 and taeda.ones(2, dtype=taeda.int64).grad_dtype == taeda.int64
    AsDouble.apply(x).sum().backward()
    assert x.grad.dtype == taeda.float32


@pytest.mark.parametrize("before_the_graph", [True, False])
def test_gradients_are_cast(before_the_graph):
    x = leaf()
    if before_the_graph:
        x.grad_dtype = taeda.float16
    y = (x * x).sum()
    x.grad_dtype = taeda.float16
    seen = []
    x.register_hook(lambda grad: seen.append(grad.dtype))
    y.backward(retain_graph=True)
    assert x.grad.dtype == taeda.float16 and seen == [taeda.float16]
    assert taeda.autograd.grad(y, x)[0].dtype == taeda.float16
    (x * x).sum().backward()
    assert x.grad.tolist() == [4, 8] and x.grad.dtype == taeda.float16


def test_any_dtype():
    x = leaf()
    x.grad_dtype = None
    assert x.grad_dtype is None
    AsDouble.apply(x).sum().backward()
    assert x.grad.dtype == taeda.float64
    (x * x).sum().backward()
    assert x.grad.dtype == taeda.float64 and x.grad.tolist() == [3, 5]
    x.grad = taeda.ones(2, dtype=taeda.float16)


def test_what_it_refuses():
    x = leaf()
    with pytest.raises(RuntimeError, match="leaf"):
        _ = (x * 2).grad_dtype
    with pytest.raises(RuntimeError, match="dtype or None"):
        x.grad_dtype = "float16"
    x.grad = taeda.ones(2)
    with pytest.raises(RuntimeError, match="holds a gradient"):
        x.grad_dtype = taeda.float16
    x.grad, x.grad_dtype = None, taeda.float16
    with pytest.raises(RuntimeError, match="must be float16"):
        x.grad = taeda.ones(2)
    x.grad = taeda.ones(2, dtype=taeda.float16)
