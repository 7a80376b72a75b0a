"""Tensors of more than 64 dimensions: all but 64 of these are of size 1."""

from __future__ import annotations

import io

import pytest

import taeda

ONES = [1] * 65
SPREAD = [2, *[1] * 40, 3, *[1] * 40, 2]


def spread():
    return taeda.arange(12.0).reshape(SPREAD)


def flat(t):
    return t.flatten().tolist()


SAME = {
    "add": lambda t: t + t - t,
    "broadcast": lambda t: t + taeda.zeros(SPREAD[1:]),
    "half": lambda t: (t.half() * 2 - t).float(),
    "out": lambda t: taeda.add(t, 0, out=taeda.empty(SPREAD)),
    "in place": lambda t: t.clone().add_(1).sub_(1),
    "clone": lambda t: t.clone(),
    "where": lambda t: taeda.where(t < 5, t, t),
    "cat": lambda t: taeda.cat([t[:1], t[1:]]),
    "stack": lambda t: taeda.stack([t, t])[0],
    "flip twice": lambda t: t.flip(0).flip(0),
    "roll": lambda t: t.roll(1, 0).roll(1, 0),
    "sort": lambda t: t.sort(0)[0],
    "gather": lambda t: t.gather(0, (t >= 6).long()),
    "scatter": lambda t: taeda.zeros(SPREAD).scatter(0, (t >= 6).long(), t),
    "index_select": lambda t: t.index_select(0, taeda.tensor([0, 1])),
    "index": lambda t: t[taeda.tensor([0, 1])],
    "index_put": lambda t: taeda.zeros(SPREAD).index_put((taeda.tensor([0, 1]),), t),
    "cumsum": lambda t: t.cumsum(1),
    "fft": lambda t: taeda.fft.ifft(taeda.fft.fft(t, dim=0), dim=0).real.round(),
    "masked_fill": lambda t: t.masked_fill(t > 50, 0),
    "repeat": lambda t: t.repeat([1] * len(SPREAD)),
    "softmax": lambda t: t + t.softmax(1) - 1,
    "vmap": lambda t: taeda.vmap(lambda x: x * 1)(t),
    "dlpack": lambda t: taeda.from_dlpack(t.clone()),
}


@pytest.mark.parametrize("name", SAME)
def test_ops_see_every_element(name):
    t = spread()
    result = SAME[name](t)
    assert result.shape == t.shape and flat(result) == flat(t)


def test_views_and_orders():
    t = spread()
    turned = t.permute(*range(t.dim() - 1, -1, -1))
    wanted = [t.squeeze().tolist()[i][j][k] for k in range(2) for j in range(3) for i in range(2)]
    for kept in (turned, turned.contiguous(), turned + 0, turned.clone(memory_format=taeda.contiguous_format)):
        assert flat(kept) == wanted
    assert t.squeeze().shape == (2, 3, 2) and t.unsqueeze(0).dim() == 84 and t[0].dim() == 82
    assert t.movedim(0, -1).shape[-1] == 2 and t.expand(4, *SPREAD).shape[0] == 4
    assert taeda.ones(ONES, device="meta").sum().shape == () and repr(taeda.ones(ONES)).count("[") >= 65
    assert taeda.tensor(taeda.ones(ONES).tolist()).shape == tuple(ONES)


def test_full_reductions_gradients_and_files():
    t = spread().requires_grad_()
    assert [t.sum().item(), t.mean().item(), t.amax().item(), t.argmax().item()] == [66, 5.5, 11, 11]
    (t * t).sum().backward()
    assert flat(t.grad) == [2.0 * i for i in range(12)]
    file = io.BytesIO()
    taeda.save(t.detach(), file)
    file.seek(0)
    assert taeda.load(file).shape == t.shape


REFUSED = {
    "sum along one": (RuntimeError, lambda t: t.sum(0)),
    "amax along the last": (RuntimeError, lambda t: t.amax(-1)),
    "all along one": (RuntimeError, lambda t: t.all(64)),
    "numpy": (ValueError, lambda t: t.numpy()),
    "buffer": (BufferError, memoryview),
    "sizes": (RuntimeError, lambda t: taeda.zeros([2] * 100)),
    "sizes of nothing": (RuntimeError, lambda t: taeda.zeros([1] * 100 + [0]).expand([2] * 100 + [0])),
}


@pytest.mark.parametrize("name", REFUSED)
def test_the_rest_is_refused(name):
    kind, call = REFUSED[name]
    with pytest.raises(kind, match="64|more dimensions"):
        call(taeda.ones(ONES))


def test_nothing_in_many_dimensions():
    t = taeda.zeros([1] * 100 + [0]).expand([2] * 60 + [1] * 40 + [0])
    for result in (t + 1, t.clone(), t.sort(0)[0], t.cumsum(0), t.flip(0) if t.dim() <= 64 else t, t.exp()):
        assert result.shape == t.shape and result.numel() == 0
    assert t.sum() == 0
