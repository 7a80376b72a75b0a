"""The older home of `taeda.ao.quantization.quantization_mappings`."""

from taeda.ao.quantization.quantization_mappings import *  # noqa: F403
