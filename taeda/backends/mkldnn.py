"""oneDNN, whose former name is MKL-DNN: convolutions and low-precision products."""

from __future__ import annotations

__all__ = ["is_available"]


def is_available() -> bool:
    """Whether oneDNN is used: yes."""
    return True
