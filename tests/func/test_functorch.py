"""The modules of ``torch._functorch``, and modules as functions of tuples."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda._functorch.apis import chunk_vmap
from taeda._functorch.deprecated import combine_state_for_ensemble, make_functional, make_functional_with_buffers, vmap


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
