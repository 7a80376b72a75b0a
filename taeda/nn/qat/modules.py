"""The older home of `taeda.ao.nn.qat.modules`."""

from taeda.ao.nn.qat.modules import *  # noqa: F403
from taeda.ao.nn.qat.modules import __all__ as __all__
