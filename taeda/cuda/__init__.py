"""CUDA devices. This build has none: the questions are answered truthfully, and asking for one raises."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from taeda._C import OutOfMemoryError as OutOfMemoryError
from taeda._main.absent_devices import DeviceContext, DeviceOfContext, NoStream
from taeda._main.absent_devices import device_count as device_count
from taeda._main.absent_devices import get_arch_list as get_arch_list
from taeda._main.absent_devices import get_gencode_flags as get_gencode_flags
from taeda._main.absent_devices import is_available as is_available
from taeda._main.absent_devices import is_bf16_supported as is_bf16_supported
from taeda._main.absent_devices import is_initialized as is_initialized
from taeda._main.absent_devices import is_tf32_supported as is_tf32_supported
from taeda._main.devices import AcceleratorError as AcceleratorError
from taeda.cuda._absent import absent as _absent
from taeda.cuda.graphs import CUDAGraph as CUDAGraph
from taeda.cuda.graphs import graph as graph
from taeda.cuda.graphs import graph_pool_handle as graph_pool_handle
from taeda.cuda.graphs import is_current_stream_capturing as is_current_stream_capturing
from taeda.cuda.graphs import make_graphed_callables as make_graphed_callables
from taeda.cuda.memory import CUDAPluggableAllocator as CUDAPluggableAllocator
from taeda.cuda.memory import MemPool as MemPool
from taeda.cuda.memory import caching_allocator_alloc as caching_allocator_alloc
from taeda.cuda.memory import caching_allocator_delete as caching_allocator_delete
from taeda.cuda.memory import caching_allocator_disabled as caching_allocator_disabled
from taeda.cuda.memory import caching_allocator_enable as caching_allocator_enable
from taeda.cuda.memory import change_current_allocator as change_current_allocator
from taeda.cuda.memory import empty_cache as empty_cache
from taeda.cuda.memory import get_allocator_backend as get_allocator_backend
from taeda.cuda.memory import get_per_process_memory_fraction as get_per_process_memory_fraction
from taeda.cuda.memory import host_memory_stats as host_memory_stats
from taeda.cuda.memory import host_memory_stats_as_nested_dict as host_memory_stats_as_nested_dict
from taeda.cuda.memory import list_gpu_processes as list_gpu_processes
from taeda.cuda.memory import max_memory_allocated as max_memory_allocated
from taeda.cuda.memory import max_memory_cached as max_memory_cached
from taeda.cuda.memory import max_memory_reserved as max_memory_reserved
from taeda.cuda.memory import mem_get_info as mem_get_info
from taeda.cuda.memory import memory_allocated as memory_allocated
from taeda.cuda.memory import memory_cached as memory_cached
from taeda.cuda.memory import memory_reserved as memory_reserved
from taeda.cuda.memory import memory_snapshot as memory_snapshot
from taeda.cuda.memory import memory_stats as memory_stats
from taeda.cuda.memory import memory_stats_as_nested_dict as memory_stats_as_nested_dict
from taeda.cuda.memory import memory_summary as memory_summary
from taeda.cuda.memory import reset_accumulated_host_memory_stats as reset_accumulated_host_memory_stats
from taeda.cuda.memory import reset_accumulated_memory_stats as reset_accumulated_memory_stats
from taeda.cuda.memory import reset_max_memory_allocated as reset_max_memory_allocated
from taeda.cuda.memory import reset_max_memory_cached as reset_max_memory_cached
from taeda.cuda.memory import reset_peak_host_memory_stats as reset_peak_host_memory_stats
from taeda.cuda.memory import reset_peak_memory_stats as reset_peak_memory_stats
from taeda.cuda.memory import set_per_process_memory_fraction as set_per_process_memory_fraction
from taeda.cuda.memory import use_mem_pool as use_mem_pool
from taeda.cuda.random import get_rng_state as get_rng_state
from taeda.cuda.random import get_rng_state_all as get_rng_state_all
from taeda.cuda.random import initial_seed as initial_seed
from taeda.cuda.random import manual_seed as manual_seed
from taeda.cuda.random import manual_seed_all as manual_seed_all
from taeda.cuda.random import seed as seed
from taeda.cuda.random import seed_all as seed_all
from taeda.cuda.random import set_rng_state as set_rng_state
from taeda.cuda.random import set_rng_state_all as set_rng_state_all
from taeda.cuda.streams import Event as Event
from taeda.cuda.streams import ExternalStream as ExternalStream
from taeda.cuda.streams import Stream as Stream

_initialized = False  # programs look at it before they ask for the generators' states
has_half, has_magma = True, False
default_generators: tuple[Any, ...] = ()

# --- what needs a device

init = _absent.init
synchronize = _absent.synchronize
current_device = _absent.current_device
set_device = _absent.set_device
get_device_name = _absent.get_device_name
get_device_capability = _absent.get_device_capability
get_device_properties = _absent.get_device_properties
can_device_access_peer = _absent.can_device_access_peer
current_stream = _absent.current_stream
default_stream = _absent.default_stream
set_stream = _absent.set_stream
get_stream_from_external = _absent.get_stream_from_external
utilization = _absent.utilization
memory_usage = _absent.memory_usage
device_memory_used = _absent.device_memory_used
temperature = _absent.temperature
power_draw = _absent.power_draw
clock_rate = _absent.clock_rate


def ipc_collect() -> None:
    """Frees memory that other processes have released."""
    _absent.refuse("ipc_collect")


def cudart() -> Any:
    """The CUDA runtime's functions."""
    return _absent.refuse("cudart")


