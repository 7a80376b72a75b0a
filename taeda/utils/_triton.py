"""Whether kernels can be written in Triton: never, while nothing is compiled."""

from __future__ import annotations


def has_triton_package() -> bool:
    """Whether programs that ask should use Triton, though it may be installed."""
    return False


def has_triton() -> bool:
    """Whether there is a device for it."""
    return False


def has_triton_tma() -> bool:
    """Whether it can move blocks of memory by descriptors."""
    return False


def has_triton_tma_device() -> bool:
    """Whether kernels may make such descriptors."""
    return False
