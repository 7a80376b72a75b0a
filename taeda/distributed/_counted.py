"""Who wants to hear of functional collectives (`taeda.distributed.tensor.debug.CommDebugMode`)."""

from __future__ import annotations

from collections.abc import Callable

listeners: list[Callable[[str], None]] = []


def tell(name: str) -> None:
    """Says that the functional collective ``name`` is called."""
    for listener in listeners:
        listener(name)
