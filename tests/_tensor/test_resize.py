"""``Tensor.resize``, which changes the shape only."""

import pytest

import taeda


def test_resize_keeps_the_elements() -> None:
    x = taeda.arange(6.0, requires_grad=True)
    with pytest.warns(UserWarning, match="reshape"):
        y = x.resize(2, 3)
    with pytest.warns(UserWarning, match="reshape"):
        assert x.resize_as(y).shape == x.resize((2, 3)).shape == (2, 3)
    (y * y).sum().backward()
    assert taeda.equal(x.grad, 2 * x)
    with pytest.raises(RuntimeError, match="has not the 6 elements"), pytest.warns(UserWarning):
        x.resize(2, 2)
