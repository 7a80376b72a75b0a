"""Recurrent networks, whole sequences at a time."""

from __future__ import annotations

import math
import warnings
from typing import Any, ClassVar

import taeda
from taeda import Tensor
from taeda._main.script_marks import is_scripting
from taeda.nn import init
from taeda.nn.modules.module import Module
from taeda.nn.modules.rnn_cell import GRUCell, LSTMCell, RNNCell, RNNCellBase
from taeda.nn.parameter import Parameter
from taeda.nn.utils.rnn import PackedSequence
from taeda.types import Device, _dtype

__all__ = ["GRU", "GRUCell", "LSTM", "LSTMCell", "RNN", "RNNBase", "RNNCell", "RNNCellBase"]

_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


def _check_sizes(mode: str, input_size: Any, hidden_size: Any, num_layers: int, dropout: Any, proj_size: int) -> None:
    if mode not in _GATES:
        raise ValueError(f"taeda.nn.RNNBase: mode must be one of {list(_GATES)}; got {mode!r}")
    for name, size in (("input_size", input_size), ("hidden_size", hidden_size)):
        if not isinstance(size, int):
            raise TypeError(f"taeda.nn.{mode}: {name} must be an int; got {type(size).__name__}")
    for name, size in (("input_size", input_size), ("hidden_size", hidden_size), ("num_layers", num_layers)):
        if size <= 0:
            raise ValueError(f"taeda.nn.{mode}: {name} must be greater than 0; got {size}")
    if isinstance(dropout, bool) or not isinstance(dropout, (int, float)) or not 0 <= dropout <= 1:
        raise ValueError(f"taeda.nn.{mode}: dropout is a probability, from 0 to 1; got {dropout!r}")
    if proj_size < 0 or proj_size >= hidden_size:
        raise ValueError(f"taeda.nn.{mode}: proj_size must be from 0 to below hidden_size; got {proj_size}")
    if proj_size and mode != "LSTM":
        raise ValueError(f"taeda.nn.{mode}: only LSTM takes a proj_size")
    if dropout > 0 and num_layers == 1:
        warnings.warn(
            f"taeda.nn.{mode}: dropout acts between layers, so with num_layers=1 it does nothing", stacklevel=4
        )


