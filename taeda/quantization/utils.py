"""The older home of `taeda.ao.quantization.utils`."""

from taeda.ao.quantization.utils import *  # noqa: F403
