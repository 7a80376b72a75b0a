"""The older home of `taeda.ao.nn.intrinsic`."""

from taeda.ao.nn.intrinsic import *  # noqa: F403
from taeda.ao.nn.intrinsic import __all__ as __all__
from taeda.nn.intrinsic import modules as modules
from taeda.nn.intrinsic import qat as qat
from taeda.nn.intrinsic import quantized as quantized
