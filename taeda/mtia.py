"""Meta's accelerators, for which this build has no backend."""

from __future__ import annotations

from typing import Any

from taeda._main.absent_devices import (
    Absent,
    DeviceContext,
    NeedsDevice,
    NoStream,
    device_count,
    get_rng_state_all,
    is_available,
    is_bf16_supported,
    is_initialized,
    manual_seed,
    manual_seed_all,
    max_memory_allocated,
    memory_allocated,
    memory_stats,
    reset_peak_memory_stats,
    seed,
    seed_all,
)

__all__ = [
    "Event",
    "MTIAGraph",
    "Stream",
    "StreamContext",
    "current_device",
    "current_stream",
    "default_stream",
    "device",
    "device_count",
    "empty_cache",
    "get_device_capability",
    "get_device_properties",
    "get_rng_state",
    "get_rng_state_all",
    "graph_pool_handle",
    "init",
    "initial_seed",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "memory_allocated",
    "memory_stats",
    "record_memory_history",
    "reset_peak_memory_stats",
    "seed",
    "seed_all",
    "set_device",
    "set_rng_state",
    "set_rng_state_all",
    "set_stream",
    "snapshot",
    "stream",
    "synchronize",
]

_absent = Absent("mtia", RuntimeError)
init = _absent.init
synchronize = _absent.synchronize
current_device = _absent.current_device
set_device = _absent.set_device
get_device_capability = _absent.get_device_capability
get_device_properties = _absent.get_device_properties
initial_seed = _absent.initial_seed
get_rng_state = _absent.get_rng_state
set_rng_state = _absent.set_rng_state
set_rng_state_all = _absent.set_rng_state_all
current_stream = _absent.current_stream
default_stream = _absent.default_stream
set_stream = _absent.set_stream
graph_pool_handle = _absent.graph_pool_handle


class Event(NeedsDevice):
    """A mark in a stream."""


class Stream(NeedsDevice):
    """A queue of work for a device."""


class MTIAGraph(NeedsDevice):
    """Recorded work that runs again at once."""


class device(DeviceContext):
    """A context in which another device is the current one."""


class StreamContext(NoStream):
    """A context in which calls go to a stream."""


def stream(stream: Any) -> StreamContext:
    """`StreamContext` of a stream."""
    return StreamContext(stream)


def empty_cache() -> None:
    """Gives memory back."""
    _absent.refuse("empty_cache")


def snapshot() -> dict[str, Any]:
    """What the allocator holds."""
    return _absent.refuse("snapshot")


def record_memory_history(enabled: str | None = "all", stacks: str = "python", max_entries: int = 0) -> None:
    """Nothing: no memory is held there."""
