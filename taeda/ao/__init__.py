"""What makes models smaller and quicker: quantisation, the numeric suite that looks for where it errs, pruning."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__all__ = ["nn", "ns", "pruning", "quantization"]


if TYPE_CHECKING:
    from taeda.ao import nn as nn
    from taeda.ao import ns as ns
    from taeda.ao import pruning as pruning
    from taeda.ao import quantization as quantization
else:

    def __getattr__(name: str) -> Any:
        if name in __all__:
            return importlib.import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
