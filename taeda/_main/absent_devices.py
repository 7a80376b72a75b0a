"""Devices that PyTorch has and this build has no backend for.

One answer serves for all of them: there are none, nothing is held there, nothing is to be seeded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from taeda.types import Device

# The kinds of accelerator, in the order in which `taeda.accelerator` asks: whether this build has a backend for it.
BUILT = {"cuda": False, "mtia": False, "xpu": False, "mps": False}


def is_available() -> bool:
    """Whether there is such a device: no."""
    return False


def is_initialized() -> bool:
    """Whether its runtime was started: no."""
    return False


def device_count() -> int:
    """The number of such devices: 0."""
    return 0


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether a device computes in bfloat16: there is none."""
    return False


def empty_cache() -> None:
    """Nothing: no memory is held there."""


def memory_allocated(device: Device = None) -> int:
    """The bytes in live tensors: 0."""
    return 0


def max_memory_allocated(device: Device = None) -> int:
    """The most bytes that were in live tensors: 0."""
    return 0


def memory_reserved(device: Device = None) -> int:
    """The bytes taken from the device: 0."""
    return 0


def max_memory_reserved(device: Device = None) -> int:
    """The most bytes that were taken from the device: 0."""
    return 0


def memory_stats(device: Device = None) -> dict[str, Any]:
    """The allocator's counts: none."""
    return {}


def reset_peak_memory_stats(device: Device = None) -> None:
    """Nothing: no memory was held there."""


def manual_seed(seed: int) -> None:
    """Seeds the current device's generator, of which there is none."""


def manual_seed_all(seed: int) -> None:
    """Seeds all devices' generators, of which there are none."""


def seed() -> None:
    """Seeds the current device's generator from the system's entropy; there is none."""


def seed_all() -> None:
    """Seeds all devices' generators from the system's entropy; there are none."""


def get_rng_state_all() -> list[Any]:
    """The states of all devices' generators: of none."""
    return []
