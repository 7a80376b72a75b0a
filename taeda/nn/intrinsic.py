"""The older home of `taeda.ao.nn.intrinsic`."""

from taeda.ao.nn.intrinsic import *  # noqa: F403
from taeda.ao.nn.intrinsic import __all__ as __all__
