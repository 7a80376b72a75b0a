"""The memory of CUDA devices, of which there are none: nothing is held there, and nothing can be taken."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from taeda._main.absent_devices import (
    NeedsDevice,
    empty_cache,
    max_memory_allocated,
    max_memory_reserved,
    memory_allocated,
    memory_reserved,
    memory_snapshot,
    memory_stats,
    memory_stats_as_nested_dict,
    reset_accumulated_memory_stats,
    reset_peak_memory_stats,
)
from taeda.cuda._absent import absent
from taeda.types import Device

__all__ = [
    "CUDAPluggableAllocator",
    "MemPool",
    "caching_allocator_alloc",
    "caching_allocator_delete",
    "caching_allocator_disabled",
    "caching_allocator_enable",
    "change_current_allocator",
    "empty_cache",
    "get_allocator_backend",
    "get_per_process_memory_fraction",
    "host_memory_stats",
    "host_memory_stats_as_nested_dict",
    "list_gpu_processes",
    "max_memory_allocated",
    "max_memory_cached",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_cached",
    "memory_reserved",
    "memory_snapshot",
    "memory_stats",
    "memory_stats_as_nested_dict",
    "memory_summary",
    "reset_accumulated_host_memory_stats",
    "reset_accumulated_memory_stats",
    "reset_max_memory_allocated",
    "reset_max_memory_cached",
    "reset_peak_host_memory_stats",
    "reset_peak_memory_stats",
    "set_per_process_memory_fraction",
    "use_mem_pool",
]

mem_get_info = absent.mem_get_info
get_per_process_memory_fraction = absent.get_per_process_memory_fraction
set_per_process_memory_fraction = absent.set_per_process_memory_fraction
memory_cached, max_memory_cached = memory_reserved, max_memory_reserved
reset_max_memory_allocated = reset_max_memory_cached = reset_peak_memory_stats


class CUDAPluggableAllocator(NeedsDevice):
    """An allocator from a library of one's own."""


class MemPool(NeedsDevice):
    """Memory that is kept apart."""


def memory_summary(device: Device = None, abbreviated: bool = False) -> str:
    """The allocator's counts as a text to print."""
    return "taeda.cuda: this build has no CUDA, and no memory of a device is held"


def list_gpu_processes(device: Device = None) -> str:
    """The processes that use a device, as a text to print."""
    return "taeda.cuda: this build has no CUDA, and no device has processes"


def host_memory_stats() -> dict[str, Any]:
    """The counts of pinned memory's allocator: none."""
    return {}


host_memory_stats_as_nested_dict = host_memory_stats


def reset_accumulated_host_memory_stats() -> None:
    """Nothing: none was held."""


reset_peak_host_memory_stats = reset_accumulated_host_memory_stats


def caching_allocator_enable(value: bool = True) -> None:
    """Whether freed memory is kept for the next tensor; there is none."""


@contextlib.contextmanager
def caching_allocator_disabled() -> Iterator[None]:
    """A context in which it is not."""
    yield


def caching_allocator_alloc(size: int, device: Device = None, stream: Any = None) -> int:
    """Memory of ``size`` bytes."""
    return absent.refuse("caching_allocator_alloc")


def caching_allocator_delete(mem_ptr: int) -> None:
    """Gives back what `caching_allocator_alloc` gave."""
    absent.refuse("caching_allocator_delete")


def change_current_allocator(allocator: CUDAPluggableAllocator) -> None:
    """Has another allocator give the memory."""
    absent.refuse("change_current_allocator")


def get_allocator_backend() -> str:
    """Which allocator gives the memory."""
    return absent.refuse("get_allocator_backend")


def use_mem_pool(pool: MemPool, device: Device = None) -> Any:
    """A context in which memory comes from a pool."""
    return absent.refuse("use_mem_pool")
