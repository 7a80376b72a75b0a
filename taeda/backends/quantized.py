"""The kernels of quantised ops, by the names that programs choose among: here all stand for one set."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

__all__ = ["supported_engines"]

supported_engines = ["qnnpack", "onednn", "x86", "fbgemm"]
_chosen = "x86"
if TYPE_CHECKING:
    engine: str


class _Switch(ModuleType):
    """``engine`` keeps what a program chose. Kernels are the same for all; ranges of observed values follow it."""

    @property
    def engine(self) -> str:
        """The name that was chosen last; ``x86`` at first."""
        return _chosen

    @engine.setter
    def engine(self, name: str) -> None:
        if name not in (*supported_engines, "none"):
            raise RuntimeError(
                f"taeda.backends.quantized.engine: must be one of {', '.join(supported_engines)}; got {name!r}"
            )
        globals()["_chosen"] = name


sys.modules[__name__].__class__ = _Switch
