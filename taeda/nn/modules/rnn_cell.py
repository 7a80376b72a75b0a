"""Recurrent networks, one step at a time."""

from __future__ import annotations

import math
from typing import Any

import taeda
from taeda import Tensor
from taeda.nn import init
from taeda.nn.modules.module import Module
from taeda.nn.parameter import Parameter
from taeda.types import Device, _dtype

__all__ = ["GRUCell", "LSTMCell", "RNNCell", "RNNCellBase"]


class RNNCellBase(Module):
    """What the cells share: ``weight_ih`` (gates * hidden, input), ``weight_hh`` (gates * hidden, hidden), two biases.

    All start uniform within ``1 / sqrt(hidden_size)``.
    """

    bias_ih: Tensor | None
    bias_hh: Tensor | None

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool,
        num_chunks: int,
        device: Device = None,
        dtype: _dtype | None = None,
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        rows = num_chunks * hidden_size
        self.weight_ih = Parameter(taeda.empty((rows, input_size), device=device, dtype=dtype))
        self.weight_hh = Parameter(taeda.empty((rows, hidden_size), device=device, dtype=dtype))
        for name in ("bias_ih", "bias_hh"):
            param = Parameter(taeda.empty(rows, device=device, dtype=dtype)) if bias else None
            self.register_parameter(name, param)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws new weights."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        nonlinearity = getattr(self, "nonlinearity", "tanh")
        return text if nonlinearity == "tanh" else f"{text}, nonlinearity={nonlinearity}"

    def _weights(self) -> tuple[Any, ...]:
        return self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh

    def _check_dims(self, what: str, tensor: Tensor) -> None:
        if tensor.dim() not in (1, 2):
            raise ValueError(
                f"taeda.nn.{type(self).__name__}: the {what} must have 1 or 2 dimensions; got {tuple(tensor.shape)}"
            )

    def _zeros(self, input: Tensor) -> Tensor:
        return taeda.zeros(input.size(0), self.hidden_size, dtype=input.dtype, device=input.device)

    def _step(self, native: Any, input: Tensor, hx: Tensor | None) -> Tensor:
        """One step of a cell whose state is one tensor."""
        self._check_dims("input", input)
        if hx is not None:
            self._check_dims("hidden state", hx)
        batched = input.dim() == 2
        if not batched:
            input = input.unsqueeze(0)
        if hx is None:
            hx = self._zeros(input)
        elif not batched:
            hx = hx.unsqueeze(0)
        new = native(input, hx, *self._weights())
        return new if batched else new.squeeze(0)


class RNNCell(RNNCellBase):
    """``h' = tanh(W_ih x + b_ih + W_hh h + b_hh)``, or relu instead of tanh; x is (N, input_size) or (input_size).

    Args:
        input_size, hidden_size: features of the input, and of the state.
        bias: whether the products have biases.
        nonlinearity: ``"tanh"`` or ``"relu"``.
        device, dtype: of the parameters.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Device = None,
        dtype: _dtype | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"taeda.nn.RNNCell: nonlinearity must be 'tanh' or 'relu'; got {self.nonlinearity!r}")
        native = taeda.rnn_tanh_cell if self.nonlinearity == "tanh" else taeda.rnn_relu_cell
        return self._step(native, input, hx)


class GRUCell(RNNCellBase):
    """A gated recurrent unit (Cho et al., 2014); the input is (N, input_size) or (input_size).

    Args:
        input_size, hidden_size: features of the input, and of the state.
        bias: whether the products have biases.
        device, dtype: of the parameters.
    """

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Device = None, dtype: _dtype | None = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        return self._step(taeda.gru_cell, input, hx)


class LSTMCell(RNNCellBase):
    """A step of long short-term memory: new hidden and cell state from the input and, zero by default, the old ones.

    Args:
        input_size, hidden_size: features of the input, and of the state.
        bias: whether the products have biases.
        device, dtype: of the parameters.
    """

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Device = None, dtype: _dtype | None = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        self._check_dims("input", input)
        if hx is not None:
            for state in hx:
                self._check_dims("state", state)
        batched = input.dim() == 2
        if not batched:
            input = input.unsqueeze(0)
        if hx is None:
            zeros = self._zeros(input)
            hx = (zeros, zeros)
        elif not batched:
            hx = (hx[0].unsqueeze(0), hx[1].unsqueeze(0))
        hidden, cell = taeda.lstm_cell(input, hx, *self._weights())
        return (hidden, cell) if batched else (hidden.squeeze(0), cell.squeeze(0))
