"""The layout of convolutions' weights."""

from __future__ import annotations

from typing import TypeVar

import taeda
from taeda.nn.modules.module import Module

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]

_M = TypeVar("_M", bound=Module)


def _convert(module: _M, memory_format: taeda.memory_format, names: tuple[str, ...]) -> _M:
    from taeda import nn

    kinds = tuple(getattr(nn, name) for name in names)
    for part in module.modules():
        if isinstance(part, kinds):
            weight = part.weight
            weight.data = weight.detach().clone(memory_format=memory_format)
    return module


def convert_conv2d_weight_memory_format(module: _M, memory_format: taeda.memory_format) -> _M:
    """Lays out the weights of all `Conv2d` and `ConvTranspose2d` in the module anew; returns it."""
    return _convert(module, memory_format, ("Conv2d", "ConvTranspose2d"))


def convert_conv3d_weight_memory_format(module: _M, memory_format: taeda.memory_format) -> _M:
    """Lays out the weights of all `Conv3d` and `ConvTranspose3d` in the module anew; returns it."""
    return _convert(module, memory_format, ("Conv3d", "ConvTranspose3d"))
