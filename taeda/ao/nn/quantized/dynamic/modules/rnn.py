"""Recurrent layers and cells over packed int8 (or float16) weights; inputs and states are float32."""

from __future__ import annotations

import numbers
import warnings
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda.ao.nn.quantized.modules.utils import _quantize_weight, check_dtype
from taeda.nn.utils.rnn import PackedSequence

ops: Any = taeda.ops.quantized
_GATES = {"LSTM": 4, "GRU": 3}


def pack_weight_bias(qweight: Tensor, bias: Tensor | None, dtype: Any) -> Any:
    """A weight and a bias in the form that the kernel reads."""
    pack = ops.linear_prepack if dtype == taeda.qint8 else ops.linear_prepack_fp16
    return pack(qweight, bias)


class PackedParameter(nn.Module):
    """The packed parameters of one direction of a layer."""

    def __init__(self, param: Any) -> None:
        super().__init__()
        self.param = param

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "param"] = self.param

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *args: Any, **kwargs: Any) -> None:
        self.param = state_dict.pop(prefix + "param")
        super()._load_from_state_dict(state_dict, prefix, *args, **kwargs)


def _cell(dtype: Any, weights: list[Tensor], biases: list[Tensor | None]) -> Any:
    """Input and state weights with their biases, as one object."""
    packed = [pack_weight_bias(weight, bias, dtype) for weight, bias in zip(weights, biases, strict=True)]
    if dtype == taeda.float16:
        return ops.make_quantized_cell_params_fp16(*packed)
    return ops.make_quantized_cell_params_dynamic(*packed, *biases, True)


