"""checkpoint: the same numbers as without it, the same random draws, less kept, and errors when the runs differ."""

import gc
import weakref

import pytest

import taeda
from taeda import nn
from taeda.utils.checkpoint import (
    CheckpointError,
    checkpoint,
    checkpoint_sequential,
    set_checkpoint_debug_enabled,
    set_checkpoint_early_stop,
)

both = pytest.mark.parametrize("use_reentrant", [True, False])


def model(seed=0):
    taeda.manual_seed(seed)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Dropout(0.5), nn.Linear(8, 8), nn.Sigmoid(), nn.Linear(8, 1))


def gradients(run, seed=1):
    net = model()
    taeda.manual_seed(seed)
    x = taeda.randn(5, 4, requires_grad=True)
    loss = run(net, x).square().sum()
    loss.backward()
    return [loss.detach(), x.grad, *(p.grad for p in net.parameters()), taeda.rand(1)]


def equal(a, b):
    return len(a) == len(b) and all(taeda.equal(x, y) for x, y in zip(a, b))


@both
def test_same_gradients_and_random_draws(use_reentrant):
    plain = gradients(lambda net, x: net(x))
    assert equal(gradients(lambda net, x: checkpoint(net, x, use_reentrant=use_reentrant)), plain)
    for segments in (1, 2, 3, 6):
        run = lambda net, x: checkpoint_sequential(net, segments, x, use_reentrant=use_reentrant)  # noqa: B023
        assert equal(gradients(run), plain)


@both
def test_without_preserved_random_state_the_masks_differ(use_reentrant):
    x = taeda.ones(1000, requires_grad=True)
    taeda.manual_seed(0)
    y = checkpoint(lambda x: nn.functional.dropout(x), x, use_reentrant=use_reentrant, preserve_rng_state=False)
    y.sum().backward()
    assert not taeda.equal(y.detach(), x.grad)


@both
def test_nested(use_reentrant):
    def run(net, x):
        inner = lambda x: checkpoint(net[1:4], x, use_reentrant=use_reentrant)
        middle = lambda x: checkpoint(lambda x: inner(net[0](x)) * 1, x, use_reentrant=use_reentrant)
        return checkpoint(lambda x: net[4:](middle(x)), x, use_reentrant=use_reentrant)

    assert equal(gradients(run), gradients(lambda net, x: net(x)))


@both
def test_several_inputs_and_outputs(use_reentrant):
    a, b = taeda.tensor(2.0, requires_grad=True), taeda.tensor(3.0, requires_grad=True)
    product, power, none = checkpoint(lambda a, n, b: (a * b, a**n, None), a, 3, b, use_reentrant=use_reentrant)
    assert none is None
    (product + power).backward()
    assert a.grad == 3 + 12 and b.grad == 2


def test_keywords_structures_and_no_grad_inputs():
    w = taeda.tensor(2.0, requires_grad=True)
    out = checkpoint(
        lambda x, *, scale: {"y": [x["a"] * w * scale]}, {"a": taeda.tensor(3.0)}, scale=5, use_reentrant=False
    )
    out["y"][0].backward()
    assert w.grad == 15


def test_grad_twice_and_double_backward():
    x = taeda.tensor(0.5, dtype=taeda.float64, requires_grad=True)
    y = checkpoint(lambda x: (x.exp() * x.sin()).tanh(), x, use_reentrant=False)
    plain = (x.exp() * x.sin()).tanh()
    for _ in range(2):
        ours = taeda.autograd.grad(y, x, retain_graph=True)[0]
        assert ours == taeda.autograd.grad(plain, x, retain_graph=True)[0]
    first = [taeda.autograd.grad(out, x, create_graph=True)[0] for out in (y, plain)]
    second = [taeda.autograd.grad(out, x)[0] for out in first]
    assert first[0] == first[1] and second[0] == second[1]


def test_activations_are_dropped():
    kept = []

    def function(x):
        hidden = x.exp()
        kept.append(weakref.ref(hidden.untyped_storage()))
        return hidden.sin()

    x = taeda.ones(3, requires_grad=True)
    for run, alive in ((function, True), (lambda x: checkpoint(function, x, use_reentrant=False), False)):
        y = run(x)
        gc.collect()
        pointer = kept.pop()
        assert (pointer() is not None) == alive
        del y


