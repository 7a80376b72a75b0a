"""Fused modules that quantise their inputs on the fly."""

from taeda.ao.nn.intrinsic.quantized.dynamic.modules.linear_relu import LinearReLU as LinearReLU

__all__ = [
    "LinearReLU",
]  # fmt: skip
