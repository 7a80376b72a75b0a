"""The older home of `taeda.ao.nn.qat`."""

from taeda.ao.nn.qat import *  # noqa: F403
from taeda.ao.nn.qat import __all__ as __all__
from taeda.nn.qat import dynamic as dynamic
from taeda.nn.qat import modules as modules
