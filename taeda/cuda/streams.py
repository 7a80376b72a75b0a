"""Streams of CUDA devices, of which there are none."""

from taeda._main.absent_devices import NeedsDevice

__all__ = ["Event", "ExternalStream", "Stream"]


class Stream(NeedsDevice):
    """A queue of work for a device."""


class ExternalStream(Stream):
    """A queue that another library made."""


class Event(NeedsDevice):
    """A mark in a stream."""
