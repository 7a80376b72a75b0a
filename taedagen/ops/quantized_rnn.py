"""Recurrent layers and cells of float32 states over packed weights: products of integers, quantised step by step."""

from taedagen.opdef import *

_LINEAR = "__torch__.torch.classes.quantized.LinearPackedParamsBase"
_CELL = "__torch__.torch.classes.rnn.CellParamsBase"
_FILES = "quantized/rnn"


def _declare(schema, doc):
    composite(schema, files=_FILES, samples=[])(defined(f'def _(*_):\n    """{doc}"""'))


_declare(
    f"quantized::make_quantized_cell_params_dynamic({_LINEAR} w_ih, {_LINEAR} w_hh, Tensor bias_ih, "
    f"Tensor bias_hh, bool reduce_range=False) -> {_CELL}",
    "The weights of a layer in one direction; the biases are those that were packed with them.",
)
_declare(
    f"quantized::make_quantized_cell_params_fp16({_LINEAR} w_ih, {_LINEAR} w_hh) -> {_CELL}",
    "The same with weights that were rounded to float16.",
)
_declare(
    f"quantized::make_quantized_cell_params(Tensor w_ih, Tensor w_hh, Tensor b_ih, Tensor b_hh) -> {_CELL}",
    "The same of float32 weights, which are quantised as qint8 here.",
)

_STACK = "bool has_biases, int num_layers, float dropout, bool train, bool bidirectional"
_OPTIONS = "*, ScalarType? dtype=None, bool use_dynamic=False"
_declare(
    f"quantized_lstm.input(Tensor input, Tensor[] hx, {_CELL}[] params, {_STACK}, bool batch_first, {_OPTIONS}) "
    "-> (Tensor, Tensor, Tensor)",
    "``lstm`` over packed weights: the outputs (L, N, H), the last hidden states and cell states.",
)
_declare(
    f"quantized_lstm.data(Tensor data, Tensor batch_sizes, Tensor[] hx, {_CELL}[] params, {_STACK}, {_OPTIONS}) "
    "-> (Tensor, Tensor, Tensor)",
    "The same of a packed sequence.",
)
_declare(
    f"quantized_gru.input(Tensor input, Tensor hx, {_CELL}[] params, {_STACK}, bool batch_first) -> (Tensor, Tensor)",
    "``gru`` over packed weights: the outputs and the last hidden states.",
)
_declare(
    f"quantized_gru.data(Tensor data, Tensor batch_sizes, Tensor hx, {_CELL}[] params, {_STACK}) -> (Tensor, Tensor)",
    "The same of a packed sequence.",
)

_declare(
    f"quantized::quantized_lstm_cell_dynamic(Tensor input, Tensor[] hx, {_LINEAR} w_ih, {_LINEAR} w_hh, "
    "Tensor bias_ih, Tensor bias_hh) -> (Tensor, Tensor)",
    "A step of an LSTM.",
)
for _mode in ("gru", "rnn_relu", "rnn_tanh"):
    _declare(
        f"quantized::quantized_{_mode}_cell_dynamic(Tensor input, Tensor hx, {_LINEAR} w_ih, {_LINEAR} w_hh, "
        "Tensor b_ih, Tensor b_hh) -> Tensor",
        f"A step of a {_mode.removeprefix('rnn_')} layer.",
    )
