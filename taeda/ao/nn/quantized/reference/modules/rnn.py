"""The references of recurrent layers and cells."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor, nn
from taeda.ao.nn.quantized.reference.modules.utils import QuantizedWeights, quantize


class _Cell(QuantizedWeights):
    """A cell that computes in float with its weights as quantisation leaves them."""

    def _describe_both(self, weight_qparams_dict: dict[str, Any] | None) -> None:
        for name in ("weight_ih", "weight_hh"):
            self._describe(name, (weight_qparams_dict or {}).get(name))

    def get_weight_ih(self) -> Tensor:
        """The weight of inputs in float, as quantisation leaves it."""
        return self._as_quantized("weight_ih")

    def get_weight_hh(self) -> Tensor:
        """That of states."""
        return self._as_quantized("weight_hh")

    def get_quantized_weight_ih(self) -> Tensor:
        """The quantised weight of inputs."""
        return quantize(*self._parts("weight_ih"))

    def get_quantized_weight_hh(self) -> Tensor:
        """That of states."""
        return quantize(*self._parts("weight_hh"))

    _step: str = ""

    def forward(self, input: Tensor, hx: Any = None) -> Any:
        """The next state."""
        mod: Any = self
        if hx is None:
            hx = taeda.zeros(input.size(0), mod.hidden_size, dtype=input.dtype, device=input.device)
            hx = (hx, hx) if self._step == "lstm_cell" else hx
        step = getattr(taeda, self._step or f"rnn_{mod.nonlinearity}_cell")
        return step(input, hx, self.get_weight_ih(), self.get_weight_hh(), mod.bias_ih, mod.bias_hh)

    @classmethod
    def from_float(cls, mod: Any, weight_qparams_dict: dict[str, Any]) -> Any:
        """Of a float module; its parameters are taken over."""
        more = {"nonlinearity": mod.nonlinearity} if hasattr(mod, "nonlinearity") else {}
        made = cls(mod.input_size, mod.hidden_size, mod.bias, weight_qparams_dict=weight_qparams_dict, **more)
        made.load_state_dict(mod.state_dict(), strict=False)
        return made


class RNNCell(_Cell, nn.RNNCell):
    """The reference of ``nn.RNNCell``."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh", device: Any = None,
        dtype: Any = None, weight_qparams_dict: dict[str, Any] | None = None,
    ) -> None:  # fmt: skip
        nn.RNNCell.__init__(self, input_size, hidden_size, bias, nonlinearity, device, dtype)
        self._describe_both(weight_qparams_dict)


class LSTMCell(_Cell, nn.LSTMCell):
    """The reference of ``nn.LSTMCell``."""

    _step = "lstm_cell"

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None,
        weight_qparams_dict: dict[str, Any] | None = None,
    ) -> None:  # fmt: skip
        nn.LSTMCell.__init__(self, input_size, hidden_size, bias, device, dtype)
        self._describe_both(weight_qparams_dict)


class GRUCell(_Cell, nn.GRUCell):
    """The reference of ``nn.GRUCell``."""

    _step = "gru_cell"

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None,
        weight_qparams_dict: dict[str, Any] | None = None,
    ) -> None:  # fmt: skip
        nn.GRUCell.__init__(self, input_size, hidden_size, bias, device, dtype)
        self._describe_both(weight_qparams_dict)


class _Layers(QuantizedWeights):
    """Layers that compute in float with their weights as quantisation leaves them."""

    def _weights(self) -> list[str]:
        return [name for name in self._parameters if name.startswith("weight_")]

    def _describe_all(self, weight_qparams_dict: dict[str, Any] | None) -> None:
        for name in self._weights():
            self._describe(name, (weight_qparams_dict or {}).get(name))

    @property
    def _flat_weights(self) -> list[Any]:
        mod: Any = self
        return [
            getattr(mod, name) if name.startswith("bias") or not hasattr(mod, f"{name}_qscheme")
            else self._as_quantized(name)
            for name in mod._flat_weights_names
        ]  # fmt: skip

    @_flat_weights.setter
    def _flat_weights(self, value: Any) -> None:
        """They follow from the parameters."""

    def get_quantized_weight_bias_dict(self) -> dict[str, Any]:
        """The quantised weights and the biases, by their names."""
        return {
            name: quantize(*self._parts(name)) if name.startswith("weight") else value
            for name, value in self._parameters.items()
        }

    @classmethod
    def from_float(cls, mod: Any, weight_qparams_dict: dict[str, Any]) -> Any:
        """Of a float module; its parameters are taken over."""
        made = cls(
            mod.input_size, mod.hidden_size, mod.num_layers, mod.bias, mod.batch_first, mod.dropout, mod.bidirectional,
            weight_qparams_dict=weight_qparams_dict,
        )  # fmt: skip
        made.load_state_dict(mod.state_dict(), strict=False)
        return made


class LSTM(_Layers, nn.LSTM):
    """The reference of ``nn.LSTM``."""

    def __init__(self, *args: Any, weight_qparams_dict: dict[str, Any] | None = None, **kwargs: Any) -> None:
        nn.LSTM.__init__(self, *args, **kwargs)
        self._describe_all(weight_qparams_dict)


class GRU(_Layers, nn.GRU):
    """The reference of ``nn.GRU``."""

    def __init__(self, *args: Any, weight_qparams_dict: dict[str, Any] | None = None, **kwargs: Any) -> None:
        nn.GRU.__init__(self, *args, **kwargs)
        self._describe_all(weight_qparams_dict)