class RNNBase(Module):
    """What `RNN`, `LSTM` and `GRU` share: the weights, of all layers and directions, and the checks of the input.

    Weights are ``weight_ih_l{k}`` (gates * hidden, input), ``weight_hh_l{k}`` (gates * hidden, hidden), two biases, and
    with a projection ``weight_hr_l{k}`` (proj, hidden); ``_reverse`` is appended for the second direction. All start
    uniform within ``1 / sqrt(hidden_size)``.

    Args:
        batch_first: inputs and outputs are (N, L, features) instead of (L, N, features).
        dropout: in training, the probability of dropping outputs of each layer but the last.
        proj_size: LSTM only: the hidden state is projected to this size.
    """

    _flat_weights_names: list[str]

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Device = None,
        dtype: _dtype | None = None,
    ) -> None:
        super().__init__()
        for name, flag in (("bias", bias), ("batch_first", batch_first)):
            if not isinstance(flag, bool):
                raise TypeError(f"taeda.nn.{mode}: {name} must be a bool; got {type(flag).__name__}")
        _check_sizes(mode, input_size, hidden_size, num_layers, dropout, proj_size)
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        self._all_weights: list[list[str]] = []
        for layer in range(num_layers):
            for suffix in ("", "_reverse")[: self._directions]:
                self._all_weights.append(self._add_weights(layer, suffix, device, dtype))
        self._flat_weights_names = [name for names in self._all_weights for name in names]
        self.reset_parameters()

    @property
    def _directions(self) -> int:
        return 2 if self.bidirectional else 1

    @property
    def _output_features(self) -> int:
        return self.proj_size or self.hidden_size

    def _add_weights(self, layer: int, suffix: str, device: Any, dtype: Any) -> list[str]:
        rows = _GATES[self.mode] * self.hidden_size
        inputs = self.input_size if layer == 0 else self._output_features * self._directions
        shapes: dict[str, tuple[int, ...]] = {
            f"weight_ih_l{layer}{suffix}": (rows, inputs),
            f"weight_hh_l{layer}{suffix}": (rows, self._output_features),
        }
        if self.bias:
            shapes[f"bias_ih_l{layer}{suffix}"] = shapes[f"bias_hh_l{layer}{suffix}"] = (rows,)
        if self.proj_size:
            shapes[f"weight_hr_l{layer}{suffix}"] = (self.proj_size, self.hidden_size)
        for name, shape in shapes.items():
            setattr(self, name, Parameter(taeda.empty(shape, device=device, dtype=dtype)))
        return list(shapes)

    @property
    def _flat_weights(self) -> list[Any]:
        now = [getattr(self, name, None) for name in self._flat_weights_names]
        return now if is_scripting() else self._kept(now)

    @_flat_weights.setter
    def _flat_weights(self, values: list[Any]) -> None:
        self.__dict__["_flat"] = values, [getattr(self, name, None) for name in self._flat_weights_names]

    def _kept(self, now: list[Any]) -> list[Any]:
        """The list of weights that it runs with: the parameters, and what a program has put there since one was set."""
        flat, seen = self.__dict__.get("_flat", ([], []))
        if len(seen) != len(now) or any(a is not b for a, b in zip(seen, now, strict=True)):
            flat = list(now)
            self.__dict__["_flat"] = flat, now
        return flat

    def _apply(self, fn: Any, recurse: bool = True) -> Any:
        self.__dict__.pop("_flat", None)
        return super()._apply(fn, recurse)

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The weights of each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def __getstate__(self) -> dict[str, Any]:
        # PyTorch's networks hold their weights as a list, too, and take it from a file as it is.
        state = {**super().__getstate__(), "_flat_weights": self._flat_weights}
        state.pop("_flat", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__({name: value for name, value in state.items() if name != "_flat_weights"})
        if "_flat_weights" in state:
            self._flat_weights = state["_flat_weights"]

    def flatten_parameters(self) -> None:
        """Does nothing: no kernel here wants the weights in one piece of memory."""

    def reset_parameters(self) -> None:
        """Draws new weights."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def check_input(self, input: Tensor, batch_sizes: Tensor | None) -> None:
        """RuntimeError or ValueError unless the input has the right dtype, dimensions and features."""
        name = f"taeda.nn.{type(self).__name__}"
        weight = getattr(self, self._flat_weights_names[0])
        if input.dtype != weight.dtype and not taeda.is_autocast_enabled(input.device.type):
            raise ValueError(f"{name}: the input is {input.dtype}, the weights are {weight.dtype}")
        wanted = 3 if batch_sizes is None else 2
        if input.dim() != wanted:
            raise RuntimeError(f"{name}: expected {wanted} dimensions; got {tuple(input.shape)}")
        if input.size(-1) != self.input_size:
            raise RuntimeError(f"{name}: expected {self.input_size} input features; got {tuple(input.shape)}")

    def get_expected_hidden_size(self, input: Tensor, batch_sizes: Tensor | None) -> tuple[int, int, int]:
        """The shape of the hidden state for this input."""
        if batch_sizes is None:
            batch = input.size(0 if self.batch_first else 1)
        else:
            batch = int(batch_sizes[0])
        return self.num_layers * self._directions, batch, self._output_features

    def check_hidden_size(self, hx: Tensor, expected_hidden_size: tuple[int, int, int], msg: str = "") -> None:
        """RuntimeError unless the state has the expected shape; ``msg`` may hold two fields for the shapes."""
        if tuple(hx.size()) != tuple(expected_hidden_size):
            text = msg or f"taeda.nn.{type(self).__name__}: expected a hidden state of shape {{}}; got {{}}"
            raise RuntimeError(text.format(expected_hidden_size, list(hx.size())))

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Checks input and hidden state."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """The state with its batch in the order of ``permutation``."""
        return hx if permutation is None else hx.index_select(1, permutation)

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if self.proj_size != 0:
            text += f", proj_size={self.proj_size}"
        if self.num_layers != 1:
            text += f", num_layers={self.num_layers}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        if self.batch_first is not False:
            text += f", batch_first={self.batch_first}"
        if self.dropout != 0:
            text += f", dropout={self.dropout}"
        if self.bidirectional is not False:
            text += f", bidirectional={self.bidirectional}"
        return text

    # The parts of a forward. A state is a tensor, or for LSTM a pair; these hide the difference.

    def _zero_state(self, input: Tensor, batch_sizes: Tensor | None) -> Any:
        shape = self.get_expected_hidden_size(input, batch_sizes)
        return taeda.zeros(shape, dtype=input.dtype, device=input.device)

    def _map_state(self, state: Any, change: Any) -> Any:
        return change(state)

    def _check_state_dims(self, hx: Any, dims: int) -> None:
        states = hx if isinstance(hx, (tuple, list)) else (hx,)
        if any(state.dim() != dims for state in states):
            raise RuntimeError(
                f"taeda.nn.{type(self).__name__}: a state must have {dims} dimensions, as the input; got "
                f"{[tuple(state.shape) for state in states]}"
            )

    def _run(self, input: Tensor, state: Any, batch_sizes: Tensor | None) -> tuple[Tensor, Any]:
        """Calls the native; returns output and state."""
        raise NotImplementedError(f"{type(self).__name__} is not a recurrent network of its own")

    def _native_args(self) -> tuple[Any, ...]:
        return self._flat_weights, self.bias, self.num_layers, self.dropout, self.training, self.bidirectional

    def forward(self, input: Any, hx: Any = None) -> Any:
        """Output and final state for an input (L, N, input_size), a single sequence (L, input_size), or a packed one.

        The output is (L, N, directions * features); the state is (layers * directions, N, features), for LSTM a pair of
        those, and starts at zero unless given.
        """
        if isinstance(input, PackedSequence):
            return self._forward_packed(input, hx)
        if input.dim() not in (2, 3):
            raise ValueError(
                f"taeda.nn.{type(self).__name__}: expected 3 dimensions, or 2 for a single sequence; got "
                f"{tuple(input.shape)}"
            )
        if hx is not None:
            self._check_state_dims(hx, input.dim())
        single = input.dim() == 2
        batch_dim = 0 if self.batch_first else 1
        if single:
            input = input.unsqueeze(batch_dim)
            hx = None if hx is None else self._map_state(hx, lambda state: state.unsqueeze(1))
        if hx is None:
            hx = self._zero_state(input, None)
        self.check_forward_args(input, hx, None)
        output, state = self._run(input, hx, None)
        if single:
            return output.squeeze(batch_dim), self._map_state(state, lambda state: state.squeeze(1))
        return output, state

    def _forward_packed(self, packed: Any, hx: Any) -> Any:
        data, batch_sizes, sorted_indices, unsorted_indices = packed
        if hx is None:
            hx = self._zero_state(data, batch_sizes)
        else:
            hx = self.permute_hidden(hx, sorted_indices)
        self.check_forward_args(data, hx, batch_sizes)
        output, state = self._run(data, hx, batch_sizes)
        repacked = PackedSequence(output, batch_sizes, sorted_indices, unsorted_indices)
        return repacked, self.permute_hidden(state, unsorted_indices)


class _OneState(RNNBase):
    _script_types: ClassVar = {
        "forward": {"input": Tensor, "hx": Tensor | None},
        "forward__packed": {"input": PackedSequence, "hx": Tensor | None},
    }

    def _run(self, input: Tensor, state: Any, batch_sizes: Tensor | None) -> tuple[Tensor, Any]:
        native = getattr(taeda, self.mode.lower())
        if batch_sizes is None:
            return native(input, state, *self._native_args(), self.batch_first)
        return native(input, batch_sizes, state, *self._native_args())


class RNN(_OneState):
    """``h' = tanh(W_ih x + b_ih + W_hh h + b_hh)``, or relu instead of tanh.

    Args:
        input_size, hidden_size: features of an element of the sequence, and of the state.
        nonlinearity: ``"tanh"`` or ``"relu"``.
        num_layers: layers, each of which runs over the states of the one below.
        bias: whether the products have biases, ``b_ih`` and ``b_hh``.
        batch_first: whether sequences are (N, L, features) instead of (L, N, features).
        dropout: the probability of dropout on the output of each layer but the last.
        bidirectional: whether a second pass runs from the end; the outputs stand side by side.
        proj_size: of an LSTM: the hidden state is projected to so many features.
        device, dtype: of the parameters.

    Shapes:
        the input (L, N, input_size), or (L, input_size), and the state (layers * directions, N, hidden_size) give the
        output (L, N, directions * hidden_size) and the last state.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Device = None,
        dtype: _dtype | None = None,
        *,
        proj_size: int = 0,
    ) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"taeda.nn.RNN: nonlinearity must be 'tanh' or 'relu'; got {nonlinearity!r}")
        super().__init__(
            f"RNN_{nonlinearity.upper()}",
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            proj_size,
            device,
            dtype,
        )
        self.nonlinearity = nonlinearity


