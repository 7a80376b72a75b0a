"""The old name of gradient scaling on CUDA."""

from __future__ import annotations

from taeda.amp import _old_names
from taeda.amp.grad_scaler import OptState as OptState

__all__ = ["GradScaler", "OptState"]


class GradScaler(_old_names.OldGradScaler):
    """``taeda.amp.GradScaler("cuda", ...)``."""

    _device_type = "cuda"
