"""Memory that is pinned for a device: there is none to pin it for."""

import pytest

import taeda


def test_pinned_memory():
    x = taeda.ones(2, requires_grad=True)
    assert not x.is_pinned() and taeda.equal(x.pin_memory(), x)
    x.pin_memory().sum().backward()
    assert x.grad.tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="on the CPU"):
        taeda.ones(2, device="meta").pin_memory()


def test_a_subclass_answers_for_pinned_memory():
    class Both(taeda.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            seen.append(str(func))
            return func is taeda.ops.aten.is_pinned.default or args[0]

    seen, both = [], taeda.Tensor._make_wrapper_subclass(Both, (2,))
    assert both.pin_memory() is both and seen == ["aten.is_pinned.default"]
