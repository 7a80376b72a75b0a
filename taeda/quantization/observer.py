"""The older home of `taeda.ao.quantization.observer`."""

from taeda.ao.quantization.observer import *  # noqa: F403
