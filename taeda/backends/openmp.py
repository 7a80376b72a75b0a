"""OpenMP, which runs the threads of kernels."""

from __future__ import annotations

__all__ = ["is_available"]


def is_available() -> bool:
    """Whether OpenMP is used: yes."""
    return True
