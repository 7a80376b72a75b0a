"""Batch norms of quantised tensors with the ReLU after them."""

from __future__ import annotations

from taeda.ao.nn.quantized.modules import batchnorm


class BNReLU2d(batchnorm.BatchNorm2d):
    """``relu(batch_norm2d(input))`` of quantised tensors."""

    _op = "batch_norm2d_relu"

    def _get_name(self) -> str:
        return "QuantizedBNReLU2d"


class BNReLU3d(batchnorm.BatchNorm3d):
    """``relu(batch_norm3d(input))`` of quantised tensors."""

    _op = "batch_norm3d_relu"

    def _get_name(self) -> str:
        return "QuantizedBNReLU3d"
