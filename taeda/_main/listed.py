"""Lists in arguments: what only looks like one may have items without end."""

from __future__ import annotations

from typing import Any


def listed(name: str, value: Any) -> list[Any]:
    """The items of the argument ``name`` of a function, "taeda.gradient: dim".

    Raises:
        TypeError: it is no list or tuple.
    """
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"{name} is wanted as a list or a tuple; got {type(value).__name__}")
    return list(value)
