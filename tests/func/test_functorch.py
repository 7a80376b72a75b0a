"""The modules of ``torch._functorch``, and modules as functions of tuples."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda._functorch.apis import chunk_vmap
from taeda._functorch.deprecated import combine_state_for_ensemble, make_functional, make_functional_with_buffers, vmap
from taeda.func import _functional_modules


def test_make_functional():
    model = nn.Sequential(nn.Linear(2, 3), nn.Tanh())
    function, params = make_functional(model)
    x = taeda.rand(4, 2)
    assert taeda.equal(function(params, x), model(x))
    assert all(p.requires_grad for p in params) and params[0] is not model[0].weight
    assert not any(p.requires_grad for p in make_functional(model, disable_autograd_tracking=True)[1])
    grads = taeda.autograd.grad(function(params, x).sum(), params)
    assert [g.shape for g in grads] == [(3, 2), (3,)]


def test_buffers():
    model = nn.BatchNorm1d(2).eval()
    with pytest.raises(RuntimeError, match="buffers"):
        make_functional(model)
    function, params, buffers = make_functional_with_buffers(model)
    x = taeda.rand(4, 2)
    assert taeda.equal(function(params, buffers, x), model(x))


def test_ensemble():
    models = [nn.Linear(2, 3) for _ in range(4)]
    function, params, buffers = combine_state_for_ensemble(models)
    x = taeda.rand(5, 2)
    together = vmap(function, (0, 0, None))(params, buffers, x)
    assert taeda.allclose(together, taeda.stack([m(x) for m in models]))


@pytest.mark.parametrize("chunks", [1, 2, 3, 7])
def test_chunks(chunks):
    x, y = taeda.rand(2, 5), taeda.rand(3)
    assert taeda.allclose(chunk_vmap(lambda a, b: a.sum() * b, (1, None), chunks=chunks)(x, y), x.sum(0)[:, None] * y)


def test_modules_are_made_as_functions() -> None:
    weights, buffers, function, names, more = _functional_modules.functional_init_with_buffers(nn.BatchNorm1d, [3])(4)
    assert [w.shape for w in weights] == [(3, 4)] * 2 and names == ("weight", "bias") and more[0] == "running_mean"
    assert taeda.vmap(function, in_dims=(0, 0, None))(weights, buffers, (taeda.ones(2, 4),)).shape == (3, 2, 4)
    weights, function, _ = _functional_modules.functional_init(nn.Linear)(4, 2)
    assert function(weights, (taeda.ones(1, 4),)).shape == (1, 2)
    with pytest.raises(RuntimeError, match="buffers"):
        _functional_modules.functional_init(nn.BatchNorm1d)(4)
    with pytest.raises(ValueError, match="ensemble_shape"):
        _functional_modules.functional_init(nn.Linear, (2, 2))


def test_functorch_says_that_torch_has_its_functions_now() -> None:
    with pytest.warns(FutureWarning, match="functorch.grad"):
        gradient = _functional_modules.moved("grad", taeda.func.grad)(lambda x: x * x)
    assert gradient(taeda.tensor(3.0)).item() == 6.0
