"""The older home of `taeda.ao.quantization.quant_type`."""

from taeda.ao.quantization.quant_type import *  # noqa: F403
