"""What makes models smaller and quicker: quantisation, and the numeric suite that looks for where it errs."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__all__ = ["nn", "ns", "quantization"]


if TYPE_CHECKING:
    from taeda.ao import nn as nn
    from taeda.ao import ns as ns
    from taeda.ao import quantization as quantization
else:

    def __getattr__(name: str) -> Any:
        if name in __all__:
            return importlib.import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
