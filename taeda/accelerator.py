"""The device beside the CPU, whichever it is: one that this build has a backend for, a backend of one's own that has a
module, or none."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import taeda
from taeda import _C
from taeda._main.absent_devices import BUILT
from taeda.types import Device

__all__ = [
    "current_accelerator",
    "current_device_idx",
    "current_device_index",
    "current_stream",
    "device_count",
    "device_index",
    "empty_cache",
    "empty_host_cache",
    "get_device_capability",
    "get_memory_info",
    "is_available",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_accumulated_memory_stats",
    "reset_peak_memory_stats",
    "set_device_idx",
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


current_device_idx, set_device_idx = current_device_index, set_device_index  # their older names


@contextlib.contextmanager
def device_index(device: int | None, /) -> Iterator[None]:
    """A context in which the accelerator of that index is the current one; None changes nothing."""
    if device is None:
        yield
        return
    before = current_device_index()
    set_device_index(device)
    try:
        yield
    finally:
        set_device_index(before)


def get_device_capability(device: Device = None, /) -> dict[str, Any]:
    """What an accelerator can do; RuntimeError without one."""
    return _needed("get_device_capability").get_device_capability(device)


# --- memory


def empty_cache() -> None:
    """Gives unused memory of the accelerator back; RuntimeError without one."""
    _needed("empty_cache").empty_cache()


def empty_host_cache() -> None:
    """Gives unused pinned memory back; RuntimeError without an accelerator."""
    _needed("empty_host_cache").empty_host_cache()


def get_memory_info(device_index: Device = None, /) -> tuple[int, int]:
    """The free and the total bytes of an accelerator; RuntimeError without one."""
    return _needed("get_memory_info").mem_get_info(device_index)


def memory_allocated(device_index: Device = None, /) -> int:
    """The bytes in live tensors of an accelerator; RuntimeError without one."""
    return _needed("memory_allocated").memory_allocated(device_index)


def max_memory_allocated(device_index: Device = None, /) -> int:
    """The most bytes that were in live tensors; RuntimeError without an accelerator."""
    return _needed("max_memory_allocated").max_memory_allocated(device_index)


def memory_reserved(device_index: Device = None, /) -> int:
    """The bytes taken from an accelerator; RuntimeError without one."""
    return _needed("memory_reserved").memory_reserved(device_index)


def max_memory_reserved(device_index: Device = None, /) -> int:
    """The most bytes that were taken from an accelerator; RuntimeError without one."""
    return _needed("max_memory_reserved").max_memory_reserved(device_index)


def memory_stats(device_index: Device = None, /) -> dict[str, Any]:
    """The counts of the accelerator's allocator; RuntimeError without one."""
    return _needed("memory_stats").memory_stats(device_index)


def reset_accumulated_memory_stats(device_index: Device = None, /) -> None:
    """Starts the sums among the counts anew; RuntimeError without an accelerator."""
    _needed("reset_accumulated_memory_stats").reset_accumulated_memory_stats(device_index)


def reset_peak_memory_stats(device_index: Device = None, /) -> None:
    """Starts the maxima among the counts anew; RuntimeError without an accelerator."""
    _needed("reset_peak_memory_stats").reset_peak_memory_stats(device_index)


# --- streams


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
