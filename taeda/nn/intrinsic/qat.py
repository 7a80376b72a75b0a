"""The older home of `taeda.ao.nn.intrinsic.qat`."""

from taeda.ao.nn.intrinsic.qat import *  # noqa: F403
from taeda.ao.nn.intrinsic.qat import __all__ as __all__