class GRU(_OneState):
    """Gated recurrent units (Cho et al., 2014), the reset gate applied after the product.

    Args:
        input_size, hidden_size: features of an element of the sequence, and of the state.
        num_layers: layers, each of which runs over the states of the one below.
        bias: whether the products have biases, ``b_ih`` and ``b_hh``.
        batch_first: whether sequences are (N, L, features) instead of (L, N, features).
        dropout: the probability of dropout on the output of each layer but the last.
        bidirectional: whether a second pass runs from the end; the outputs stand side by side.
        proj_size: of an LSTM: the hidden state is projected to so many features.
        device, dtype: of the parameters.

    Shapes:
        the input (L, N, input_size), or (L, input_size), and the state (layers * directions, N, hidden_size) give the
        output (L, N, directions * hidden_size) and the last state.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Device = None,
        dtype: _dtype | None = None,
        *,
        proj_size: int = 0,
    ) -> None:
        super().__init__(
            "GRU",
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            proj_size,
            device,
            dtype,
        )


class LSTM(RNNBase):
    """Long short-term memory (Hochreiter and Schmidhuber, 1997), gates in the order i, f, g, o.

    The state is a pair: hidden (layers * directions, N, proj_size or hidden_size) and cell (..., hidden_size).

    Args:
        input_size, hidden_size: features of an element of the sequence, and of the state.
        num_layers: layers, each of which runs over the states of the one below.
        bias: whether the products have biases, ``b_ih`` and ``b_hh``.
        batch_first: whether sequences are (N, L, features) instead of (L, N, features).
        dropout: the probability of dropout on the output of each layer but the last.
        bidirectional: whether a second pass runs from the end; the outputs stand side by side.
        proj_size: of an LSTM: the hidden state is projected to so many features.
        device, dtype: of the parameters.

    Shapes:
        the input (L, N, input_size), or (L, input_size), and the state (layers * directions, N, hidden_size) give the
        output (L, N, directions * hidden_size) and the last state.
    """

    _script_types: ClassVar = {
        "forward": {"input": Tensor, "hx": tuple[Tensor, Tensor] | None},
        "forward__packed": {"input": PackedSequence, "hx": tuple[Tensor, Tensor] | None},
    }

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Device = None,
        dtype: _dtype | None = None,
    ) -> None:
        super().__init__(
            "LSTM",
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            proj_size,
            device,
            dtype,
        )

    def get_expected_cell_size(self, input: Tensor, batch_sizes: Tensor | None) -> tuple[int, int, int]:
        """The shape of the cell state for this input."""
        layers, batch, _ = self.get_expected_hidden_size(input, batch_sizes)
        return layers, batch, self.hidden_size

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Checks input, hidden and cell state."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden[0], self.get_expected_hidden_size(input, batch_sizes))
        self.check_hidden_size(hidden[1], self.get_expected_cell_size(input, batch_sizes))

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """Both states with their batch in the order of ``permutation``."""
        return hx if permutation is None else self._map_state(hx, lambda state: state.index_select(1, permutation))

    def _zero_state(self, input: Tensor, batch_sizes: Tensor | None) -> Any:
        cell = self.get_expected_cell_size(input, batch_sizes)
        hidden = super()._zero_state(input, batch_sizes)
        return hidden, taeda.zeros(cell, dtype=input.dtype, device=input.device)

    def _map_state(self, state: Any, change: Any) -> Any:
        return change(state[0]), change(state[1])

    def _run(self, input: Tensor, state: Any, batch_sizes: Tensor | None) -> tuple[Tensor, Any]:
        lstm: Any = taeda.lstm
        if batch_sizes is None:
            output, *state = lstm(input, state, *self._native_args(), self.batch_first)
        else:
            output, *state = lstm(input, batch_sizes, state, *self._native_args())
        return output, tuple(state)
