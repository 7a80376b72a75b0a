"""Devices that PyTorch has and this build has no backend for.

One answer serves for all of them: there are none, nothing is held there, nothing is to be seeded.
"""

from __future__ import annotations

import contextlib
from typing import Any

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


def get_arch_list() -> list[str]:
    """The architectures that this build has kernels for: none."""
    return []


def get_gencode_flags() -> str:
    """The compiler's flags for those architectures: none."""
    return ""


def is_tf32_supported() -> bool:
    """Whether a device computes in TensorFloat-32: there is none."""
    return False


def is_current_stream_capturing() -> bool:
    """Whether a graph is being recorded: no."""
    return False


def memory_stats_as_nested_dict(device: Device = None) -> dict[str, Any]:
    """The allocator's counts: none."""
    return {}


def reset_accumulated_memory_stats(device: Device = None) -> None:
    """Nothing: no memory was held there."""


def memory_snapshot(mempool_id: tuple[int, int] | None = None, include_traces: bool = True) -> list[dict[str, Any]]:
    """The allocator's blocks: none."""
    return []


class Absent:
    """What needs a device of a kind of which there is none: each call raises.

    Args:
        kind: the name of the kind's module.
        error: what is raised; PyTorch's builds without the device raise it.
    """

    def __init__(self, kind: str, error: type[Exception] = AssertionError) -> None:
        self.kind, self.error = kind, error

    def refuse(self, name: str) -> Any:
        """Raises the error."""
        raise self.error(
            f"taeda.{self.kind}.{name}: this build of Taeda has no {self.kind.upper()}; check "
            f"taeda.{self.kind}.is_available() first"
        )

    def init(self) -> None:
        """Starts the device's runtime."""
        self.refuse("init")

    def synchronize(self, device: Device = None) -> None:
        """Waits for a device."""
        self.refuse("synchronize")

    def current_device(self) -> int:
        """The index of the current device."""
        return self.refuse("current_device")

    def set_device(self, device: Any) -> None:
        """Makes a device the current one; a negative index changes nothing."""
        if not (isinstance(device, int) and device < 0):
            self.refuse("set_device")

    def get_device_name(self, device: Device = None) -> str:
        """The name of a device."""
        return self.refuse("get_device_name")

    def get_device_capability(self, device: Device = None) -> Any:
        """What a device can do."""
        return self.refuse("get_device_capability")

    def get_device_properties(self, device: Device = None) -> Any:
        """The properties of a device."""
        return self.refuse("get_device_properties")

    def can_device_access_peer(self, device: Device, peer_device: Device) -> bool:
        """Whether a device can read another one's memory."""
        return self.refuse("can_device_access_peer")

    def mem_get_info(self, device: Device = None) -> tuple[int, int]:
        """The free and the total bytes of a device."""
        return self.refuse("mem_get_info")

    def get_per_process_memory_fraction(self, device: Device = None) -> float:
        """Which part of a device's memory the process may take."""
        return self.refuse("get_per_process_memory_fraction")

    def set_per_process_memory_fraction(self, fraction: float, device: Device = None) -> None:
        """Sets which part of a device's memory the process may take."""
        self.refuse("set_per_process_memory_fraction")

    def initial_seed(self) -> int:
        """The seed of the current device's generator."""
        return self.refuse("initial_seed")

    def get_rng_state(self, device: Any = None) -> Any:
        """The state of a device's generator."""
        return self.refuse("get_rng_state")

    def set_rng_state(self, new_state: Any, device: Any = None) -> None:
        """Continues a device's generator from a state."""
        self.refuse("set_rng_state")

    def set_rng_state_all(self, new_states: Any) -> None:
        """Continues all devices' generators from their states."""
        for i, _ in enumerate(new_states):
            self.refuse(f"set_rng_state_all for device {i}")

    def current_stream(self, device: Device = None) -> Any:
        """The stream that calls go to."""
        return self.refuse("current_stream")

    def default_stream(self, device: Device = None) -> Any:
        """The stream that calls go to at first."""
        return self.refuse("default_stream")

    def set_stream(self, stream: Any) -> None:
        """Has calls go to a stream; with None, as they go anyway."""
        if stream is not None:
            self.refuse("set_stream")

    def get_stream_from_external(self, data_ptr: int, device: Device = None) -> Any:
        """A stream that another library made."""
        return self.refuse("get_stream_from_external")

    def graph_pool_handle(self) -> Any:
        """A pool of memory that recorded graphs share."""
        return self.refuse("graph_pool_handle")

    def make_graphed_callables(self, callables: Any, sample_args: Any, **options: Any) -> Any:
        """Functions that replay what they did once."""
        return self.refuse("make_graphed_callables")

    def utilization(self, device: Device = None) -> int:
        """Which part of the time a device was busy, in per cent."""
        return self.refuse("utilization")

    def memory_usage(self, device: Device = None) -> int:
        """Which part of the time a device's memory was busy, in per cent."""
        return self.refuse("memory_usage")

    def device_memory_used(self, device: Device = None) -> int:
        """The bytes of a device that are taken."""
        return self.refuse("device_memory_used")

    def temperature(self, device: Device = None) -> int:
        """The temperature of a device, in degrees Celsius."""
        return self.refuse("temperature")

    def power_draw(self, device: Device = None) -> int:
        """What a device draws, in milliwatts."""
        return self.refuse("power_draw")

    def clock_rate(self, device: Device = None) -> int:
        """The clock of a device, in megahertz."""
        return self.refuse("clock_rate")


class NeedsDevice:
    """What belongs to a device: none can be made."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(f"{cls.__module__}.{cls.__name__}: this build of Taeda has no such device")


class DeviceContext:
    """A context in which another device is the current one; a negative index, or None, changes nothing.

    Raises:
        RuntimeError: on entry, for any other device.
    """

    def __init__(self, device: Any) -> None:
        self.idx = -1 if device is None else device if isinstance(device, int) else getattr(device, "index", 0)

    def __enter__(self) -> None:
        if self.idx is None or self.idx >= 0:
            raise RuntimeError(f"{type(self).__module__}.{type(self).__name__}: this build of Taeda has no such device")

    def __exit__(self, *exception: Any) -> None:
        pass


class DeviceOfContext(DeviceContext):
    """A context in which the device of a tensor is the current one; tensors elsewhere change nothing, and all are."""

    def __init__(self, obj: Any) -> None:
        super().__init__(None)


class NoStream(contextlib.nullcontext[None]):
    """A context in which calls go to a stream; with None, as they go anyway.

    Raises:
        AssertionError: the stream is not None.
    """

    def __init__(self, stream: Any) -> None:
        if stream is not None:
            raise AssertionError(f"{type(self).__module__}.StreamContext: this build of Taeda has no such device")
        super().__init__()
