"""Apple's GPUs, for which this build has no backend."""

from taeda._main.absent_devices import (
    device_count,
    is_available,
    manual_seed,
)

__all__ = [
    "device_count",
    "is_available",
    "manual_seed",
]
