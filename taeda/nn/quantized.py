"""The older home of `taeda.ao.nn.quantized`."""

from taeda.ao.nn.quantized import *  # noqa: F403
from taeda.ao.nn.quantized import __all__ as __all__
