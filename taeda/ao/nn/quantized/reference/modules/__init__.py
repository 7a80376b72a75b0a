"""Float modules with weights that were quantised: what quantised ones are checked against."""

from taeda.ao.nn.quantized.reference.modules.conv import Conv1d as Conv1d
from taeda.ao.nn.quantized.reference.modules.conv import Conv2d as Conv2d
from taeda.ao.nn.quantized.reference.modules.conv import Conv3d as Conv3d
from taeda.ao.nn.quantized.reference.modules.conv import ConvTranspose1d as ConvTranspose1d
from taeda.ao.nn.quantized.reference.modules.conv import ConvTranspose2d as ConvTranspose2d
from taeda.ao.nn.quantized.reference.modules.conv import ConvTranspose3d as ConvTranspose3d
from taeda.ao.nn.quantized.reference.modules.linear import Linear as Linear
from taeda.ao.nn.quantized.reference.modules.rnn import GRU as GRU
from taeda.ao.nn.quantized.reference.modules.rnn import LSTM as LSTM
from taeda.ao.nn.quantized.reference.modules.rnn import GRUCell as GRUCell
from taeda.ao.nn.quantized.reference.modules.rnn import LSTMCell as LSTMCell
from taeda.ao.nn.quantized.reference.modules.rnn import RNNCell as RNNCell
from taeda.ao.nn.quantized.reference.modules.sparse import Embedding as Embedding
from taeda.ao.nn.quantized.reference.modules.sparse import EmbeddingBag as EmbeddingBag

__all__ = [
    "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d", "Embedding",
    "EmbeddingBag", "GRU", "GRUCell", "LSTM", "LSTMCell", "Linear", "RNNCell",
]  # fmt: skip
