"""The older home of `taeda.ao.quantization.fuse_modules`."""

from taeda.ao.quantization.fuse_modules import *  # noqa: F403
