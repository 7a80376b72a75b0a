"""MKL: this build uses OpenBLAS in its place."""

from __future__ import annotations

__all__ = ["is_available"]


def is_available() -> bool:
    """Whether MKL is used: no."""
    return False
