"""The older home of `taeda.ao.quantization.qconfig_mapping`."""

from taeda.ao.quantization.qconfig_mapping import *  # noqa: F403
