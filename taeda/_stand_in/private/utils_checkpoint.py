"""What checkpointing that follows PyTorch's asks."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

__all__ = ["_get_autocast_kwargs", "_get_device_module", "_infer_device_type"]


def _get_autocast_kwargs(device_type: str = "cuda") -> tuple[dict[str, Any], dict[str, Any]]:
    """The settings of autocast on a device and on the CPU, as arguments."""
    device, cpu = (
        {
            "enabled": taeda.is_autocast_enabled(kind),
            "dtype": taeda.get_autocast_dtype(kind),
            "cache_enabled": taeda.is_autocast_cache_enabled(),
        }
        for kind in (device_type, "cpu")
    )
    return device, cpu


def _infer_device_type(*args: Any) -> str:
    """Where the tensors among ``args`` are that are not on the CPU; cpu if all are, cuda without any."""
    kinds = [arg.device.type for arg in args if isinstance(arg, Tensor)]
    return next((kind for kind in kinds if kind != "cpu"), "cpu" if kinds else "cuda")


def _get_device_module(device: str = "cuda") -> Any:
    """taeda.cuda and its kin."""
    return taeda if device == "meta" else getattr(taeda, device)
