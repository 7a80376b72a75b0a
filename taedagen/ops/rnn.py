"""Recurrent networks over padded and packed sequences.

A sequence is padded, of shape (T, N, features), or packed: the rows of all sequences, ordered by falling length, time
step after time step, with ``batch_sizes`` the number of sequences that are as long as each step.
"""

from taedagen.opdef import *
from taedagen.opdef.samples import S, f, v

_TAIL = "Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional"
_CELL = "Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None"


@composite(
    f"lstm.input(Tensor input, Tensor[] hx, {_TAIL}, bool batch_first) -> (Tensor, Tensor, Tensor)",
    files="rnn",
    autocast="lower",
    draws=True,
)
def lstm(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    """Long short-term memory, perhaps with projections: the outputs and the last hidden and cell states.

    Source: Hochreiter and Schmidhuber, "Long short-term memory", 1997; projections: Sak, Senior and Beaufays, 2014.
    """


lstm.samples([
    S(f(5, 2, 4), [f(1, 2, 3), f(1, 2, 3)], [f(12, 4), f(12, 3), f(12), f(12)], True, 1, 0.0, False, False, False),
])  # fmt: skip


@composite(
    f"lstm.data(Tensor data, Tensor batch_sizes, Tensor[] hx, {_TAIL}) -> (Tensor, Tensor, Tensor)",
    files="rnn",
    autocast="promote",
    widest_of="hx",
    draws=True,
)
def lstm_packed(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional):
    """``lstm`` over a packed sequence."""


lstm_packed.samples([
    S(f(7, 4), v([3, 2, 2]), [f(1, 3, 3), f(1, 3, 3)], [f(12, 4), f(12, 3), f(12), f(12)], True, 1, 0.0, False, False),
])  # fmt: skip


@composite(
    f"gru.input(Tensor input, Tensor hx, {_TAIL}, bool batch_first) -> (Tensor, Tensor)",
    files="rnn",
    autocast="promote",
    widest_of="hx",
    draws=True,
    samples=[S(f(5, 2, 4), f(1, 2, 3), [f(9, 4), f(9, 3), f(9), f(9)], True, 1, 0.0, False, False, False)],
)
def gru(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    """Gated recurrent units: the outputs and the last hidden states.

    Source: Cho et al., "Learning phrase representations using RNN encoder-decoder", 2014, with the reset gate applied
    after the recurrent product.
    """


@composite(
    f"gru.data(Tensor data, Tensor batch_sizes, Tensor hx, {_TAIL}) -> (Tensor, Tensor)",
    files="rnn",
    autocast="promote",
    widest_of="hx",
    draws=True,
    samples=[S(f(7, 4), v([3, 2, 2]), f(1, 3, 3), [f(9, 4), f(9, 3), f(9), f(9)], True, 1, 0.0, False, False)],
)
def gru_packed(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional):
    """``gru`` over a packed sequence."""


@composite(
    f"rnn_tanh.input(Tensor input, Tensor hx, {_TAIL}, bool batch_first) -> (Tensor, Tensor)",
    files="rnn",
    autocast="lower",
    draws=True,
    samples=[S(f(5, 2, 4), f(1, 2, 3), [f(3, 4), f(3, 3), f(3), f(3)], True, 1, 0.0, False, False, False)],
)
def rnn_tanh(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    """The plain recurrent network of Elman, "Finding structure in time", 1990: ``h = tanh(W x + U h)``."""


@composite(
    f"rnn_tanh.data(Tensor data, Tensor batch_sizes, Tensor hx, {_TAIL}) -> (Tensor, Tensor)",
    files="rnn",
    autocast="lower",
    draws=True,
    samples=[S(f(7, 4), v([3, 2, 2]), f(1, 3, 3), [f(3, 4), f(3, 3), f(3), f(3)], True, 1, 0.0, False, False)],
)
def rnn_tanh_packed(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional):
    """``rnn_tanh`` over a packed sequence."""


@composite(
    f"rnn_relu.input(Tensor input, Tensor hx, {_TAIL}, bool batch_first) -> (Tensor, Tensor)",
    files="rnn",
    autocast="lower",
    draws=True,
    samples="rnn_tanh.input",
)
def rnn_relu(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    """``rnn_tanh`` with ``relu`` for ``tanh``."""


@composite(
    f"rnn_relu.data(Tensor data, Tensor batch_sizes, Tensor hx, {_TAIL}) -> (Tensor, Tensor)",
    files="rnn",
    autocast="lower",
    draws=True,
    samples="rnn_tanh.data",
)
def rnn_relu_packed(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional):
    """``rnn_relu`` over a packed sequence."""


# --- single steps: input (N, features) or (features), states likewise


@composite(
    f"lstm_cell(Tensor input, Tensor[] hx, {_CELL}) -> (Tensor, Tensor)",
    files="rnn",
    autocast="promote",
    widest_of="hx",
    samples=[S(f(2, 4), [f(2, 3), f(2, 3)], f(12, 4), f(12, 3), f(12), f(12))],
)
def lstm_cell(input, hx, w_ih, w_hh, b_ih, b_hh):
    """One step of ``lstm``: the new hidden and cell states."""


@composite(
    f"gru_cell(Tensor input, Tensor hx, {_CELL}) -> Tensor",
    files="rnn",
    autocast="promote",
    widest_of="hx",
    samples=[S(f(2, 4), f(2, 3), f(9, 4), f(9, 3), f(9), f(9))],
)
def gru_cell(input, hx, w_ih, w_hh, b_ih, b_hh):
    """One step of ``gru``."""


@composite(
    f"rnn_tanh_cell(Tensor input, Tensor hx, {_CELL}) -> Tensor",
    files="rnn",
    autocast="lower",
    samples=[S(f(2, 4), f(2, 3), f(3, 4), f(3, 3), f(3), f(3))],
)
def rnn_tanh_cell(input, hx, w_ih, w_hh, b_ih, b_hh):
    """One step of ``rnn_tanh``."""


@composite(
    f"rnn_relu_cell(Tensor input, Tensor hx, {_CELL}) -> Tensor", files="rnn", autocast="lower", samples="rnn_tanh_cell"
)
def rnn_relu_cell(input, hx, w_ih, w_hh, b_ih, b_hh):
    """One step of ``rnn_relu``."""


# --- one layer in one direction, all steps in one kernel


@kernel(
    "_rnn_layer(Tensor input, Tensor hx, Tensor? cx, Tensor w_ih, Tensor w_hh, Tensor? b_ih, Tensor? b_hh, "
    "int[] batch_sizes, bool reverse, str mode) -> (Tensor output, Tensor hy, Tensor cy, Tensor cells, Tensor gates)",
    shape="rnn_layer",
    files="rnn",
    unbound=True,
    nondiff="cells gates",
)
def _rnn_layer(input, hx, cx, w_ih, w_hh, b_ih, b_hh, batch_sizes, reverse, mode):
    """A layer of ``mode`` lstm, gru, tanh or relu over packed rows (rows, features); states are (N, hidden).

    ``cells`` and ``gates`` are what the derivative reads: the cell states and the gates' values of each row; they and
    ``cy`` are empty where a mode has none.
    """


@_rnn_layer.backward
def _(grads, input, hx, cx, w_ih, w_hh, b_ih, b_hh, batch_sizes, reverse, mode, output, cells, gates, needs):
    g = op._rnn_layer_backward(
        grads[0],
        grads[1],
        grads[2],
        input,
        hx,
        cx,
        w_ih,
        w_hh,
        b_ih,
        b_hh,
        batch_sizes,
        reverse,
        mode,
        output,
        cells,
        gates,
        needs,
    )
    return {"input": g[0], "hx": g[1], "cx": g[2], "w_ih": g[3], "w_hh": g[4], "b_ih": g[5], "b_hh": g[6]}


_SAVED = ("Tensor grad_output, Tensor grad_hy, Tensor grad_cy, Tensor input, Tensor hx, Tensor? cx, Tensor w_ih, "
          "Tensor w_hh, Tensor? b_ih, Tensor? b_hh, int[] batch_sizes, bool reverse, str mode, Tensor output, "
          "Tensor cells, Tensor gates, bool[7] needs")  # fmt: skip
_GRADIENTS = "(Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)"


@composite(f"_rnn_layer_backward({_SAVED}) -> {_GRADIENTS}", files="rnn_derivative", unbound=True)
def _rnn_layer_backward(*_):
    """The gradients of ``_rnn_layer``. Where they are to be differentiated again, the layer is replayed step by
    step."""


@kernel(
    f"_rnn_layer_backward_fused({_SAVED}) -> {_GRADIENTS}",
    shape="dynamic",
    files="rnn",
    unbound=True,
    not_differentiable=True,
)
def _rnn_layer_backward_fused(*_):
    """The gradients of ``_rnn_layer`` in one kernel; those that are not needed are not defined."""


# --- packing


@composite(
    "_pack_padded_sequence(Tensor input, Tensor lengths, bool batch_first) -> (Tensor, Tensor)",
    files="rnn_packing",
    samples=[S(f(3, 2, 4), v([3, 2]), False), S(f(2, 3, 4), v([3, 1]), True), S(f(3, 2, 4), v([2, 3]), False)],
)
def _pack_padded_sequence(input, lengths, batch_first):
    """The rows of a padded batch, of ``lengths`` that fall, packed; and the batch sizes (int64, on the CPU)."""


@composite(
    "_pad_packed_sequence(Tensor data, Tensor batch_sizes, bool batch_first, Scalar padding_value, int total_length) "
    "-> (Tensor, Tensor)",
    files="rnn_packing",
    samples=[S(f(5, 4), v([2, 2, 1]), False, 0.0, 3), S(f(5, 4), v([2, 2, 1]), True, -1.0, 4)],
)
def _pad_packed_sequence(data, batch_sizes, batch_first, padding_value, total_length):
    """A packed batch padded to its longest sequence, or to ``total_length`` if that is above 0; and the lengths."""


@composite(
    'pad_sequence(Tensor[] sequences, bool batch_first=False, float padding_value=0.0, str padding_side="right") -> '
    "Tensor",
    module="nn",
    files="rnn_packing",
)
def pad_sequence(sequences, batch_first, padding_value, padding_side):
    """Sequences of shapes (length, ...) that differ in length only, padded to the longest: (T, N, ...) or (N, T,
    ...)."""