@pytest.mark.parametrize("early_stop", [True, False])
def test_early_stop(early_stop):
    calls = []

    def function(x):
        y = x.sin()
        calls.append("start")
        y = y * 1
        calls.append("end")
        return y

    x = taeda.ones(2, requires_grad=True)
    with set_checkpoint_early_stop(early_stop):
        y = checkpoint(function, x, use_reentrant=False)
    calls.clear()
    y.sum().backward()
    assert ("end" in calls) is not early_stop


@pytest.mark.parametrize("change", ["fewer", "shape"])
def test_a_different_second_run_is_reported(change):
    runs = []

    def function(x):
        runs.append(1)
        if len(runs) == 1:
            return x.sin().exp().cos()
        return x.sin() if change == "fewer" else x[:1].sin().exp().cos()

    x = taeda.ones(2, requires_grad=True)
    y = checkpoint(function, x, use_reentrant=False)
    with pytest.raises(CheckpointError, match="debug=True"):
        y.sum().backward()
    runs.clear()
    with set_checkpoint_debug_enabled(True):
        y = checkpoint(function, x, use_reentrant=False)
    with pytest.raises(CheckpointError, match="second run:\n  .*float32"):
        y.sum().backward()


def test_contexts():
    seen = []

    class Note:
        def __init__(self, name):
            self.name = name

        def __enter__(self):
            seen.append(self.name)

        def __exit__(self, *exc):
            pass

    x = taeda.ones(2, requires_grad=True)
    y = checkpoint(taeda.sin, x, use_reentrant=False, context_fn=lambda: (Note("first"), Note("second")))
    assert seen == ["first"]
    y.sum().backward()
    assert seen == ["first", "second"]


@both
def test_autocast_is_put_back(use_reentrant):
    seen = []
    x = taeda.ones(2, 2, requires_grad=True)
    with taeda.autocast("cpu", dtype=taeda.bfloat16):
        y = checkpoint(lambda x: (seen.append((x @ x).dtype), x @ x)[1], x, use_reentrant=use_reentrant)
    y.float().sum().backward()
    assert seen == [taeda.bfloat16] * 2


def test_errors():
    x = taeda.ones(2, requires_grad=True)
    with pytest.warns(UserWarning, match="use_reentrant"):
        checkpoint(taeda.sin, x)
    with pytest.warns(UserWarning, match="use_reentrant"):
        checkpoint_sequential([taeda.sin], 1, x)
    with pytest.warns(UserWarning, match="require gradients"):
        checkpoint(taeda.sin, taeda.ones(1), use_reentrant=True)
    for options in ({"out": 1}, {"debug": True}, {"context_fn": lambda: None}):
        with pytest.raises(ValueError, match="checkpoint"):
            checkpoint(taeda.sin, x, use_reentrant=True, **options)
    with pytest.raises(ValueError, match="determinism_check"):
        checkpoint(taeda.sin, x, use_reentrant=False, determinism_check="some")
    with pytest.raises(ValueError, match="bogus"):
        checkpoint_sequential([taeda.sin], 1, x, use_reentrant=False, bogus=1)
    with pytest.raises(RuntimeError, match="autograd.grad"):
        taeda.autograd.grad(checkpoint(taeda.sin, x, use_reentrant=True).sum(), x)
    with taeda.no_grad():
        assert not checkpoint(taeda.sin, x, use_reentrant=False).requires_grad


@pytest.mark.parametrize("early_stop", [True, False])
def test_a_backward_pass_within_the_function(early_stop):
    def slope(x):
        x = x.sin().exp()
        return taeda.autograd.grad(x.sin(), x, create_graph=True)[0]

    x = taeda.ones((), requires_grad=True)
    with set_checkpoint_early_stop(early_stop):
        y = checkpoint(slope, x, use_reentrant=False)
        assert equal(taeda.autograd.grad(y, x), taeda.autograd.grad(slope(x), x))
