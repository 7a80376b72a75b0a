"""NVIDIA's library of collectives, which is not there: `taeda.distributed` has collectives of CPU tensors."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from taeda import Tensor
from taeda.cuda._absent import absent

__all__ = ["all_gather", "all_reduce", "broadcast", "is_available", "reduce", "reduce_scatter", "version"]

SUM = 0


def is_available(tensors: Sequence[Tensor]) -> bool:
    """Whether it could exchange these: no."""
    warnings.warn("taeda.cuda.nccl: this build of Taeda has no NCCL", stacklevel=2)
    return False


def version() -> tuple[int, ...]:
    """The library's version. Raises AssertionError."""
    return absent.refuse("nccl.version")


def all_reduce(inputs: Any, outputs: Any = None, op: int = SUM, streams: Any = None, comms: Any = None) -> None:
    """The sum on each device. Raises AssertionError."""
    absent.refuse("nccl.all_reduce")


def reduce(
    inputs: Any, output: Any = None, root: int = 0, op: int = SUM, streams: Any = None, comms: Any = None
) -> None:
    """The sum on one device. Raises AssertionError."""
    absent.refuse("nccl.reduce")


def broadcast(inputs: Any, root: int = 0, streams: Any = None, comms: Any = None) -> None:
    """One device's tensor on each. Raises AssertionError."""
    absent.refuse("nccl.broadcast")


def all_gather(inputs: Any, outputs: Any, streams: Any = None, comms: Any = None) -> None:
    """All devices' tensors on each. Raises AssertionError."""
    absent.refuse("nccl.all_gather")


def reduce_scatter(inputs: Any, outputs: Any, op: int = SUM, streams: Any = None, comms: Any = None) -> None:
    """A part of the sum on each device. Raises AssertionError."""
    absent.refuse("nccl.reduce_scatter")
