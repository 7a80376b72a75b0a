"""The older home of `taeda.ao.nn.intrinsic.modules`."""

from taeda.ao.nn.intrinsic.modules import *  # noqa: F403
from taeda.ao.nn.intrinsic.modules import __all__ as __all__
from taeda.ao.nn.intrinsic.modules import fused as fused
