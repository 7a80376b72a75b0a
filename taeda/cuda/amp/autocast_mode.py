"""The old names of automatic casts on CUDA."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda import amp
from taeda.amp import _old_names

__all__ = ["autocast", "custom_bwd", "custom_fwd"]


class autocast(_old_names.OldAutocast):
    """``taeda.amp.autocast("cuda", ...)``, with float16 unless told."""

    _device_type, _dtype = "cuda", taeda.float16


def custom_fwd(fwd: Callable[..., Any] | None = None, *, cast_inputs: Any = None) -> Callable[..., Any]:
    """``taeda.amp.custom_fwd(..., device_type="cuda")``."""
    _old_names.advise("cuda", "custom_fwd")
    return amp.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """``taeda.amp.custom_bwd(..., device_type="cuda")``."""
    _old_names.advise("cuda", "custom_bwd")
    return amp.custom_bwd(bwd, device_type="cuda")
