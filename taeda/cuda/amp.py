"""The old names of mixed precision on CUDA; ``taeda.amp`` takes the device type as an argument."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import taeda
from taeda import amp

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]


def _advise(name: str) -> None:
    warnings.warn(f"taeda.cuda.amp.{name} is deprecated; use taeda.amp.{name} with 'cuda'", FutureWarning, stacklevel=3)


class autocast(amp.autocast):
    """``taeda.amp.autocast("cuda", ...)``."""

    def __init__(self, enabled: bool = True, dtype: Any = taeda.float16, cache_enabled: bool = True) -> None:
        _advise("autocast")
        super().__init__("cuda", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)


class GradScaler(amp.GradScaler):
    """``taeda.amp.GradScaler("cuda", ...)``."""

    def __init__(
        self,
        init_scale: float = 65536.0,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        _advise("GradScaler")
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)


def custom_fwd(fwd: Callable[..., Any] | None = None, *, cast_inputs: Any = None) -> Callable[..., Any]:
    """``taeda.amp.custom_fwd(..., device_type="cuda")``."""
    _advise("custom_fwd")
    return amp.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """``taeda.amp.custom_bwd(..., device_type="cuda")``."""
    _advise("custom_bwd")
    return amp.custom_bwd(bwd, device_type="cuda")