def current_blas_handle() -> int:
    """The address of the handle of cuBLAS."""
    return _absent.refuse("current_blas_handle")


def get_sync_debug_mode() -> int:
    """What is done when a call waits for a device."""
    return _absent.refuse("get_sync_debug_mode")


def set_sync_debug_mode(debug_mode: int | str) -> None:
    """Sets what is done when a call waits for a device."""
    _absent.refuse("set_sync_debug_mode")


class CudaError(RuntimeError):
    """An error of the CUDA runtime."""


class DeferredCudaCallError(Exception):
    """What was asked for before there was a device has failed."""


# --- contexts, which programs also open without a device


class device(DeviceContext):
    """A context in which another device is the current one; a negative index, or None, changes nothing.

    Raises:
        RuntimeError: on entry, for any other device.
    """


class device_of(DeviceOfContext):
    """A context in which the device of a tensor is the current one; tensors elsewhere change nothing."""


class StreamContext(NoStream):
    """A context in which calls go to a stream; with None, as they go anyway.

    Raises:
        AssertionError: the stream is not None.
    """


def stream(stream: Any) -> StreamContext:
    """`StreamContext` of a stream."""
    return StreamContext(stream)


if TYPE_CHECKING:
    from taeda._tensor.old_types import TensorType
    from taeda.cuda import amp as amp
    from taeda.cuda import comm as comm
    from taeda.cuda import nccl as nccl
    from taeda.cuda import nvtx as nvtx
    from taeda.cuda import profiler as profiler
    from taeda.types import Device as Device

    BFloat16Tensor: TensorType
    BoolTensor: TensorType
    ByteTensor: TensorType
    CharTensor: TensorType
    DoubleTensor: TensorType
    FloatTensor: TensorType
    HalfTensor: TensorType
    IntTensor: TensorType
    LongTensor: TensorType
    ShortTensor: TensorType
else:

    def __getattr__(name: str) -> Any:
        if name in ("amp", "comm", "nccl", "nvtx", "profiler"):
            import importlib

            return importlib.import_module(f"taeda.cuda.{name}")
        if name.endswith("Tensor") and name in _tensor_types():
            from taeda._tensor.old_types import make

            globals()[name] = made = make(name, "cuda")
            return made
        if name.endswith("Storage"):
            from taeda import storage

            globals()[name] = kind = storage._absent_on_cuda(name)
            return kind
        raise AttributeError(f"module 'taeda.cuda' has no attribute '{name}'")


def _tensor_types() -> tuple[str, ...]:
    from taeda._tensor import old_types

    return old_types.__all__
