"""CUDA devices. This build has none: the questions are answered truthfully, and asking for one raises."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from taeda._main.absent_devices import device_count as device_count
from taeda._main.absent_devices import empty_cache as empty_cache
from taeda._main.absent_devices import get_rng_state_all as get_rng_state_all
from taeda._main.absent_devices import is_available as is_available
from taeda._main.absent_devices import is_bf16_supported as is_bf16_supported
from taeda._main.absent_devices import is_initialized as is_initialized
from taeda._main.absent_devices import manual_seed as manual_seed
from taeda._main.absent_devices import manual_seed_all as manual_seed_all
from taeda._main.absent_devices import max_memory_allocated as max_memory_allocated
from taeda._main.absent_devices import max_memory_reserved as max_memory_reserved
from taeda._main.absent_devices import memory_allocated as memory_allocated
from taeda._main.absent_devices import memory_reserved as memory_reserved
from taeda._main.absent_devices import memory_stats as memory_stats
from taeda._main.absent_devices import reset_peak_memory_stats as reset_peak_memory_stats
from taeda._main.absent_devices import seed as seed
from taeda._main.absent_devices import seed_all as seed_all

# --- what there is

_initialized = False  # programs look at it before they ask for the generators' states


def is_tf32_supported() -> bool:
    """Whether a device computes in TensorFloat-32: there is none."""
    return False


def get_arch_list() -> list[str]:
    """The architectures that this build has kernels for: none."""
    return []


def get_gencode_flags() -> str:
    """The compiler's flags for those architectures: none."""
    return ""


def is_current_stream_capturing() -> bool:
    """Whether a graph is being recorded: no."""
    return False


def set_rng_state_all(new_states: Any) -> None:
    """Continues all devices' generators from their states."""
    for i, _ in enumerate(new_states):
        _fail(f"set_rng_state_all for device {i}")


# --- what needs a device


def _fail(name: str) -> Any:
    raise AssertionError(f"taeda.cuda.{name}: this build of Taeda has no CUDA; check taeda.cuda.is_available() first")


def init() -> None:
    """Starts the CUDA runtime."""
    _fail("init")


def synchronize(device: Device = None) -> None:
    """Waits for a device."""
    _fail("synchronize")


def current_device() -> int:
    """The index of the current device."""
    return _fail("current_device")


def set_device(device: Any) -> None:
    """Makes a device the current one; a negative index changes nothing."""
    if not (isinstance(device, int) and device < 0):
        _fail("set_device")


def get_device_name(device: Device = None) -> str:
    """The name of a device."""
    return _fail("get_device_name")


def get_device_capability(device: Device = None) -> tuple[int, int]:
    """The compute capability of a device."""
    return _fail("get_device_capability")


def get_device_properties(device: Device = None) -> Any:
    """The properties of a device."""
    return _fail("get_device_properties")


def mem_get_info(device: Device = None) -> tuple[int, int]:
    """The free and the total bytes of a device."""
    return _fail("mem_get_info")


def ipc_collect() -> None:
    """Frees memory that other processes have released."""
    _fail("ipc_collect")


def initial_seed() -> int:
    """The seed of the current device's generator."""
    return _fail("initial_seed")


def get_rng_state(device: Any = "cuda") -> Any:
    """The state of a device's generator."""
    return _fail("get_rng_state")


def set_rng_state(new_state: Any, device: Any = "cuda") -> None:
    """Continues a device's generator from a state."""
    _fail("set_rng_state")


def current_stream(device: Device = None) -> Any:
    """The stream that calls go to."""
    return _fail("current_stream")


def default_stream(device: Device = None) -> Any:
    """The stream that calls go to at first."""
    return _fail("default_stream")


class _NeedsDevice:
    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(f"taeda.cuda.{cls.__name__}: this build of Taeda has no CUDA")


class Stream(_NeedsDevice):
    """A queue of work for a device."""


class Event(_NeedsDevice):
    """A mark in a stream."""


class CUDAGraph(_NeedsDevice):
    """Recorded work that runs again at once."""


class graph(_NeedsDevice):
    """A context that records a graph."""


# --- contexts, which programs also open without a device


class device:
    """A context in which another device is the current one; a negative index, or None, changes nothing.

    Raises:
        RuntimeError: on entry, for any other device.
    """

    def __init__(self, device: Any) -> None:
        self.idx = -1 if device is None else device if isinstance(device, int) else getattr(device, "index", 0)

    def __enter__(self) -> None:
        if self.idx is None or self.idx >= 0:
            raise RuntimeError("taeda.cuda.device: this build of Taeda has no CUDA")

    def __exit__(self, *exception: Any) -> None:
        pass


class StreamContext(contextlib.nullcontext[None]):
    """A context in which calls go to a stream; with None, as they go anyway.

    Raises:
        RuntimeError: the stream is not None.
    """

    def __init__(self, stream: Any) -> None:
        if stream is not None:
            _fail("StreamContext")
        super().__init__()


def stream(stream: Any) -> StreamContext:
    """`StreamContext` of a stream."""
    return StreamContext(stream)


if TYPE_CHECKING:
    from taeda._tensor.old_types import TensorType
    from taeda.cuda import amp as amp
    from taeda.cuda import nvtx as nvtx
    from taeda.types import Device

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
        if name in ("amp", "nvtx"):
            import importlib

            return importlib.import_module(f"taeda.cuda.{name}")
        if name.endswith("Tensor") and name in _tensor_types():
            from taeda._tensor.old_types import make

            globals()[name] = made = make(name, "cuda")
            return made
        raise AttributeError(f"module 'taeda.cuda' has no attribute '{name}'")


def _tensor_types() -> tuple[str, ...]:
    from taeda._tensor import old_types

    return old_types.__all__
