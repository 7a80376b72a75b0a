"""CUDA devices. This build has none: the questions are answered truthfully, and asking for one raises."""

from __future__ import annotations

from typing import Any


def is_available() -> bool:
    """Whether a CUDA device can be used: no."""
    return False


def is_initialized() -> bool:
    """Whether the CUDA runtime was started: no."""
    return False


def device_count() -> int:
    """The number of CUDA devices: 0."""
    return 0


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether a device computes in bfloat16: there is none."""
    return False


def empty_cache() -> None:
    """Nothing: no CUDA memory is held."""


def synchronize(device: Any = None) -> None:
    """Waits for a device: there is none to wait for."""
    _fail("synchronize")


def current_device() -> int:
    """The index of the current device."""
    return _fail("current_device")


def get_device_name(device: Any = None) -> str:
    """The name of a device."""
    return _fail("get_device_name")


def manual_seed(seed: int) -> None:
    """Seeds the current device's generator, of which there is none."""


def manual_seed_all(seed: int) -> None:
    """Seeds all devices' generators, of which there are none."""


def _fail(name: str) -> Any:
    raise AssertionError(f"taeda.cuda.{name}: this build of Taeda has no CUDA; check taeda.cuda.is_available() first")
