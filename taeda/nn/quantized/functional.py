"""The older home of `taeda.ao.nn.quantized.functional`."""

from taeda.ao.nn.quantized.functional import *  # noqa: F403
