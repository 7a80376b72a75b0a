"""Sequences of modules that quantisation treats as one. In a float model they run one after the other."""

from taeda.ao.nn.intrinsic._sequences import BNReLU2d as BNReLU2d
from taeda.ao.nn.intrinsic._sequences import BNReLU3d as BNReLU3d
from taeda.ao.nn.intrinsic._sequences import ConvBn1d as ConvBn1d
from taeda.ao.nn.intrinsic._sequences import ConvBn2d as ConvBn2d
from taeda.ao.nn.intrinsic._sequences import ConvBn3d as ConvBn3d
from taeda.ao.nn.intrinsic._sequences import ConvBnReLU1d as ConvBnReLU1d
from taeda.ao.nn.intrinsic._sequences import ConvBnReLU2d as ConvBnReLU2d
from taeda.ao.nn.intrinsic._sequences import ConvBnReLU3d as ConvBnReLU3d
from taeda.ao.nn.intrinsic._sequences import ConvReLU1d as ConvReLU1d
from taeda.ao.nn.intrinsic._sequences import ConvReLU2d as ConvReLU2d
from taeda.ao.nn.intrinsic._sequences import ConvReLU3d as ConvReLU3d
from taeda.ao.nn.intrinsic._sequences import LinearBn1d as LinearBn1d
from taeda.ao.nn.intrinsic._sequences import LinearReLU as LinearReLU

__all__ = [
    "BNReLU2d", "BNReLU3d", "ConvBn1d", "ConvBn2d", "ConvBn3d", "ConvBnReLU1d", "ConvBnReLU2d", "ConvBnReLU3d",
    "ConvReLU1d", "ConvReLU2d", "ConvReLU3d", "LinearBn1d", "LinearReLU",
]  # fmt: skip
