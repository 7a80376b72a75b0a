"""The older home of `taeda.ao.quantization.fake_quantize`."""

from taeda.ao.quantization.fake_quantize import *  # noqa: F403
