"""Modules for models that are to be quantised."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__all__ = ["intrinsic", "qat", "quantizable", "quantized"]


if TYPE_CHECKING:
    from taeda.ao.nn import intrinsic as intrinsic
    from taeda.ao.nn import qat as qat
    from taeda.ao.nn import quantizable as quantizable
    from taeda.ao.nn import quantized as quantized
else:

    def __getattr__(name: str) -> Any:
        if name in __all__:
            return importlib.import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
