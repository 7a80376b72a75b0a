"""Streams and events of any device. The CPU has one stream: calls run in their order and are done when they return."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from taeda import _C
from taeda.types import Device

__all__ = ["Event", "Stream"]


def _device(name: str, device: Any) -> Any:
    """The CPU unless another device is asked for; RuntimeError for one that has no streams."""
    found = _C.device("cpu" if device is None else device)
    if found.type != "cpu":
        raise RuntimeError(f"taeda.{name}: there are no streams on {found.type!r} in this build; only the CPU's")
    return _C.device("cpu")


def _no_events(name: str) -> RuntimeError:
    return RuntimeError(f"taeda.{name}: the CPU records no events; what was called before is done")


class Stream:
    """The order in which a device runs what it is asked for; as a context, where the calls inside go.

    Raises:
        RuntimeError: the device has no streams.
    """

    __module__ = "taeda"

    def __init__(self, device: Device = None, *, priority: int = 0) -> None:
        self.device = _device("Stream", device)
        self.device_index, self.device_type, self.stream_id = -1, 0, 0

    def query(self) -> bool:
        """Whether all is done."""
        return True

    def synchronize(self) -> None:
        """Waits until all is done."""

    def wait_event(self, event: Event) -> None:
        """Holds back what is called later until the event is reached."""

    def wait_stream(self, stream: Stream) -> None:
        """Holds back what is called later until the other stream's calls are done."""

    def record_event(self, event: Event | None = None) -> Event:
        """RuntimeError: the CPU records no events."""
        raise _no_events("Stream.record_event")

    def is_capturing(self) -> bool:
        """False: there are no graphs of calls on the CPU."""
        return False

    def __enter__(self) -> Stream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream)

    def __hash__(self) -> int:
        return hash(Stream)

    def __repr__(self) -> str:
        return f"torch.Stream device_type=cpu, device_index={self.device_index}, stream_id={self.stream_id}"


class Event:
    """A point in a stream that others can wait for.

    Raises:
        RuntimeError: the device has no streams.
    """

    __module__ = "taeda"

    def __init__(
        self, device: Device = None, *, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> None:
        self.device = _device("Event", device)
        self.event_id, self._is_timed = 0, enable_timing

    def record(self, stream: Stream | None = None) -> None:
        """RuntimeError: the CPU records no events."""
        raise _no_events("Event.record")

    def wait(self, stream: Stream | None = None) -> None:
        """Holds back what the stream is asked for later until the event is reached."""

    def query(self) -> bool:
        """Whether the event is reached."""
        return True

    def synchronize(self) -> None:
        """Waits until the event is reached."""

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds between two events. ValueError unless both are timed; RuntimeError on the CPU."""
        if not (self._is_timed and end_event._is_timed):
            raise ValueError("taeda.Event.elapsed_time: both events must be made with enable_timing=True")
        raise _no_events("Event.elapsed_time")

    def __repr__(self) -> str:
        return f"torch.Event device_type=cpu, device_index=-1, event_flag={self._is_timed:d}, event_id=0"
