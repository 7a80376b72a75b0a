"""What ``taeda.cpu.amp`` and ``taeda.cuda.amp`` have in common: PyTorch's old names, bound to a device type."""

from __future__ import annotations

import warnings
from typing import Any

from taeda.amp.autocast_mode import autocast
from taeda.amp.grad_scaler import GradScaler
from taeda.types import _dtype


def advise(device_type: str, name: str) -> None:
    """Warns at the call of an old name."""
    old, new = f"taeda.{device_type}.amp.{name}", f"taeda.amp.{name}"
    warnings.warn(f"{old} is deprecated; use {new} with '{device_type}'", FutureWarning, stacklevel=3)


class OldAutocast(autocast):
    """``taeda.amp.autocast`` on a device type and with a dtype of its own."""

    _device_type: str
    _dtype: Any

    def __init__(self, enabled: bool = True, dtype: _dtype | None = None, cache_enabled: bool = True) -> None:
        advise(self._device_type, "autocast")
        super().__init__(self._device_type, dtype or self._dtype, enabled, cache_enabled)


class OldGradScaler(GradScaler):
    """``taeda.amp.GradScaler`` on a device type of its own."""

    _device_type: str

    def __init__(
        self,
        init_scale: float = 65536.0,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        advise(self._device_type, "GradScaler")
        super().__init__(self._device_type, init_scale, growth_factor, backoff_factor, growth_interval, enabled)
