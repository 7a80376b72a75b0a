"""Recurrent networks beside PyTorch's: outputs, states, gradients of first and second order, padded and packed."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import taeda
from taeda.autograd import gradcheck, gradgradcheck

MODES = ["LSTM", "GRU", "RNN"]
OPTIONS = {
    "plain": {},
    "no_bias": {"bias": False},
    "two_layers": {"num_layers": 2},
    "bidirectional": {"bidirectional": True, "num_layers": 2},
    "batch_first": {"batch_first": True},
}
CASES = [
    *itertools.product(MODES, OPTIONS),
    ("RELU", "plain"),
    *(("PROJ", o) for o in ("plain", "bidirectional")),
]
T, N, I, H = 5, 4, 3, 18  # the hidden size leaves a tail in every vector


def build(lib, mode, dtype="float64", **options):
    """A network of ``lib`` whose parameters depend on their names and shapes only."""
    extra = {"RELU": {"nonlinearity": "relu"}, "PROJ": {"proj_size": 2}}.get(mode, {})
    cls = getattr(lib.nn, {"RELU": "RNN", "PROJ": "LSTM"}.get(mode, mode))
    net = cls(I, H, dtype=getattr(lib, dtype), **extra, **options)
    with lib.no_grad():
        for i, p in enumerate(net.parameters()):
            p.copy_((lib.arange(p.numel(), dtype=lib.float64) * (7 + i)).sin().reshape(p.shape) * 0.3)
    return net


def data(lib, dtype="float64"):
    values = (lib.arange(T * N * I, dtype=lib.float64) * 0.7).cos().reshape(T, N, I)
    return values.to(getattr(lib, dtype)).requires_grad_()


def states_of(result):
    state = result[1]
    return list(state) if isinstance(state, (tuple, list)) else [state]


def numbers(tensors):
    return [t.detach().double().numpy() for t in tensors]


def run(lib, mode, options, dtype="float64", packed=False):
    """Output, states, then the gradients of the input and the parameters."""
    net, x = build(lib, mode, dtype, **options), data(lib, dtype)
    given = x
    if packed:
        given = lib.nn.utils.rnn.pack_padded_sequence(x, [2, T, 1, 4], enforce_sorted=False)
    elif options.get("batch_first"):
        given = x.transpose(0, 1)
    result = net(given)
    output = lib.nn.utils.rnn.pad_packed_sequence(result[0])[0] if packed else result[0]
    states = states_of(result)
    loss = (output.sin() * output).sum() + sum((s * s).sum() * (i + 1) for i, s in enumerate(states))
    loss.backward()
    return numbers([output, *states, x.grad, *(p.grad for p in net.parameters())])


def assert_close(got, wanted, tolerance):
    for g, w in zip(got, wanted, strict=True):
        np.testing.assert_allclose(g, w, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("mode, options", CASES)
@pytest.mark.parametrize("packed", [False, True])
def test_same_as_torch(mode, options, packed):
    torch = pytest.importorskip("torch")
    chosen = OPTIONS[options]
    assert_close(run(taeda, mode, chosen, packed=packed), run(torch, mode, chosen, packed=packed), 1e-10)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype, tolerance", [("float32", 1e-4), ("bfloat16", 0.15), ("float16", 2e-2)])
def test_other_dtypes(mode, dtype, tolerance):
    torch = pytest.importorskip("torch")
    assert_close(run(taeda, mode, {}, dtype), run(torch, mode, {}, "float64"), tolerance)


@pytest.mark.parametrize("mode", MODES)
def test_dropout_between_layers(mode):
    torch = pytest.importorskip("torch")
    results = []
    for lib in (taeda, torch):
        net = build(lib, mode, num_layers=2, dropout=0.5)
        lib.manual_seed(3)
        results.append(numbers([net(data(lib))[0]]))
        net.eval()
        results[-1] += numbers([net(data(lib))[0]])
    assert_close(*results, 1e-10)


@pytest.mark.parametrize("mode", ["lstm", "gru", "tanh", "relu"])
@pytest.mark.parametrize("reverse", [False, True])
def test_gradients_of_a_layer(mode, reverse):
    def leaf(*sizes):
        flat = taeda.arange(int(np.prod(sizes)), dtype=taeda.float64) * 1.3 + len(sizes)
        return flat.sin().reshape(sizes).mul_(0.5).requires_grad_()

    sizes, hidden = [3, 3, 1], 2
    rows = {"lstm": 4, "gru": 3}.get(mode, 1) * hidden
    state = leaf(3, hidden)
    weights = [leaf(rows, 2), leaf(rows, hidden), leaf(rows), leaf(rows)]

    def layer(x, h, *parameters):
        # The same tensor as both states of an lstm: its gradient is the sum.
        c = h if mode == "lstm" else None
        output, hy, cy, *_ = taeda.ops.aten._rnn_layer(x, h, c, *parameters, sizes, reverse, mode)
        return (output, hy, cy) if mode == "lstm" else (output, hy)

    inputs = (leaf(7, 2), state, *weights)
    assert gradcheck(layer, inputs)
    assert gradgradcheck(layer, inputs)


@pytest.mark.parametrize("name", ["LSTMCell", "GRUCell", "RNNCell"])
@pytest.mark.parametrize("batched", [False, True])
def test_cells(name, batched):
    torch = pytest.importorskip("torch")
    results = []
    for lib in (taeda, torch):
        cell = getattr(lib.nn, name)(I, H, dtype=lib.float64)
        with lib.no_grad():
            for p in cell.parameters():
                p.copy_((lib.arange(p.numel(), dtype=p.dtype) * 7).sin().reshape(p.shape))
        x = data(lib)[0] if batched else data(lib)[0, 0]
        state = cell(x, cell(x))
        states = list(state) if isinstance(state, tuple) else [state]
        sum(s.sum() for s in states).backward()
        results.append(numbers([*states, *(p.grad for p in cell.parameters())]))
    assert_close(*results, 1e-10)


@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("total_length", [None, 7])
def test_packing(batch_first, total_length):
    torch = pytest.importorskip("torch")
    results = []
    for lib in (taeda, torch):
        x = data(lib)
        rnn = lib.nn.utils.rnn
        given = x.transpose(0, 1) if batch_first else x
        packed = rnn.pack_padded_sequence(given, lib.tensor([5, 3, 3, 1]), batch_first=batch_first)
        padded, lengths = rnn.pad_packed_sequence(packed, batch_first, -1.0, total_length)
        (padded * padded).sum().backward()
        results.append(numbers([packed.data, packed.batch_sizes, padded, lengths, x.grad]))
        assert padded.stride()[-1] == 1
    assert_close(*results, 1e-12)


@pytest.mark.parametrize(
    "call",
    [
        lambda: taeda._pack_padded_sequence(taeda.ones(3, 2, 1), taeda.tensor([1, 2]), False),
        lambda: taeda._pack_padded_sequence(taeda.ones(3, 2, 1), taeda.tensor([2, 0]), False),
        lambda: taeda._pack_padded_sequence(taeda.ones(3, 2, 1), taeda.tensor([4, 1]), False),
        lambda: taeda._pack_padded_sequence(taeda.ones(3, 2, 1), taeda.tensor([2]), False),
        lambda: taeda._pad_packed_sequence(taeda.ones(3, 1), taeda.tensor([2, 1]), False, 0, 1),
        lambda: taeda._pad_packed_sequence(taeda.ones(3, 1), taeda.tensor([2, 1]), False, 0, 2**62),
        *(
            lambda sizes=sizes: taeda._pad_packed_sequence(taeda.ones(3, 1), taeda.tensor(sizes).long(), False, 0, 0)
            for sizes in ([1, 2], [2, 2], [2], [4, -1], [2**62, 2**62, 2**62, 2**62], [], 3, [[2, 1]])
        ),
        lambda: taeda._pad_packed_sequence(taeda.tensor(1.0), taeda.tensor([1]), False, 0, 0),
        lambda: taeda.lstm(taeda.ones(2, 1, 3), [taeda.ones(1, 1, 4)], [], True, 1, 0.0, False, False, False),
        lambda: taeda.gru(taeda.ones(2, 1, 3), taeda.ones(1, 2, 4), [], True, 1, 0.0, False, False, False),
        lambda: taeda.gru_cell(taeda.ones(2, 3), taeda.ones(2, 4), taeda.ones(12, 2), taeda.ones(12, 4)),
        lambda: taeda.gru_cell(taeda.ones(2, 3), taeda.ones(2, 4).double(), taeda.ones(12, 3), taeda.ones(12, 4)),
        lambda: taeda.gru_cell(*(taeda.ones(2, 2, dtype=taeda.int64) for _ in range(4))),
    ],
)
def test_errors(call):
    with pytest.raises(RuntimeError):
        call()


@pytest.mark.parametrize("batch_first, side", itertools.product([False, True], ["left", "right"]))
def test_pad_sequence(batch_first, side):
    torch = pytest.importorskip("torch")
    results = []
    for lib in (taeda, torch):
        parts = [data(lib)[0, :n].detach().requires_grad_() for n in (2, 4, 0, 3)]
        padded = lib.nn.utils.rnn.pad_sequence(parts, batch_first, -2.0, side)
        (padded * padded).sum().backward()
        results.append(numbers([padded, *(p.grad for p in parts)]))
    assert_close(*results, 1e-12)


@pytest.mark.parametrize("both", [False, True])
def test_a_sequence_without_a_batch(both):
    weights = [taeda.linspace(-1, 1, n).view(-1, k) for n, k in ((12, 3), (16, 4))] * (1 + both)
    x, h = taeda.linspace(0, 1, 15).view(5, 3), taeda.zeros(1 + both, 4)
    output, state = taeda.rnn_tanh(x, h, weights, False, 1, 0.0, False, both, False)
    expected = taeda.rnn_tanh(x[:, None], h[:, None], weights, False, 1, 0.0, False, both, False)
    assert taeda.equal(output, expected[0][:, 0]) and taeda.equal(state, expected[1][:, 0])
