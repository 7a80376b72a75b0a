"""Whether a transformed function is being run, which some libraries ask."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from taeda._C import _autograd

_here = threading.local()


@contextmanager
def transforming() -> Iterator[None]:
    """Around each run of a function that a transform was given."""
    depth = transforms_active()
    _here.depth = depth + 1
    _autograd._set_transforms(depth + 1)  # what reaches past them is refused there
    try:
        yield
    finally:
        _here.depth = depth
        _autograd._set_transforms(depth)


def transforms_active() -> int:
    """How many transforms' functions this thread is inside of."""
    return getattr(_here, "depth", 0)


def _are_functorch_transforms_active() -> bool:
    """Whether this thread is inside a function that ``vmap``, ``grad`` or another transform runs."""
    return transforms_active() > 0
