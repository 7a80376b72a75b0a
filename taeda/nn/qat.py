"""The older home of `taeda.ao.nn.qat`."""

from taeda.ao.nn import qat
from taeda.ao.nn.qat import *  # noqa: F403
from taeda.ao.nn.qat import __all__ as __all__
from taeda.nn._older_homes import stand_for

stand_for(__name__, qat)
