"""Fused modules that compute with quantised tensors."""

from taeda.ao.nn.intrinsic.quantized.modules.bn_relu import BNReLU2d as BNReLU2d
from taeda.ao.nn.intrinsic.quantized.modules.bn_relu import BNReLU3d as BNReLU3d
from taeda.ao.nn.intrinsic.quantized.modules.conv_add import ConvAdd2d as ConvAdd2d
from taeda.ao.nn.intrinsic.quantized.modules.conv_add import ConvAddReLU2d as ConvAddReLU2d
from taeda.ao.nn.intrinsic.quantized.modules.conv_relu import ConvReLU1d as ConvReLU1d
from taeda.ao.nn.intrinsic.quantized.modules.conv_relu import ConvReLU2d as ConvReLU2d
from taeda.ao.nn.intrinsic.quantized.modules.conv_relu import ConvReLU3d as ConvReLU3d
from taeda.ao.nn.intrinsic.quantized.modules.linear_relu import LinearLeakyReLU as LinearLeakyReLU
from taeda.ao.nn.intrinsic.quantized.modules.linear_relu import LinearReLU as LinearReLU
from taeda.ao.nn.intrinsic.quantized.modules.linear_relu import LinearTanh as LinearTanh

__all__ = [
    "BNReLU2d", "BNReLU3d", "ConvAdd2d", "ConvAddReLU2d", "ConvReLU1d", "ConvReLU2d", "ConvReLU3d", "LinearLeakyReLU",
    "LinearReLU", "LinearTanh",
]  # fmt: skip
