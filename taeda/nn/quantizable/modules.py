"""The older home of `taeda.ao.nn.quantizable.modules`."""

from taeda.ao.nn.quantizable.modules import *  # noqa: F403
from taeda.ao.nn.quantizable.modules import __all__ as __all__
