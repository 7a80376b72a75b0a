"""Sizes with gaps."""

from __future__ import annotations

from typing import Any

from taeda.nn._functional.sizes import fill_none

__all__ = ["_list_with_default"]


def _list_with_default(out_size: Any, defaults: list[int]) -> Any:
    """``out_size`` with each None replaced by the entry of ``defaults``, matched from the end."""
    return fill_none(out_size, defaults)
