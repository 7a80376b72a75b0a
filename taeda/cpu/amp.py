"""The old names of mixed precision on the CPU; ``taeda.amp`` takes the device type as an argument."""

from __future__ import annotations

import taeda
from taeda.amp import _old_names

__all__ = ["GradScaler", "autocast"]


class autocast(_old_names.OldAutocast):
    """``taeda.amp.autocast("cpu", ...)``, with bfloat16 unless told."""

    _device_type, _dtype = "cpu", taeda.bfloat16


class GradScaler(_old_names.OldGradScaler):
    """``taeda.amp.GradScaler("cpu", ...)``."""

    _device_type = "cpu"
