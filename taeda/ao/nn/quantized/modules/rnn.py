"""An LSTM whose parts compute with quantised tensors."""

from __future__ import annotations

from typing import Any

import taeda
from taeda.ao.nn.quantizable.modules import rnn


class LSTM(rnn.LSTM):
    """`taeda.ao.nn.quantizable.LSTM` after it was observed and converted."""

    _FLOAT_MODULE: Any = rnn.LSTM

    def _get_name(self) -> str:
        return "QuantizedLSTM"

    @classmethod
    def from_float(cls, *args: Any, **kwargs: Any) -> Any:
        """Raises NotImplementedError: it is made of one that was observed."""
        raise NotImplementedError(
            "quantized.LSTM: a float LSTM becomes a quantizable.LSTM (prepare), which is observed and then converted"
        )

    @classmethod
    def from_observed(cls, other: Any) -> Any:
        """Of a `taeda.ao.nn.quantizable.LSTM` that was observed."""
        if not isinstance(other, cls._FLOAT_MODULE):
            raise AssertionError(f"quantized.LSTM: takes a quantizable.LSTM; got {type(other).__name__}")
        converted = taeda.ao.quantization.convert(other, inplace=False, remove_qconfig=True)
        converted.__class__ = cls
        return converted
