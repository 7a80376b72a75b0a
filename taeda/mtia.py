"""Meta's accelerators, for which this build has no backend."""

from taeda._main.absent_devices import (
    device_count,
    is_available,
    is_initialized,
    manual_seed,
    manual_seed_all,
    max_memory_allocated,
    memory_allocated,
    memory_stats,
    seed,
    seed_all,
)

__all__ = [
    "device_count",
    "is_available",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "memory_allocated",
    "memory_stats",
    "seed",
    "seed_all",
]
