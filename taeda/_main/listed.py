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


def iterated(name: str, value: Any) -> list[Any]:
    """Likewise of anything that says that it is gone through: a generator of parameters, a ModuleList.

    Raises:
        TypeError: it has items by number at most.
    """
    if not hasattr(type(value), "__iter__"):
        raise TypeError(f"{name} is wanted as something to go through; got {type(value).__name__}")
    return list(value)
