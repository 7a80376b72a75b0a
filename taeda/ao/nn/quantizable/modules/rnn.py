"""An LSTM made of linear layers and functions that can be observed and quantised one by one."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor, nn
from taeda.ao.nn.quantized.modules.functional_modules import FloatFunctional
from taeda.nn import functional as F


class LSTMCell(nn.Module):
    """``nn.LSTMCell`` whose parts can be observed.

    Args:
        input_dim: the input's size.
        hidden_dim: the state's.
        split_gates: a linear layer for each gate in place of one for all.
    """

    _FLOAT_MODULE: Any = nn.LSTMCell

    def __init__(
        self, input_dim: int, hidden_dim: int, bias: bool = True, device: Any = None, dtype: Any = None, *,
        split_gates: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        factory = {"device": device, "dtype": dtype}
        self.input_size, self.hidden_size, self.bias, self.split_gates = input_dim, hidden_dim, bias, split_gates
        if split_gates:
            names = ("input", "forget", "cell", "output")
            of = lambda size: nn.ModuleDict({n: nn.Linear(size, hidden_dim, bias=bias, **factory) for n in names})
            self.igates: Any = of(input_dim)
            self.hgates: Any = of(hidden_dim)
            self.gates: Any = nn.ModuleDict({n: FloatFunctional() for n in names})
        else:
            self.igates = nn.Linear(input_dim, 4 * hidden_dim, bias=bias, **factory)
            self.hgates = nn.Linear(hidden_dim, 4 * hidden_dim, bias=bias, **factory)
            self.gates = FloatFunctional()
        self.input_gate, self.forget_gate = nn.Sigmoid(), nn.Sigmoid()
        self.cell_gate, self.output_gate = nn.Tanh(), nn.Sigmoid()
        self.fgate_cx, self.igate_cgate = FloatFunctional(), FloatFunctional()
        self.fgate_cx_igate_cgate, self.ogate_cy = FloatFunctional(), FloatFunctional()
        self.initial_hidden_state_qparams: tuple[float, int] = (1.0, 0)
        self.initial_cell_state_qparams: tuple[float, int] = (1.0, 0)
        self.hidden_state_dtype: Any = taeda.quint8
        self.cell_state_dtype: Any = taeda.quint8

    def _get_name(self) -> str:
        return "QuantizableLSTMCell"

    def forward(self, x: Tensor, hidden: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        """The next state and cell state, (batch, hidden_dim) each."""
        if hidden is None or hidden[0] is None or hidden[1] is None:
            hidden = self.initialize_hidden(x.shape[0], x.is_quantized)
        hx, cx = hidden
        if self.split_gates:
            gates = [self.gates[n].add(self.igates[n](x), self.hgates[n](hx)) for n in self.gates]
        else:
            gates = list(self.gates.add(self.igates(x), self.hgates(hx)).chunk(4, 1))
        entering, kept = self.input_gate(gates[0]), self.forget_gate(gates[1])
        new, shown = self.cell_gate(gates[2]), self.output_gate(gates[3])
        cy = self.fgate_cx_igate_cgate.add(self.fgate_cx.mul(kept, cx), self.igate_cgate.mul(entering, new))
        hy = self.ogate_cy.mul(shown, taeda.tanh(cy))
        return hy, cy

    def initialize_hidden(self, batch_size: int, is_quantized: bool = False) -> tuple[Tensor, Tensor]:
        """States of zeros."""
        h, c = taeda.zeros((batch_size, self.hidden_size)), taeda.zeros((batch_size, self.hidden_size))
        if is_quantized:
            h = taeda.quantize_per_tensor(h, *self.initial_hidden_state_qparams, self.hidden_state_dtype)
            c = taeda.quantize_per_tensor(c, *self.initial_cell_state_qparams, self.cell_state_dtype)
        return h, c

    @classmethod
    def from_params(
        cls, wi: Tensor, wh: Tensor, bi: Tensor | None = None, bh: Tensor | None = None, split_gates: bool = False
    ) -> LSTMCell:
        """A cell with these weights, (4 H, input) and (4 H, H), and biases, (4 H).

        Raises:
            AssertionError: there is one bias and not the other.
        """
        if (bi is None) != (bh is None):
            raise AssertionError("LSTMCell.from_params: there must be both biases, or none")
        made = cls(wi.shape[1], wh.shape[1], bias=bi is not None, split_gates=split_gates)
        for gates, weight, bias in ((made.igates, wi, bi), (made.hgates, wh, bh)):
            layers = list(gates.values()) if split_gates else [gates]
            biases = [None] * len(layers) if bias is None else bias.chunk(len(layers))
            for layer, part, shift in zip(layers, weight.chunk(len(layers)), biases, strict=True):
                layer.weight = nn.Parameter(part)
                if shift is not None:
                    layer.bias = nn.Parameter(shift)
        return made

    @classmethod
    def from_float(cls, other: Any, use_precomputed_fake_quant: bool = False, split_gates: bool = False) -> LSTMCell:
        """Of an ``nn.LSTMCell`` with a qconfig."""
        if type(other) is not cls._FLOAT_MODULE:
            raise AssertionError(f"LSTMCell.from_float: takes an nn.LSTMCell; got {type(other).__name__}")
        made = cls.from_params(other.weight_ih, other.weight_hh, other.bias_ih, other.bias_hh, split_gates)
        made.qconfig = other.qconfig  # type: ignore[assignment]
        made.igates.qconfig = made.hgates.qconfig = other.qconfig
        return made


class _LSTMSingleLayer(nn.Module):
    """One direction of a layer."""

    def __init__(
        self, input_dim: int, hidden_dim: int, bias: bool = True, device: Any = None, dtype: Any = None, *,
        split_gates: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        self.cell = LSTMCell(input_dim, hidden_dim, bias, device, dtype, split_gates=split_gates)

    def forward(self, x: Tensor, hidden: Any = None) -> Any:
        """The states of all steps, (L, N, H), and the last ones."""
        result = []
        for step in range(x.shape[0]):
            hidden = self.cell(x[step], hidden)
            result.append(hidden[0])
        return taeda.stack(result, 0), hidden


class _LSTMLayer(nn.Module):
    """One layer of one or two directions."""

    def __init__(
        self, input_dim: int, hidden_dim: int, bias: bool = True, batch_first: bool = False,
        bidirectional: bool = False, device: Any = None, dtype: Any = None, *, split_gates: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        self.batch_first, self.bidirectional = batch_first, bidirectional
        make = lambda: _LSTMSingleLayer(input_dim, hidden_dim, bias, device, dtype, split_gates=split_gates)
        self.layer_fw = make()
        if bidirectional:
            self.layer_bw = make()

    def forward(self, x: Tensor, hidden: Any = None) -> Any:
        """The states of all steps and the last ones; of both directions side by side."""
        if self.batch_first:
            x = x.transpose(0, 1)
        states, cells = hidden if hidden is not None else (None, None)
        there = lambda value, k: value if value is None or not self.bidirectional else value[k]
        first = None if states is None else (there(states, 0), there(cells, 0))
        result, last = self.layer_fw(x, first)
        if self.bidirectional:
            second = None if states is None else (there(states, 1), there(cells, 1))
            backwards, last_back = self.layer_bw(x.flip(0), second)
            result = taeda.cat([result, backwards.flip(0)], result.dim() - 1)
            last = tuple(taeda.stack([one, other], 0) for one, other in zip(last, last_back, strict=True))
        return (result.transpose(0, 1) if self.batch_first else result), last

    @classmethod
    def from_float(cls, other: Any, layer_idx: int = 0, qconfig: Any = None, **kwargs: Any) -> _LSTMLayer:
        """The layer ``layer_idx`` of an ``nn.LSTM`` with a qconfig."""
        qconfig = getattr(other, "qconfig", qconfig)
        if qconfig is None:
            raise AssertionError("LSTM.from_float: the float module must have a qconfig")
        split = kwargs.get("split_gates", False)
        inputs = other.input_size if layer_idx == 0 else other.hidden_size * (2 if other.bidirectional else 1)
        made = cls(
            inputs, other.hidden_size, other.bias, kwargs.get("batch_first", other.batch_first), other.bidirectional,
            split_gates=split,
        )  # fmt: skip
        made.qconfig = qconfig  # type: ignore[assignment]
        for name, suffix in (("layer_fw", ""), ("layer_bw", "_reverse"))[: 2 if other.bidirectional else 1]:
            of = lambda kind, suffix=suffix: getattr(other, f"{kind}_l{layer_idx}{suffix}", None)
            cell = LSTMCell.from_params(of("weight_ih"), of("weight_hh"), of("bias_ih"), of("bias_hh"), split)
            cell.qconfig = qconfig  # type: ignore[assignment]
            cell.igates.qconfig = cell.hgates.qconfig = qconfig
            getattr(made, name).cell = cell
        return made


class LSTM(nn.Module):
    """``nn.LSTM`` whose parts can be observed and quantised. For the arguments see there.

    `taeda.ao.quantization.prepare` puts it in the place of an ``nn.LSTM`` whose class is mapped to it by
    ``prepare_custom_config_dict``.
    """

    _FLOAT_MODULE: Any = nn.LSTM

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True, batch_first: bool = False,
        dropout: float = 0.0, bidirectional: bool = False, device: Any = None, dtype: Any = None, *,
        split_gates: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        if isinstance(dropout, bool) or not 0 <= dropout <= 1:
            raise ValueError(f"LSTM: dropout is a probability, from 0 to 1; got {dropout}")
        self.input_size, self.hidden_size, self.num_layers, self.bias = input_size, hidden_size, num_layers, bias
        self.batch_first, self.dropout, self.bidirectional = batch_first, float(dropout), bidirectional
        self.training = False  # what is made of it is for evaluation
        more: dict[str, Any] = {"device": device, "dtype": dtype, "split_gates": split_gates}
        directions = 2 if bidirectional else 1
        self.layers = nn.ModuleList(
            _LSTMLayer(
                input_size if k == 0 else hidden_size * directions, hidden_size, bias, False, bidirectional, **more
            )
            for k in range(num_layers)
        )  # fmt: skip

    def _get_name(self) -> str:
        return "QuantizableLSTM"

    def forward(self, x: Tensor, hidden: tuple[Tensor, Tensor] | None = None) -> Any:
        """The states of all steps, and the last states and cell states, as of ``nn.LSTM``."""
        if self.batch_first:
            x = x.transpose(0, 1)
        directions = 2 if self.bidirectional else 1
        if hidden is None:
            sizes = (self.num_layers * directions, x.size(1), self.hidden_size)
            zeros = taeda.zeros(*sizes, dtype=taeda.float, device=x.device)
            if x.is_quantized:
                zeros = taeda.quantize_per_tensor(zeros, 1.0, 0, x.dtype)
            hidden = (zeros, zeros)
        states: list[Any] = []
        split = [part.reshape(self.num_layers, directions, *part.shape[1:]) for part in hidden]
        for k, layer in enumerate(self.layers):
            first, second = (part[k] if self.bidirectional else part[k].squeeze(0) for part in split)
            x, last = layer(x, (first, second))
            states.append(last)
            if self.dropout and k < self.num_layers - 1:
                x = F.dropout(x, self.dropout, self.training)
        parts = [taeda.stack([one[j] for one in states], 0) for j in (0, 1)]
        sizes = (-1, *parts[0].shape[-2:])
        both = tuple(part.reshape(*sizes) for part in parts)
        return (x.transpose(0, 1) if self.batch_first else x), both

    @classmethod
    def from_float(cls, other: Any, qconfig: Any = None, split_gates: bool = False) -> LSTM:
        """Of an ``nn.LSTM`` with a qconfig, with what observes its parts."""
        if not isinstance(other, cls._FLOAT_MODULE):
            raise AssertionError(f"LSTM.from_float: takes an nn.LSTM; got {type(other).__name__}")
        if not (qconfig or hasattr(other, "qconfig")):
            raise AssertionError("LSTM.from_float: the float module must have a qconfig")
        observed: Any = cls(
            other.input_size, other.hidden_size, other.num_layers, other.bias, other.batch_first, other.dropout,
            other.bidirectional, split_gates=split_gates,
        )  # fmt: skip
        observed.qconfig = getattr(other, "qconfig", qconfig)
        for k in range(other.num_layers):
            observed.layers[k] = _LSTMLayer.from_float(
                other, k, qconfig, batch_first=False, split_gates=split_gates
            )  # fmt: skip
        if other.training:
            observed.train()
            made = taeda.ao.quantization.prepare_qat(observed, inplace=True)
        else:
            observed.eval()
            made = taeda.ao.quantization.prepare(observed, inplace=True)
        found: LSTM = made
        return found

    @classmethod
    def from_observed(cls, other: Any) -> Any:
        """Raises NotImplementedError: what is observed becomes `taeda.ao.nn.quantized.LSTM`."""
        raise NotImplementedError("an observed LSTM becomes a quantized.LSTM, whose from_observed takes it")
