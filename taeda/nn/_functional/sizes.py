"""Arguments that are a number for all spatial dimensions or one for each."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import repeat
from typing import Any


def ntuple(count: int, name: str) -> Any:
    """A function that makes a tuple: of an iterable its items, of a single value ``count`` copies."""

    def parse(value: Any) -> tuple[Any, ...]:
        return tuple(value) if isinstance(value, Iterable) else tuple(repeat(value, count))

    parse.__name__ = name
    return parse


single = ntuple(1, "single")
pair = ntuple(2, "pair")
triple = ntuple(3, "triple")


def fill_none(sizes: Any, defaults: Any) -> Any:
    """``sizes`` with each ``None`` replaced by the entry of ``defaults``, matched from the end."""
    if isinstance(sizes, int):
        return sizes
    if len(defaults) <= len(sizes):
        raise ValueError(
            f"taeda.nn.functional: the input has {len(defaults)} dimensions, too few for an output size of {len(sizes)}"
        )
    return [
        default if size is None else size
        for size, default in zip(sizes, defaults[len(defaults) - len(sizes) :], strict=True)
    ]
