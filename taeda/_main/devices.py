"""What kinds of device there are."""

from __future__ import annotations

import warnings
from typing import Any

from taeda.types import Device


class AcceleratorError(RuntimeError):
    """What a device beside the CPU reports to have gone wrong."""

    error_code: int = 0


def is_vulkan_available() -> bool:
    """Whether there is a Vulkan device: no."""
    return False


def get_device_module(device: Device = None) -> Any:
    """The module ``taeda.<type>`` of a device, by default of the accelerator, or of the CPU if there is none.

    Raises:
        RuntimeError: there is no such module.
    """
    import taeda

    if device is None:
        device = taeda.accelerator.current_accelerator() or "cpu"
    kind = device.type if isinstance(device, taeda.device) else str(device)
    module = getattr(taeda, kind, None) if kind.isidentifier() else None
    if not hasattr(module, "is_available"):
        raise RuntimeError(f"taeda.get_device_module: there is no module taeda.{kind} for the device")
    return module


def old_question(name: str) -> bool:
    """What ``has_cuda`` and its kin were before `taeda.backends`."""
    from importlib import import_module

    module = import_module(f"taeda.backends.{name.removeprefix('has_')}")
    ask = module.is_built if name in ("has_cuda", "has_mps") else module.is_available
    warnings.warn(f"taeda.{name}: ask {ask.__module__}.{ask.__name__}()", UserWarning, stacklevel=3)
    return bool(ask())
