"""Intel's GPUs, for which this build has no backend."""

from __future__ import annotations

from typing import Any

from taeda._main.absent_devices import (
    Absent,
    DeviceContext,
    DeviceOfContext,
    NeedsDevice,
    NoStream,
    device_count,
    empty_cache,
    get_arch_list,
    get_gencode_flags,
    get_rng_state_all,
    is_available,
    is_bf16_supported,
    is_current_stream_capturing,
    is_initialized,
    is_tf32_supported,
    manual_seed,
    manual_seed_all,
    max_memory_allocated,
    max_memory_reserved,
    memory_allocated,
    memory_reserved,
    memory_snapshot,
    memory_stats,
    memory_stats_as_nested_dict,
    reset_accumulated_memory_stats,
    reset_peak_memory_stats,
    seed,
    seed_all,
)

__all__ = [
    "Event",
    "MemPool",
    "Stream",
    "StreamContext",
    "XPUGraph",
    "can_device_access_peer",
    "clock_rate",
    "current_device",
    "current_stream",
    "device",
    "device_count",
    "device_memory_used",
    "device_of",
    "empty_cache",
    "get_arch_list",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_gencode_flags",
    "get_per_process_memory_fraction",
    "get_rng_state",
    "get_rng_state_all",
    "get_stream_from_external",
    "graph_pool_handle",
    "init",
    "initial_seed",
    "is_available",
    "is_bf16_supported",
    "is_current_stream_capturing",
    "is_initialized",
    "is_tf32_supported",
    "make_graphed_callables",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_reserved",
    "memory_snapshot",
    "memory_stats",
    "memory_stats_as_nested_dict",
    "memory_usage",
    "power_draw",
    "reset_accumulated_memory_stats",
    "reset_peak_memory_stats",
    "seed",
    "seed_all",
    "set_device",
    "set_per_process_memory_fraction",
    "set_rng_state",
    "set_rng_state_all",
    "set_stream",
    "stream",
    "synchronize",
    "temperature",
    "utilization",
]

_absent = Absent("xpu")
init = _absent.init
synchronize = _absent.synchronize
current_device = _absent.current_device
set_device = _absent.set_device
get_device_name = _absent.get_device_name
get_device_capability = _absent.get_device_capability
get_device_properties = _absent.get_device_properties
can_device_access_peer = _absent.can_device_access_peer
mem_get_info = _absent.mem_get_info
get_per_process_memory_fraction = _absent.get_per_process_memory_fraction
set_per_process_memory_fraction = _absent.set_per_process_memory_fraction
initial_seed = _absent.initial_seed
get_rng_state = _absent.get_rng_state
set_rng_state = _absent.set_rng_state
set_rng_state_all = _absent.set_rng_state_all
current_stream = _absent.current_stream
set_stream = _absent.set_stream
get_stream_from_external = _absent.get_stream_from_external
graph_pool_handle = _absent.graph_pool_handle
make_graphed_callables = _absent.make_graphed_callables
utilization = _absent.utilization
memory_usage = _absent.memory_usage
device_memory_used = _absent.device_memory_used
temperature = _absent.temperature
power_draw = _absent.power_draw
clock_rate = _absent.clock_rate


class Event(NeedsDevice):
    """A mark in a stream."""


class Stream(NeedsDevice):
    """A queue of work for a device."""


class XPUGraph(NeedsDevice):
    """Recorded work that runs again at once."""


class MemPool(NeedsDevice):
    """Memory that is kept apart."""


class device(DeviceContext):
    """A context in which another device is the current one."""


class device_of(DeviceOfContext):
    """A context in which the device of a tensor is the current one."""


class StreamContext(NoStream):
    """A context in which calls go to a stream."""


def stream(stream: Any) -> StreamContext:
    """`StreamContext` of a stream."""
    return StreamContext(stream)
