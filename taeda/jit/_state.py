"""Whether functions and modules become programs at all: ``PYTORCH_JIT=0`` leaves them Python, for debuggers."""

from __future__ import annotations

import os


class _Switch:
    """On or off."""

    def __init__(self, enabled: bool) -> None:
        self.enabled = enabled

    def __bool__(self) -> bool:
        return self.enabled


_enabled = _Switch(os.environ.get("PYTORCH_JIT", "1") != "0")


def enable() -> None:
    """From now on ``script`` and ``trace`` make programs."""
    _enabled.enabled = True


def disable() -> None:
    """From now on ``script`` and ``trace`` give back what they are given."""
    _enabled.enabled = False
