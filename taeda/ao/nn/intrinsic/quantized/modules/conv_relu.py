"""Convolutions over int8 with the ReLU after them."""

from __future__ import annotations

from taeda.ao.nn.intrinsic.modules import fused
from taeda.ao.nn.quantized.modules import conv


class ConvReLU1d(conv.Conv1d):
    """``relu(conv1d(input))`` of quantised tensors."""

    _op, _FLOAT_MODULE = "conv1d_relu", fused.ConvReLU1d

    def _get_name(self) -> str:
        return "QuantizedConvReLU1d"


class ConvReLU2d(conv.Conv2d):
    """``relu(conv2d(input))`` of quantised tensors."""

    _op, _FLOAT_MODULE = "conv2d_relu", fused.ConvReLU2d

    def _get_name(self) -> str:
        return "QuantizedConvReLU2d"


class ConvReLU3d(conv.Conv3d):
    """``relu(conv3d(input))`` of quantised tensors."""

    _op, _FLOAT_MODULE = "conv3d_relu", fused.ConvReLU3d

    def _get_name(self) -> str:
        return "QuantizedConvReLU3d"
