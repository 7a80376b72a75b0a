"""Autocast's switches under the names that have the device type in them."""

from __future__ import annotations

import taeda
from taeda import _C


def is_autocast_cpu_enabled() -> bool:
    """``is_autocast_enabled("cpu")``."""
    return _C.is_autocast_enabled("cpu")


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """``set_autocast_enabled("cpu", enabled)``."""
    _C.set_autocast_enabled("cpu", enabled)


def get_autocast_cpu_dtype() -> taeda.dtype:
    """``get_autocast_dtype("cpu")``."""
    return _C.get_autocast_dtype("cpu")


def set_autocast_cpu_dtype(dtype: taeda.dtype) -> None:
    """``set_autocast_dtype("cpu", dtype)``."""
    _C.set_autocast_dtype("cpu", dtype)


def get_autocast_gpu_dtype() -> taeda.dtype:
    """``get_autocast_dtype("cuda")``."""
    return _C.get_autocast_dtype("cuda")


def set_autocast_gpu_dtype(dtype: taeda.dtype) -> None:
    """``set_autocast_dtype("cuda", dtype)``."""
    _C.set_autocast_dtype("cuda", dtype)
