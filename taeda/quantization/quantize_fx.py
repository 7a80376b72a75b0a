"""The older home of `taeda.ao.quantization.quantize_fx`."""

from taeda.ao.quantization.quantize_fx import *  # noqa: F403
