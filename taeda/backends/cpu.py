"""The processor."""

from __future__ import annotations

from taeda import _C

__all__ = ["get_cpu_capability"]


def get_cpu_capability() -> str:
    """The instruction set that kernels use: ``"AVX512"``, ``"AVX2"`` or ``"DEFAULT"``."""
    return _C._get_cpu_capability()
