"""Modules with quantised weights that quantise their inputs on the fly."""

from taeda.ao.nn.quantized.dynamic.modules import *  # noqa: F403
from taeda.ao.nn.quantized.dynamic.modules import __all__ as __all__
