"""``torch._VF``: the functions as PyTorch's own modules call them."""

from __future__ import annotations

from typing import Any

from taeda import _C


def __getattr__(name: str) -> Any:
    return getattr(_C._functions, name)
