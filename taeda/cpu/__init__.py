"""The CPU as a device: its memory."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from taeda import _C
from taeda.cpu._capabilities import _init_amx as _init_amx
from taeda.cpu._capabilities import _is_amx_fp16_supported as _is_amx_fp16_supported
from taeda.cpu._capabilities import _is_amx_tile_supported as _is_amx_tile_supported
from taeda.cpu._capabilities import _is_avx2_supported as _is_avx2_supported
from taeda.cpu._capabilities import _is_avx512_bf16_supported as _is_avx512_bf16_supported
from taeda.cpu._capabilities import _is_avx512_supported as _is_avx512_supported
from taeda.cpu._capabilities import _is_vnni_supported as _is_vnni_supported
from taeda.cpu._capabilities import get_capabilities as get_capabilities


def is_available() -> bool:
    """True."""
    return True


def device_count() -> int:
    """1."""
    return 1


def current_device() -> str:
    """``"cpu"``."""
    return "cpu"


def is_initialized() -> bool:
    """True."""
    return True


def set_device(device: object) -> None:
    """Nothing: there is one CPU."""


class Stream:
    """The CPU's one stream: calls run in their order, so that waiting for it is nothing."""

    def __init__(self, priority: int = -1) -> None:
        pass

    def wait_stream(self, stream: Stream) -> None:
        """Nothing: what was called before is done."""


_stream = Stream()


def current_stream(device: object = None) -> Stream:
    """The stream that calls go to."""
    return _stream


def stream(stream: Stream | None) -> contextlib.AbstractContextManager[None]:
    """A context in which calls go to a stream: as they do anyway."""
    return contextlib.nullcontext()


def synchronize(device: object = None) -> None:
    """Nothing: calls are done when they return."""


def memory_stats() -> dict[str, int]:
    """Bytes in live tensors (``allocated``, ``peak_allocated``) and kept for reuse (``cached``), calls, and the
    limit."""
    return _C._cpu_memory_stats()


def empty_cache() -> None:
    """Gives memory that is kept for reuse back to the system."""
    _C._cpu_empty_cache()


def reset_peak_memory_stats() -> None:
    """Starts the peak anew at what is allocated now."""
    _C._cpu_reset_peak_memory()


def set_memory_limit(bytes: int | None) -> None:
    """Limits the memory held by tensors, in bytes; None for no limit. Asking for more raises RuntimeError."""
    _C._cpu_set_memory_limit(bytes)


if TYPE_CHECKING:
    from taeda.cpu import amp as amp
else:

    def __getattr__(name: str) -> Any:
        if name == "amp":
            import importlib

            return importlib.import_module("taeda.cpu.amp")
        raise AttributeError(f"module 'taeda.cpu' has no attribute '{name}'")
