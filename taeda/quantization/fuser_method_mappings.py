"""The older home of `taeda.ao.quantization.fuser_method_mappings`."""

from taeda.ao.quantization.fuser_method_mappings import *  # noqa: F403
