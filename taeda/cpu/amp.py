"""The old names of mixed precision on the CPU; ``taeda.amp`` takes the device type as an argument."""

from __future__ import annotations

import warnings
from typing import Any

import taeda
from taeda import amp

__all__ = ["GradScaler", "autocast"]


def _advise(name: str) -> None:
    warnings.warn(f"taeda.cpu.amp.{name} is deprecated; use taeda.amp.{name} with 'cpu'", FutureWarning, stacklevel=3)


class autocast(amp.autocast):
    """``taeda.amp.autocast("cpu", ...)``."""

    def __init__(self, enabled: bool = True, dtype: Any = taeda.bfloat16, cache_enabled: bool = True) -> None:
        _advise("autocast")
        super().__init__("cpu", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)


class GradScaler(amp.GradScaler):
    """``taeda.amp.GradScaler("cpu", ...)``."""

    def __init__(
        self,
        init_scale: float = 65536.0,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        _advise("GradScaler")
        super().__init__("cpu", init_scale, growth_factor, backoff_factor, growth_interval, enabled)
