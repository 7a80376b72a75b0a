"""The older home of `taeda.ao.nn.quantized.modules`."""

from taeda.ao.nn.quantized.modules import *  # noqa: F403
from taeda.ao.nn.quantized.modules import __all__ as __all__
