"""What makes a float model ready for quantisation: marks where it begins and ends, and the fusion of modules.

There are no quantised dtypes yet, hence no observers and no ``prepare`` or ``convert``.
"""

from taeda.ao.quantization._fuse import fuse_known_modules as fuse_known_modules
from taeda.ao.quantization._fuse import fuse_modules as fuse_modules
from taeda.ao.quantization._fuse import fuse_modules_qat as fuse_modules_qat
from taeda.ao.quantization.stubs import DeQuantStub as DeQuantStub
from taeda.ao.quantization.stubs import QuantStub as QuantStub
from taeda.ao.quantization.stubs import QuantWrapper as QuantWrapper

__all__ = ["DeQuantStub", "QuantStub", "QuantWrapper", "fuse_modules", "fuse_modules_qat"]
