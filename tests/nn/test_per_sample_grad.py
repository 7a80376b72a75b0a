"""Gradients of each sample against those of samples alone, and against PyTorch's."""

from __future__ import annotations

from typing import Any

import pytest

import taeda
from taeda import nn
from taeda.nn.utils._per_sample_grad import call_for_per_sample_grads

MODELS: dict[str, Any] = {
    "convolution": lambda T: (
        T.nn.Sequential(T.nn.Conv2d(2, 3, 2), T.nn.GroupNorm(1, 3), T.nn.Flatten(), T.nn.Linear(12, 2)),
        T.randn(4, 2, 3, 3),
    ),
    "embedding": lambda T: (
        T.nn.Sequential(T.nn.Embedding(5, 3), T.nn.LayerNorm(3), T.nn.Linear(3, 2, bias=False)),
        T.randint(5, (4, 6)),
    ),
}


def gradients(T: Any, call: Any, name: str, reduction: str) -> list[list[float]]:
    T.manual_seed(0)
    model, x = MODELS[name](T)
    y = call(model, loss_reduction=reduction)(x)
    assert y.shape == model(x).shape
    losses = (y**2).flatten(1).sum(1)
    (losses.sum() if reduction == "sum" else losses.mean()).backward()
    assert all(p.grad is None for p in model.parameters())
    return [p.grad_sample.flatten().tolist() for p in model.parameters()]


@pytest.mark.parametrize("reduction", ["sum", "mean"])
@pytest.mark.parametrize("name", MODELS)
def test_each_sample_alone(name: str, reduction: str) -> None:
    got = gradients(taeda, call_for_per_sample_grads, name, reduction)
    taeda.manual_seed(0)
    model, x = MODELS[name](taeda)
    for i in range(len(x)):
        wanted = taeda.autograd.grad((model(x[i : i + 1]) ** 2).sum(), list(model.parameters()))
        for all_samples, one in zip(got, wanted):
            taeda.testing.assert_close(taeda.tensor(all_samples).reshape(len(x), -1)[i], one.flatten())


@pytest.mark.torch
@pytest.mark.parametrize("name", MODELS)
def test_as_pytorch(name: str) -> None:
    torch = pytest.importorskip("torch")
    theirs = pytest.importorskip("torch.nn.utils._per_sample_grad").call_for_per_sample_grads
    for got, wanted in zip(
        gradients(taeda, call_for_per_sample_grads, name, "mean"), gradients(torch, theirs, name, "mean")
    ):
        assert got == pytest.approx(wanted, rel=1e-4, abs=1e-6)


def test_samples_in_the_second_dimension() -> None:
    model, x = nn.Linear(3, 2), taeda.randn(5, 4, 3)
    y = call_for_per_sample_grads(model, batch_first=False)(x)
    assert y.shape == (5, 4, 2)
    y.sum().backward()
    taeda.testing.assert_close(model.weight.grad_sample[:, 0], x.sum(0))


def test_refusals() -> None:
    model = nn.Linear(2, 2)
    with pytest.raises(RuntimeError, match="wants a module"):
        call_for_per_sample_grads(1)  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="'sum' or 'mean'"):
        call_for_per_sample_grads(model, loss_reduction="none")
    with pytest.raises(RuntimeError, match=r"got \[2, 3\] in dimension 0"):
        call_for_per_sample_grads(nn.Bilinear(2, 2, 2))(taeda.ones(2, 2), taeda.ones(3, 2))
    call_for_per_sample_grads(model)(taeda.ones(2, 2)).sum().backward()
    with pytest.raises(RuntimeError, match="earlier call"):
        call_for_per_sample_grads(model)(taeda.ones(2, 2))


@pytest.mark.parametrize("in_order", [True, False])
@pytest.mark.parametrize("kind", [nn.RNN, nn.LSTM, nn.GRU])
def test_each_of_packed_sequences(kind: Any, in_order: bool) -> None:
    net, lengths = kind(3, 4, dtype=taeda.float64), [5, 3, 1] if in_order else [1, 5, 3]
    parts = [taeda.randn(n, 3, dtype=taeda.float64) for n in lengths]
    packed = nn.utils.rnn.pack_sequence(parts, enforce_sorted=in_order)
    out, state = call_for_per_sample_grads(net)(packed)
    assert taeda.allclose(out.data, net(packed)[0].data)
    first = state[0] if kind is nn.LSTM else state
    assert first.shape == (1, 3, 4)
    (out.data**2).sum().backward()
    for i, part in enumerate(parts):
        wanted = taeda.autograd.grad((net(part)[0] ** 2).sum(), list(net.parameters()))
        for parameter, one in zip(net.parameters(), wanted, strict=True):
            taeda.testing.assert_close(parameter.grad_sample[i], one)  # type: ignore[attr-defined]


@pytest.mark.parametrize("size", [6.4, -64, 0, "4"])
def test_a_batch_size_is_a_number(size: Any) -> None:
    with pytest.raises(RuntimeError, match="batch_size must be"):
        call_for_per_sample_grads(nn.Linear(2, 2), batch_size=size)


@pytest.mark.parametrize("batch_first", [True, False])
def test_states_of_recurrent_networks(batch_first: bool) -> None:
    net = nn.LSTM(3, 4, 2, batch_first=batch_first, dtype=taeda.float64)
    x = taeda.randn(2, 5, 3, dtype=taeda.float64)
    states = taeda.randn(2, 2, 2, 4, dtype=taeda.float64).unbind()
    given = x if batch_first else x.transpose(0, 1)
    out, last = call_for_per_sample_grads(net, batch_first=batch_first)(given, states)
    wanted, wanted_last = net(given, states)
    for a, b in zip((out, *last), (wanted, *wanted_last), strict=True):
        taeda.testing.assert_close(a, b)
    (out**2).sum().backward()
    for i in range(2):
        alone = net(given.narrow(0 if batch_first else 1, i, 1), tuple(s[:, i : i + 1].contiguous() for s in states))
        for parameter, one in zip(net.parameters(), taeda.autograd.grad((alone[0] ** 2).sum(), list(net.parameters())),
                                  strict=True):  # fmt: skip
            taeda.testing.assert_close(parameter.grad_sample[i], one)  # type: ignore[attr-defined]
