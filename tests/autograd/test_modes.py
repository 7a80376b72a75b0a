"""Grad mode, inference mode and forward mode."""

from __future__ import annotations

import contextlib

import pytest

import taeda
from taeda import autograd
from taeda.autograd import forward_ad

OFF = [taeda.no_grad, taeda.inference_mode, lambda: taeda.set_grad_enabled(False)]


@pytest.mark.parametrize("mode", OFF)
def test_context(mode):
    x = taeda.tensor([1.0], requires_grad=True)
    with mode():
        assert not taeda.is_grad_enabled() and not (x * 2).requires_grad
        with taeda.enable_grad():
            assert (x * 2).requires_grad == (mode is not taeda.inference_mode)
        assert not taeda.is_grad_enabled()
    assert (x * 2).requires_grad


@pytest.mark.parametrize("decorator", [taeda.no_grad, taeda.no_grad(), taeda.inference_mode, taeda.inference_mode()])
def test_decorators(decorator):
    @decorator
    def enabled(a, *, b=1):
        """Says so."""
        return taeda.is_grad_enabled(), a, b

    assert enabled(2, b=3) == (False, 2, 3) and enabled.__doc__ == "Says so." and taeda.is_grad_enabled()

    @decorator
    class Thing:
        def __init__(self):
            self.enabled = taeda.is_grad_enabled()

        def now(self):
            return taeda.is_grad_enabled()

    assert not Thing().enabled and Thing().now()


def test_decorated_recursion():
    @taeda.no_grad()
    def down(n):
        return taeda.is_grad_enabled() or (n > 0 and down(n - 1))

    assert not down(5) and taeda.is_grad_enabled()


def test_decorated_generators():
    @taeda.no_grad()
    def numbers():
        got = yield taeda.is_grad_enabled()
        try:
            yield got, taeda.is_grad_enabled()
        except ValueError:
            yield "caught", taeda.is_grad_enabled()
        return 7

    g = numbers()
    assert next(g) is False and taeda.is_grad_enabled()
    assert g.send(5) == (5, False) and taeda.is_grad_enabled()
    assert g.throw(ValueError()) == ("caught", False) and taeda.is_grad_enabled()
    with pytest.raises(StopIteration) as stop:
        next(g)
    assert stop.value.value == 7


def test_set_grad_enabled_acts_at_once():
    taeda.set_grad_enabled(False)
    assert not taeda.is_grad_enabled()
    taeda.set_grad_enabled(True)

    @taeda.set_grad_enabled(False)
    def enabled():
        return taeda.is_grad_enabled()

    assert taeda.is_grad_enabled() and not enabled()


def test_exceptions_leave_the_mode():
    with pytest.raises(ValueError), taeda.no_grad():
        raise ValueError
    assert taeda.is_grad_enabled()


def test_inference_tensors():
    with taeda.inference_mode():
        t = taeda.tensor([1.0])
        assert t.is_inference() and taeda.is_inference_mode_enabled()
        with taeda.inference_mode(False):
            assert taeda.is_grad_enabled() and not taeda.tensor([1.0]).is_inference()
    with pytest.raises(RuntimeError, match="inference mode"):
        t.requires_grad_()
    with pytest.raises(RuntimeError, match="inference mode"):
        t._version  # noqa: B018


def test_forward_mode():
    x, v = taeda.tensor([3.0]), taeda.tensor([2.0])
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, v)
        primal, tangent = forward_ad.unpack_dual(dual)
        assert primal.item() == 3.0 and tangent.item() == 2.0
        assert forward_ad.unpack_dual(x).tangent is None
        with pytest.raises(RuntimeError, match="nest"):
            forward_ad.enter_dual_level()
    assert forward_ad.unpack_dual(dual).tangent is None
    with pytest.raises(RuntimeError, match="dual_level"):
        forward_ad.make_dual(x, v)


