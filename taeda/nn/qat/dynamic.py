"""The older home of `taeda.ao.nn.qat.dynamic`."""

from taeda.ao.nn.qat.dynamic import *  # noqa: F403
from taeda.ao.nn.qat.dynamic import __all__ as __all__
