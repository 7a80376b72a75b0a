"""The older home of `taeda.ao.nn.intrinsic`."""

from taeda.ao.nn import intrinsic
from taeda.ao.nn.intrinsic import *  # noqa: F403
from taeda.ao.nn.intrinsic import __all__ as __all__
from taeda.ao.nn.intrinsic.quantized import dynamic as dynamic
from taeda.nn._older_homes import stand_for

stand_for(__name__, intrinsic)