class RNNBase(nn.Module):
    """The common part of `LSTM` and `GRU`. For the arguments see ``nn.LSTM``; ``dtype`` is that of the weights."""

    _FLOAT_MODULE: Any = nn.RNNBase
    _version = 2

    def __init__(
        self, mode: str, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True,
        batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False, dtype: Any = taeda.qint8,
    ) -> None:  # fmt: skip
        super().__init__()
        if not (isinstance(dropout, numbers.Number) and 0 <= dropout <= 1) or isinstance(dropout, bool):
            raise ValueError(f"{mode}: dropout is a probability, from 0 to 1; got {dropout}")
        if dropout > 0 and num_layers == 1:
            warnings.warn(f"{mode}: dropout is between layers, and there is one", stacklevel=3)
        if mode not in _GATES:
            raise ValueError(f"unknown recurrent layer {mode!r}; there are LSTM and GRU")
        check_dtype(dtype, taeda.qint8, taeda.float16)
        self.mode, self.input_size, self.hidden_size, self.num_layers = mode, input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout, self.bidirectional = bias, batch_first, float(dropout), bidirectional
        self.dtype, self.version = dtype, 2
        cells = []
        for layer in range(num_layers):
            for _ in range(self._directions):
                inputs = input_size if layer == 0 else hidden_size * self._directions
                cells.append(PackedParameter(self._empty_cell(_GATES[mode] * hidden_size, inputs)))
        self._all_weight_values = nn.ModuleList(cells)

    @property
    def _directions(self) -> int:
        return 2 if self.bidirectional else 1

    def _empty_cell(self, gates: int, inputs: int) -> Any:
        weights = [taeda.randn(gates, n).to(taeda.float) for n in (inputs, self.hidden_size)]
        if self.dtype == taeda.qint8:
            weights = [taeda.quantize_per_tensor(weight, 1.0, 0, taeda.qint8) for weight in weights]
        return _cell(self.dtype, weights, [taeda.randn(gates), taeda.randn(gates)])

    def _get_name(self) -> str:
        return "DynamicQuantizedRNN"

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        for name, usual in (("num_layers", 1), ("bias", True), ("batch_first", False), ("bidirectional", False)):
            if getattr(self, name) != usual:
                text += f", {name}={getattr(self, name)}"
        return text + (f", dropout={self.dropout}" if self.dropout else "")

    def __repr__(self) -> str:
        return f"{self._get_name()}({self.extra_repr()})"

    def _weight_bias(self) -> dict[str, dict[str, Tensor]]:
        """The parameters as ``nn.LSTM`` calls them, weights and biases."""
        found: dict[str, dict[str, Tensor]] = {"weight": {}, "bias": {}}
        for place, cell in enumerate(self._all_weight_values):
            suffix = f"l{place // self._directions}" + ("_reverse" if place % self._directions else "")
            param: Any = cell.param
            for name, packed in zip(("ih", "hh"), param.__getstate__()[0][4], strict=False):
                weight, bias = ops.linear_unpack(packed)
                found["weight"][f"weight_{name}_{suffix}"] = weight
                found["bias"][f"bias_{name}_{suffix}"] = bias
        return found

    def get_weight(self) -> dict[str, Tensor]:
        """The weights, by the names that ``nn.LSTM`` gives them."""
        return self._weight_bias()["weight"]

    def get_bias(self) -> dict[str, Tensor]:
        """The biases, likewise."""
        return self._weight_bias()["bias"]

    def set_weight_bias(self, weight_bias_dict: dict[str, Tensor]) -> None:
        """Packs other weights and biases, by the names that ``nn.LSTM`` gives them."""
        cells = []
        for layer in range(self.num_layers):
            for direction in range(self._directions):
                suffix = f"l{layer}" + ("_reverse" if direction else "")
                parts = [
                    [weight_bias_dict[f"{kind}_{name}_{suffix}"] for name in ("ih", "hh")]
                    for kind in ("weight", "bias")
                ]
                cells.append(PackedParameter(_cell(self.dtype, parts[0], parts[1])))  # type: ignore[arg-type]
        self._all_weight_values = nn.ModuleList(cells)

    def _params(self) -> list[Any]:
        return [cell.param for cell in self._all_weight_values]

    def _zeros(self, x: Tensor, batch: int) -> Tensor:
        return taeda.zeros(self.num_layers * self._directions, batch, self.hidden_size, dtype=x.dtype, device=x.device)

    def _options(self) -> tuple[Any, ...]:
        return self.bias, self.num_layers, self.dropout, self.training, self.bidirectional

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Checks sizes.

        Raises:
            RuntimeError: they do not go together.
        """
        expected = 2 if batch_sizes is not None else 3
        if input.dim() != expected:
            raise RuntimeError(f"{self.mode}: the input must have {expected} dimensions; got {input.shape}")
        if input.size(-1) != self.input_size:
            raise RuntimeError(
                f"{self.mode}: the input's last dimension must be {self.input_size}; got {input.size(-1)}"
            )
        batch = input.size(0 if self.batch_first else 1) if batch_sizes is None else int(batch_sizes[0])
        wanted = (self.num_layers * self._directions, batch, self.hidden_size)
        for state in self._states(hidden):
            if state.dim() != 3 or (state.size(0), state.size(1), state.size(2)) != wanted:
                raise RuntimeError(f"{self.mode}: states must have shape {wanted}; got {state.shape}")

    def _states(self, hidden: Any) -> list[Tensor]:
        return [hidden]

    def _run(self, input: Tensor, hx: Any, batch_sizes: Tensor | None) -> Any:
        raise NotImplementedError

    def forward(self, input: Any, hx: Any = None) -> Any:
        """As of ``nn.LSTM`` and ``nn.GRU``: the outputs and the last states, float32."""
        if isinstance(input, PackedSequence):
            return self._forward_packed(input, hx)
        if hx is None:
            hx = self._initial(input, input.size(0 if self.batch_first else 1))
        self.check_forward_args(input, hx, None)
        return self._run(input, hx, None)

    def _forward_packed(self, packed: Any, hx: Any) -> Any:
        data, batch_sizes, order, back = packed
        hx = self._initial(data, int(batch_sizes[0])) if hx is None else self.permute_hidden(hx, order)
        self.check_forward_args(data, hx, batch_sizes)
        output, states = self._run(data, hx, batch_sizes)
        return PackedSequence(output, batch_sizes, order, back), self.permute_hidden(states, back)

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """The states with their batch in the order of ``permutation``."""
        return hx if permutation is None else hx.index_select(1, permutation)

    def _initial(self, x: Tensor, batch: int) -> Any:
        return self._zeros(x, batch)

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """Of a float module with a qconfig; without one weights are quantised as a whole."""
        from taeda.ao.nn.quantized.dynamic.modules.linear import _observer_of

        if not isinstance(mod, (nn.LSTM, nn.GRU)):
            raise AssertionError(f"{cls.__name__}: takes an nn.LSTM or nn.GRU; got {type(mod).__name__}")
        dtype = _observer_of(mod).dtype
        check_dtype(dtype, taeda.qint8, taeda.float16)
        made: Any = cls(
            mod.input_size, mod.hidden_size, mod.num_layers, mod.bias, mod.batch_first, mod.dropout, mod.bidirectional,
            dtype,
        )  # fmt: skip
        values: dict[str, Any] = {}
        for layer in range(mod.num_layers):
            for suffix in [f"l{layer}", f"l{layer}_reverse"][: made._directions]:
                for name in ("ih", "hh"):
                    weight = getattr(mod, f"weight_{name}_{suffix}").detach().float()
                    zeros = taeda.zeros(weight.size(0))
                    values[f"bias_{name}_{suffix}"] = getattr(mod, f"bias_{name}_{suffix}", zeros).detach()
                    values[f"weight_{name}_{suffix}"] = _weight(weight, _observer_of(mod), dtype)
        made.set_weight_bias(values)
        return made.train(mod.training)  # layers that are not trained drop nothing

    @classmethod
    def from_reference(cls, ref_mod: Any) -> Any:
        """Of a reference module."""
        dtype = ref_mod.weight_ih_l0_dtype
        made: Any = cls(
            ref_mod.input_size, ref_mod.hidden_size, ref_mod.num_layers, ref_mod.bias, ref_mod.batch_first,
            ref_mod.dropout, ref_mod.bidirectional, dtype,
        )  # fmt: skip
        made.set_weight_bias(ref_mod.get_quantized_weight_bias_dict())
        return made


def _weight(weight: Tensor, watching: Any, dtype: Any) -> Tensor:
    if dtype == taeda.float16:
        return weight
    watching(weight)
    return _quantize_weight(weight, watching)


class LSTM(RNNBase):
    """``nn.LSTM`` over packed weights; inputs, states and results are float32."""

    _FLOAT_MODULE = nn.LSTM
    _script_types = nn.LSTM._script_types

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)

    def _get_name(self) -> str:
        return "DynamicQuantizedLSTM"

    def _initial(self, x: Tensor, batch: int) -> Any:
        return self._zeros(x, batch), self._zeros(x, batch)

    def _states(self, hidden: Any) -> list[Tensor]:
        return [hidden[0], hidden[1]]

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """Both states with their batch in the order of ``permutation``."""
        return hx if permutation is None else (hx[0].index_select(1, permutation), hx[1].index_select(1, permutation))

    def _run(self, input: Tensor, hx: Any, batch_sizes: Tensor | None) -> Any:
        lstm: Any = taeda.quantized_lstm
        states, options = self._states(hx), self._options()
        if batch_sizes is None:
            found = lstm(
                input, states, self._params(), *options, self.batch_first, dtype=self.dtype, use_dynamic=True
            )  # fmt: skip
        else:
            found = lstm(input, batch_sizes, states, self._params(), *options, dtype=self.dtype, use_dynamic=True)
        return found[0], (found[1], found[2])


class GRU(RNNBase):
    """``nn.GRU`` over packed weights; inputs, states and results are float32."""

    _FLOAT_MODULE = nn.GRU
    _script_types = nn.GRU._script_types

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("GRU", *args, **kwargs)

    def _get_name(self) -> str:
        return "DynamicQuantizedGRU"

    def _run(self, input: Tensor, hx: Any, batch_sizes: Tensor | None) -> Any:
        gru: Any = taeda.quantized_gru
        if batch_sizes is None:
            return gru(input, hx, self._params(), *self._options(), self.batch_first)
        return gru(input, batch_sizes, hx, self._params(), *self._options())


class RNNCellBase(nn.Module):
    """The common part of the cells: one step, (batch, input_size) and (batch, hidden_size) to (batch, hidden_size)."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, num_chunks: int = 4, dtype: Any = taeda.qint8
    ) -> None:
        super().__init__()
        check_dtype(dtype, taeda.qint8, taeda.float16)
        self.input_size, self.hidden_size, self.bias, self.weight_dtype = input_size, hidden_size, bias, dtype
        rows = num_chunks * hidden_size
        self.bias_ih: Any = taeda.randn(rows).to(taeda.float) if bias else None
        self.bias_hh: Any = taeda.randn(rows).to(taeda.float) if bias else None
        weights = [taeda.randn(rows, n).to(taeda.float) for n in (input_size, hidden_size)]
        if dtype == taeda.qint8:
            weights = [taeda.quantize_per_tensor(weight, 1.0, 0, taeda.qint8) for weight in weights]
        self._packed_weight_ih = pack_weight_bias(weights[0], self.bias_ih, dtype)
        self._packed_weight_hh = pack_weight_bias(weights[1], self.bias_hh, dtype)

    def _get_name(self) -> str:
        return f"DynamicQuantized{type(self).__name__}"

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}" + ("" if self.bias else f", bias={self.bias}")
        mode = getattr(self, "nonlinearity", "tanh")
        return text if mode == "tanh" else text + f", nonlinearity={mode}"

    def check_forward_input(self, input: Tensor) -> None:
        """Checks the input's size.

        Raises:
            RuntimeError: it is another.
        """
        if input.size(1) != self.input_size:
            raise RuntimeError(f"{self._get_name()}: the input must be {self.input_size} wide; got {input.size(1)}")

    def check_forward_hidden(self, input: Tensor, hx: Tensor, hidden_label: str = "") -> None:
        """Checks a state's size.

        Raises:
            RuntimeError: it is another.
        """
        if hx.dim() != 2 or hx.size(0) != input.size(0) or hx.size(1) != self.hidden_size:
            wanted = (input.size(0), self.hidden_size)
            raise RuntimeError(f"{self._get_name()}: the state must have shape {wanted}; got {hx.shape}")

    def _state(self, input: Tensor, hx: Tensor | None) -> Tensor:
        if hx is None:
            return taeda.zeros(input.size(0), self.hidden_size, dtype=input.dtype, device=input.device)
        self.check_forward_hidden(input, hx)
        return hx

    def get_weight(self) -> dict[str, Tensor]:
        """The weights, by the names that ``nn.LSTMCell`` gives them."""
        unpack = ops.linear_unpack if self.weight_dtype == taeda.qint8 else ops.linear_unpack_fp16
        return {"weight_ih": unpack(self._packed_weight_ih)[0], "weight_hh": unpack(self._packed_weight_hh)[0]}

    def get_bias(self) -> dict[str, Any]:
        """The biases, likewise."""
        return {"bias_ih": self.bias_ih, "bias_hh": self.bias_hh}

    def set_weight_bias(self, weight_bias_dict: dict[str, Any]) -> None:
        """Packs other weights and biases."""
        self.bias_ih, self.bias_hh = weight_bias_dict["bias_ih"], weight_bias_dict["bias_hh"]
        self._packed_weight_ih = pack_weight_bias(weight_bias_dict["weight_ih"], self.bias_ih, self.weight_dtype)
        self._packed_weight_hh = pack_weight_bias(weight_bias_dict["weight_hh"], self.bias_hh, self.weight_dtype)

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "_packed_weight_ih"] = self._packed_weight_ih
        destination[prefix + "_packed_weight_hh"] = self._packed_weight_hh

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *args: Any, **kwargs: Any) -> None:
        self._packed_weight_ih = state_dict.pop(prefix + "_packed_weight_ih")
        self._packed_weight_hh = state_dict.pop(prefix + "_packed_weight_hh")
        super()._load_from_state_dict(state_dict, prefix, *args, **kwargs)

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """Of a float cell with a qconfig; without one weights are quantised as a whole."""
        from taeda.ao.nn.quantized.dynamic.modules.linear import _observer_of

        dtype = _observer_of(mod).dtype
        given = {"nonlinearity": mod.nonlinearity} if hasattr(mod, "nonlinearity") else {}
        made = cls(mod.input_size, mod.hidden_size, bias=mod.bias, dtype=dtype, **given)
        values: dict[str, Any] = {}
        for name in ("ih", "hh"):
            values[f"weight_{name}"] = _weight(
                getattr(mod, f"weight_{name}").detach().float(), _observer_of(mod), dtype
            )
            bias = getattr(mod, f"bias_{name}")
            values[f"bias_{name}"] = None if bias is None else bias.detach()
        made.set_weight_bias(values)
        return made

    @classmethod
    def from_reference(cls, ref_mod: Any) -> Any:
        """Of a reference module."""
        given = {"nonlinearity": ref_mod.nonlinearity} if hasattr(ref_mod, "nonlinearity") else {}
        made = cls(ref_mod.input_size, ref_mod.hidden_size, ref_mod.bias, dtype=ref_mod.weight_ih_dtype, **given)
        made.set_weight_bias(
            {"weight_ih": ref_mod.get_quantized_weight_ih(), "weight_hh": ref_mod.get_quantized_weight_hh(),
             "bias_ih": ref_mod.bias_ih, "bias_hh": ref_mod.bias_hh}
        )  # fmt: skip
        return made


