"""The older home of `taeda.ao.nn.quantizable`."""

from taeda.ao.nn import quantizable
from taeda.ao.nn.quantizable import *  # noqa: F403
from taeda.ao.nn.quantizable import __all__ as __all__
from taeda.nn._older_homes import stand_for

stand_for(__name__, quantizable)
