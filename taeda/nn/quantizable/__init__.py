"""The older home of `taeda.ao.nn.quantizable`."""

from taeda.ao.nn.quantizable import *  # noqa: F403
from taeda.ao.nn.quantizable import __all__ as __all__
from taeda.nn.quantizable import modules as modules
