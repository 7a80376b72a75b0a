"""The older home of `taeda.ao.nn.intrinsic.quantized`."""

from taeda.ao.nn.intrinsic.quantized import *  # noqa: F403
from taeda.ao.nn.intrinsic.quantized import __all__ as __all__
