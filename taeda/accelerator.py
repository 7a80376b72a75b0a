"""The device beside the CPU, whichever it is: one that this build has a backend for, a backend of one's own that has a
module, or none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import taeda
from taeda import _C
from taeda._main.absent_devices import BUILT

if TYPE_CHECKING:
    from taeda.types import Device

__all__ = [
    "current_accelerator",
    "current_device_index",
    "current_stream",
    "device_count",
    "is_available",
    "set_device_index",
    "set_stream",
    "synchronize",
]


def _kind() -> str | None:
    """The first kind of accelerator that has devices, else the first that has a backend, else None."""
    kinds = [kind for kind, built in BUILT.items() if built]
    own = _C._get_privateuse1_backend_name()
    if hasattr(taeda, own):
        kinds.append(own)
    return next((kind for kind in kinds if getattr(taeda, kind).device_count()), kinds[0] if kinds else None)


def _module() -> Any:
    """The module of the accelerator, or None."""
    kind = _kind()
    return None if kind is None else getattr(taeda, kind)


def device_count() -> int:
    """The number of accelerators."""
    module = _module()
    return module.device_count() if module is not None else 0


def is_available() -> bool:
    """Whether there is an accelerator that can be used."""
    return device_count() > 0


def current_accelerator(check_available: bool = False) -> taeda.device | None:
    """The kind of accelerator, as a device without an index; None if there is none.

    Args:
        check_available: give None also where the backend is there and a device is not.
    """
    kind = _kind()
    return None if kind is None or (check_available and not is_available()) else taeda.device(kind)


def current_device_index() -> int:
    """The index of the current accelerator; RuntimeError without one."""
    return _needed("current_device_index").current_device()


def set_device_index(device: Any) -> None:
    """Makes an accelerator, given by index or device, the current one; RuntimeError without one."""
    _needed("set_device_index").set_device(device if isinstance(device, int) else taeda.device(device).index)


def current_stream(device: Device = None) -> Any:
    """The stream that the accelerator's calls go to; RuntimeError without one."""
    return _needed("current_stream").current_stream(device)


def set_stream(stream: Any) -> None:
    """Sets the stream that the accelerator's calls go to; RuntimeError without one."""
    _needed("set_stream").set_stream(stream)


def synchronize(device: Device = None) -> None:
    """Waits until the accelerator has done all it was given; RuntimeError without one."""
    _needed("synchronize").synchronize(device)


def _needed(name: str) -> Any:
    module = _module()
    if module is None:
        raise RuntimeError(f"taeda.accelerator.{name}: there is no accelerator; is_available() tells")
    return module
