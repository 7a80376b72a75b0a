"""cuDNN: this build has none. The switches keep what they are told, for programs that set them wherever they run."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

enabled = True
benchmark = False
benchmark_limit: int | None = None
deterministic = False
allow_tf32 = True


def is_available() -> bool:
    """Whether cuDNN can be used: no."""
    return False


def version() -> int | None:
    """The version of cuDNN: None."""
    return None


def is_acceptable(tensor: Any) -> bool:
    """Whether cuDNN could work on this tensor: no."""
    return False


@contextlib.contextmanager
def flags(
    enabled: bool = False,
    benchmark: bool = False,
    benchmark_limit: int = 10,
    deterministic: bool = False,
    allow_tf32: bool = True,
) -> Iterator[None]:
    """The switches set for a scope."""
    wanted = locals()
    before = {name: globals()[name] for name in wanted}
    globals().update(wanted)
    try:
        yield
    finally:
        globals().update(before)


def _get_cudnn_enabled() -> bool:
    """The switch ``enabled``, by the name it has in ``torch._C``."""
    return enabled


def _set_cudnn_enabled(mode: bool) -> None:
    """Sets the switch ``enabled``."""
    global enabled
    enabled = mode
