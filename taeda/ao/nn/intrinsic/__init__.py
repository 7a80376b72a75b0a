"""Sequences of modules that quantisation treats as one. In a float model they run one after the other."""

from taeda.ao.nn.intrinsic.modules.fused import BNReLU2d as BNReLU2d
from taeda.ao.nn.intrinsic.modules.fused import BNReLU3d as BNReLU3d
from taeda.ao.nn.intrinsic.modules.fused import ConvAdd2d as ConvAdd2d
from taeda.ao.nn.intrinsic.modules.fused import ConvAddReLU2d as ConvAddReLU2d
from taeda.ao.nn.intrinsic.modules.fused import ConvBn1d as ConvBn1d
from taeda.ao.nn.intrinsic.modules.fused import ConvBn2d as ConvBn2d
from taeda.ao.nn.intrinsic.modules.fused import ConvBn3d as ConvBn3d
from taeda.ao.nn.intrinsic.modules.fused import ConvBnReLU1d as ConvBnReLU1d
from taeda.ao.nn.intrinsic.modules.fused import ConvBnReLU2d as ConvBnReLU2d
from taeda.ao.nn.intrinsic.modules.fused import ConvBnReLU3d as ConvBnReLU3d
from taeda.ao.nn.intrinsic.modules.fused import ConvReLU1d as ConvReLU1d
from taeda.ao.nn.intrinsic.modules.fused import ConvReLU2d as ConvReLU2d
from taeda.ao.nn.intrinsic.modules.fused import ConvReLU3d as ConvReLU3d
from taeda.ao.nn.intrinsic.modules.fused import LinearBn1d as LinearBn1d
from taeda.ao.nn.intrinsic.modules.fused import LinearLeakyReLU as LinearLeakyReLU
from taeda.ao.nn.intrinsic.modules.fused import LinearReLU as LinearReLU
from taeda.ao.nn.intrinsic.modules.fused import LinearTanh as LinearTanh
from taeda.ao.nn.intrinsic.modules.fused import _FusedModule  # noqa: F401

__all__ = [
    "BNReLU2d", "BNReLU3d", "ConvAdd2d", "ConvAddReLU2d", "ConvBn1d", "ConvBn2d", "ConvBn3d", "ConvBnReLU1d",
    "ConvBnReLU2d", "ConvBnReLU3d", "ConvReLU1d", "ConvReLU2d", "ConvReLU3d", "LinearBn1d", "LinearLeakyReLU",
    "LinearReLU", "LinearTanh",
]  # fmt: skip