def test_inference_tensors_cannot_be_saved():
    with taeda.inference_mode():
        t = taeda.tensor([1.0])
    with pytest.raises(RuntimeError, match="saved for backward"):
        taeda.tensor([1.0], requires_grad=True) * t


def test_mutation_of_saved_tensors():
    from taeda.autograd.graph import allow_mutation_on_saved_tensors

    x = taeda.ones(2, 3, requires_grad=True)
    with allow_mutation_on_saved_tensors():
        y = x * 2
        out = (y**2).sum() + y.exp().sum()
        y[0].sin_()
        y.zero_()
        out.backward()
        assert taeda.allclose(x.grad, 2 * (4 * taeda.ones(2, 3) + taeda.tensor(2.0).exp()))
    with allow_mutation_on_saved_tensors() as kept:
        left = (x**2).sum()
        cleared = (x**2).sum()
        kept.clear()
        with pytest.raises(AssertionError, match="scope"):
            cleared.backward()
    with pytest.raises(AssertionError, match="scope"):
        left.backward()


@pytest.mark.parametrize("twin", [lambda z: z.conj(), lambda z: z._neg_view(), lambda z: z.mT])
def test_saved_tensors_of_one_memory_are_told_apart(twin):
    x, grads = taeda.tensor([[1 + 2j, 3], [4, 5j]], requires_grad=True), []
    for scope in (contextlib.nullcontext(), autograd.graph.allow_mutation_on_saved_tensors()):
        with scope:
            z = x * 1
            grads += autograd.grad((z * twin(z) * z).abs().sum(), x)
    assert taeda.equal(*grads)


def test_memory_that_was_written_to_is_used_again():
    x = taeda.ones(1000, requires_grad=True)
    with autograd.graph.allow_mutation_on_saved_tensors():
        results = []
        for k in range(5):
            w = taeda.full((1000,), float(k))
            results.append(x * w)
            w.zero_()
            del w
        (grad,) = autograd.grad(sum(results).sum(), x)
    assert grad.unique().tolist() == [10.0]


def test_a_pass_for_some_inputs_is_told_apart():
    seen = []

    class Ask(taeda.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            seen.append(taeda.autograd._is_checkpoint_valid())
            return grad * 2

    class Nested(Ask):
        @staticmethod
        def backward(ctx, grad):
            with taeda.enable_grad():
                Ask.apply(taeda.ones(1, requires_grad=True)).backward()
            return grad * 2

    assert taeda.autograd._is_checkpoint_valid()
    for function in (Ask, Nested):
        x = taeda.ones(1, requires_grad=True)
        function.apply(x).backward()
        taeda.autograd.grad(function.apply(x), x)
        function.apply(x).backward(inputs=[x])
    assert seen == [True, False, False] * 2


def test_gradients_may_lie_as_they_come():
    def strides(enforced):
        p = taeda.empty(2, 3, 4).permute(2, 0, 1).requires_grad_()
        with taeda.autograd.enforce_grad_layout_policy(enforced):
            p.backward(taeda.ones(4, 2, 3) * 2)
        return p.grad.stride()

    assert strides(True) == (1, 12, 4)
    with taeda.autograd.set_multithreading_enabled(False):
        assert strides(True) == (1, 12, 4)


def test_modes_are_switches_and_decorators():
    read = taeda.autograd.enforce_grad_layout_policy._read

    @taeda.autograd.enforce_grad_layout_policy(False)
    def inside():
        return read()

    assert read() and not inside() and read()
    switch = taeda.autograd.enforce_grad_layout_policy(False)
    assert not read()
    with switch:
        assert not read()
    assert read()


def test_anomaly_switch():
    taeda.set_anomaly_enabled(True, False)
    assert taeda.is_anomaly_enabled() and not taeda.is_anomaly_check_nan_enabled()
    taeda.set_anomaly_enabled(False)
    assert not taeda.is_anomaly_enabled() and taeda.is_anomaly_check_nan_enabled()
