"""Meta's accelerators: this build has no backend for them."""

from __future__ import annotations

__all__ = ["device_count", "is_available"]


def is_available() -> bool:
    """Whether there is such a device: no."""
    return False


def device_count() -> int:
    """The number of such devices: 0."""
    return 0
