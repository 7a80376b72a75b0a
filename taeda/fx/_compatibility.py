"""The marks of what PyTorch promises to keep; its own tracers and those of libraries set them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

_T = TypeVar("_T")


def compatibility(is_backward_compatible: bool) -> Callable[[_T], _T]:
    """A decorator that changes nothing: a promise is the docs' to make."""
    return lambda marked: marked
