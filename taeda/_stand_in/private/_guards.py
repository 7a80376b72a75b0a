"""Which mode of fake tensors is at work, and whether something is being traced."""

from __future__ import annotations

from typing import Any

import taeda
from taeda._library.fake_tensor import FakeTensor, FakeTensorMode
from taeda.utils._pytree import tree_leaves

__all__ = ["TracingContext", "active_fake_mode", "detect_fake_mode"]


def _entered() -> list[FakeTensorMode]:
    """The modes of fake tensors that are entered, the innermost first."""
    count = taeda._C._len_torch_dispatch_stack()
    modes = [taeda._C._get_dispatch_stack_at(i) for i in reversed(range(count))]
    return [mode for mode in modes if isinstance(mode, FakeTensorMode)]


def active_fake_mode() -> FakeTensorMode | None:
    """The innermost mode of fake tensors that is entered."""
    return next(iter(_entered()), None)


def detect_fake_mode(inputs: Any = None) -> FakeTensorMode | None:
    """The mode of fake tensors that is entered or that ``inputs`` belong to, a tree; None if there is none.

    Raises:
        AssertionError: there are several.
    """
    found = _entered() + [x.fake_mode for x in tree_leaves(inputs) if isinstance(x, FakeTensor)]
    for mode in found:
        assert mode is found[0], "taeda._guards.detect_fake_mode: tensors and modes of several FakeTensorModes meet"
    return found[0] if found else None


class TracingContext:
    """What is known of the program that `compile` traces. Taeda's keeps it elsewhere, so there is never one here."""

    @staticmethod
    def try_get() -> TracingContext | None:
        """None."""
        return None

    @staticmethod
    def get() -> TracingContext:
        """RuntimeError: there is none."""
        raise RuntimeError("taeda._guards.TracingContext: nothing is being traced")
