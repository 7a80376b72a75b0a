"""The older home of `taeda.ao.quantization.qconfig`."""

from taeda.ao.quantization.qconfig import *  # noqa: F403
