"""Apple's Metal: this build has none of it."""

from __future__ import annotations

from taeda._main.absent_devices import BUILT, is_available

__all__ = ["is_available", "is_built"]


def is_built() -> bool:
    """Whether this build could use one: no."""
    return BUILT["mps"]
