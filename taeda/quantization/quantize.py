"""The older home of `taeda.ao.quantization.quantize`."""

from taeda.ao.quantization.quantize import *  # noqa: F403
