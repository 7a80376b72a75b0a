"""Apple's GPUs, for which this build has no backend."""

from __future__ import annotations

from typing import Any

from taeda._main.absent_devices import (
    Absent,
    NeedsDevice,
    device_count,
    is_available,
    manual_seed,
)

__all__ = [
    "Event",
    "compile_shader",
    "current_allocated_memory",
    "device_count",
    "driver_allocated_memory",
    "empty_cache",
    "get_rng_state",
    "is_available",
    "manual_seed",
    "recommended_max_memory",
    "seed",
    "set_per_process_memory_fraction",
    "set_rng_state",
    "synchronize",
]

_absent = Absent("mps", RuntimeError)
synchronize = _absent.synchronize
set_per_process_memory_fraction = _absent.set_per_process_memory_fraction
get_rng_state = _absent.get_rng_state
set_rng_state = _absent.set_rng_state


class Event(NeedsDevice):
    """A mark in a stream."""


def current_allocated_memory() -> int:
    """The bytes in live tensors."""
    return _absent.refuse("current_allocated_memory")


def driver_allocated_memory() -> int:
    """The bytes taken from the system."""
    return _absent.refuse("driver_allocated_memory")


def recommended_max_memory() -> int:
    """The bytes that a process should take at most."""
    return _absent.refuse("recommended_max_memory")


def compile_shader(source: str) -> Any:
    """Functions of a shader in Metal."""
    return _absent.refuse("compile_shader")


def empty_cache() -> None:
    """Gives memory back."""
    _absent.refuse("empty_cache")


def seed() -> None:
    """Seeds the generator from the system's entropy."""
    _absent.refuse("seed")
