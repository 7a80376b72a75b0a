"""Whether a transformed function is being run, which some libraries ask."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_here = threading.local()


@contextmanager
def transforming() -> Iterator[None]:
    """Around each run of a function that a transform was given."""
    depth = getattr(_here, "depth", 0)
    _here.depth = depth + 1
    try:
        yield
    finally:
        _here.depth = depth


def _are_functorch_transforms_active() -> bool:
    """Whether this thread is inside a function that ``vmap``, ``grad`` or another transform runs."""
    return getattr(_here, "depth", 0) > 0