class RNNCell(RNNCellBase):
    """``nn.RNNCell`` over packed weights."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh", dtype: Any = taeda.qint8
    ) -> None:
        super().__init__(input_size, hidden_size, bias, num_chunks=1, dtype=dtype)
        if nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"RNNCell: nonlinearity must be 'tanh' or 'relu'; got {nonlinearity!r}")
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """The next state."""
        self.check_forward_input(input)
        state, w_ih, w_hh = self._state(input, hx), self._packed_weight_ih, self._packed_weight_hh
        if self.nonlinearity == "relu":
            return ops.quantized_rnn_relu_cell_dynamic(input, state, w_ih, w_hh, self.bias_ih, self.bias_hh)
        return ops.quantized_rnn_tanh_cell_dynamic(input, state, w_ih, w_hh, self.bias_ih, self.bias_hh)


class GRUCell(RNNCellBase):
    """``nn.GRUCell`` over packed weights."""

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, dtype: Any = taeda.qint8) -> None:
        super().__init__(input_size, hidden_size, bias, num_chunks=3, dtype=dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """The next state."""
        self.check_forward_input(input)
        return ops.quantized_gru_cell_dynamic(
            input, self._state(input, hx), self._packed_weight_ih, self._packed_weight_hh, self.bias_ih, self.bias_hh
        )  # fmt: skip


class LSTMCell(RNNCellBase):
    """``nn.LSTMCell`` over packed weights: states are pairs."""

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, dtype: Any = taeda.qint8) -> None:
        super().__init__(input_size, hidden_size, bias, num_chunks=4, dtype=dtype)

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        """The next state and cell state."""
        self.check_forward_input(input)
        if hx is None:
            states = [self._state(input, None), self._state(input, None)]
        else:
            states = [self._state(input, hx[0]), self._state(input, hx[1])]
        return ops.quantized_lstm_cell_dynamic(
            input, states, self._packed_weight_ih, self._packed_weight_hh, self.bias_ih, self.bias_hh
        )  # fmt: skip
