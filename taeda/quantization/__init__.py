"""The older home of `taeda.ao.quantization`."""

from taeda.ao.quantization import *  # noqa: F403
from taeda.ao.quantization import __all__ as __all__
from taeda.ao.quantization import fuse_known_modules as fuse_known_modules
