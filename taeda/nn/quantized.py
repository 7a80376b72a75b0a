"""The older home of `taeda.ao.nn.quantized`."""

from taeda.ao.nn import quantized
from taeda.ao.nn.quantized import *  # noqa: F403
from taeda.ao.nn.quantized import __all__ as __all__
from taeda.nn._older_homes import stand_for

stand_for(__name__, quantized)
