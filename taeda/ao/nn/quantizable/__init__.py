"""Float modules made of parts that can be quantised."""

from taeda.ao.nn.quantizable.modules.activation import MultiheadAttention as MultiheadAttention
from taeda.ao.nn.quantizable.modules.rnn import LSTM as LSTM
from taeda.ao.nn.quantizable.modules.rnn import LSTMCell as LSTMCell

__all__ = [
    "LSTM", "LSTMCell", "MultiheadAttention",
]  # fmt: skip
