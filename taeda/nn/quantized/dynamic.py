"""The older home of `taeda.ao.nn.quantized.dynamic`."""

from taeda.ao.nn.quantized.dynamic import *  # noqa: F403
from taeda.ao.nn.quantized.dynamic import __all__ as __all__
