"""The older home of `taeda.ao.quantization.stubs`."""

from taeda.ao.quantization.stubs import *  # noqa: F403
