"""What makes a float model ready for quantisation: marks where it begins and ends, and the fusion of modules.

There are no quantised dtypes yet, hence of observers the base classes only, and no ``prepare`` or ``convert``.
"""

from taeda.ao.quantization._fuse import fuse_known_modules as fuse_known_modules
from taeda.ao.quantization._fuse import fuse_modules as fuse_modules
from taeda.ao.quantization._fuse import fuse_modules_qat as fuse_modules_qat
from taeda.ao.quantization.fake_quantize import FakeQuantizeBase as FakeQuantizeBase
from taeda.ao.quantization.fake_quantize import disable_fake_quant as disable_fake_quant
from taeda.ao.quantization.fake_quantize import disable_observer as disable_observer
from taeda.ao.quantization.fake_quantize import enable_fake_quant as enable_fake_quant
from taeda.ao.quantization.fake_quantize import enable_observer as enable_observer
from taeda.ao.quantization.observer import ObserverBase as ObserverBase
from taeda.ao.quantization.stubs import DeQuantStub as DeQuantStub
from taeda.ao.quantization.stubs import QuantStub as QuantStub
from taeda.ao.quantization.stubs import QuantWrapper as QuantWrapper

__all__ = [
    "DeQuantStub", "FakeQuantizeBase", "ObserverBase", "QuantStub", "QuantWrapper", "disable_fake_quant",
    "disable_observer", "enable_fake_quant", "enable_observer", "fuse_modules", "fuse_modules_qat",
]  # fmt: skip
