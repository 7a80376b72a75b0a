"""How processes that read the same thing at a store part: the one that serves it goes last."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any

from taeda.distributed._errors import DistError

_PATIENCE = timedelta(seconds=2)  # with ranks that came, and read what they came for


def finish(store: Any, key: str, rank: int, others: Sequence[int]) -> None:
    """Says that this rank has read what stands under ``key``; rank 0, whose process often serves the store and may end
    next, waits until the ``others`` have, or a moment at most."""
    with suppress(DistError):  # others are gone, or not there yet: what was read stands
        if rank:
            store.set(f"{key}/read/{rank}", b"")
        else:
            store.wait([f"{key}/read/{other}" for other in others], _PATIENCE)
