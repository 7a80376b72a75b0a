"""``torch._VF``: the functions as PyTorch's own modules call them."""

from __future__ import annotations

from taeda import _C


def __getattr__(name: str) -> object:
    return getattr(_C._functions, name)
