"""The older home of `taeda.ao.nn.quantized`."""

from taeda.ao.nn.quantized import *  # noqa: F403
from taeda.ao.nn.quantized import __all__ as __all__
from taeda.nn.quantized import dynamic as dynamic
from taeda.nn.quantized import functional as functional
from taeda.nn.quantized import modules as modules
