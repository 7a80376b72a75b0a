"""Modules that compute with quantised tensors; and functions as modules, which in a float model compute in float."""

from __future__ import annotations

import importlib
from typing import Any

from taeda.ao.nn.quantized import functional as functional
from taeda.ao.nn.quantized import modules as modules
from taeda.ao.nn.quantized.modules import *  # noqa: F403
from taeda.ao.nn.quantized.modules import MaxPool2d as MaxPool2d
from taeda.ao.nn.quantized.modules import __all__ as _names

__all__ = [*_names, "MultiheadAttention"]  # noqa: F405


def __getattr__(name: str) -> Any:
    if name == "MultiheadAttention":  # its base asks for quantisation's stubs
        return importlib.import_module("taeda.ao.nn.quantized.modules._heads").MultiheadAttention
    if name in ("dynamic", "reference"):
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
